"""``FloatTensor`` and its like: PyTorch's first names for the dtypes, which older programs still use."""

from __future__ import annotations

from typing import Any

from trine import _C

__all__ = ["TYPES", "dtype_of_type", "type_name"]

Tensor = _C.Tensor

_NAMES = {
    "DoubleTensor": _C.float64, "FloatTensor": _C.float32, "HalfTensor": _C.float16, "BFloat16Tensor": _C.bfloat16,
    "LongTensor": _C.int64, "IntTensor": _C.int32, "ShortTensor": _C.int16, "CharTensor": _C.int8, "ByteTensor": _C.uint8,
    "BoolTensor": _C.bool, "ComplexFloatTensor": _C.complex64, "ComplexDoubleTensor": _C.complex128,
}  # fmt: skip
_BY_DTYPE = {dtype: name for name, dtype in _NAMES.items()}


class _TypedTensor(type):
    """Class of these names: calling one makes a tensor, ``isinstance`` asks for dtype and device."""

    dtype: _C.dtype

    def __call__(cls, *args: Any) -> Tensor:
        """A tensor from sizes (uninitialised) or from data, as ``Tensor(...)`` makes one."""
        if len(args) == 1 and not isinstance(args[0], int):
            if isinstance(args[0], (_C.Size, _C.UntypedStorage)):
                return Tensor(args[0]).to(cls.dtype)
            return _C.tensor(args[0].tolist() if isinstance(args[0], Tensor) else args[0], dtype=cls.dtype)
        return _C.ops["empty"](args or (0,), dtype=cls.dtype)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor) and value.dtype == cls.dtype and value.device.type == "cpu"

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


TYPES = {name: _TypedTensor(name, (), {"dtype": dtype, "__module__": "trine"}) for name, dtype in _NAMES.items()}


def type_name(t: Tensor) -> str:
    """``"torch.FloatTensor"``, with the device's name inside when it is not the CPU."""
    device = "" if t.device.type == "cpu" else f"{t.device.type}."
    return f"torch.{device}{_BY_DTYPE[t.dtype]}"


def dtype_of_type(kind: Any) -> _C.dtype:
    """The dtype that a dtype, a typed class or its name stands for. ValueError for another name."""
    if isinstance(kind, _C.dtype):
        return kind
    name = kind if isinstance(kind, str) else kind.__name__
    try:
        return _NAMES[name.rpartition(".")[2]]
    except KeyError:
        raise ValueError(f"type: invalid type: {name!r}") from None
