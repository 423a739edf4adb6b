"""Real Jacobians as plain lists of floats, found in three ways: by differences, by the backward pass, by forward mode.

A complex element counts as two real ones, its real and its imaginary part. Gradients and tangents of complex tensors then
need no convention of their own: seeding 1 asks for the real part's row, seeding 1j for the imaginary part's.

The arithmetic is Python's, so that the library's own kernels are judged by something else.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import trine
from trine import _C, _ops

from . import forward_ad
from ._run import grad

__all__ = ["as_outputs", "by_backward", "by_differences", "by_forward_mode", "reals", "seeds"]

Tensor = _C.Tensor
Matrix = list[list[float]]  # [output element][input element]


def reals(t: Tensor | None, like: Tensor) -> list[float]:
    """The elements of ``t`` (zeros of the shape of ``like`` for None) as floats, two for a complex one."""
    if t is None:
        return [0.0] * (like.numel() * (2 if like.dtype.is_complex else 1))
    values = t.detach().reshape(-1).tolist()
    if not like.dtype.is_complex:
        return [v.real for v in values]
    return [part for v in values for part in (v.real, v.imag)]


def seeds(t: Tensor) -> Iterator[Tensor]:
    """Unit tensors of the shape of ``t``, one per real element."""
    for i in range(t.numel()):
        for unit in (1, 1j) if t.dtype.is_complex else (1,):
            flat = _ops.zeros((t.numel(),), dtype=t.dtype)
            flat[i] = unit
            yield flat.reshape(t.shape)


def as_outputs(result: object) -> tuple[Tensor, ...]:
    """The tensors that can have gradients among what a function returned."""
    parts = (result,) if isinstance(result, Tensor) else tuple(result)  # type: ignore[arg-type]
    return tuple(p for p in parts if isinstance(p, Tensor) and (p.dtype.is_floating_point or p.dtype.is_complex))


def _transpose(columns: Matrix, height: int) -> Matrix:
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in range(height)]


def by_differences(function: Callable, inputs: Sequence, argument: Tensor, eps: float) -> list[Matrix]:
    """Central differences with respect to ``argument``, one of ``inputs``; a matrix for each output."""
    data = argument.data  # writes through it are not counted as changes of the argument
    columns: list[list[list[float]]] = []

    def outputs() -> list[list[float]]:
        with trine.no_grad():
            return [reals(o, o) for o in as_outputs(function(*inputs))]

    heights = [len(values) for values in outputs()]
    for index in itertools.product(*(range(n) for n in argument.shape)):
        value = data[index].item()
        for unit in (eps, eps * 1j) if argument.dtype.is_complex else (eps,):
            data[index] = value + unit
            high = outputs()
            data[index] = value - unit
            low = outputs()
            data[index] = value
            columns.append([[(h - l) / (2 * eps) for h, l in zip(hs, ls, strict=True)] for hs, ls in zip(high, low, strict=False)])
    return [_transpose([column[o] for column in columns], height) for o, height in enumerate(heights)]


def by_backward(output: Tensor, arguments: Sequence[Tensor]) -> list[Matrix]:
    """One backward pass per element of ``output``; a matrix for each argument. Other outputs get no gradient at all."""
    rows = []
    for seed in seeds(output):
        gradients = grad(output, arguments, seed, retain_graph=True, allow_unused=True)
        rows.append([reals(g, a) for g, a in zip(gradients, arguments, strict=True)])
    return [[row[a] for row in rows] for a in range(len(arguments))]


def by_forward_mode(function: Callable, inputs: Sequence, argument: Tensor) -> list[Matrix]:
    """One forward pass with a tangent per element of ``argument``; a matrix for each output."""
    columns: list[list[list[float]]] = []
    heights: list[int] = []
    for seed in seeds(argument):
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(argument.detach(), seed)
            given = [dual if i is argument else i.detach() if isinstance(i, Tensor) else i for i in inputs]
            unpacked = [forward_ad.unpack_dual(o) for o in as_outputs(function(*given))]
            columns.append([reals(u.tangent, u.primal) for u in unpacked])
    if columns:
        heights = [len(c) for c in columns[0]]
    return [_transpose([column[o] for column in columns], height) for o, height in enumerate(heights)]
