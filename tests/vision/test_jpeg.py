"""JPEG files: pixels are Pillow's, whatever the file's colours, sampling and order of scans."""

from __future__ import annotations

import io
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import trine
from PIL import Image
from trine.vision.io import ImageReadMode, decode_image, decode_jpeg, encode_jpeg

sys.path.insert(0, str(Path(__file__).parent))
from pictures import as_bytes, encoded, interleaved, noise, opened


@pytest.mark.parametrize("size", [(1, 1), (3, 17), (64, 48), (217, 333)])
@pytest.mark.parametrize("subsampling", [0, 1, 2])
@pytest.mark.parametrize("progressive", [False, True])
@pytest.mark.parametrize("quality", [30, 92])
def test_pixels_equal_pillows(size, subsampling, progressive, quality):
    data = encoded(noise(*size), "JPEG", subsampling=subsampling, progressive=progressive, quality=quality)
    image = decode_jpeg(as_bytes(data))
    assert image.dtype == trine.uint8 and image.shape == (3, *size)
    np.testing.assert_array_equal(interleaved(image), np.asarray(opened(data)))


def test_optimised_tables_and_restart_markers_are_read():
    for options in ({"optimize": True}, {"restart_marker_blocks": 3}, {"restart_marker_rows": 1, "optimize": True}):
        data = encoded(noise(100, 130), "JPEG", quality=85, **options)
        np.testing.assert_array_equal(interleaved(decode_jpeg(as_bytes(data))), np.asarray(opened(data)))


def test_gray_file_in_every_mode():
    data = encoded(noise(40, 30, 1)[..., 0], "JPEG")
    gray = np.asarray(opened(data))
    assert decode_jpeg(as_bytes(data)).shape == (1, 40, 30)
    np.testing.assert_array_equal(interleaved(decode_jpeg(as_bytes(data), ImageReadMode.GRAY))[..., 0], gray)
    np.testing.assert_array_equal(interleaved(decode_jpeg(as_bytes(data), "rgb")), np.stack([gray] * 3, -1))


def test_colour_read_as_gray_is_the_stored_luma():
    data = encoded(noise(40, 30), "JPEG")
    image = Image.open(io.BytesIO(data))
    image.draft("L", image.size)  # makes Pillow ask libjpeg for the luma, too
    np.testing.assert_array_equal(interleaved(decode_jpeg(as_bytes(data), "GRAY"))[..., 0], np.asarray(image))


def test_cmyk_is_converted_like_pillow_does():
    data = encoded(Image.fromarray(noise(40, 30)).convert("CMYK"), "JPEG")
    image = opened(data)
    np.testing.assert_array_equal(interleaved(decode_jpeg(as_bytes(data), "RGB")), np.asarray(image.convert("RGB")))
    np.testing.assert_array_equal(interleaved(decode_jpeg(as_bytes(data), "GRAY"))[..., 0], np.asarray(image.convert("L")))
    # Adobe's files store the complement; UNCHANGED hands out what is stored.
    np.testing.assert_array_equal(interleaved(decode_jpeg(as_bytes(data))), 255 - np.asarray(image))


def test_rgb_without_colour_transform():
    data = encoded(noise(20, 30), "JPEG", keep_rgb=True, quality=95)
    np.testing.assert_array_equal(interleaved(decode_jpeg(as_bytes(data))), np.asarray(opened(data)))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_applied_on_request_only(orientation):
    from PIL import ImageOps

    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encoded(noise(24, 40), "JPEG", exif=exif, subsampling=0)
    upright = np.asarray(ImageOps.exif_transpose(opened(data)))
    np.testing.assert_array_equal(interleaved(decode_jpeg(as_bytes(data), apply_exif_orientation=True)), upright)
    np.testing.assert_array_equal(interleaved(decode_jpeg(as_bytes(data))), np.asarray(opened(data)))


def test_alpha_modes_are_refused_with_the_reason():
    data = encoded(noise(8, 8), "JPEG")
    for mode in (ImageReadMode.GRAY_ALPHA, ImageReadMode.RGB_ALPHA):
        with pytest.raises(RuntimeError, match=r"decode_jpeg: .*no alpha"):
            decode_jpeg(as_bytes(data), mode)


def test_a_truncated_file_is_an_error_and_not_half_a_picture():
    for progressive in (False, True):
        data = encoded(noise(100, 100), "JPEG", progressive=progressive)
        for length in (0, 1, 2, 20, 300, len(data) // 2, len(data) - 40):
            with pytest.raises(RuntimeError, match="decode_jpeg: "):
                decode_jpeg(as_bytes(data[:length]))


def test_result_has_channels_last_memory_and_is_not_copied():
    image = decode_jpeg(as_bytes(encoded(noise(10, 12), "JPEG")))
    assert image.stride() == (1, 36, 3)


def test_list_of_files_gives_list_of_pictures():
    files = [encoded(noise(10 + i, 12), "JPEG") for i in range(3)]
    images = decode_jpeg([as_bytes(data) for data in files])
    assert [tuple(image.shape) for image in images] == [(3, 10, 12), (3, 11, 12), (3, 12, 12)]


def test_input_that_is_no_file_is_refused_by_name():
    with pytest.raises(RuntimeError, match=r"decode_jpeg: expected a 1-D uint8 tensor, got .*float32"):
        decode_jpeg(trine.zeros(10))
    with pytest.raises(RuntimeError, match=r"shape \(2, 3\)"):
        decode_jpeg(trine.zeros(2, 3, dtype=trine.uint8))
    with pytest.raises(TypeError, match="decode_jpeg: expected a Tensor, got bytes"):
        decode_jpeg(b"abc")
    with pytest.raises(ValueError, match="mode must be one of UNCHANGED"):
        decode_jpeg(as_bytes(b"abc"), "BGR")
    with pytest.raises(RuntimeError, match="neither a JPEG nor a PNG"):
        decode_image(as_bytes(b"GIF89a----"))


def test_non_contiguous_input_is_read():
    data = encoded(noise(10, 12), "JPEG")
    spread = trine.zeros(len(data), 2, dtype=trine.uint8)
    spread[:, 0] = as_bytes(data)
    np.testing.assert_array_equal(interleaved(decode_jpeg(spread[:, 0])), np.asarray(opened(data)))


@pytest.mark.parametrize("quality", [1, 10, 75, 100])
def test_encoder_writes_what_pillow_writes(quality):
    pixels = noise(61, 83)
    written = encode_jpeg(trine.from_numpy(pixels).permute(2, 0, 1), quality)
    np.testing.assert_array_equal(
        np.asarray(opened(written.numpy().tobytes())), np.asarray(opened(encoded(pixels, "JPEG", quality=quality)))
    )


def test_encoder_takes_gray_and_planar_pictures():
    pixels = noise(20, 30)
    planar = trine.from_numpy(np.ascontiguousarray(pixels.transpose(2, 0, 1)))
    assert (encode_jpeg(planar) == encode_jpeg(trine.from_numpy(pixels).permute(2, 0, 1))).all()
    assert decode_jpeg(encode_jpeg(planar[:1])).shape == (1, 20, 30)


def test_encoder_refuses_what_is_no_picture():
    with pytest.raises(RuntimeError, match=r"encode_jpeg: expected uint8 .* got .*float32"):
        encode_jpeg(trine.zeros(3, 4, 4))
    with pytest.raises(RuntimeError, match=r"1 or 3 channels, got .*shape \(2, 4, 4\)"):
        encode_jpeg(trine.zeros(2, 4, 4, dtype=trine.uint8))
    with pytest.raises(RuntimeError):
        encode_jpeg(trine.zeros(3, 0, 4, dtype=trine.uint8))
    for quality in (0, 101):
        with pytest.raises(ValueError, match="quality must be 1 to 100"):
            encode_jpeg(trine.zeros(3, 4, 4, dtype=trine.uint8), quality)


def test_many_threads_decode_at_once():
    files = [encoded(noise(64, 64, seed=i), "JPEG") for i in range(4)]
    expected = [np.asarray(opened(data)) for data in files]
    wrong = []

    def work(i: int) -> None:
        for _ in range(20):
            if not np.array_equal(interleaved(decode_jpeg(as_bytes(files[i]))), expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
