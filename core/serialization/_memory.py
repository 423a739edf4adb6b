"""The only place that touches the raw bytes of a storage."""

from __future__ import annotations

import trine

__all__ = ["copy_to_storage", "device_bytes", "move_storage", "storage_bytes"]


def storage_bytes(storage: trine.UntypedStorage) -> memoryview:
    """Writable view of a CPU storage's bytes; it keeps the storage alive."""
    return memoryview(storage)


def copy_to_storage(source: memoryview | bytes | bytearray) -> trine.UntypedStorage:
    """New aligned CPU storage holding a copy of ``source``."""
    storage = trine.empty(len(source), dtype=trine.uint8).untyped_storage()
    if len(source):
        storage_bytes(storage)[:] = source
    return storage


def move_storage(storage: trine.UntypedStorage, device: trine.device) -> trine.UntypedStorage:
    """``storage`` on ``device``; the same object when it is there already. Works for any device that has tensors."""
    if device.type == "cpu" and storage.device.type == "cpu":
        return storage
    flat = trine.empty(0, dtype=trine.uint8, device=storage.device).set_(storage, 0, (storage.nbytes(),), (1,))
    return flat.to(device).untyped_storage()


def device_bytes(storage: trine.UntypedStorage) -> memoryview:
    """Bytes of a storage on any device that holds data (copied to the CPU when it is elsewhere)."""
    if storage.device.type != "cpu":
        storage = move_storage(storage, trine.device("cpu"))
    return storage_bytes(storage)
