"""Random access to the bytes of a file, a mapping, a bytes-like object or a file-like object."""

from __future__ import annotations

import mmap
import os
from typing import IO, Any

from .errors import CorruptFileError

__all__ = ["ByteSource", "FileSource", "MemorySource", "open_source"]


class ByteSource:
    """``size`` bytes that can be read at any offset."""

    size: int
    name: str
    mapped: bool
    """True when ``view`` gives writable memory that may be used in place: a private mapping of the file."""

    def view(self, offset: int, length: int) -> memoryview:
        """Bytes ``[offset, offset + length)``; raises ``CorruptFileError`` when they lie beyond the end."""
        raise NotImplementedError

    def read_into(self, offset: int, target: memoryview) -> None:
        """Fill ``target`` with the bytes from ``offset`` on."""
        target[:] = self.view(offset, len(target))

    def close(self) -> None:
        """Release what was opened here."""

    def _check(self, offset: int, length: int) -> None:
        if offset < 0 or length < 0 or offset + length > self.size:
            raise CorruptFileError(
                f"load: {self.name} is truncated or damaged: bytes {offset} to {offset + length} are needed and it has {self.size}"
            )


class MemorySource(ByteSource):
    """Bytes that are in memory, or mapped copy-on-write from a file."""

    def __init__(self, buffer: Any, name: str, mapped: bool = False) -> None:
        self._view = memoryview(buffer).cast("B") if len(buffer) else memoryview(b"")
        self.size = len(self._view)
        self.name = name
        self.mapped = mapped

    def view(self, offset: int, length: int) -> memoryview:
        self._check(offset, length)
        return self._view[offset : offset + length]


class FileSource(ByteSource):
    """A seekable binary file, read piece by piece from ``start`` (its position when it was handed over)."""

    mapped = False

    def __init__(self, file: IO[bytes], name: str, start: int = 0, owned: bool = False) -> None:
        self._file = file
        self._start = start
        self._owned = owned
        self.size = max(0, file.seek(0, os.SEEK_END) - start)
        self.name = name
        file.seek(start)

    def view(self, offset: int, length: int) -> memoryview:
        self._check(offset, length)
        self._file.seek(self._start + offset)
        pieces = []
        missing = length
        while missing:
            piece = self._file.read(missing)
            if not piece:
                raise CorruptFileError(f"load: {self.name} became shorter while it was read")
            pieces.append(piece)
            missing -= len(piece)
        return memoryview(pieces[0] if len(pieces) == 1 else b"".join(pieces))

    def read_into(self, offset: int, target: memoryview) -> None:
        read = getattr(self._file, "readinto", None)
        if read is None:
            super().read_into(offset, target)
            return
        self._check(offset, len(target))
        self._file.seek(self._start + offset)
        while len(target):
            count = read(target)
            if not count:
                raise CorruptFileError(f"load: {self.name} became shorter while it was read")
            target = target[count:]

    def seek_to(self, offset: int) -> None:
        """Leave the file at ``offset``, for a caller that keeps several objects in one file."""
        self._file.seek(self._start + offset)

    def close(self) -> None:
        if self._owned:
            self._file.close()


def _map_private(file: IO[bytes], name: str) -> ByteSource | None:
    try:
        # Copy-on-write: tensors stay writable and the file never sees it.
        return MemorySource(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY), name, mapped=True)
    except (OSError, ValueError):
        return None


def open_source(file: Any, map_file: bool | None) -> ByteSource:
    """Byte source for a path or a file object.

    ``map_file`` is True (map, or fail), False (read), or None (map when ``file`` is the path of a regular file).
    """
    if isinstance(file, (str, os.PathLike)):
        path = os.fspath(file)
        name = repr(path if isinstance(path, str) else os.fsdecode(path))
        opened = open(path, "rb")  # noqa: SIM115  the source returned owns it
        if map_file is not False:
            mapping = _map_private(opened, name)
            if mapping is not None:
                opened.close()
                return mapping
            if map_file and os.fstat(opened.fileno()).st_size:
                opened.close()
                raise RuntimeError(f"load: {name} cannot be mapped into memory; use mmap=False")
        if not opened.seekable():
            with opened:
                return MemorySource(opened.read(), name)
        return FileSource(opened, name, owned=True)
    if map_file:
        raise ValueError("load: mmap=True needs a path (str or os.PathLike), not an open file")
    if not hasattr(file, "read"):
        if isinstance(file, (bytes, bytearray, memoryview)):
            raise TypeError("load: expected a path or a binary file, got bytes; wrap them in io.BytesIO(...)")
        raise TypeError(f"load: expected a path or a binary file with read(), got {type(file).__name__}")
    name = repr(getattr(file, "name", type(file).__name__))
    try:
        start = file.tell()
        return FileSource(file, name, start)
    except (AttributeError, OSError):  # a pipe or a socket: no random access
        data = file.read()
        if isinstance(data, str):
            raise TypeError(f"load: {name} is a text file; open it in binary mode ('rb')") from None
        return MemorySource(data, name)
