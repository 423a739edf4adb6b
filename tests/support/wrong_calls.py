"""Calls that PyTorch refuses. Each is an expression over ``torch`` and the tensors of :func:`names`."""

from __future__ import annotations

from typing import Any

_UNARY = ("sum", "softmax", "cumsum", "sort", "argmax", "unbind", "squeeze", "flip", "cumprod", "amax", "mean", "median", "topk", "logsumexp")
_PAIRS = ("add", "mul", "sub", "div", "maximum", "pow", "atan2", "eq", "lt", "fmod", "remainder", "hypot", "minimum", "copysign", "logaddexp")
_OUT = ("add", "mul", "sub", "maximum", "atan2")

CALLS = [
    *(f"torch.{n}(a, {'2, ' if n == 'topk' else ''}{'(5,)' if n in ('flip',) else '5'})" for n in _UNARY),
    *(f"torch.{n}(a, {'2, ' if n == 'topk' else ''}{'(-4,)' if n in ('flip',) else '-4'})" for n in _UNARY),
    *(f"torch.{n}(a, torch.ones(5))" for n in _PAIRS),
    *(f"torch.{n}(a, 'x')" for n in _PAIRS),
    *(f"torch.{n}(a)" for n in _PAIRS),
    *(f"torch.{n}(a, a, out=i)" for n in _OUT),
    *(f"torch.{n}(a, a, unknown=1)" for n in _PAIRS[:8]),
    *(f"torch.{n}([1.0, 2.0])" for n in ("exp", "sin", "abs", "neg", "sqrt", "floor", "sigmoid", "tanh")),
    *(f"torch.{n}(None)" for n in ("exp", "sin", "abs", "sum", "mean", "sort", "relu", "numel")),
    *(f"torch.{n}(-1)" for n in ("zeros", "ones", "empty", "rand", "randn", "eye", "randperm")),
    *(f"torch.{n}(2**40, 2**40)" for n in ("zeros", "empty", "ones")),
    *(f"torch.{n}('a')" for n in ("zeros", "ones", "rand", "arange", "eye")),
    "torch.mm(a, a)", "torch.mm(a, v)", "torch.mv(a, v2)", "torch.bmm(a, a)", "torch.dot(v, v2)", "torch.dot(a, a)", "torch.matmul(a, a)",
    "torch.matmul(a, s)", "torch.addmm(a, a, a)", "torch.mm(a, a.T.long())", "torch.outer(a, v)", "torch.mm(a.long(), a.T)",
    "torch.einsum('ij,jk', a, a)", "torch.baddbmm(a, a, a)", "torch.cat([a, v])", "torch.cat([])", "torch.cat(a)",
    "torch.cat([a, torch.ones(5, 5)])", "torch.stack([a, v])", "torch.stack([])", "torch.vstack([a, torch.ones(5)])", "torch.chunk(a, 0)",
    "torch.split(a, -1)", "torch.split(a, [1, 5])", "a.view(7)", "a.view(-1, -1)", "a.view(-2, 3)", "a.T.view(6)", "a.reshape(4, 4)",
    "a.reshape(-1, 5)", "a.expand(5, 5)", "a.expand(3)", "a.permute(0, 0)", "a.permute(0)", "a.permute(0, 5)", "a.transpose(0, 5)",
    "a.unsqueeze(5)", "a.flatten(5)", "a.flatten(1, 0)", "a.repeat(2)", "a.unfold(0, 9, 1)", "a.unfold(0, 1, 0)", "a.narrow(0, 1, 5)",
    "a.narrow(0, 0, -1)", "a.select(0, 9)", "a.select(5, 0)", "a.as_strided((9, 9), (9, 1))", "a.as_strided((2,), (-1,))",
    "a.movedim(0, 5)", "a.diagonal(0, 0, 0)", "s.t().transpose(0, 1)", "torch.ones(2, 2, 2).t()", "a.tile('x')", "a.roll(1, 7)",
    "a.rot90(1, (0, 0))", "a[5]", "a[0, 0, 0]", "a['x']", "a[1.5]", "a[::-1]", "a[::0]", "a[torch.tensor([9])]", "a[torch.tensor([0.5])]",
    "a[torch.tensor([True])]", "a[[0, 1], [0, 1, 2]]", "s[0]", "a[..., ..., 9]", "a.__setitem__(0, torch.ones(9))", "a.__setitem__(9, 1)",
    "a.__setitem__('x', 1)", "v[None, None, 9, 9]", "torch.gather(a, 0, i.float())", "torch.gather(a, 0, torch.tensor([[9, 9]]))",
    "torch.gather(a, 5, i)", "torch.gather(a, 0, torch.tensor([0]))", "torch.index_select(a, 0, torch.tensor([9]))",
    "torch.index_select(a, 0, torch.tensor([[0]]))", "torch.index_select(a, 0, v)", "torch.take(a, v)",
    "torch.take(a, torch.tensor([99]))", "a.scatter(0, torch.tensor([[9]]), 1.0)", "a.scatter_add(0, i, torch.ones(1))",
    "a.index_add(0, torch.tensor([0]), torch.ones(5))", "a.index_fill(0, torch.tensor([9]), 0.0)", "a.masked_fill(a, 0.0)",
    "a.masked_select(a)", "a.masked_fill(torch.ones(5).bool(), 0.0)", "torch.where(a, a, a)", "torch.kthvalue(v, 9)", "torch.topk(v, 9)",
    "torch.bincount(torch.tensor([-1]))", "torch.bincount(v)", "torch.searchsorted(v, 'x')", "torch.multinomial(v, 0)",
    "torch.multinomial(-v, 1)", "torch.multinomial(v, 9)", "torch.bernoulli(v * 9)", "torch.normal(0.0, -1.0, (2,))",
    "torch.randint(5, 5, (2,))", "torch.randint(0, (2,))", "torch.linspace(0, 1, -1)", "torch.arange(0, 1, 0)", "torch.arange(0, 1, -1)",
    "torch.arange(0, float('inf'))", "torch.full((2,), 'x')", "torch.full((-2,), 1)", "torch.tensor([[1], [1, 2]])", "torch.tensor('x')",
    "torch.tensor([None])", "torch.tensor(2**70)", "torch.tensor([1], dtype='float')", "torch.tensor([1], device='nowhere')",
    "torch.ones(2, device='cuda:x')", "torch.ones(2, dtype=3)", "torch.device('cpu:-1')", "torch.device(1.5)", "torch.from_numpy([1])",
    "torch.frombuffer(b'', dtype=torch.int8)", "torch.tensor([1.0]).item(1)", "a.item()", "float(a)", "int(a)", "bool(a)", "complex(a)",
    "len(s)", "iter(s)", "range(5)[s]", "a.tolist(1)", "bool(torch.ones(0))", "i.requires_grad_()",
    "torch.ones(2, dtype=torch.int64, requires_grad=True)", "g.numpy()", "g.add_(1)", "g.resize_(7)", "(g * 2).backward()",
    "a.backward()", "a.sum().backward()", "torch.autograd.grad(a.sum(), a)", "torch.autograd.grad(g.sum(), a)",
    "(g * 2).sum().backward(torch.ones(3))", "g.set_(a)", "a.resize_(-1)", "a.resize_('x')",
    "a.untyped_storage().resize_(-1)", "a.add_(torch.ones(5, 2, 3))", "i.add_(0.5)",
    "i.div_(2)", "i.exp_()", "b.add_(1)", "a.copy_(torch.ones(5))", "a.fill_(torch.ones(2))", "a.clamp()", "a.clamp(min='x')", "-b",
    "b - b", "torch.neg(b)", "~a", "a & a", "a << 'x'", "torch.bitwise_and(a, a)", "torch.logical_and(a, 3)", "i.mean()", "torch.var(i)",
    "torch.norm(i)", "torch.std(a, 9)", "torch.polygamma(-1, v)", "torch.nn.functional.linear(a, a.T)",
    "torch.nn.functional.conv2d(a, a)", "torch.nn.functional.conv2d(torch.ones(1, 3, 4, 4), torch.ones(2, 2, 3, 3))",
    "torch.nn.functional.conv2d(torch.ones(1, 2, 2, 2), torch.ones(2, 2, 3, 3))", "torch.nn.functional.embedding(torch.tensor([9]), a)",
    "torch.nn.functional.embedding(v, a)", "torch.nn.functional.cross_entropy(a, torch.tensor([0]))",
    "torch.nn.functional.cross_entropy(a, torch.tensor([9, 9]))", "torch.nn.functional.nll_loss(a, torch.tensor([9, 0]))",
    "torch.nn.functional.dropout(a, 2.0)", "torch.nn.functional.max_pool2d(a, 2)", "torch.nn.functional.layer_norm(a, (5,))",
    "torch.nn.functional.batch_norm(a, None, None)", "torch.nn.functional.one_hot(torch.tensor([-1]))",
    "torch.nn.functional.one_hot(torch.tensor([5]), 2)", "torch.nn.functional.pad(a, (1,))", "torch.nn.functional.interpolate(a, 3)",
    "torch.nn.functional.mse_loss(a, torch.ones(5))", "torch.nn.Linear(2, 2)(a)", "torch.nn.Linear(-1, 2)",
    "torch.nn.Conv2d(3, 4, 3, groups=2)", "torch.nn.Sequential(1)", "torch.nn.Embedding(2, 2)(torch.tensor([2]))",
    "torch.optim.SGD([], lr=0.1)", "torch.optim.SGD([g], lr=-1)", "torch.optim.Adam([a * g], lr=0.1)",
]  # fmt: skip


def names(torch: Any) -> dict[str, Any]:
    """Fresh operands: ``a`` (2, 3), ``v`` (3,), ``v2`` (4,), ``s`` 0-dim, ``i`` integers (2, 3), ``b`` bool (2,), ``g`` with gradient."""
    return {
        "torch": torch, "a": torch.arange(6.0).view(2, 3), "v": torch.arange(3.0), "v2": torch.ones(4), "s": torch.tensor(1.0),
        "i": torch.zeros(2, 3, dtype=torch.int64), "b": torch.tensor([True, False]), "g": torch.ones(2, 3, requires_grad=True),
    }  # fmt: skip


def outcome(torch: Any, call: str) -> tuple[str, str]:
    """The exception's type and text; empty when the call succeeds."""
    try:
        eval(call.strip(), names(torch))
    except Exception as error:
        return type(error).__name__, str(error)
    return "", ""


if __name__ == "__main__":  # python tests/support/wrong_calls.py, with PyTorch: writes tests/data/wrong_calls.json
    import json
    from pathlib import Path

    import torch

    figures = {call: kind for call in CALLS if (kind := outcome(torch, call)[0])}
    (Path(__file__).parents[1] / "data" / "wrong_calls.json").write_text(json.dumps(figures, indent=0) + "\n")
    print(len(CALLS), len(figures), [c for c in CALLS if c not in figures])
