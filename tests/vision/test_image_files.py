"""Files on disk, and the limits on what a file may ask for."""

from __future__ import annotations

import struct
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import trine
from trine.vision import io

sys.path.insert(0, str(Path(__file__).parent))
from pictures import as_bytes, encoded, interleaved, noise, opened


@pytest.fixture
def pixel_limit():
    before = io.get_max_image_pixels()
    yield io.set_max_image_pixels
    io.set_max_image_pixels(before)


def test_bytes_survive_a_round_trip(tmp_path):
    for size in (0, 1, 100_000):
        data = trine.randint(0, 256, (size,), dtype=trine.uint8)
        io.write_file(tmp_path / "data.bin", data)
        assert (tmp_path / "data.bin").stat().st_size == size
        back = io.read_file(str(tmp_path / "data.bin"))
        assert back.shape == (size,) and back.tolist() == data.tolist()
    assert [path.name for path in tmp_path.iterdir()] == ["data.bin"]  # no unfinished file stays


def test_missing_file_and_missing_folder_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.jpg"):
        io.read_image(tmp_path / "nothing.jpg")
    with pytest.raises(OSError, match="folder"):
        io.write_file(tmp_path / "folder" / "x", trine.zeros(1, dtype=trine.uint8))
    with pytest.raises(RuntimeError, match="write_file: expected a 1-D uint8"):
        io.write_file(tmp_path / "x", trine.zeros(1))


def test_pictures_are_written_and_read(tmp_path):
    pixels = trine.from_numpy(noise(20, 30)).permute(2, 0, 1)
    io.write_png(pixels, tmp_path / "a.png")
    io.write_jpeg(pixels, tmp_path / "a.jpg", quality=90)
    assert (io.read_image(tmp_path / "a.png") == pixels).all()
    np.testing.assert_array_equal(interleaved(io.read_image(tmp_path / "a.jpg")), np.asarray(opened((tmp_path / "a.jpg").read_bytes())))
    assert io.decode_image(str(tmp_path / "a.png"), "GRAY").shape == (1, 20, 30)


def test_a_picture_above_the_limit_is_refused_before_it_is_decoded(pixel_limit):
    for format in ("JPEG", "PNG"):
        data = as_bytes(encoded(noise(40, 50), format))
        pixel_limit(1999)
        with pytest.raises(RuntimeError, match=r"40x50 = 2000 pixels exceeds the limit of 1999 .*set_max_image_pixels"):
            io.decode_image(data)
        pixel_limit(2000)
        assert io.decode_image(data).shape == (3, 40, 50)
        pixel_limit(None)
        assert io.get_max_image_pixels() is None
        assert io.decode_image(data).shape == (3, 40, 50)
    with pytest.raises(ValueError, match="set_max_image_pixels"):
        pixel_limit(0)


def test_a_small_file_that_claims_a_huge_picture_is_refused_at_once():
    jpeg = bytearray(encoded(noise(8, 8), "JPEG"))
    at = jpeg.index(b"\xff\xc0") + 5
    jpeg[at : at + 4] = struct.pack(">HH", 65000, 65000)
    start = time.perf_counter()
    with pytest.raises(RuntimeError, match="65000x65000 = 4225000000 pixels"):
        io.decode_jpeg(as_bytes(bytes(jpeg)))
    assert time.perf_counter() - start < 0.5


def test_a_jpeg_of_endless_scans_is_refused():
    data = encoded(noise(64, 64), "JPEG", progressive=True)
    # Repeats the last scan, which refines coefficients and may come again.
    last = data.rindex(b"\xff\xda")
    bomb = data[:-2] + data[last:-2] * 5000 + data[-2:]
    start = time.perf_counter()
    with pytest.raises(RuntimeError, match="more scans than allowed"):
        io.decode_jpeg(as_bytes(bomb))
    assert time.perf_counter() - start < 1.0
    before = io.get_max_jpeg_scans()
    try:
        io.set_max_jpeg_scans(2)
        with pytest.raises(RuntimeError, match="more scans"):
            io.decode_jpeg(as_bytes(data))
    finally:
        io.set_max_jpeg_scans(before)
    assert io.decode_jpeg(as_bytes(data)).shape == (3, 64, 64)
