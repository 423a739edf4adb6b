"""Limits of number types: ``finfo`` for floats, ``iinfo`` for integers."""

from __future__ import annotations

import math

from trine import _C

__all__ = ["finfo", "iinfo"]

# name: (exponent bits, fraction bits)
_FLOATS = {"float16": (5, 10), "bfloat16": (8, 7), "float32": (8, 23), "float64": (11, 52)}


def _name(dtype: object) -> str:
    return str(dtype).rpartition(".")[2]


class finfo:
    """Limits of a floating dtype (of the parts, for a complex one; default: the default dtype).

    ``bits``, ``eps`` (spacing at 1), ``max``, ``min`` (the most negative number), ``tiny`` or ``smallest_normal``,
    ``resolution`` (decimal) and ``dtype`` (its name). Raises TypeError for dtypes that are not floating.

    >>> import trine
    >>> trine.finfo(trine.float32).eps
    1.1920928955078125e-07
    """

    def __init__(self, type: _C.dtype | None = None) -> None:
        dtype = _C.get_default_dtype() if type is None else type
        if not isinstance(dtype, _C.dtype):
            raise TypeError(f"finfo: expected a dtype, got {dtype!r}")
        if dtype.is_complex:
            dtype = dtype.to_real()
        if not dtype.is_floating_point:
            raise TypeError(f"finfo: needs a floating point dtype; use iinfo for {dtype}")
        self.dtype = _name(dtype)
        exponent, fraction = _FLOATS[self.dtype]
        largest_exponent = 2 ** (exponent - 1) - 1
        self.bits = 1 + exponent + fraction
        self.eps = 2.0**-fraction
        self.max = (2.0 - self.eps) * 2.0**largest_exponent
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0 ** (1 - largest_exponent)
        self.resolution = float(f"1e{-math.floor(fraction * math.log10(2))}")

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        numbers = ", ".join(f"{name}={getattr(self, name):.6g}" for name in names)
        return f"finfo({numbers}, dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and other.dtype == self.dtype

    def __hash__(self) -> int:
        return hash(("finfo", self.dtype))


class iinfo:
    """Limits of an integer dtype: ``bits``, ``min``, ``max``, ``dtype`` (its name). Raises TypeError for other dtypes.

    >>> import trine
    >>> trine.iinfo(trine.uint8).max
    255
    """

    def __init__(self, type: _C.dtype) -> None:
        if not isinstance(type, _C.dtype):
            raise TypeError(f"iinfo: expected a dtype, got {type!r}")
        self.dtype = _name(type)
        if type.is_floating_point or type.is_complex or self.dtype == "bool":
            raise TypeError(f"iinfo: needs an integer dtype, not {type}")
        self.bits = 8 * type.itemsize
        unsigned = self.dtype.startswith("u")
        self.min = 0 if unsigned else -(2 ** (self.bits - 1))
        self.max = 2**self.bits - 1 if unsigned else 2 ** (self.bits - 1) - 1

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, iinfo) and other.dtype == self.dtype

    def __hash__(self) -> int:
        return hash(("iinfo", self.dtype))
