"""DLPack: memory shared with other libraries."""

from __future__ import annotations

from typing import Any

from trine import _C

__all__ = ["from_dlpack", "to_dlpack"]

_CPU_DEVICES = (1, 3, 11)  # DLPack's kDLCPU and the page-locked memory of CUDA and ROCm, which the CPU reads alike


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> _C.Tensor:
    """A tensor on the memory of an object with ``__dlpack__``, or of a DLPack capsule (which is used up).

    Shape, strides and dtype are those of the object; changes show on both sides. ``copy=True`` takes a copy, ``copy=False``
    refuses one. ``device`` moves the result. Raises BufferError for memory that is not the CPU's.

    >>> import numpy, trine
    >>> a = numpy.zeros(2)
    >>> t = trine.from_dlpack(a)
    >>> a[0] = 1
    >>> t
    tensor([1., 0.], dtype=torch.float64)
    """
    if hasattr(ext_tensor, "__dlpack__"):
        kind, index = ext_tensor.__dlpack_device__() if hasattr(ext_tensor, "__dlpack_device__") else (1, 0)
        if kind not in _CPU_DEVICES:
            raise BufferError(f"from_dlpack: the memory is on the DLPack device ({int(kind)}, {index}), not on the CPU")
        capsule = ext_tensor.__dlpack__()
    else:
        capsule = ext_tensor
    result = _C._dlpack_import(capsule)
    if copy:
        result = result.clone()
    if device is not None and result.device != _C.device(device):
        if copy is False:
            raise ValueError(f"from_dlpack: moving the memory to {device} takes a copy, and copy=False was given")
        result = result.to(device)
    return result


def to_dlpack(tensor: _C.Tensor) -> Any:
    """A DLPack capsule of the tensor's memory, to be used once."""
    return tensor.__dlpack__()
