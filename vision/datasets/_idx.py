"""The IDX format of the MNIST files (Y. LeCun's page "THE MNIST DATABASE of handwritten digits")."""

from __future__ import annotations

import gzip
import math
import os
from pathlib import Path

import trine
from trine import Tensor

# The only type of these files; the format knows others, which no dataset here uses.
_UNSIGNED_BYTE = 0x08
_LARGEST_FILE = 1 << 31


def read_idx(path: str | os.PathLike[str]) -> Tensor:
    """The uint8 tensor of an IDX file, gzipped or not.

    Raises:
        ValueError: if the file is not IDX with unsigned bytes, or its size is not what its header says.
        OSError: if it cannot be read.
    """
    path = Path(path)
    with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
        start = file.read(4)
        if len(start) < 4 or start[:2] != b"\0\0" or start[2] != _UNSIGNED_BYTE or start[3] == 0:
            raise ValueError(f"read_idx: {path.name} is not an IDX file of unsigned bytes (it begins {start.hex()})")
        header = file.read(4 * start[3])
        shape = [int.from_bytes(header[i : i + 4], "big") for i in range(0, len(header), 4)]
        size = math.prod(shape)
        if len(header) != 4 * start[3] or size > _LARGEST_FILE:
            raise ValueError(f"read_idx: {path.name} has an impossible shape {shape}")
        data = bytearray(file.read(size + 1))
    if len(data) != size:
        raise ValueError(f"read_idx: {path.name} should hold {size} bytes of shape {shape}, but holds {len(data)}")
    return trine.frombuffer(data, dtype=trine.uint8).view(shape) if size else trine.empty(shape, dtype=trine.uint8)
