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


def _jacobian(func: Callable, args: tuple, create_graph: bool, strict: bool, name: str) -> tuple[bool, tuple]:
    many_out, outputs = _tuple(func(*args), "outputs of the user-provided function", name)
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


def jacobian(
    func: Callable, inputs: Tensors, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """Derivative of every output element by every input element: shape ``output.shape + input.shape``.

    Several inputs give a tuple, several outputs a tuple of these. ``vectorize`` and ``strategy`` change nothing
    in the result and are accepted for programs that name them.

    >>> import trine
    >>> trine.autograd.functional.jacobian(lambda x: x * x, trine.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    with trine.enable_grad():
        many, given = _tuple(inputs, "inputs", "jacobian")
        many_out, blocks = _jacobian(func, _fresh(given, create_graph), create_graph, strict, "jacobian")
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

    >>> import trine
    >>> trine.autograd.functional.hessian(lambda x: (x**3).sum(), trine.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """

    def first(*args: Tensor) -> tuple:
        _, outputs = _tuple(func(*args), "outputs of the user-provided function", "hessian")
        _scalar(outputs, "hessian")
        return _gradients(outputs, args, (trine.ones_like(outputs[0]),), True, strict, "hessian")

    with trine.enable_grad():
        many, given = _tuple(inputs, "inputs", "hessian")
        _, blocks = _jacobian(first, _fresh(given, create_graph), create_graph, strict, "hessian")
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
