"""Storages that processes forked from this one share with it."""

from __future__ import annotations

import mmap
import weakref

from trine import _C

__all__ = ["is_shared", "share"]

# Address of a shared storage -> its mapping, which lives as long as the storage does.
_mappings: weakref.WeakValueDictionary[int, mmap.mmap] = weakref.WeakValueDictionary()


def share(storage: _C.UntypedStorage) -> _C.UntypedStorage:
    """A shared storage with a copy of the bytes of ``storage``; itself when it is empty."""
    if not storage.nbytes():
        return storage
    mapping = mmap.mmap(-1, storage.nbytes())
    shared = _C.UntypedStorage.from_buffer(mapping)
    shared.copy_(storage)
    _mappings[shared.data_ptr()] = mapping
    return shared


def is_shared(storage: _C.UntypedStorage) -> bool:
    """Whether :func:`share` made the storage."""
    return storage.data_ptr() in _mappings
