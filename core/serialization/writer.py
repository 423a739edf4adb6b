"""``save``: write an object in PyTorch's zip format."""

from __future__ import annotations

import os
import sys
from typing import IO, Any

from . import _memory
from .archive_writer import ArchiveWriter
from .atomic import atomic_file
from .pickler import Pickler
from .reader import FileLike

__all__ = ["save"]

_FORMAT_VERSION = b"3\n"


def _write(obj: Any, file: IO[bytes], prefix: str) -> None:
    storages: list[Any] = []

    def store(storage: Any) -> str:
        storages.append(storage)
        return str(len(storages) - 1)

    pickled = Pickler(store).dump(obj)
    archive = ArchiveWriter(file)
    archive.add(f"{prefix}/data.pkl", pickled)
    archive.add(f"{prefix}/.format_version", b"1")
    archive.add(f"{prefix}/.storage_alignment", b"64")
    archive.add(f"{prefix}/byteorder", sys.byteorder.encode())
    for key, storage in enumerate(storages):
        archive.add(f"{prefix}/data/{key}", _memory.device_bytes(storage))
    archive.add(f"{prefix}/version", _FORMAT_VERSION)
    import hashlib  # it loads OpenSSL, which a program that never saves need not wait for

    # Two equal pickles get equal ids: the bytes of a file depend on what is in it and on nothing else.
    digest = int.from_bytes(hashlib.sha256(pickled).digest()[:16], "little")
    archive.add(f"{prefix}/.data/serialization_id", f"{digest:040d}".encode())
    archive.finish()


def save(
    obj: Any,
    f: FileLike,
    pickle_module: Any = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Save an object made of tensors, numbers, strings and plain containers in PyTorch's zip format.

    ``torch.load`` reads the file. Tensors that share a storage share it again after loading, and a view is saved with
    its whole storage (``clone()`` it to save only what it shows). A tensor of a subclass is saved as a plain tensor.

    Args:
        obj: what to save. Objects with code (modules, functions) are refused: save their ``state_dict()``.
        f: path or binary file with ``write``. A path is replaced atomically: the bytes go to a temporary file beside it,
            reach the disk, and take its place at the end; an error leaves the former file as it was.
        pickle_module: refused; the writer is Trine's own.
        pickle_protocol: must be 2, PyTorch's default.

    Raises:
        pickle.PicklingError: ``obj`` holds something that is not plain data; the message says what.
        RuntimeError: the parent directory does not exist.
        OSError: the disk is full, or the place cannot be written.

    >>> import io, trine
    >>> buffer = io.BytesIO()
    >>> trine.save([trine.zeros(2, 3), "label"], buffer)
    >>> _ = buffer.seek(0)
    >>> tuple(trine.load(buffer)[0].shape)
    (2, 3)
    """
    if pickle_module is not None:
        raise ValueError("save: pickle_module cannot be chosen: Trine writes its files with its own pickler")
    if pickle_protocol != 2:
        raise ValueError(f"save: pickle_protocol must be 2, which every reader understands, got {pickle_protocol}")
    if not _use_new_zipfile_serialization:
        raise ValueError("save: the format before PyTorch 1.6 is read but not written; leave _use_new_zipfile_serialization=True")
    if isinstance(f, (str, os.PathLike)):
        path = os.fspath(f)
        folder = os.path.dirname(path)
        if folder and not os.path.isdir(folder):
            raise RuntimeError(f"save: parent directory {folder} does not exist")
        prefix = os.path.splitext(os.path.basename(os.fsdecode(path)))[0].replace("\\", "_").replace(":", "_")
        with atomic_file(path) as file:
            _write(obj, file, prefix if prefix.strip(".") else "archive")
        return
    if not hasattr(f, "write"):
        raise TypeError(f"save: expected a path or a binary file with write(), got {type(f).__name__}")
    _write(obj, f, "archive")
