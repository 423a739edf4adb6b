"""Whether two results agree: same structure, dtype and shape, values within the dtype's rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
from samples import COMPLEX, FLOATS, SMALL_FLOATS, T

# dtype -> (relative, absolute): a few roundings of the dtype, as results of another order of operations differ by
TOLERANCE = {
    "float16": (2e-3, 1e-3),
    "bfloat16": (1.6e-2, 1e-2),
    "float32": (3e-6, 1e-5),
    "float64": (1e-9, 1e-9),
    "complex64": (3e-6, 1e-5),
    "complex128": (1e-9, 1e-9),
}


def difference(ours: Any, theirs: Any, rtol: float | None = None, zero_signs: bool = False, cancelling: bool = False) -> str | None:
    """A sentence about the first difference, or None.

    ``rtol`` widens the dtype's own tolerance; ``zero_signs`` asks for the same sign of zeros. ``cancelling``: rounded intermediate
    results may cancel each other, which shows in the 16-bit floats.
    """
    if isinstance(theirs, list) or isinstance(ours, list):
        if not (isinstance(theirs, list) and isinstance(ours, list)) or len(ours) != len(theirs):
            return f"structure: {shape_of(ours)} instead of {shape_of(theirs)}"
        for index, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
            found = difference(mine, other, rtol, zero_signs, cancelling)
            if found:
                return f"result {index}: {found}"
        return None
    if isinstance(theirs, T) != isinstance(ours, T):
        return f"{shape_of(ours)} instead of {shape_of(theirs)}"
    if not isinstance(theirs, T):
        same = ours == theirs or (isinstance(theirs, float) and np.isclose(ours, theirs, equal_nan=True))
        return None if same else f"{ours!r} instead of {theirs!r}"
    return tensor_difference(ours, theirs, rtol, zero_signs, cancelling)


def tensor_difference(ours: T, theirs: T, rtol: float | None, zero_signs: bool, cancelling: bool) -> str | None:
    if ours.dtype != theirs.dtype:
        return f"dtype {ours.dtype} instead of {theirs.dtype}"
    if ours.array.shape != theirs.array.shape:
        return f"shape {ours.array.shape} instead of {theirs.array.shape}"
    if ours.dtype not in FLOATS + SMALL_FLOATS + COMPLEX:
        wrong = ours.array != theirs.array
    else:
        relative, absolute = TOLERANCE[ours.dtype]
        relative = max(relative, rtol or 0)
        if cancelling and ours.dtype in SMALL_FLOATS:
            absolute *= 4
        wide = np.complex128 if ours.dtype in COMPLEX else np.float64
        wrong = ~np.isclose(ours.array.astype(wide), theirs.array.astype(wide), relative, absolute, equal_nan=True)
        if zero_signs and ours.dtype not in COMPLEX:
            zeros = (theirs.array == 0) & (ours.array == 0)
            wrong |= zeros & (np.signbit(ours.array) != np.signbit(theirs.array))
    if not wrong.any():
        return None
    where = tuple(int(n) for n in np.argwhere(wrong)[0])
    count = int(wrong.sum())
    return f"{ours.array[where]!r} instead of {theirs.array[where]!r} at {where} ({count} of {wrong.size} differ)"


def shape_of(value: Any) -> str:
    if isinstance(value, T):
        return f"{value.dtype}{list(value.array.shape)}"
    if isinstance(value, list):
        return "[" + ", ".join(shape_of(item) for item in value) + "]"
    return repr(value)
