"""Names of dtypes, layouts and quantisation schemes that programs mention and Trine's operators do not compute with yet.

They compare, print and pickle as PyTorch's do; an operator that is given one refuses with TypeError or RuntimeError.
"""

from __future__ import annotations

from typing import Any

from trine import _C

__all__ = ["LATER_DTYPES", "NAMES", "dtype_of_name", "qscheme"]


class _Named:
    """A constant that prints as ``torch.NAME``; there is one object for each name."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> tuple:
        return dtype_of_name, (self._name,)

    def __copy__(self) -> _Named:
        return self

    def __deepcopy__(self, memo: dict) -> _Named:
        return self


class _LaterDtype(_Named):
    """A dtype by name; ``isinstance(value, trine.dtype)`` holds."""

    __slots__ = ("is_complex", "is_floating_point", "is_signed", "itemsize")

    def __init__(self, name: str, itemsize: int, is_signed: bool, is_complex: bool = False) -> None:
        super().__init__(name)
        self.itemsize, self.is_signed, self.is_complex, self.is_floating_point = itemsize, is_signed, is_complex, False

    __class__ = property(lambda self: _C.dtype)  # type: ignore[assignment]


class _LaterLayout(_Named):
    __slots__ = ()
    __class__ = property(lambda self: _C.layout)  # type: ignore[assignment]


class qscheme(_Named):
    """How a quantised tensor maps integers to numbers: ``trine.per_tensor_affine`` and its like."""

    __slots__ = ()


LATER_DTYPES: dict[str, Any] = {
    "qint8": _LaterDtype("qint8", 1, True), "quint8": _LaterDtype("quint8", 1, False), "qint32": _LaterDtype("qint32", 4, True),
    "quint4x2": _LaterDtype("quint4x2", 1, False), "quint2x4": _LaterDtype("quint2x4", 1, False),
    "complex32": _LaterDtype("complex32", 4, True, is_complex=True),
}  # fmt: skip
NAMES: dict[str, Any] = {
    **LATER_DTYPES,
    "chalf": LATER_DTYPES["complex32"],
    **{n: _LaterLayout(n) for n in ("sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "_mkldnn")},
    **{
        n: qscheme(n)
        for n in (
            "per_tensor_affine", "per_tensor_symmetric", "per_channel_affine", "per_channel_symmetric", "per_channel_affine_float_qparams",
        )
    },
    "legacy_contiguous_format": _C.contiguous_format,
}  # fmt: skip


def dtype_of_name(name: str) -> Any:
    """The object that prints as ``torch.NAME``."""
    return NAMES[name]
