"""Reader of zip archives that distrusts every field; it finds where a stored entry lies so that it can be mapped.

Format: PKWARE's APPNOTE.TXT 6.3.9 (end of central directory 4.3.16, zip64 4.3.14 and 4.5.3, central header 4.3.12,
local header 4.3.7).
"""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

from .errors import CorruptFileError, UnsafeFileError
from .source import ByteSource

__all__ = ["Archive", "Entry"]

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR64 = struct.Struct("<4sIQI")
_MAX_COMMENT = 0xFFFF
_STORED, _DEFLATED = 0, 8
_MIN_INFLATE_ALLOWANCE = 1 << 26
_MAX_INFLATE_RATIO = 64


class Entry(NamedTuple):
    """One file of the archive. ``packed`` bytes lie in the archive, ``size`` after inflating."""

    name: str
    method: int
    crc: int
    packed: int
    size: int
    header_offset: int


class Archive:
    """Directory of a zip archive.

    Everything is checked before it is used: entries lie inside the file and do not overlap, names are unique,
    relative and free of ``..``, the headers in front of the data agree with the directory.
    """

    def __init__(self, source: ByteSource) -> None:
        self.source = source
        self._inflate_left = max(_MIN_INFLATE_ALLOWANCE, _MAX_INFLATE_RATIO * source.size)
        count, directory_offset, directory_size = self._find_directory()
        self.entries = self._read_directory(count, directory_offset, directory_size)
        self._data_offsets = self._locate(directory_offset)

    def _fail(self, what: str) -> CorruptFileError:
        return CorruptFileError(f"load: {self.source.name} is not a sound zip archive: {what}")

    def _find_directory(self) -> tuple[int, int, int]:
        size = self.source.size
        if size < _END.size:
            raise self._fail("too short")
        tail_length = min(size, _END.size + _MAX_COMMENT)
        tail = bytes(self.source.view(size - tail_length, tail_length))
        at = tail.rfind(b"PK\x05\x06")
        if at < 0 or at + _END.size > tail_length:
            raise self._fail("its end record is missing, the file may be truncated")
        _, disk, start_disk, here, count, length, offset, _ = _END.unpack_from(tail, at)
        end_offset = size - tail_length + at
        if 0xFFFF in (here, count) or 0xFFFFFFFF in (length, offset):
            zip64 = self._read_end64(end_offset)
            if zip64 is not None:
                disk, start_disk, here, count, length, offset, end_offset = zip64
        if disk or start_disk or here != count:
            raise self._fail("it is one part of an archive in several parts")
        if offset + length > end_offset:
            raise self._fail("its directory lies outside the file")
        if count * _CENTRAL.size > length:
            raise self._fail(f"its directory is too short for {count} entries")
        return count, offset, length

    def _read_end64(self, end_offset: int) -> tuple[int, ...] | None:
        if end_offset < _LOCATOR64.size:
            return None
        signature, disk, offset, _ = _LOCATOR64.unpack(self.source.view(end_offset - _LOCATOR64.size, _LOCATOR64.size))
        if signature != b"PK\x06\x07":
            return None
        if disk or offset + _END64.size > end_offset:
            raise self._fail("its zip64 end record lies outside the file")
        fields = _END64.unpack(self.source.view(offset, _END64.size))
        if fields[0] != b"PK\x06\x06":
            raise self._fail("its zip64 end record is damaged")
        return (*fields[4:10], offset)

    def _read_directory(self, count: int, offset: int, length: int) -> dict[str, Entry]:
        directory = bytes(self.source.view(offset, length))
        entries: dict[str, Entry] = {}
        at = 0
        for _ in range(count):
            if at + _CENTRAL.size > length:
                raise self._fail("its directory ends early")
            fields = _CENTRAL.unpack_from(directory, at)
            signature, flags, method = fields[0], fields[3], fields[4]
            crc, packed, size, name_length, extra_length, comment_length = fields[7:13]
            header_offset = fields[16]
            at += _CENTRAL.size
            end = at + name_length + extra_length + comment_length
            if signature != b"PK\x01\x02" or end > length:
                raise self._fail("a directory entry is damaged")
            name = self._decode_name(directory[at : at + name_length])
            if 0xFFFFFFFF in (packed, size, header_offset):
                extra = directory[at + name_length : at + name_length + extra_length]
                size, packed, header_offset = self._read_extra64(extra, size, packed, header_offset)
            if flags & 0x2041:
                raise self._fail(f"its entry {name!r} is encrypted")
            if method not in (_STORED, _DEFLATED):
                raise self._fail(f"its entry {name!r} uses compression method {method}; only stored and deflated are read")
            if method == _STORED and packed != size:
                raise self._fail(f"its stored entry {name!r} claims {size} bytes and occupies {packed}")
            if name in entries:
                raise UnsafeFileError(f"load: {self.source.name} has two entries named {name!r}; refused")
            entries[name] = Entry(name, method, crc, packed, size, header_offset)
            at = end
        return entries

    def _decode_name(self, raw: bytes) -> str:
        try:
            name = raw.decode("utf-8")
        except UnicodeDecodeError:
            raise self._fail(f"an entry's name is not UTF-8: {raw[:80]!r}") from None
        if not name or name.startswith("/") or "\\" in name or "\0" in name or ".." in name.split("/") or name[1:2] == ":":
            raise UnsafeFileError(f"load: {self.source.name} has an entry with the unsafe name {name[:200]!r}; refused")
        return name

    def _read_extra64(self, extra: bytes, size: int, packed: int, header_offset: int) -> tuple[int, int, int]:
        at = 0
        while at + 4 <= len(extra):
            tag, length = struct.unpack_from("<HH", extra, at)
            at += 4
            if tag == 1:
                values = [v for (v,) in struct.iter_unpack("<Q", extra[at : at + length // 8 * 8])]
                out = []
                for value in (size, packed, header_offset):
                    if value == 0xFFFFFFFF:
                        if not values:
                            raise self._fail("a zip64 field is missing")
                        value = values.pop(0)
                    out.append(value)
                return out[0], out[1], out[2]
            at += length
        return size, packed, header_offset

    def _locate(self, directory_offset: int) -> dict[str, int]:
        offsets: dict[str, int] = {}
        previous_end = 0
        for entry in sorted(self.entries.values(), key=lambda e: e.header_offset):
            start = entry.header_offset
            if start < previous_end:
                raise UnsafeFileError(f"load: {self.source.name} has overlapping entries, {entry.name!r} is one; refused")
            header = _LOCAL.unpack(self.source.view(start, _LOCAL.size))
            name_length, extra_length = header[9], header[10]
            data = start + _LOCAL.size + name_length + extra_length
            name = bytes(self.source.view(start + _LOCAL.size, name_length))
            if header[0] != b"PK\x03\x04" or name != entry.name.encode("utf-8") or header[3] != entry.method:
                raise self._fail(f"the header of {entry.name!r} disagrees with the directory")
            previous_end = data + entry.packed
            if previous_end > directory_offset:
                raise self._fail(f"its entry {entry.name!r} reaches into the directory or beyond the end")
            offsets[entry.name] = data
        return offsets

    def stored_at(self, name: str) -> int | None:
        """Offset of an entry's bytes in the source when they can be used in place, else None."""
        return self._data_offsets[name] if self.entries[name].method == _STORED else None

    def read(self, name: str, check: bool = True) -> memoryview:
        """Contents of an entry. ``check`` compares the CRC-32; a mapped entry that is not checked is not even touched."""
        entry = self.entries[name]
        data = self.source.view(self._data_offsets[name], entry.packed)
        if entry.method == _DEFLATED:
            data = self._inflate(entry, data)
        if check and zlib.crc32(data) != entry.crc:
            raise self._fail(f"the checksum of {name!r} is wrong, the file is damaged")
        return data

    def read_into(self, name: str, target: memoryview) -> None:
        """Contents of a stored entry, checked, into memory of its size."""
        self.source.read_into(self._data_offsets[name], target)
        if zlib.crc32(target) != self.entries[name].crc:
            raise self._fail(f"the checksum of {name!r} is wrong, the file is damaged")

    def _inflate(self, entry: Entry, packed: memoryview) -> memoryview:
        self._inflate_left -= entry.size
        if self._inflate_left < 0:
            raise UnsafeFileError(
                f"load: {self.source.name} inflates to more than {_MAX_INFLATE_RATIO} times its size at {entry.name!r}; "
                "refused (unpack it and zip it without compression if it is yours)"
            )
        inflater = zlib.decompressobj(-15)
        try:
            data = inflater.decompress(packed, entry.size + 1)
        except zlib.error as error:
            raise self._fail(f"its entry {entry.name!r} cannot be inflated ({error})") from None
        if len(data) != entry.size:
            raise self._fail(f"its entry {entry.name!r} does not inflate to the {entry.size} bytes it claims")
        return memoryview(data)
