"""Results of real PyTorch, a small file for each operator table: written by tools/reference, read by the operator tests.

All values of a file lie one after the other in one compressed run of bytes; a JSON index says where, what dtype, what shape.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
from samples import NUMPY_DTYPES, T

MAGIC = b"trine-reference-1\n"


class Writer:
    """Collects results, each under a key, and saves them."""

    def __init__(self) -> None:
        self.index: dict[str, Any] = {}
        self.blobs: dict[bytes, int] = {}  # values -> offset: equal results are kept once
        self.data = bytearray()

    def describe(self, value: Any) -> Any:
        if isinstance(value, T):
            raw = np.ascontiguousarray(value.array).tobytes()
            if raw not in self.blobs:
                self.blobs[raw] = len(self.data)
                self.data += raw
            return {"t": [value.dtype, list(value.array.shape), self.blobs[raw]]}
        if isinstance(value, (list, tuple)):
            return [self.describe(item) for item in value]
        if isinstance(value, dict):
            return {name: item for name, item in value.items() if name in ("error", "missing")}
        return {"v": value}

    def add(self, key: str, digest: str, result: Any) -> None:
        self.index[key] = [digest, self.describe(result)]

    def save(self, path: Path, about: dict[str, str]) -> None:
        """Writes the file; ``about`` says which versions made it."""
        header = json.dumps({"about": about, "index": self.index}, separators=(",", ":"), sort_keys=True).encode()
        packed = lzma.compress(len(header).to_bytes(8, "little") + header + bytes(self.data), preset=6)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(MAGIC + packed)


class File:
    """The stored results of one table."""

    def __init__(self, path: Path) -> None:
        raw = path.read_bytes()
        if not raw.startswith(MAGIC):
            raise ValueError(f"{path} is not a file of stored results")
        unpacked = lzma.decompress(raw[len(MAGIC) :])
        size = int.from_bytes(unpacked[:8], "little")
        header = json.loads(unpacked[8 : 8 + size])
        self.about: dict[str, str] = header["about"]
        self.index: dict[str, Any] = header["index"]
        self.data = unpacked[8 + size :]

    def build(self, description: Any) -> Any:
        if isinstance(description, list):
            return [self.build(item) for item in description]
        if "t" in description:
            dtype, shape, offset = description["t"]
            count = int(np.prod(shape, dtype=np.int64))
            return T(np.frombuffer(self.data, NUMPY_DTYPES[dtype], count, offset).reshape(shape), dtype)
        return description.get("v", description)


class Stored:
    """The stored results of every table in a folder."""

    def __init__(self, folder: Path) -> None:
        self.tables = {path.stem: File(path) for path in folder.glob("*.bin")}

    def get(self, table: str, key: str, digest: str) -> Any:
        """The result; raises KeyError when there is none for these arguments."""
        file = self.tables[table]
        kept_digest, description = file.index[key]
        if kept_digest != digest:
            raise KeyError(key)
        return file.build(description)
