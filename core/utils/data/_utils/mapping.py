"""Memory files mapped without keeping their descriptor, so that batches in use do not count against the open-file limit."""

from __future__ import annotations

import mmap
import os
import sys
import weakref
from typing import Any

__all__ = ["map_descriptor"]

_SHARED_POPULATED = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)


def _map_by_libc(descriptor: int, length: int) -> memoryview:
    # Before Python 3.13 mmap.mmap keeps a duplicate of the descriptor.
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    address = libc.mmap(None, length, mmap.PROT_READ | mmap.PROT_WRITE, _SHARED_POPULATED, descriptor, 0)
    if address is None or address == ctypes.c_void_p(-1).value:
        code = ctypes.get_errno()
        raise OSError(code, f"DataLoader: cannot map a batch of {length} bytes: {os.strerror(code)}")
    memory = (ctypes.c_uint8 * length).from_address(address)
    release = weakref.finalize(memory, libc.munmap, address, length)
    release.atexit = False  # tensors may outlive the interpreter's exit handlers; the system unmaps
    return memoryview(memory).cast("B")


def map_descriptor(descriptor: int, length: int) -> memoryview:
    """Writable view of a memory file; closes ``descriptor``. The mapping lives as long as views of it do."""
    try:
        if sys.version_info >= (3, 13):
            mapping: Any = mmap.mmap(descriptor, length, flags=_SHARED_POPULATED, trackfd=False)
            return memoryview(mapping)
        return _map_by_libc(descriptor, length)
    finally:
        os.close(descriptor)
