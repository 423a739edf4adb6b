"""``make_tensor``: random tensors of any dtype for tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import trine

__all__ = ["make_tensor"]


def _bounds(dtype: trine.dtype, low: float | None, high: float | None) -> tuple[float, float]:
    """The range to draw from, cut to what the dtype holds."""
    if dtype == trine.bool:
        default, limits = (0, 2), (0, 2)
    elif dtype.is_floating_point or dtype.is_complex:
        info = trine.finfo(dtype)
        default, limits = (-9, 9), (info.min, info.max)
    else:
        integers = trine.iinfo(dtype)
        default = (0 if integers.min == 0 else -9, 10)
        limits = (integers.min, integers.max + 1)
    low = default[0] if low is None else low
    high = default[1] if high is None else high
    if math.isnan(low) or math.isnan(high) or low >= high:
        raise ValueError(f"make_tensor: low must be less than high, but got {low} and {high}")
    return max(low, limits[0]), min(high, limits[1])


def make_tensor(
    *shape: int | Sequence[int],
    dtype: trine.dtype,
    device: str | trine.device = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: trine.memory_format | None = None,
) -> trine.Tensor:
    """A tensor of ``shape`` with uniform random values in ``[low, high)``.

    Default ranges: ``[-9, 9)`` for floating and complex dtypes, ``[-9, 10)`` for signed and ``[0, 10)`` for unsigned integers,
    both values for bool. ``exclude_zero`` puts the smallest positive number (1 for integers) where a zero came up; ``noncontiguous``
    spreads the elements over twice the memory. Raises ValueError for an empty range.

    >>> import trine
    >>> trine.testing.make_tensor(2, 3, dtype=trine.float32).shape
    torch.Size([2, 3])
    """
    sizes: Any = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    if noncontiguous and memory_format is not None:
        raise ValueError("make_tensor: noncontiguous and memory_format are mutually exclusive")
    lowest, highest = _bounds(dtype, low, high)
    drawn = (*sizes[:-1], 2 * sizes[-1]) if noncontiguous and sizes else sizes
    if dtype.is_complex:
        part = dtype.to_real()
        result = trine.complex(*(trine.empty(drawn, dtype=part).uniform_(lowest, highest) for _ in range(2)))
    elif dtype.is_floating_point:
        result = trine.empty(drawn, dtype=trine.float64).uniform_(lowest, highest).to(dtype)
    else:
        result = trine.randint(math.ceil(lowest), math.ceil(highest), drawn, dtype=trine.int64).to(dtype)
    if noncontiguous and sizes:
        result = result[..., ::2]
    if exclude_zero:
        smallest = trine.finfo(dtype).tiny if dtype.is_floating_point or dtype.is_complex else 1
        result = trine.where(result == 0, trine.full_like(result, smallest), result)
        if noncontiguous and sizes:
            result = trine.stack([result, result], -1).flatten(-2)[..., ::2]
    if memory_format is not None:
        result = result.contiguous(memory_format=memory_format)
    return result.to(device).requires_grad_(requires_grad)
