"""The border between tensors and the native module, which sees memory only."""

from __future__ import annotations

import trine
from trine import Tensor

_DTYPE_OF_BITS = {8: trine.uint8, 16: trine.int32}


def buffer_of(tensor: Tensor) -> memoryview:
    """The memory of a contiguous CPU tensor, without a copy."""
    return memoryview(tensor)


def tensor_of(data: bytes) -> Tensor:
    """A 1-D uint8 tensor that owns a copy of ``data``.

    >>> from trine.vision._buffers import tensor_of
    >>> tensor_of(b"ab").tolist()
    [97, 98]
    """
    if not data:
        return trine.empty(0, dtype=trine.uint8)
    return trine.frombuffer(bytearray(data), dtype=trine.uint8)


def new_image(height: int, width: int, channels: int, bits: int) -> Tensor:
    """An uninitialised (height, width, channels) tensor: uint8 for 8-bit samples, int32 for 16-bit ones."""
    return trine.empty((height, width, channels), dtype=_DTYPE_OF_BITS[bits])
