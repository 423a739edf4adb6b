"""What pickles of tensors name: the functions that build them again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trine import _C, _ops

Tensor = _C.Tensor


def _set_lazy(t: Tensor, conj: bool, neg: bool) -> Tensor:
    """Make a tensor that is nobody's view stand for the conjugates, the negatives of what lies in its memory."""
    if conj:
        t.data = t._conj()
    if neg:
        t.data = t._neg_view()
    return t


def _rebuild_tensor(
    data: Any, dtype: _C.dtype, size: tuple, stride: tuple, requires_grad: bool, device: str, conj: bool = False, neg: bool = False
) -> Tensor:
    """A tensor on a storage of its own that copies ``data``, a buffer."""
    data = memoryview(data)
    storage = _ops.empty((data.nbytes,), dtype=_C.uint8).untyped_storage()
    if data.nbytes:
        memoryview(storage)[:] = data
    t = _ops.empty((0,), dtype=dtype).set_(storage, 0, size, stride)
    return _set_lazy(t.to(device), conj, neg).requires_grad_(requires_grad)


def _rebuild_meta_tensor(dtype: _C.dtype, size: tuple, stride: tuple, requires_grad: bool) -> Tensor:
    """A tensor without memory."""
    return _ops.empty_strided(size, stride, dtype=dtype, device="meta").requires_grad_(requires_grad)


def _rebuild_from_type(function: Callable, kind: type, arguments: tuple, state: dict) -> Tensor:
    """A tensor of a subclass, or with attributes."""
    t = function(*arguments)
    if type(t) is not kind:
        t = t.as_subclass(kind)
    for name, value in state.items():
        setattr(t, name, value)
    return t
