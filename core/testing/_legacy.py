"""Names of ``testing`` in PyTorch 1.10 that tests of that time use."""

from __future__ import annotations

import warnings
from typing import Any

import trine

from ._comparison import assert_close

__all__ = ["assert_allclose", "floating_types", "get_all_complex_dtypes", "get_all_dtypes", "get_all_fp_dtypes", "get_all_int_dtypes"]

_TOLERANCES = {trine.float16: (1e-3, 1e-3), trine.float32: (1e-4, 1e-5), trine.float64: (1e-5, 1e-8)}


def assert_allclose(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None, equal_nan: bool = True, msg: str = ""
) -> None:  # fmt: skip
    """Deprecated form of :func:`assert_close`: converts both to tensors, compares NaN as equal, and no dtypes or devices.

    ValueError when only one of ``rtol`` and ``atol`` is given; AssertionError when the values differ.
    """
    warnings.warn("assert_allclose is deprecated, use assert_close", FutureWarning, stacklevel=2)
    a = actual if isinstance(actual, trine.Tensor) else trine.tensor(actual)
    b = expected if isinstance(expected, trine.Tensor) else trine.tensor(expected, dtype=a.dtype)
    if rtol is None and atol is None:
        pairs = [_TOLERANCES.get(t.dtype, (0.0, 0.0)) for t in (a, b)]
        rtol, atol = max(p[0] for p in pairs), max(p[1] for p in pairs)
    assert_close(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True, check_dtype=False, check_stride=False, msg=msg or None)


def floating_types() -> tuple[trine.dtype, ...]:
    """float32 and float64."""
    return trine.float32, trine.float64


def get_all_int_dtypes() -> list[trine.dtype]:
    """The integer dtypes."""
    return [trine.uint8, trine.int8, trine.int16, trine.int32, trine.int64]


def get_all_complex_dtypes() -> list[trine.dtype]:
    """The complex dtypes."""
    return [trine.complex64, trine.complex128]


def get_all_fp_dtypes(include_half: bool = True, include_bfloat16: bool = True) -> list[trine.dtype]:
    """The floating dtypes, with or without the two short ones."""
    short = [trine.float16] * include_half + [trine.bfloat16] * include_bfloat16
    return [trine.float32, trine.float64, *short]


def get_all_dtypes(
    include_half: bool = True, include_bfloat16: bool = True, include_bool: bool = True, include_complex: bool = True
) -> list[trine.dtype]:  # fmt: skip
    """All dtypes that operators compute with, without the kinds that are left out."""
    dtypes = get_all_int_dtypes() + get_all_fp_dtypes(include_half, include_bfloat16)
    return dtypes + [trine.bool] * include_bool + (get_all_complex_dtypes() if include_complex else [])
