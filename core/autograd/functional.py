"""Jacobians, Hessians and their products with vectors, of Python functions of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import trine

from ._run import grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensor = trine.Tensor
Tensors = Tensor | Sequence[Tensor]


def _tuple(value: Any, what: str, name: str) -> tuple[bool, tuple]:
    if isinstance(value, Tensor):
        return False, (value,)
    parts = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    for number, part in enumerate(parts):
        if not isinstance(part, Tensor):
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the value at index {number} "
                f"has type {type(part)}."
            )
    return True, parts


def _fresh(inputs: tuple, create_graph: bool) -> tuple:
    """Inputs that the computation may be differentiated by: connected to the caller's graph only with ``create_graph``."""
    if create_graph:
        return tuple(t.view_as(t) if t.requires_grad else t.detach().requires_grad_() for t in inputs)
    return tuple(t.detach().requires_grad_() for t in inputs)


def _plain(value: Any, is_tuple: bool, create_graph: bool) -> Any:
    if isinstance(value, tuple):
        value = tuple(_plain(v, True, create_graph) for v in value)
        return value if is_tuple else value[0]
    return value if create_graph else value.detach()


def _gradients(outputs: tuple, inputs: tuple, vectors: Any, create_graph: bool, strict: bool, name: str) -> tuple:
    pairs = [(o, v) for o, v in zip(outputs, vectors, strict=True) if o.requires_grad]
    found: tuple = (None,) * len(inputs)
    if pairs:
        found = grad([o for o, _ in pairs], inputs, [v for _, v in pairs], allow_unused=True, create_graph=create_graph, retain_graph=True)
    if strict:
        for number, g in enumerate(found):
            if g is None:
                raise RuntimeError(f"{name}: the output of the function is independent of input {number}, which strict mode refuses")
    return tuple(trine.zeros_like(i) if g is None else g for g, i in zip(found, inputs, strict=True))


def _vectors(v: Any, like: tuple, name: str, what: str) -> tuple:
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"{name}: the vector v can only be None if the {what} is a single Tensor with a single element.")
        return (trine.ones_like(like[0]),)
    _, vectors = _tuple(v, "v", name)
    if len(vectors) != len(like):
        raise RuntimeError(f"{name}: v has {len(vectors)} tensors and there are {len(like)} of the {what}")
    for number, (a, b) in enumerate(zip(vectors, like, strict=True)):
        if a.shape != b.shape:
            raise RuntimeError(f"{name}: v[{number}] has the shape {tuple(a.shape)} and the {what} {number} the shape {tuple(b.shape)}")
    return vectors


def vjp(func: Callable, inputs: Tensors, v: Tensors | None = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """``(func(inputs), v' J)``: ``v`` has the shapes of the outputs, the product those of ``inputs``.

    >>> import trine
    >>> trine.autograd.functional.vjp(lambda x: x * x, trine.tensor([1.0, 2.0]), trine.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    with trine.enable_grad():
        many, given = _tuple(inputs, "inputs", "vjp")
        args = _fresh(given, create_graph)
        many_out, outputs = _tuple(func(*args), "outputs of the user-provided function", "vjp")
        product = _gradients(outputs, args, _vectors(v, outputs, "vjp", "outputs"), create_graph, strict, "vjp")
    return _plain(outputs, many_out, create_graph), _plain(product, many, create_graph)


def jvp(func: Callable, inputs: Tensors, v: Tensors | None = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """``(func(inputs), J v)``: ``v`` has the shapes of ``inputs``, the product those of the outputs.

    >>> import trine
    >>> trine.autograd.functional.jvp(lambda x: x * x, trine.tensor([1.0, 2.0]), trine.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    with trine.enable_grad():
        _, given = _tuple(inputs, "inputs", "jvp")
        args = _fresh(given, create_graph)
        vectors = _vectors(v, given, "jvp", "inputs")
        many_out, outputs = _tuple(func(*args), "outputs of the user-provided function", "jvp")
        # v' J is linear in v: differentiating it by v in the direction of the tangents gives J times them.
        dummies = tuple(trine.zeros_like(o).requires_grad_() for o in outputs)
        rows = _gradients(outputs, args, dummies, True, strict, "jvp")
        product = _gradients(rows, dummies, vectors, create_graph, False, "jvp")
    return _plain(outputs, many_out, create_graph), _plain(product, many_out, create_graph)


def _rows_at_once(output: Tensor, args: tuple, create_graph: bool) -> tuple:
    """The Jacobian's block of one output, all rows in one batched backward pass."""
    unit = trine.eye(output.numel(), dtype=output.dtype, device=output.device).view(output.numel(), *output.shape)
    found: tuple = (None,) * len(args)
    if output.requires_grad and output.numel():
        found = grad(output, args, unit, allow_unused=True, create_graph=create_graph, retain_graph=True, is_grads_batched=True)
    shapes = [output.shape + arg.shape for arg in args]
    return tuple(
        trine.zeros(shape, dtype=arg.dtype, device=arg.device) if g is None else g.reshape(shape)
        for g, arg, shape in zip(found, args, shapes, strict=True)
    )


def _jacobian(func: Callable, args: tuple, create_graph: bool, strict: bool, name: str, vectorize: bool = False) -> tuple[bool, tuple]:
    many_out, outputs = _tuple(func(*args), "outputs of the user-provided function", name)
    if vectorize:
        return many_out, tuple(_rows_at_once(output, args, create_graph) for output in outputs)
    blocks = []
    for output in outputs:
        rows = []
        for number in range(output.numel()):
            seed = trine.zeros(output.numel(), dtype=output.dtype, device=output.device)
            seed[number] = 1
            rows.append(_gradients((output,), args, (seed.reshape(output.shape),), create_graph, strict, name))
        blocks.append(
            tuple(
                trine.stack([row[a] for row in rows]).reshape(output.shape + arg.shape) if rows
                else trine.zeros(output.shape + arg.shape, dtype=arg.dtype)
                for a, arg in enumerate(args)
            )
        )  # fmt: skip
    return many_out, tuple(blocks)


def _check_vectorize(name: str, vectorize: bool, strict: bool, strategy: str) -> None:
    if strict and vectorize:
        raise RuntimeError(
            f"torch.autograd.functional.{name}: `strict=True` and `vectorize=True` are not supported together. Please either set `strict=False` or `vectorize=False`."
        )
    if strategy == "forward-mode" and not vectorize:
        raise NotImplementedError(
            f'torch.autograd.functional.{name}: `vectorize=False` and `strategy="forward-mode"` are not supported together (yet). '
            'Please either set `vectorize=True` or `strategy="reverse-mode"`.'
        )


def _forward_jacobian(func: Callable, inputs: Tensors) -> Any:
    from ..func import jacfwd

    many, given = _tuple(inputs, "inputs", "jacobian")
    result = jacfwd(func, tuple(range(len(given))))(*(t.detach() for t in given))
    if isinstance(result[0], Tensor):
        return result if many else result[0]
    return tuple(row if many else row[0] for row in result)


def jacobian(
    func: Callable, inputs: Tensors, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """Derivative of every output element by every input element: shape ``output.shape + input.shape``.

    Several inputs give a tuple, several outputs a tuple of these. ``vectorize`` computes all rows in one batched backward pass, or with
    ``strategy="forward-mode"`` all columns in one batched forward pass, instead of one after the other. RuntimeError for ``strict`` with
    ``vectorize``, and for forward mode without ``vectorize`` or with ``create_graph``.

    >>> import trine
    >>> trine.autograd.functional.jacobian(lambda x: x * x, trine.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    _check_vectorize("jacobian", vectorize, strict, strategy)
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported together (yet). '
                'Please either set `create_graph=False` or `strategy="reverse-mode"`.'
            )
        return _forward_jacobian(func, inputs)
    with trine.enable_grad():
        many, given = _tuple(inputs, "inputs", "jacobian")
        many_out, blocks = _jacobian(func, _fresh(given, create_graph), create_graph, strict, "jacobian", vectorize)
    result = tuple(_plain(block, many, create_graph) for block in blocks)
    return result if many_out else result[0]


def _scalar(outputs: tuple, name: str) -> None:
    if len(outputs) != 1 or outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a single element")


def hessian(
    func: Callable, inputs: Tensors, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """Second derivatives of a function with one real result: shape ``input.shape + input.shape``.

    ``vectorize`` computes all rows in one batched backward pass; both strategies then give the same numbers in the same way.

    >>> import trine
    >>> trine.autograd.functional.hessian(lambda x: (x**3).sum(), trine.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """

    def first(*args: Tensor) -> tuple:
        _, outputs = _tuple(func(*args), "outputs of the user-provided function", "hessian")
        _scalar(outputs, "hessian")
        return _gradients(outputs, args, (trine.ones_like(outputs[0]),), True, strict, "hessian")

    if outer_jacobian_strategy not in ("reverse-mode", "forward-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    _check_vectorize("hessian", vectorize, strict, outer_jacobian_strategy)
    with trine.enable_grad():
        many, given = _tuple(inputs, "inputs", "hessian")
        _, blocks = _jacobian(first, _fresh(given, create_graph), create_graph, strict, "hessian", vectorize)
    result = tuple(_plain(block, many, create_graph) for block in blocks)
    return result if many else result[0]


def vhp(func: Callable, inputs: Tensors, v: Tensors | None = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """``(func(inputs), v' H)`` for a function with one real result; shapes of ``v`` and of the product as ``inputs``.

    >>> import trine
    >>> trine.autograd.functional.vhp(lambda x: (x**3).sum(), trine.tensor([1.0, 2.0]), trine.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with trine.enable_grad():
        many, given = _tuple(inputs, "inputs", "vhp")
        args = _fresh(given, create_graph)
        vectors = _vectors(v, given, "vhp", "inputs")
        many_out, outputs = _tuple(func(*args), "outputs of the user-provided function", "vhp")
        _scalar(outputs, "vhp")
        first = _gradients(outputs, args, (trine.ones_like(outputs[0]),), True, strict, "vhp")
        product = _gradients(first, args, vectors, create_graph, strict, "vhp")
    return _plain(outputs, many_out, create_graph), _plain(product, many, create_graph)


def hvp(func: Callable, inputs: Tensors, v: Tensors | None = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """``(func(inputs), H v)``: a Hessian is symmetric, so this is :func:`vhp` under the name that programs use.

    >>> import trine
    >>> trine.autograd.functional.hvp(lambda x: (x**3).sum(), trine.tensor([1.0, 2.0]), trine.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    return vhp(func, inputs, v, create_graph, strict)
