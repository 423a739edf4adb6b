"""PNG files: pixels are Pillow's for every colour type, depth and mode."""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import trine
from PIL import Image
from trine.vision.io import ImageReadMode, decode_image, decode_png, encode_png

sys.path.insert(0, str(Path(__file__).parent))
from pictures import as_bytes, encoded, interleaved, noise, opened

PIL_MODE = {"GRAY": "L", "GRAY_ALPHA": "LA", "RGB": "RGB", "RGB_ALPHA": "RGBA"}


def files() -> dict[str, bytes]:
    pixels = noise(37, 53, 4)
    palette = {count: Image.fromarray(pixels[..., :3]).quantize(count) for count in (2, 4, 16, 200)}
    made = {
        "gray": encoded(pixels[..., 0], "PNG"),
        "gray+alpha": encoded(Image.fromarray(pixels[..., :2], "LA"), "PNG"),
        "rgb": encoded(pixels[..., :3], "PNG"),
        "rgba": encoded(pixels, "PNG"),
        "bilevel": encoded(Image.fromarray(pixels[..., 0]).convert("1"), "PNG"),
        "gray, one value transparent": encoded(pixels[..., 0], "PNG", transparency=int(pixels[3, 4, 0])),
    }
    for count, image in palette.items():
        made[f"palette of {count}"] = encoded(image, "PNG")
        made[f"palette of {count}, transparent"] = encoded(image, "PNG", transparency=bytes([0, 128]))
    return made


FILES = files()


@pytest.mark.filterwarnings("ignore:Palette images with Transparency")
@pytest.mark.parametrize("mode", PIL_MODE)
@pytest.mark.parametrize("kind", FILES)
def test_pixels_equal_pillows(kind, mode):
    image = decode_png(as_bytes(FILES[kind]), ImageReadMode[mode])
    expected = np.asarray(opened(FILES[kind]).convert(PIL_MODE[mode]))
    np.testing.assert_array_equal(interleaved(image), expected.reshape(37, 53, -1))


@pytest.mark.parametrize("kind", FILES)
def test_unchanged_hands_out_what_is_stored(kind):
    image = decode_png(as_bytes(FILES[kind]))
    expected = np.asarray(opened(FILES[kind])).reshape(37, 53, -1)
    if expected.dtype == bool:
        expected = expected.astype(np.uint8) * 255
    np.testing.assert_array_equal(interleaved(image), expected)


def test_one_rgb_colour_can_be_transparent():
    pixels = noise(10, 12)
    data = encoded(pixels, "PNG", transparency=tuple(int(value) for value in pixels[3, 4]))
    np.testing.assert_array_equal(interleaved(decode_png(as_bytes(data), "RGB_ALPHA")), np.asarray(opened(data).convert("RGBA")))
    assert decode_png(as_bytes(data)).shape[0] == 3


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(width: int, height: int, depth: int, color: int, rows: bytes, interlace: int = 0, extra: bytes = b"") -> bytes:
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlace)
    chunks = chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def sixteen_bit(values: np.ndarray, color: int) -> bytes:
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in values)
    return png(values.shape[1], values.shape[0], 16, color, rows)


def test_16_bit_samples_come_as_int32():
    values = np.random.default_rng(0).integers(0, 65536, (5, 7, 3))
    image = decode_png(as_bytes(sixteen_bit(values, 2)))
    assert image.dtype == trine.int32
    np.testing.assert_array_equal(interleaved(image), values)
    opaque = decode_png(as_bytes(sixteen_bit(values, 2)), "RGB_ALPHA")
    assert (opaque[3] == 65535).all()
    gray = decode_png(as_bytes(sixteen_bit(values, 2)), "GRAY")
    luma = values @ np.array([0.299, 0.587, 0.114])
    assert np.abs(interleaved(gray)[..., 0] - luma).max() <= 1


def adam7(pixels: np.ndarray) -> bytes:
    """The rows of the seven passes, each unfiltered (PNG specification, section 8.2)."""
    rows = b""
    passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
    for top, left, step_y, step_x in passes:
        part = pixels[top::step_y, left::step_x]
        if part.size:
            rows += b"".join(b"\0" + row.tobytes() for row in part)
    return rows


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (8, 8), (33, 21)])
def test_interlaced_file(size):
    pixels = noise(*size)
    data = png(size[1], size[0], 8, 2, adam7(pixels), interlace=1)
    np.testing.assert_array_equal(np.asarray(opened(data)), pixels)
    np.testing.assert_array_equal(interleaved(decode_png(as_bytes(data))), pixels)
    np.testing.assert_array_equal(interleaved(decode_png(as_bytes(data), "GRAY"))[..., 0], np.asarray(Image.fromarray(pixels).convert("L")))


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_exif_orientation(orientation):
    from PIL import ImageOps

    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encoded(noise(24, 40), "PNG", exif=exif)
    upright = np.asarray(ImageOps.exif_transpose(opened(data)))
    np.testing.assert_array_equal(interleaved(decode_png(as_bytes(data), apply_exif_orientation=True)), upright)


def test_truncated_and_damaged_files_are_errors():
    data = encoded(noise(60, 60), "PNG")
    for length in (8, 20, 40, len(data) // 2, len(data) - 30):
        with pytest.raises(RuntimeError, match="decode_png: "):
            decode_png(as_bytes(data[:length]))
    broken = bytearray(data)
    broken[len(data) // 2] ^= 0xFF
    with pytest.raises(RuntimeError, match="decode_png: "):
        decode_png(as_bytes(bytes(broken)))
    with pytest.raises(RuntimeError, match="not a PNG"):
        decode_png(as_bytes(b"abc"))


def test_decompression_bomb_in_metadata_is_not_unpacked():
    bomb = chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(64 << 20)))
    data = png(2, 1, 8, 0, b"\0\1\2", extra=bomb)
    assert decode_png(as_bytes(data)).tolist() == [[[1, 2]]]


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("level", [0, 6, 9])
def test_written_file_has_the_same_pixels(channels, level):
    pixels = noise(20, 30, channels)
    written = encode_png(trine.from_numpy(pixels).permute(2, 0, 1), level)
    np.testing.assert_array_equal(np.asarray(opened(written.numpy().tobytes())).reshape(pixels.shape), pixels)
    np.testing.assert_array_equal(interleaved(decode_image(written)), pixels)


def test_encoder_refuses_what_is_no_picture():
    with pytest.raises(RuntimeError, match="encode_png: expected uint8"):
        encode_png(trine.zeros(3, 4, 4))
    with pytest.raises(RuntimeError, match="channels"):
        encode_png(trine.zeros(5, 4, 4, dtype=trine.uint8))
    with pytest.raises(ValueError, match="compression_level must be 0 to 9"):
        encode_png(trine.zeros(3, 4, 4, dtype=trine.uint8), 10)
