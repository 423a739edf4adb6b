"""Number sequences and differences along them: `logspace`, `range`, `gradient`."""

from __future__ import annotations

import builtins
import warnings
from collections.abc import Sequence
from typing import Any

from trine import _C, _ops

from .overrides import overridable

__all__ = ["gradient", "logspace", "range"]

Tensor = _C.Tensor


def logspace(
    start: float,
    end: float,
    steps: int,
    base: float = 10.0,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`steps` numbers from ``base ** start`` to ``base ** end``, whose logarithms are equally far apart: shape `(steps,)`.

    >>> import trine
    >>> trine.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    if steps < 0:
        raise RuntimeError(f"logspace: number of steps must be non-negative, got {steps}")
    exponents = _ops.linspace(start, end, steps, dtype=_C.float64, device=device)
    wanted = dtype or (out.dtype if out is not None else _C.get_default_dtype())
    result = _ops.pow(base, exponents).to(wanted)
    if out is not None:
        return out.resize_(result.shape).copy_(result)
    return result.requires_grad_() if requires_grad else result


def range(
    start: float, end: float | None = None, step: float = 1, *, out: Tensor | None = None, dtype: Any = None, **options: Any
) -> Tensor:
    """Like `arange`, but with the end included: shape `(floor((end - start) / step) + 1,)`. Deprecated, as in PyTorch.

    RuntimeError when `step` is zero or leads away from `end`.
    """
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with Python's range "
        "builtin. Instead, use torch.arange, which produces values in [start, end).",
        UserWarning,
        stacklevel=2,
    )
    if end is None:
        start, end = 0, start
    if step == 0:
        raise RuntimeError("range: step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError(f"range: upper bound and lower bound inconsistent with step sign: {start}, {end}, {step}")
    count = int((end - start) / step) + 1
    wanted = dtype or (out.dtype if out is not None else _C.get_default_dtype())
    result = (_ops.arange(count, dtype=_C.float64) * step + start).to(wanted)
    if out is not None:
        return out.resize_(result.shape).copy_(result)
    requires_grad = options.pop("requires_grad", False)
    return result.to(options["device"]) if options.get("device") else result.requires_grad_(requires_grad)


def _slopes(t: Tensor, spacing: Any, dim: int, edge_order: int) -> Tensor:
    n = t.shape[dim]
    if n < edge_order + 1:
        raise RuntimeError(f"gradient: expected each dimension size to be at least {edge_order + 1} (edge_order + 1), got {n}")
    if not isinstance(spacing, Tensor):
        spacing = _ops.full((n - 1,), float(spacing), dtype=_C.float64)
    else:
        spacing = spacing.diff()
    shape = [1] * t.dim()
    shape[dim] = -1
    h = spacing.to(t.real.dtype if t.is_complex() else t.dtype if t.is_floating_point() else _C.get_default_dtype())

    def part(first: int, count: int) -> Tensor:
        return t.narrow(dim, first, count)

    def width(first: int, count: int) -> Tensor:
        return h.narrow(0, first, count).reshape(shape)

    if edge_order == 1:
        first = (part(1, 1) - part(0, 1)) / width(0, 1)
        last = (part(n - 1, 1) - part(n - 2, 1)) / width(n - 2, 1)
    else:
        first = _parabola(part(0, 1), part(1, 1), part(2, 1), width(0, 1), width(1, 1))
        last = -_parabola(part(n - 1, 1), part(n - 2, 1), part(n - 3, 1), width(n - 2, 1), width(n - 3, 1))
    if n == 2:
        return _ops.cat([first, last], dim)
    before, after = width(0, n - 2), width(1, n - 2)
    rising, falling = (part(2, n - 2) - part(1, n - 2)) / after, (part(1, n - 2) - part(0, n - 2)) / before
    inner = (before * rising + after * falling) / (before + after)
    return _ops.cat([first, inner, last], dim)


def _parabola(a: Tensor, b: Tensor, c: Tensor, h: Tensor, k: Tensor) -> Tensor:
    """Slope at a of the parabola through a, b at distance h and c another k away."""
    return -(2 * h + k) / (h * (h + k)) * a + (h + k) / (h * k) * b - h / (k * (h + k)) * c


@overridable
def gradient(input: Tensor, *, spacing: Any = 1, dim: int | Sequence[int] | None = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """Estimated partial derivatives of samples along each dimension, second order inside and of `edge_order` (1 or 2) at the ends.

    `spacing` is a distance, one distance for each dimension, or the coordinates of the samples as one 1-dimensional tensor for each
    dimension. Every result has the shape of `input`.

    >>> import trine
    >>> trine.gradient(trine.tensor([1.0, 4.0, 9.0, 16.0]))
    (tensor([3., 4., 6., 7.]),)
    """
    dims = [*builtins.range(input.dim())] if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if edge_order not in (1, 2):
        raise RuntimeError(f"gradient: edge_order must be 1 or 2, got {edge_order}")
    wrapped = [d + input.dim() if d < 0 else d for d in dims]
    if any(not 0 <= d < input.dim() for d in wrapped):
        raise IndexError(f"gradient: dim {dim} out of range for input of shape {tuple(input.shape)}")
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError(f"gradient: dim {dim} appears multiple times in the list of dims")
    spaces = list(spacing) if isinstance(spacing, (list, tuple)) else [spacing] * len(wrapped)
    if len(spaces) != len(wrapped):
        raise RuntimeError(f"gradient: expected spacing to be a number or a list of {len(wrapped)}, got {len(spaces)}")
    for space, d in zip(spaces, wrapped, strict=True):
        if isinstance(space, Tensor) and space.dim() == 1 and space.numel() != input.shape[d]:
            raise RuntimeError(f"gradient: expected {input.shape[d]} coordinates for dimension {d}, got {space.numel()}")
    items = [s.item() if isinstance(s, Tensor) and s.dim() == 0 else s for s in spaces]
    return tuple(_slopes(input, s, d, edge_order) for s, d in zip(items, wrapped, strict=True))
