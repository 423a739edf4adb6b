"""Storages of a checkpoint: persistent ids resolved to bytes, mapped in place or copied, then moved to their device."""

from __future__ import annotations

from typing import Any

import trine

from . import _memory
from .archive import Archive
from .dtypes import StorageType
from .errors import CorruptFileError
from .locations import Placer

__all__ = ["ArchiveStorages", "StorageTable", "parse_pid", "swap_bytes"]

_LARGEST = (1 << 63) - 1


def parse_pid(pid: Any, extra: int = 0) -> tuple[StorageType, str, str, int]:
    """``(storage type, key, location, element count)`` of the tuple that stands for a storage in a pickle."""
    if type(pid) is not tuple or len(pid) not in (5, 5 + extra) or pid[0] not in ("storage", b"storage"):
        raise CorruptFileError(f"load: a persistent id is not a storage: {type(pid).__name__}")
    kind, key, location, numel = pid[1:5]
    key = key.decode("latin-1") if type(key) is bytes else key
    location = location.decode("latin-1") if type(location) is bytes else location
    if type(kind) is not StorageType or type(key) is not str or type(location) is not str:
        raise CorruptFileError("load: the record of a storage is not (class, key, location, size)")
    if type(numel) is not int or not 0 <= numel <= _LARGEST // kind.item_size:
        raise CorruptFileError(f"load: storage {key!r:.100} claims {numel!r:.100} elements")
    return kind, key, location, numel


def swap_bytes(data: memoryview | bytes, kind: StorageType) -> bytearray:
    """Copy with the byte order of every element reversed (of both parts of a complex one)."""
    if kind.dtype is None:
        raise CorruptFileError("load: untyped storage in a file of the other byte order, which cannot be swapped")
    width = kind.item_size // 2 if kind.dtype.is_complex else kind.item_size
    out = bytearray(len(data))
    for byte in range(width):
        out[byte::width] = data[width - 1 - byte :: width]
    return out


class StorageTable:
    """Storages by key, each made once; ``fetch`` of a subclass finds the bytes."""

    def __init__(self, map_location: Any) -> None:
        self._placer = Placer(map_location)
        self._by_key: dict[str, Any] = {}
        # Keyed by identity; the storages are alive in _by_key, so that an identity cannot be reused.
        self._described: dict[int, tuple[int, Any]] = {}

    def fetch(self, kind: StorageType, key: str, numel: int) -> Any:
        """CPU storage with the bytes of ``key``."""
        raise NotImplementedError

    def load(self, pid: Any) -> Any:
        """Storage for a persistent id."""
        kind, key, location, numel = parse_pid(pid)
        return self._get(kind, key, location, numel)

    def _get(self, kind: StorageType, key: str, location: str, numel: int) -> Any:
        storage = self._by_key.get(key)
        if storage is None:
            storage = self._by_key[key] = self._placer.place(self.fetch(kind, key, numel), location)
        self._describe(storage, key, numel * kind.item_size, kind.dtype)
        return storage

    def _describe(self, storage: Any, key: str, nbytes: int, dtype: Any) -> None:
        known = self._described.get(id(storage))
        if known is not None:
            if known[0] != nbytes or (dtype is not None and known[1] not in (None, dtype)):
                raise CorruptFileError(f"load: storage {key!r} is used with two sizes or dtypes")
            dtype = known[1] if dtype is None else dtype
        self._described[id(storage)] = (nbytes, dtype)

    def describe(self, storage: Any) -> tuple[int, Any]:
        """``(bytes, dtype or None)`` of a storage of this table."""
        try:
            return self._described[id(storage)]
        except KeyError:
            raise CorruptFileError(f"load: a tensor is built on {type(storage).__name__} instead of a storage") from None


class ArchiveStorages(StorageTable):
    """Storages in the records ``<prefix>/data/<key>`` of a zip checkpoint."""

    def __init__(self, archive: Archive, prefix: str, swap: bool, map_location: Any) -> None:
        super().__init__(map_location)
        self._archive = archive
        self._prefix = prefix
        self._swap = swap

    def fetch(self, kind: StorageType, key: str, numel: int) -> Any:
        name = f"{self._prefix}/data/{key}"
        entry = self._archive.entries.get(name)
        nbytes = numel * kind.item_size
        if entry is None:
            raise CorruptFileError(f"load: the file lacks the record {name!r:.200}")
        if entry.size != nbytes:
            raise CorruptFileError(
                f"load: storage {key!r} claims {numel} elements of {kind.item_size} bytes, its record has {entry.size} bytes"
            )
        offset = self._archive.stored_at(name)
        swap = self._swap and kind.item_size > 1
        if offset is None or swap or not nbytes:
            data: Any = self._archive.read(name)
            return _memory.copy_to_storage(swap_bytes(data, kind) if swap else data)
        if self._archive.source.mapped and offset % kind.item_size == 0:
            return trine.UntypedStorage.from_buffer(self._archive.read(name, check=False))
        storage = trine.empty(nbytes, dtype=trine.uint8).untyped_storage()
        self._archive.read_into(name, _memory.storage_bytes(storage))
        return storage
