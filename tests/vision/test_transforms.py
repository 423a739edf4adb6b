"""Transforms: numbers are those of Pillow, NumPy and torchvision's documented formulas."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest
import trine
from PIL import Image
from trine.vision import transforms as T
from trine.vision.transforms import functional as F

sys.path.insert(0, str(Path(__file__).parent))
from pictures import interleaved, noise


def test_pil_images_become_tensors_and_come_back():
    for mode in ("L", "LA", "RGB", "RGBA", "CMYK"):
        image = Image.fromarray(noise(11, 13)).convert(mode)
        tensor = F.pil_to_tensor(image)
        np.testing.assert_array_equal(interleaved(tensor), np.asarray(image).reshape(11, 13, -1))
        assert tensor.is_contiguous()
        back = F.to_pil_image(tensor, mode)
        assert back.mode == mode and np.array_equal(np.asarray(back), np.asarray(image))
    assert F.pil_to_tensor(Image.new("1", (3, 2), 1)).tolist() == [[[255, 255, 255], [255, 255, 255]]]
    assert F.pil_to_tensor(Image.new("I", (3, 2), 70_000))[0, 0, 0] == 70_000
    assert F.pil_to_tensor(Image.new("F", (3, 2), 0.25)).dtype == trine.float32


def test_to_tensor_scales_bytes_only():
    pixels = noise(11, 13)
    expected = pixels.transpose(2, 0, 1).astype(np.float32) / np.float32(255)
    for picture in (Image.fromarray(pixels), pixels, trine.from_numpy(pixels).permute(2, 0, 1)):
        result = F.to_tensor(picture)
        assert result.dtype == trine.float32
        np.testing.assert_array_equal(result.contiguous().numpy(), expected)
    assert F.to_tensor(pixels[..., 0]).shape == (1, 11, 13)
    assert F.to_tensor(np.full((2, 2, 1), 7.0)).dtype == trine.float64
    assert F.to_tensor(np.full((2, 2, 1), 7.0))[0, 0, 0] == 7.0
    with pytest.raises(TypeError, match="to_tensor: expected"):
        F.to_tensor("picture")
    with pytest.raises(ValueError, match="2 or 3 dimensions"):
        F.to_tensor(np.zeros(3))


def test_to_pil_image_refuses_what_no_mode_fits():
    with pytest.raises(ValueError, match="1 to 4 channels, got 5"):
        F.to_pil_image(trine.zeros(5, 2, 2, dtype=trine.uint8))
    with pytest.raises(ValueError, match="mode RGB does not fit 1 channels"):
        F.to_pil_image(trine.zeros(1, 2, 2, dtype=trine.uint8), "RGB")
    with pytest.raises(TypeError, match="no PIL mode"):
        F.to_pil_image(trine.zeros(3, 2, 2, dtype=trine.int64))
    assert F.to_pil_image(trine.ones(3, 2, 2)).getpixel((0, 0)) == (255, 255, 255)


def test_dtypes_are_converted_by_their_range():
    levels = trine.arange(256).to(trine.uint8)
    as_float = F.convert_image_dtype(levels, trine.float32)
    np.testing.assert_array_equal(as_float.numpy(), np.arange(256, dtype=np.float32) / np.float32(255))
    assert (F.convert_image_dtype(as_float, trine.uint8) == levels).all()
    assert F.convert_image_dtype(levels, trine.int16).tolist() == [i * 128 for i in range(256)]
    assert (F.convert_image_dtype(F.convert_image_dtype(levels, trine.int16), trine.uint8) == levels).all()
    assert F.convert_image_dtype(levels, trine.uint8) is levels
    with pytest.raises(RuntimeError, match=r"float32 cannot hold the values of .*int32"):
        F.convert_image_dtype(as_float, trine.int32)
    with pytest.raises(TypeError, match="expected a Tensor"):
        F.convert_image_dtype(Image.new("L", (1, 1)))


def test_normalize():
    image = trine.rand(2, 3, 4, 5)
    mean, std = [0.1, 0.2, 0.3], [0.5, 0.6, 0.7]
    expected = (image.numpy() - np.float32(mean)[:, None, None]) / np.float32(std)[:, None, None]
    before = image.clone()
    np.testing.assert_allclose(F.normalize(image, mean, std).numpy(), expected, rtol=1e-6, atol=1e-7)
    assert (image == before).all()
    assert F.normalize(image, mean, std, inplace=True) is image
    np.testing.assert_allclose(image.numpy(), expected, rtol=1e-6, atol=1e-7)
    with pytest.raises(TypeError, match=r"normalize: expected a floating-point tensor, got .*uint8"):
        F.normalize(trine.zeros(3, 2, 2, dtype=trine.uint8), mean, std)
    with pytest.raises(ValueError, match="zero"):
        F.normalize(image, mean, [1.0, 0.0, 1.0])
    with pytest.raises(ValueError, match="channels"):
        F.normalize(trine.zeros(3, 2), mean, std)


@pytest.mark.parametrize("size", [(5, 6), (4, 8), (20, 9), (11, 40), (30, 30), 7])
def test_center_crop_of_tensor_and_pil_image_agree(size):
    pixels = noise(11, 14)
    result = F.center_crop(trine.from_numpy(pixels).permute(2, 0, 1), size)
    expected = np.asarray(F.center_crop(Image.fromarray(pixels), size))
    np.testing.assert_array_equal(interleaved(result), expected)
    assert expected.shape[:2] == ((size, size) if isinstance(size, int) else size)


@pytest.mark.parametrize("where", [(2, 3, 4, 5), (-2, -3, 6, 8), (8, 10, 6, 9), (-3, 2, 20, 4), (40, 50, 3, 3), (-9, 1, 4, 4)])
def test_crop_equals_pillows_also_outside(where):
    pixels = noise(11, 14)
    result = F.crop(trine.from_numpy(pixels).permute(2, 0, 1), *where)
    np.testing.assert_array_equal(interleaved(result), np.asarray(F.crop(Image.fromarray(pixels), *where)))


def test_crop_inside_is_a_view():
    image = trine.zeros(1, 4, 4)
    F.crop(image, 1, 1, 2, 2).fill_(1)
    assert image.sum() == 4


NUMPY_MODE = {"edge": "edge", "reflect": "reflect", "symmetric": "symmetric"}


@pytest.mark.parametrize("mode", NUMPY_MODE)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_padding_equals_numpys(mode, dtype):
    pixels = noise(5, 7).astype(dtype)
    left, top, right, bottom = 3, 2, 4, 1
    result = F.pad(trine.from_numpy(pixels).permute(2, 0, 1), [left, top, right, bottom], padding_mode=mode)
    expected = np.pad(pixels, ((top, bottom), (left, right), (0, 0)), mode=NUMPY_MODE[mode])
    np.testing.assert_array_equal(interleaved(result), expected)
    if dtype is np.uint8:
        image = F.pad(Image.fromarray(pixels), [left, top, right, bottom], padding_mode=mode)
        np.testing.assert_array_equal(np.asarray(image), expected)


def test_constant_padding():
    image = trine.ones(1, 2, 3)
    assert F.pad(image, 1, fill=5).tolist() == [[[5, 5, 5, 5, 5], [5, 1, 1, 1, 5], [5, 1, 1, 1, 5], [5, 5, 5, 5, 5]]]
    assert F.pad(image, (1, 0)).shape == (1, 2, 5)
    assert F.pad(Image.new("RGB", (3, 2)), 1, fill=9).getpixel((0, 0)) == (9, 9, 9)
    with pytest.raises(ValueError, match="padding_mode must be"):
        F.pad(image, 1, padding_mode="wrap")
    with pytest.raises(ValueError, match="1, 2 or 4"):
        F.pad(image, (1, 2, 3))


def test_flips():
    pixels = noise(5, 7)
    image = trine.from_numpy(pixels).permute(2, 0, 1)
    np.testing.assert_array_equal(interleaved(F.hflip(image)), pixels[:, ::-1])
    np.testing.assert_array_equal(interleaved(F.vflip(image)), pixels[::-1])
    np.testing.assert_array_equal(np.asarray(F.hflip(Image.fromarray(pixels))), pixels[:, ::-1])
    np.testing.assert_array_equal(np.asarray(F.vflip(Image.fromarray(pixels))), pixels[::-1])


def test_five_crop_takes_corners_and_middle():
    image = trine.arange(30).view(1, 5, 6)
    corners = [int(part[0, 0, 0]) for part in F.five_crop(image, 3)]
    assert corners == [0, 3, 12, 15, 8]
    with pytest.raises(ValueError, match="does not fit"):
        F.five_crop(image, 6)


@pytest.mark.parametrize("name", ["adjust_brightness", "adjust_contrast", "adjust_saturation"])
@pytest.mark.parametrize("factor", [0.0, 0.5, 1.0, 1.7])
def test_colour_changes_are_close_to_pillows(name, factor):
    pixels = noise(21, 24)
    change = getattr(F, name)
    result = interleaved(change(trine.from_numpy(pixels).permute(2, 0, 1), factor)).astype(int)
    expected = np.asarray(change(Image.fromarray(pixels), factor)).astype(int)
    assert np.abs(result - expected).max() <= 2


def test_grayscale_and_invert():
    pixels = noise(9, 8)
    image = trine.from_numpy(pixels).permute(2, 0, 1)
    gray = np.asarray(Image.fromarray(pixels).convert("L")).astype(int)
    result = interleaved(F.rgb_to_grayscale(image))
    assert result.shape == (9, 8, 1) and np.abs(result[..., 0] - gray).max() <= 1
    assert F.rgb_to_grayscale(image, 3).shape == (3, 9, 8)
    np.testing.assert_array_equal(interleaved(F.invert(image)), 255 - pixels)
    np.testing.assert_array_equal(np.asarray(F.invert(Image.fromarray(pixels))), 255 - pixels)


def test_compose_is_the_usual_preparation_of_a_classifier():
    prepare = T.Compose([T.Resize(40), T.CenterCrop(32), T.ToTensor(), T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
    pixels = noise(60, 80)
    from_pil = prepare(Image.fromarray(pixels))
    from_tensor = prepare(trine.from_numpy(pixels).permute(2, 0, 1))
    assert from_pil.shape == (3, 32, 32)
    assert (from_pil - from_tensor).abs().max() < 0.02  # one level, where Pillow is older than our arithmetic
    assert "Resize(size=40, interpolation=bilinear" in repr(prepare)


def test_random_crop_stays_inside_and_follows_the_seed():
    image = trine.arange(100).view(1, 10, 10)
    crop = T.RandomCrop(4)
    trine.manual_seed(3)
    first = [crop(image).tolist() for _ in range(20)]
    trine.manual_seed(3)
    assert first == [crop(image).tolist() for _ in range(20)]
    assert len({str(part) for part in first}) > 5
    with pytest.raises(ValueError, match="does not fit"):
        T.RandomCrop(11)(image)
    assert T.RandomCrop(12, pad_if_needed=True)(image).shape == (1, 12, 12)
    assert T.RandomCrop(10, padding=2)(image).shape == (1, 10, 10)


def test_random_resized_crop_draws_area_and_proportions_in_range():
    image = trine.zeros(3, 60, 90, dtype=trine.uint8)
    for _ in range(50):
        top, left, height, width = T.RandomResizedCrop.get_params(image, (0.2, 0.5), (0.75, 4 / 3))
        assert 0 <= top <= 60 - height and 0 <= left <= 90 - width
        assert 0.2 * 5400 * 0.93 <= height * width <= 0.5 * 5400 * 1.07
        assert 0.75 * 0.9 <= width / height <= 4 / 3 * 1.1
    assert T.RandomResizedCrop(24)(image).shape == (3, 24, 24)


@pytest.mark.parametrize("kind", [T.RandomHorizontalFlip, T.RandomVerticalFlip])
def test_flips_happen_as_often_as_asked(kind):
    image = trine.arange(4).view(1, 2, 2)
    assert (kind(p=0.0)(image) == image).all()
    assert not (kind(p=1.0)(image) == image).all()
    flips = sum(not bool((kind(0.3)(image) == image).all()) for _ in range(400))
    assert abs(flips - 120) < 5 * math.sqrt(400 * 0.3 * 0.7)


def test_chance_between_transforms():
    image = trine.ones(1, 1, 1)
    double = T.Lambda(lambda x: x * 2)
    add = T.Lambda(lambda x: x + 1)
    assert float(T.RandomApply([double], p=1.0)(image)) == 2
    assert float(T.RandomApply([double], p=0.0)(image)) == 1
    assert {float(T.RandomChoice([double, add, T.Lambda(lambda x: x * 7)])(image)) for _ in range(50)} == {2, 7}
    assert {float(T.RandomOrder([T.Lambda(lambda x: x * 3), add])(image)) for _ in range(50)} == {4, 6}
    assert T.ColorJitter(0.4, 0.4, 0.4)(trine.from_numpy(noise(5, 5)).permute(2, 0, 1)).shape == (3, 5, 5)
    assert T.RandomGrayscale(p=1.0)(trine.zeros(3, 2, 2)).shape == (3, 2, 2)
    with pytest.raises(TypeError, match="Lambda: expected a function"):
        T.Lambda(3)
