"""Resizing: uint8 pictures get exactly Pillow's pixels, other dtypes the same within rounding."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import PIL
import pytest
import trine
from PIL import Image
from trine.vision.transforms import InterpolationMode
from trine.vision.transforms import functional as F

sys.path.insert(0, str(Path(__file__).parent))
from pictures import interleaved, noise

FILTERS = {
    InterpolationMode.BILINEAR: Image.BILINEAR,
    InterpolationMode.BICUBIC: Image.BICUBIC,
    InterpolationMode.LANCZOS: Image.LANCZOS,
    InterpolationMode.BOX: Image.BOX,
    InterpolationMode.HAMMING: Image.HAMMING,
}
SIZES = [(1, 1), (20, 30), (67, 101), (66, 300), (200, 50), (150, 210), (256, 256)]
# Versions before 13 always resample rows first, which rounds differently (both passes, at most one level each).
TOLERANCE = 0 if int(PIL.__version__.split(".")[0]) >= 13 else 2


@pytest.mark.parametrize("mode", FILTERS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_uint8_equals_pillow(mode, size, channels):
    pixels = noise(67, 100, channels)
    expected = [
        np.asarray(Image.fromarray(np.ascontiguousarray(pixels[..., c])).resize(size[::-1], FILTERS[mode])) for c in range(channels)
    ]  # channel by channel: Pillow weighs RGBA by its alpha
    for image in (trine.from_numpy(pixels).permute(2, 0, 1), trine.from_numpy(pixels.transpose(2, 0, 1).copy())):
        result = F.resize(image, size, mode)
        assert result.dtype == trine.uint8 and tuple(result.shape) == (channels, *size)
        difference = interleaved(result).astype(int) - np.stack(expected, -1)
        assert np.abs(difference).max() <= TOLERANCE


def test_batches_and_memory_orders_give_the_same():
    pixels = np.stack([noise(40, 50, seed=i) for i in range(3)])
    planar = trine.from_numpy(pixels.transpose(0, 3, 1, 2).copy())
    lasting = trine.from_numpy(pixels).permute(0, 3, 1, 2)
    single = trine.stack([F.resize(picture, (17, 23)) for picture in planar])
    assert (F.resize(planar, (17, 23)) == single).all()
    assert (F.resize(lasting, (17, 23)) == single).all()
    assert F.resize(lasting, (17, 23)).stride(1) == 1  # channels stay last
    assert (F.resize(planar[:, :, ::2, 1:], (9, 9)) == F.resize(planar[:, :, ::2, 1:].contiguous(), (9, 9))).all()


@pytest.mark.parametrize("mode", [InterpolationMode.BILINEAR, InterpolationMode.BICUBIC])
@pytest.mark.parametrize("size", [(20, 30), (150, 210)])
def test_float_agrees_with_uint8(mode, size):
    image = trine.from_numpy(noise(67, 100)).permute(2, 0, 1).contiguous()
    exact = F.resize(image.float(), size, mode)
    assert exact.dtype == trine.float32
    # Between its two passes uint8 is rounded, and a cubic's overshoot cut off.
    tolerance = 1.01 if mode is InterpolationMode.BILINEAR else 2.5
    assert (exact.clamp(0, 255) - F.resize(image, size, mode).float()).abs().max() <= tolerance


def test_without_antialias_pixels_between_are_skipped():
    image = trine.zeros(1, 4, 64, dtype=trine.uint8)
    image[..., 5] = 255
    assert F.resize(image, (4, 8), antialias=False).sum() == 0
    assert F.resize(image, (4, 8), antialias=True).sum() > 0


@pytest.mark.parametrize("size", [(21, 31), (151, 211), (67, 31)])
def test_nearest(size):
    pixels = noise(67, 100)
    image = trine.from_numpy(pixels).permute(2, 0, 1)
    expected = np.asarray(Image.fromarray(pixels).resize(size[::-1], Image.NEAREST))
    np.testing.assert_array_equal(interleaved(F.resize(image, size, InterpolationMode.NEAREST_EXACT)), expected)
    rows = [i * 67 // size[0] for i in range(size[0])]
    columns = [i * 100 // size[1] for i in range(size[1])]
    np.testing.assert_array_equal(interleaved(F.resize(image, size, InterpolationMode.NEAREST)), pixels[rows][:, columns])


def test_one_number_is_the_shorter_side():
    assert F.resize(trine.zeros(3, 480, 640), 240).shape[-2:] == (240, 320)
    assert F.resize(trine.zeros(3, 640, 480), [240]).shape[-2:] == (320, 240)
    assert F.resize(trine.zeros(3, 100, 1000), 50, max_size=200).shape[-2:] == (20, 200)
    assert F.resize(trine.zeros(3, 100, 400), None, max_size=200).shape[-2:] == (50, 200)
    image = trine.zeros(3, 10, 20)
    assert F.resize(image, 10) is image


def test_pil_images_are_resized_by_pillow():
    image = Image.fromarray(noise(40, 50))
    result = F.resize(image, (17, 23), InterpolationMode.BICUBIC)
    assert result.size == (23, 17)
    np.testing.assert_array_equal(np.asarray(result), np.asarray(image.resize((23, 17), Image.BICUBIC)))


def test_wrong_arguments_are_named():
    image = trine.zeros(3, 10, 20)
    with pytest.raises(ValueError, match="resize: size must be one or two numbers"):
        F.resize(image, (1, 2, 3))
    with pytest.raises(ValueError, match="max_size = 5 must be greater than size = 8"):
        F.resize(image, 8, max_size=5)
    with pytest.raises(ValueError, match="resize: the result would be 0 x 4"):
        F.resize(image, (0, 4))
    with pytest.raises(TypeError, match="resize: interpolation"):
        F.resize(image, 8, "bilinear")
    with pytest.raises(TypeError, match="resize: expected a Tensor or a PIL image, got list"):
        F.resize([1], 8)
    with pytest.raises(ValueError, match="resize: lanczos works on uint8"):
        F.resize(image, 8, InterpolationMode.LANCZOS)
