"""Names for annotations: what the arguments of many functions may be."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from trine import _C

__all__ = ["Device", "Number", "Storage", "_TensorOrTensors", "_bool", "_device", "_dtype", "_float", "_int", "_layout", "_size"]

Device = _C.device | str | int | None
Number = builtins.int | builtins.float | builtins.bool
Storage = _C.UntypedStorage

# PyTorch's own spellings, which programs import
_TensorOrTensors = _C.Tensor | Sequence[_C.Tensor]
_int = builtins.int
_float = builtins.float
_bool = builtins.bool
_dtype = _C.dtype
_device = _C.device
_layout = _C.layout
_size = _C.Size | list[builtins.int] | tuple[builtins.int, ...]
