"""Batches from a worker process to its parent through shared memory.

A batch is pickled with the bytes of its tensors and arrays left out. These are packed into one anonymous memory file,
whose descriptor travels over the socket and is closed on both sides once it is mapped. Such a file has no name, so that
nothing can leak when a process is killed; it does not lie in /dev/shm, whose room is small in containers; and a batch of
any number of tensors holds no descriptor while it is in use. Where the system has no such files or no room, the bytes go
through the socket.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import struct
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import Any

import trine
from trine.serialization import _memory

from .mapping import map_descriptor

__all__ = ["Message", "receive", "send", "serialize"]

_ALIGNMENT = 64
_WORTH_SHARING = 1 << 15
_INLINE, _SHARED = 0, 1
_HEADER = struct.Struct("<BIQ")


def _rebuild_tensor(buffer: Any, dtype: str, size: tuple[int, ...], requires_grad: bool) -> Any:
    if len(buffer):
        # Out-of-band buffers are writable memory of this process or of the mapping, both to be used in place.
        storage = trine.UntypedStorage.from_buffer(buffer)
    else:
        storage = trine.empty(0, dtype=trine.uint8).untyped_storage()
    stride, step = [], 1
    for extent in reversed(size):
        stride.append(step)
        step *= max(extent, 1)
    tensor = trine.empty(0, dtype=getattr(trine, dtype)).set_(storage, 0, size, tuple(reversed(stride)))
    return tensor.requires_grad_() if requires_grad else tensor


class _BatchPickler(pickle.Pickler):
    """Leaves the bytes of CPU tensors out of band; NumPy does the same for its arrays by itself."""

    def reducer_override(self, obj: Any) -> Any:
        # Subclasses may carry more than data, and other devices have no bytes here: their own reduction applies.
        if type(obj) is not trine.Tensor or obj.device.type != "cpu":
            return NotImplemented
        if obj.grad_fn is not None:
            raise RuntimeError(
                "DataLoader: a sample is a tensor that is part of a gradient graph, which cannot leave its process; detach() it"
            )
        flat = obj.detach().contiguous()
        item = flat.dtype.itemsize
        begin = flat.storage_offset() * item
        data = _memory.storage_bytes(flat.untyped_storage())[begin : begin + flat.numel() * item]
        dtype = str(flat.dtype).rpartition(".")[2]
        return _rebuild_tensor, (pickle.PickleBuffer(data), dtype, tuple(flat.shape), obj.requires_grad)


class Message:
    """A batch ready to be sent: nothing about it can fail any more but the connection."""

    def __init__(self, pickled: bytes, buffers: list[memoryview]) -> None:
        self.pickled = pickled
        self.buffers = buffers


def serialize(obj: Any) -> Message:
    """Pickle ``obj``; raises what its parts raise when they cannot be pickled."""
    out: list[pickle.PickleBuffer] = []
    stream = io.BytesIO()
    _BatchPickler(stream, protocol=5, buffer_callback=out.append).dump(obj)
    return Message(stream.getvalue(), [buffer.raw() for buffer in out])


def _placed(buffers: list[int]) -> tuple[list[int], int]:
    offsets, position = [], 0
    for length in buffers:
        position += -position % _ALIGNMENT
        offsets.append(position)
        position += length
    return offsets, position


def _share(buffers: list[memoryview], offsets: list[int], total: int) -> int | None:
    """Descriptor of an anonymous memory file with the buffers' bytes; None where there is none to be had."""
    if not hasattr(os, "memfd_create"):
        return None
    try:
        descriptor = os.memfd_create("trine-batch", os.MFD_CLOEXEC)
    except OSError:
        return None
    try:
        os.ftruncate(descriptor, total)
        # Written, not mapped: a shortage is then an error here instead of a fatal signal at the first touch.
        for buffer, offset in zip(buffers, offsets, strict=True):
            while buffer.nbytes:
                written = os.pwrite(descriptor, buffer, offset)
                buffer, offset = buffer[written:], offset + written
        return descriptor
    except OSError:
        os.close(descriptor)
        return None


def send(connection: Connection, message: Message) -> None:
    """Send a batch; raises ``OSError`` when the other side is gone."""
    lengths = [buffer.nbytes for buffer in message.buffers]
    offsets, total = _placed(lengths)
    descriptor = _share(message.buffers, offsets, total) if total >= _WORTH_SHARING else None
    header = _HEADER.pack(_INLINE if descriptor is None else _SHARED, len(lengths), total)
    header += struct.pack(f"<{len(lengths)}Q", *lengths)
    try:
        connection.send_bytes(header)
        connection.send_bytes(message.pickled)
        if descriptor is None:
            for buffer in message.buffers:
                if buffer.nbytes:
                    connection.send_bytes(buffer)
        else:
            reduction.send_handle(connection, descriptor, 0)
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _receive_inline(connection: Connection, length: int) -> memoryview:
    data = bytearray(length)
    if length:
        connection.recv_bytes_into(data)
    return memoryview(data)


def receive(connection: Connection) -> Any:
    """Next batch; raises ``EOFError`` or ``OSError`` when the other side is gone, in the middle of a message too."""
    header = connection.recv_bytes()
    kind, count, total = _HEADER.unpack_from(header)
    lengths = struct.unpack_from(f"<{count}Q", header, _HEADER.size)
    pickled = connection.recv_bytes()
    if kind == _SHARED:
        view = map_descriptor(reduction.recv_handle(connection), total)
        buffers = [view[offset : offset + length] for offset, length in zip(_placed(list(lengths))[0], lengths, strict=True)]
    else:
        buffers = [_receive_inline(connection, length) for length in lengths]
    return pickle.loads(pickled, buffers=buffers)


def close_quietly(connection: Connection) -> None:
    """Close a connection that may be closed or broken already."""
    with contextlib.suppress(OSError):
        connection.close()
