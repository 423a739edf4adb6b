"""Brightness, contrast, saturation and gray. On tensors the numbers are torchvision's; PIL images use Pillow."""

from __future__ import annotations

from typing import Any

import trine
from trine import Tensor
from trine.vision.transforms._images import expect_image, get_dimensions, largest_value


def _blend(image: Tensor, other: Tensor, ratio: float) -> Tensor:
    """``ratio`` parts of ``image`` and the rest of ``other``, inside the dtype's range."""
    mixed = ratio * image.to(trine.float32) + (1.0 - ratio) * other
    return mixed.clamp(0, largest_value(image.dtype)).to(image.dtype)


def _expect_color(name: str, image: Tensor) -> None:
    channels = get_dimensions(image)[0]
    if channels not in (1, 3):
        raise TypeError(f"{name}: expected 1 or 3 channels, got {tuple(image.shape)}")


def _expect_factor(name: str, factor: float) -> None:
    if factor < 0:
        raise ValueError(f"{name}: the factor must not be negative, got {factor}")


def _enhance(kind: str, image: Any, factor: float) -> Any:
    from PIL import ImageEnhance

    return getattr(ImageEnhance, kind)(image).enhance(factor)


def rgb_to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """Luma (ITU-R 601) of a picture, once or three times.

    Raises:
        ValueError: if ``num_output_channels`` is neither 1 nor 3.
    """
    expect_image("rgb_to_grayscale", img)
    if num_output_channels not in (1, 3):
        raise ValueError(f"rgb_to_grayscale: num_output_channels must be 1 or 3, got {num_output_channels}")
    if not isinstance(img, Tensor):
        gray = img.convert("L")
        return gray if num_output_channels == 1 else gray.convert("RGB")
    _expect_color("rgb_to_grayscale", img)
    if img.shape[-3] == 3:
        red, green, blue = img.unbind(-3)
        img = (0.2989 * red + 0.587 * green + 0.114 * blue).to(img.dtype).unsqueeze(-3)
    if num_output_channels == 3:
        return img.expand(*img.shape[:-3], 3, *img.shape[-2:])
    return img


def to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """:func:`rgb_to_grayscale` under the name used for PIL images."""
    return rgb_to_grayscale(img, num_output_channels)


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """0 gives a black picture, 1 the picture itself, 2 one twice as bright."""
    expect_image("adjust_brightness", img)
    if not isinstance(img, Tensor):
        return _enhance("Brightness", img, brightness_factor)
    _expect_factor("adjust_brightness", brightness_factor)
    _expect_color("adjust_brightness", img)
    return _blend(img, trine.zeros((), device=img.device), brightness_factor)


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """0 gives the mean gray everywhere, 1 the picture itself, 2 doubles the contrast."""
    expect_image("adjust_contrast", img)
    if not isinstance(img, Tensor):
        return _enhance("Contrast", img, contrast_factor)
    _expect_factor("adjust_contrast", contrast_factor)
    _expect_color("adjust_contrast", img)
    gray = rgb_to_grayscale(img).to(trine.float32)
    return _blend(img, gray.mean(dim=(-3, -2, -1), keepdim=True), contrast_factor)


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """0 gives a gray picture, 1 the picture itself, 2 doubles the saturation."""
    expect_image("adjust_saturation", img)
    if not isinstance(img, Tensor):
        return _enhance("Color", img, saturation_factor)
    _expect_factor("adjust_saturation", saturation_factor)
    _expect_color("adjust_saturation", img)
    if img.shape[-3] == 1:
        return img
    return _blend(img, rgb_to_grayscale(img).to(trine.float32), saturation_factor)


def invert(img: Any) -> Any:
    """The negative of a picture."""
    expect_image("invert", img)
    if not isinstance(img, Tensor):
        from PIL import ImageOps

        return ImageOps.invert(img)
    return largest_value(img.dtype) - img
