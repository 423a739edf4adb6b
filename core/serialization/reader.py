"""``load``: recognise the format of a file and read it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO, Any, Union

from .archive import Archive
from .errors import CorruptFileError, UnsafeFileError
from .legacy import LEGACY_PREFIX, load_legacy
from .source import ByteSource, FileSource, open_source
from .storages import ArchiveStorages
from .unpickler import Unpickler
from .world import DataWorld

__all__ = ["Checkpoint", "FileLike", "load", "recognise"]

FileLike = Union[str, "os.PathLike[str]", IO[bytes]]
_NEWEST_VERSION = 10


class Checkpoint:
    """A zip checkpoint whose records have been found and checked, before anything in it is read."""

    def __init__(self, source: ByteSource) -> None:
        self.archive = Archive(source)
        names = self.archive.entries
        prefixes = [n[: -len("/data.pkl")] for n in names if n.endswith("/data.pkl") and n.count("/") == 1]
        if not prefixes:
            raise CorruptFileError(f"load: {source.name} is a zip archive without data.pkl, no PyTorch checkpoint")
        if len(prefixes) > 1:
            raise UnsafeFileError(f"load: {source.name} holds several checkpoints ({', '.join(sorted(prefixes)[:5])}); refused")
        self.prefix = prefixes[0]
        if f"{self.prefix}/constants.pkl" in names:
            raise UnsafeFileError(
                f"load: {source.name} is a TorchScript program, not a checkpoint; save the model's state_dict() to load it here"
            )
        self.version = self._small_record("version", "1")
        if not self.version.isdecimal() or not 1 <= int(self.version) <= _NEWEST_VERSION:
            raise CorruptFileError(f"load: {source.name} has format version {self.version!r}, 1 to {_NEWEST_VERSION} are known")
        self.byteorder = self._small_record("byteorder", "little")
        if self.byteorder not in ("little", "big"):
            raise CorruptFileError(f"load: {source.name} has the byte order {self.byteorder!r}")

    def _small_record(self, name: str, default: str) -> str:
        entry = self.archive.entries.get(f"{self.prefix}/{name}")
        if entry is None:
            return default
        if entry.size > 64:
            raise CorruptFileError(f"load: the record {name!r} has {entry.size} bytes")
        return bytes(self.archive.read(entry.name)).decode("latin-1").strip()

    def pickle(self) -> bytes:
        """The pickle that describes the object."""
        return bytes(self.archive.read(f"{self.prefix}/data.pkl"))

    def storages(self, map_location: Any) -> ArchiveStorages:
        """Table that resolves the pickle's storages."""
        return ArchiveStorages(self.archive, self.prefix, self.byteorder == "big", map_location)


def recognise(source: ByteSource) -> str:
    """``"zip"``, ``"legacy"`` or ``"safetensors"``; raises ``CorruptFileError`` for anything else."""
    head = bytes(source.view(0, min(source.size, 16)))
    if not head:
        # PyTorch lets the unpickler meet the end of the file; callers that poll for a checkpoint catch this.
        raise EOFError(f"load: {source.name} is empty")
    if head[:4] == b"PK\x03\x04":
        return "zip"
    if head[:1] == b"\x80" and head[2:14] == LEGACY_PREFIX:
        return "legacy"
    if len(head) > 8 and head[8:9] == b"{" and int.from_bytes(head[:8], "little") <= source.size - 8:
        return "safetensors"
    if head[:1] == b"\x80":
        raise UnsafeFileError(f"load: {source.name} is a bare pickle, not a PyTorch checkpoint; it is not executed")
    tar_magic = bytes(source.view(257, 5)) if source.size > 262 else b""
    if tar_magic == b"ustar":
        raise CorruptFileError(f"load: {source.name} is a tar file (PyTorch before 0.1.10); load and save it with a newer PyTorch")
    raise CorruptFileError(
        f"load: {source.name} is neither a PyTorch checkpoint (zip or old format) nor a safetensors file; it begins with {head!r}"
    )


def _check_options(pickle_module: Any, weights_only: Any, options: dict[str, Any]) -> tuple[str, str]:
    if pickle_module is not None:
        raise ValueError(
            "load: pickle_module cannot be chosen: Trine reads checkpoints with its own reader, which builds data only and "
            "never runs a pickle"
        )
    if weights_only not in (None, True, False):
        raise TypeError(f"load: weights_only must be a bool, got {type(weights_only).__name__}")
    encoding, errors = options.pop("encoding", "utf-8"), options.pop("errors", "strict")
    if options:
        raise TypeError(f"load: unexpected keyword argument {next(iter(options))!r}")
    if encoding not in ("utf-8", "latin1", "latin-1", "ascii", "bytes", "ASCII"):
        raise ValueError(f"load: encoding must be 'utf-8', 'latin1', 'ascii' or 'bytes', got {encoding!r}")
    if errors not in ("strict", "ignore", "replace"):
        raise ValueError(f"load: errors must be 'strict', 'ignore' or 'replace', got {errors!r}")
    return encoding, errors


def _load_zip(source: ByteSource, map_location: Any, encoding: str, errors: str) -> Any:
    checkpoint = Checkpoint(source)
    world = DataWorld(checkpoint.storages(map_location))
    return Unpickler(checkpoint.pickle(), world, encoding=encoding, errors=errors).load()


def load(
    f: FileLike,
    map_location: Any | Callable[[Any, str], Any] = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Load an object saved with ``save``, with ``torch.save``, or a safetensors file.

    Args:
        f: path, or a binary file opened for reading (a seekable one is read piece by piece).
        map_location: where storages go: None (where they were saved from), a device or its name, a dict from saved to
            wanted names, or ``function(storage, location)``.
        pickle_module: refused; the reader is Trine's own.
        weights_only: accepted and always true in effect: the file can only give tensors, numbers, strings and plain
            containers, and nothing that it names is ever run.
        mmap: whether tensors use the file's pages in place instead of a copy. None maps when ``f`` is a path. The mapping
            is private: writing to a tensor never changes the file. Do not let another program shorten or rewrite the
            file in place while its tensors are in use (``save`` replaces files, which is safe); ``mmap=False`` copies.
        pickle_load_args: ``encoding`` and ``errors`` for strings pickled by Python 2.

    Raises:
        UnsafeFileError: the file asks for something that is not data, or goes over a limit; the message names it.
        CorruptFileError: the file is damaged or no checkpoint.
        EOFError: the file is empty.

    >>> import io, trine
    >>> buffer = io.BytesIO()
    >>> trine.save({"weight": trine.ones(2)}, buffer)
    >>> _ = buffer.seek(0)
    >>> trine.load(buffer)["weight"].tolist()
    [1.0, 1.0]
    """
    encoding, errors = _check_options(pickle_module, weights_only, dict(pickle_load_args))
    source = open_source(f, mmap)
    try:
        form = recognise(source)
        if form == "zip":
            return _load_zip(source, map_location, encoding, errors)
        if form == "safetensors":
            from .safetensors import read_tensors

            return read_tensors(source, map_location)
        result, position = load_legacy(source, map_location, encoding, errors)
        if isinstance(source, FileSource):
            source.seek_to(position)
        return result
    finally:
        source.close()
