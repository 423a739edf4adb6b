"""Damaged files: thousands of mutations must raise or decode, and never crash, hang or leak."""

from __future__ import annotations

import contextlib
import random
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from trine.vision import io

sys.path.insert(0, str(Path(__file__).parent))
from pictures import as_bytes, encoded, noise

MODES = ["UNCHANGED", "GRAY", "RGB", "RGB_ALPHA"]


def seeds() -> list[bytes]:
    exif = Image.Exif()
    exif[0x0112] = 6
    pixels = noise(24, 33, 4)
    rgb = Image.fromarray(pixels[..., :3])
    return [
        encoded(rgb, "JPEG", exif=exif),
        encoded(rgb, "JPEG", progressive=True),
        encoded(rgb, "JPEG", subsampling=0, restart_marker_blocks=2),
        encoded(rgb.convert("CMYK"), "JPEG"),
        encoded(rgb.convert("L"), "JPEG", progressive=True),
        encoded(rgb, "PNG", exif=exif),
        encoded(pixels, "PNG"),
        encoded(rgb.quantize(12), "PNG", transparency=bytes([0, 50])),
        encoded(Image.fromarray(pixels[..., 0].astype(np.uint16) * 257), "PNG"),
    ]


def mutated(data: bytes, rng: random.Random) -> bytes:
    """A few bytes changed, removed, repeated or cut off."""
    damaged = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 8])):
        kind = rng.randrange(5)
        at = rng.randrange(len(damaged)) if damaged else 0
        if not damaged:
            break
        if kind == 0:
            damaged[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            damaged[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF])
        elif kind == 2:
            del damaged[at : at + rng.randrange(1, 40)]
        elif kind == 3:
            damaged[at:at] = damaged[at : at + rng.randrange(1, 40)]
        else:
            del damaged[at:]
    return bytes(damaged)


def with_right_checksums(data: bytes) -> bytes:
    """PNG checksums mended, so that the damage gets past them."""
    import struct
    import zlib

    out, at = bytearray(data[:8]), 8
    while at + 12 <= len(data):
        length = struct.unpack(">I", data[at : at + 4])[0]
        content = data[at + 4 : at + 8 + length]
        out += data[at : at + 8 + length] + struct.pack(">I", zlib.crc32(content))
        at += 12 + length
    return bytes(out)


@pytest.mark.parametrize("number", range(9))
def test_damaged_files_raise_or_decode(number, fuzz_iterations):
    rng = random.Random(number)
    data = seeds()[number]
    slowest = 0.0
    for i in range(fuzz_iterations):
        damaged = mutated(data, rng)
        if number >= 5 and i % 2:
            damaged = with_right_checksums(damaged)
        start = time.perf_counter()
        try:
            # A mutation may ask for a large picture legitimately; here that would only cost time.
            io.set_max_image_pixels(1 << 20)
            image = io.decode_image(as_bytes(damaged), rng.choice(MODES), bool(i % 2))
            assert image.dim() == 3
        except RuntimeError as error:
            assert str(error).startswith(("decode_jpeg: ", "decode_png: ", "decode_image: "))
        finally:
            io.set_max_image_pixels(178_956_970)
        slowest = max(slowest, time.perf_counter() - start)
    assert slowest < 5.0


def test_rejected_files_leave_no_memory_behind():
    data = [as_bytes(mutated(seed, random.Random(i))) for i, seed in enumerate(seeds() * 5)]

    def run() -> None:
        for item in data:
            with contextlib.suppress(RuntimeError):
                io.decode_image(item, "RGB", True)

    for _ in range(3):
        run()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(20):
        run()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096  # kilobytes
