"""Names that PyTorch's files use for dtypes, and what they are here."""

from __future__ import annotations

import trine

__all__ = ["DTYPE_NAMES", "STORAGE_DTYPES", "StorageType", "dtype_named", "item_size"]

STORAGE_DTYPES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexDoubleStorage": "complex128",
    "ComplexFloatStorage": "complex64",
}
"""Class names of PyTorch's typed storages."""

DTYPE_NAMES = frozenset(
    [
        "float64",
        "float32",
        "float16",
        "bfloat16",
        "double",
        "float",
        "half",
        "int64",
        "int32",
        "int16",
        "int8",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "long",
        "int",
        "short",
        "bool",
        "complex64",
        "complex128",
        "complex32",
        "cdouble",
        "cfloat",
        "chalf",
        "float8_e4m3fn",
        "float8_e5m2",
        "float8_e4m3fnuz",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
        "float4_e2m1fn_x2",
        "quint8",
        "qint8",
        "qint32",
        "quint4x2",
        "quint2x4",
    ]
)
"""Every name under which a dtype may occur in a file, known here or not."""


class StorageType:
    """A typed storage class named in a file; ``dtype`` is None for ``UntypedStorage``, which counts bytes."""

    __slots__ = ("dtype", "item_size", "name")

    def __init__(self, name: str, dtype: trine.dtype | None) -> None:
        self.name = name
        self.dtype = dtype
        self.item_size = 1 if dtype is None else item_size(dtype)

    def __repr__(self) -> str:
        return f"<storage class {self.name!r} named by the file>"


def dtype_named(name: str) -> trine.dtype | None:
    """The dtype of that name, or None when this version has none."""
    found = getattr(trine, name, None)
    return found if isinstance(found, trine.dtype) else None


def item_size(dtype: trine.dtype) -> int:
    """Bytes of one element."""
    return dtype.itemsize
