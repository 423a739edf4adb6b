"""PyTorch's format before version 1.6: five pickles in a row, then the bytes of each storage.

The pickles are: magic number, protocol version, system information, the object, the keys of the storages in the order in
which their bytes follow. Each storage is an 8-byte element count and its elements.
"""

from __future__ import annotations

import struct
from typing import Any

import trine

from . import _memory
from .dtypes import StorageType
from .errors import CorruptFileError
from .source import ByteSource
from .storages import StorageTable, parse_pid, swap_bytes
from .unpickler import Unpickler
from .world import DataWorld

__all__ = ["LEGACY_PREFIX", "MAGIC", "LegacyStorages", "load_legacy", "run_pickles"]

MAGIC = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
_PICKLES_AT_MOST = 1 << 28
LEGACY_PREFIX = b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"
"""The magic number as a pickle writes it, behind the two bytes of the protocol."""


class _Nothing:
    """World of the header pickles, which hold numbers, strings and dicts only."""

    key_scalars: frozenset[type] = frozenset()
    tuple_types: tuple[type, ...] = (tuple,)
    mapping_types: frozenset[type] = frozenset((dict,))

    def find_global(self, module: str, name: str) -> Any:
        raise CorruptFileError(f"load: the header of the file names {module}.{name}")

    def persistent_load(self, pid: Any) -> Any:
        raise CorruptFileError("load: the header of the file refers to a storage")

    def set_state(self, vm: Unpickler, target: Any, state: Any) -> None:
        raise CorruptFileError("load: the header of the file builds objects")


class LegacyStorages(StorageTable):
    """Storages that are allocated when the object's pickle names them and filled when it is done."""

    def __init__(self, available: int, map_location: Any) -> None:
        super().__init__(map_location)
        self._left = available
        self._kinds: dict[str, tuple[StorageType, int]] = {}
        self._cpu: dict[str, Any] = {}

    def load(self, pid: Any) -> Any:
        kind, key, location, numel = parse_pid(pid, extra=1)
        root = self._get(kind, key, location, numel)
        if len(pid) == 5 or pid[5] is None:
            return root
        view = pid[5]
        if type(view) is not tuple or len(view) != 3 or not all(type(v) is int and v >= 0 for v in view[1:]):
            raise CorruptFileError("load: the record of a storage's view is not (key, offset, size)")
        view_key, offset, size = str(view[0]), view[1], view[2]
        if offset + size > numel:
            raise CorruptFileError(f"load: view {view_key!r:.100} reaches beyond its storage of {numel} elements")
        return self._get_view(root, f"{key}/{view_key}", offset * kind.item_size, size * kind.item_size, kind)

    def _get_view(self, root: Any, key: str, offset: int, nbytes: int, kind: StorageType) -> Any:
        storage = self._by_key.get(key)
        if storage is None:
            if root.device.type != "cpu":
                raise CorruptFileError("load: this old file has views of storages, which can be loaded to the CPU only")
            part = _memory.storage_bytes(root)[offset : offset + nbytes]
            storage = trine.UntypedStorage.from_buffer(part) if nbytes else _memory.copy_to_storage(b"")
            self._by_key[key] = storage
        self._describe(storage, key, nbytes, kind.dtype)
        return storage

    def fetch(self, kind: StorageType, key: str, numel: int) -> Any:
        nbytes = numel * kind.item_size
        self._left -= nbytes
        if self._left < 0:
            raise CorruptFileError(f"load: the file is truncated: storage {key!r:.100} claims {nbytes} bytes, more than are there")
        self._kinds[key] = (kind, numel)
        storage = trine.empty(nbytes, dtype=trine.uint8).untyped_storage()
        self._cpu[key] = storage
        return storage

    def fill(self, source: ByteSource, position: int, keys: Any, swap: bool) -> int:
        """Read the bytes of every storage from ``position``; returns the position behind them."""
        if type(keys) is not list or set(keys) != set(self._kinds) or len(keys) != len(self._kinds):
            raise CorruptFileError("load: the list of storages differs from the storages that the object uses")
        for key in keys:
            kind, numel = self._kinds[key]
            count = struct.unpack(">q" if swap else "<q", source.view(position, 8))[0]
            if count != numel:
                raise CorruptFileError(f"load: storage {key!r:.100} has {count} elements instead of {numel}")
            nbytes = numel * kind.item_size
            data: Any = source.view(position + 8, nbytes)
            if swap and kind.item_size > 1:
                data = swap_bytes(data, kind)
            if nbytes:
                target = _memory.storage_bytes(self._cpu[key])
                target[:] = data
                placed = self._by_key[key]
                if placed is not self._cpu[key] and placed.device.type != "meta":
                    self._copy_across(self._cpu[key], placed)
            position += 8 + nbytes
        return position

    @staticmethod
    def _copy_across(cpu: Any, placed: Any) -> None:
        size, stride = (cpu.nbytes(),), (1,)
        target = trine.empty(0, dtype=trine.uint8, device=placed.device).set_(placed, 0, size, stride)
        target.copy_(trine.empty(0, dtype=trine.uint8).set_(cpu, 0, size, stride))


def run_pickles(data: bytes, world: DataWorld, encoding: str, errors: str) -> tuple[Any, Any, bool, int]:
    """``(object, storage keys, bytes are swapped, end)`` of the pickles at the start of ``data``."""
    position = 0

    def header() -> Any:
        nonlocal position
        vm = Unpickler(data, _Nothing(), position, encoding)
        value = vm.load()
        position = vm.position
        return value

    if header() != MAGIC:
        raise CorruptFileError("load: invalid magic number, the file is no PyTorch checkpoint")
    version = header()
    if version != PROTOCOL_VERSION:
        raise CorruptFileError(f"load: the old file format has version {version!r:.40}, only {PROTOCOL_VERSION} is known")
    system = header()
    if type(system) is not dict:
        raise CorruptFileError("load: the header of the old file format is damaged")
    vm = Unpickler(data, world, position, encoding, errors)
    result = vm.load()
    position = vm.position
    keys = header()
    if type(keys) is list:
        keys = [k.decode("latin-1") if type(k) is bytes else k for k in keys]
        if not all(type(k) is str for k in keys):
            raise CorruptFileError("load: the keys of the storages are not strings")
    return result, keys, system.get("little_endian", True) is False, position


def load_legacy(source: ByteSource, map_location: Any, encoding: str, errors: str) -> tuple[Any, int]:
    """Object in a file of the old format, and the position behind it."""
    data = bytes(source.view(0, min(source.size, _PICKLES_AT_MOST)))
    storages = LegacyStorages(source.size, map_location)
    result, keys, swap, position = run_pickles(data, DataWorld(storages), encoding, errors)
    return result, storages.fill(source, position, keys, swap)
