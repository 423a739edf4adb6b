"""Writer of stored zip archives laid out as PyTorch's: every record's bytes start at a multiple of 64 in the file."""

from __future__ import annotations

import struct
import zlib
from typing import IO, Any

__all__ = ["ArchiveWriter"]

_ALIGNMENT = 64
_PADDING_TAG = 0x4246  # "FB", the extra field in which PyTorch pads
_UTF8_NAMES = 0x0800
_LIMIT32 = 0xFFFFFFFF


class ArchiveWriter:
    """Writes records one after another to ``file``, which need not be seekable.

    ``force_zip64`` uses the 64-bit fields even where 32 bits suffice.
    """

    def __init__(self, file: IO[bytes], force_zip64: bool = False) -> None:
        self._file = file
        self._position = 0
        self._directory: list[bytes] = []
        self._limit = 0 if force_zip64 else _LIMIT32

    def _write(self, data: Any) -> None:
        self._file.write(data)
        self._position += len(data)

    def add(self, name: str, data: bytes | bytearray | memoryview) -> None:
        """Append a record."""
        raw_name = name.encode("utf-8")
        size, crc, offset = len(data), zlib.crc32(data), self._position
        wide = size >= self._limit or offset >= self._limit
        size32 = _LIMIT32 if wide else size
        extra = struct.pack("<HHQQ", 1, 16, size, size) if wide else b""
        data_at = offset + 30 + len(raw_name) + len(extra) + 4
        padding = -data_at % _ALIGNMENT
        extra += struct.pack("<HH", _PADDING_TAG, padding) + b"Z" * padding
        version = 45 if wide else 20
        common = struct.pack("<HHHHHIIIH", version, _UTF8_NAMES, 0, 0, 0x21, crc, size32, size32, len(raw_name))
        self._write(b"PK\x03\x04" + common + struct.pack("<H", len(extra)) + raw_name + extra)
        self._write(data)
        central = struct.pack("<HHQQQ", 1, 24, size, size, offset) if wide else b""
        self._directory.append(
            b"PK\x01\x02" + struct.pack("<H", version) + common
            + struct.pack("<HHHHII", len(central), 0, 0, 0, 0, _LIMIT32 if wide else offset) + raw_name + central
        )  # fmt: skip

    def finish(self) -> None:
        """Write the directory; the archive is complete after it."""
        start, count = self._position, len(self._directory)
        self._write(b"".join(self._directory))
        length = self._position - start
        if start >= self._limit or length >= self._limit or count >= min(self._limit, 0xFFFF):
            end64 = self._position
            self._write(struct.pack("<4sQHHIIQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, length, start))
            self._write(struct.pack("<4sIQI", b"PK\x06\x07", 0, end64, 1))
            count, length, start = 0xFFFF, _LIMIT32, _LIMIT32
        self._write(struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count, count, length, start, 0))
