"""Helpers for tests of programs that use tensors."""

from ._comparison import assert_close
from ._creation import make_tensor
from ._legacy import assert_allclose, floating_types, get_all_complex_dtypes, get_all_dtypes, get_all_fp_dtypes, get_all_int_dtypes

__all__ = [
    "assert_allclose", "assert_close", "floating_types", "get_all_complex_dtypes", "get_all_dtypes", "get_all_fp_dtypes",
    "get_all_int_dtypes", "make_tensor",
]  # fmt: skip
