"""Transforms as functions, on tensors (..., channels, height, width) and, where Pillow is installed, PIL images.

Pictures are not changed in place unless a function says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trine
from trine import Tensor
from trine.vision.transforms import _padding
from trine.vision.transforms._color import (
    adjust_brightness,
    adjust_contrast,
    adjust_saturation,
    invert,
    rgb_to_grayscale,
    to_grayscale,
)
from trine.vision.transforms._convert import convert_image_dtype, pil_to_tensor, to_pil_image, to_tensor
from trine.vision.transforms._images import (
    expect_image,
    get_dimensions,
    get_image_num_channels,
    get_image_size,
)
from trine.vision.transforms._interpolation import PIL_NUMBER, InterpolationMode, as_mode
from trine.vision.transforms._resize import output_size, resize_tensor

__all__ = [
    "InterpolationMode",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_saturation",
    "center_crop",
    "convert_image_dtype",
    "crop",
    "five_crop",
    "get_dimensions",
    "get_image_num_channels",
    "get_image_size",
    "hflip",
    "invert",
    "normalize",
    "pad",
    "pil_to_tensor",
    "resize",
    "resized_crop",
    "rgb_to_grayscale",
    "to_grayscale",
    "to_pil_image",
    "to_tensor",
    "vflip",
]


def resize(
    img: Any,
    size: int | Sequence[int] | None,
    interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Any:
    """Resample to another size. uint8 tensors give exactly Pillow's pixels.

    Args:
        img: a tensor (..., channels, height, width) or a PIL image.
        size: (height, width), or the length of the shorter side, keeping the proportions.
        interpolation: the filter.
        max_size: no side may become longer than this; the shorter side gives way.
        antialias: widen the filter when shrinking. PIL images always do.

    Raises:
        ValueError: if the sizes are not positive or contradict each other.

    >>> import trine
    >>> from trine.vision.transforms.functional import resize
    >>> resize(trine.zeros(3, 480, 640, dtype=trine.uint8), 240).shape
    torch.Size([3, 240, 320])
    """
    expect_image("resize", img)
    mode = as_mode("resize", interpolation)
    _, height, width = get_dimensions(img)
    new_height, new_width = output_size(height, width, size, max_size)
    if new_height <= 0 or new_width <= 0:
        raise ValueError(f"resize: the result would be {new_height} x {new_width} (height x width)")
    if (new_height, new_width) == (height, width):
        return img
    if not isinstance(img, Tensor):
        return img.resize((new_width, new_height), PIL_NUMBER[mode])
    return resize_tensor(img, new_height, new_width, mode, bool(antialias))


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """The rectangle of ``height`` x ``width`` at (top, left). What lies outside the picture is zero.

    A tensor's rectangle is a view when it lies inside.
    """
    expect_image("crop", img)
    if not isinstance(img, Tensor):
        return img.crop((left, top, left + width, top + height))
    _, old_height, old_width = get_dimensions(img)
    bottom, right = top + height, left + width
    inside = img[..., max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)]
    if top >= 0 and left >= 0 and bottom <= old_height and right <= old_width:
        return inside
    # What is outside: at most the whole rectangle, when it lies beyond the picture altogether.
    before_x, before_y = min(max(-left, 0), width), min(max(-top, 0), height)
    sides = [before_x, before_y, width - before_x - inside.shape[-1], height - before_y - inside.shape[-2]]
    return _padding.pad_tensor(inside, sides, 0, "constant")


def center_crop(img: Any, output_size: int | Sequence[int]) -> Any:
    """The middle of a picture, with zeros around it where it is too small.

    >>> import trine
    >>> from trine.vision.transforms.functional import center_crop
    >>> center_crop(trine.arange(16).view(1, 4, 4), 2)
    tensor([[[ 5,  6],
             [ 9, 10]]])
    """
    height, width = _pair("center_crop", output_size)
    _, old_height, old_width = get_dimensions(img)
    if width > old_width or height > old_height:
        missing_x, missing_y = max(width - old_width, 0), max(height - old_height, 0)
        img = pad(img, [missing_x // 2, missing_y // 2, (missing_x + 1) // 2, (missing_y + 1) // 2])
        _, old_height, old_width = get_dimensions(img)
        if (old_height, old_width) == (height, width):
            return img
    top = round((old_height - height) / 2.0)
    left = round((old_width - width) / 2.0)
    return crop(img, top, left, height, width)


def resized_crop(
    img: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: int | Sequence[int],
    interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> Any:
    """:func:`crop`, then :func:`resize`."""
    return resize(crop(img, top, left, height, width), size, interpolation, antialias=antialias)


def five_crop(img: Any, size: int | Sequence[int]) -> tuple[Any, Any, Any, Any, Any]:
    """The four corners (top left, top right, bottom left, bottom right) and the middle.

    Raises:
        ValueError: if the picture is smaller than ``size``.
    """
    height, width = _pair("five_crop", size)
    _, old_height, old_width = get_dimensions(img)
    if width > old_width or height > old_height:
        raise ValueError(f"five_crop: {(height, width)} does not fit into {(old_height, old_width)}")
    bottom, right = old_height - height, old_width - width
    corners = [crop(img, top, left, height, width) for top in (0, bottom) for left in (0, right)]
    return (*corners, center_crop(img, [height, width]))


def pad(img: Any, padding: int | Sequence[int], fill: float | Sequence[float] = 0, padding_mode: str = "constant") -> Any:
    """Add pixels around a picture.

    Args:
        img: a tensor (..., channels, height, width) or a PIL image.
        padding: one number for all sides, two (left and right, top and bottom), or four (left, top, right, bottom).
            Negative numbers crop a tensor.
        fill: the value of constant padding; for PIL images also one number a channel.
        padding_mode: ``constant``, ``edge`` (the last pixel again), ``reflect`` (mirrored at the last pixel) or
            ``symmetric`` (mirrored at the border).

    Raises:
        ValueError: if the mode is unknown or ``padding`` has another length.
    """
    expect_image("pad", img)
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError(f"pad: padding_mode must be constant, edge, reflect or symmetric, got {padding_mode!r}")
    sides = _padding.four_sides(padding)
    if isinstance(img, Tensor):
        return _padding.pad_tensor(img, sides, fill, padding_mode)
    return _padding.pad_pil(img, sides, fill, padding_mode)


def hflip(img: Any) -> Any:
    """Mirror left and right."""
    expect_image("hflip", img)
    return img.flip(-1) if isinstance(img, Tensor) else img.transpose(0)


def vflip(img: Any) -> Any:
    """Mirror top and bottom."""
    expect_image("vflip", img)
    return img.flip(-2) if isinstance(img, Tensor) else img.transpose(1)


def normalize(tensor: Tensor, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> Tensor:
    """``(tensor - mean) / std`` for each channel.

    Args:
        tensor: floating point, (..., channels, height, width).
        mean: one number a channel.
        std: one number a channel, not zero.
        inplace: change ``tensor`` itself.

    Raises:
        TypeError: if ``tensor`` is not a floating-point tensor.
        ValueError: if it has fewer than 3 dimensions or ``std`` has a zero.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"normalize: expected a Tensor, got {type(tensor).__name__}")
    if not tensor.is_floating_point():
        raise TypeError(f"normalize: expected a floating-point tensor, got {tensor.dtype}")
    if tensor.dim() < 3:
        raise ValueError(f"normalize: expected (..., channels, height, width), got {tuple(tensor.shape)}")
    if not inplace:
        tensor = tensor.clone()
    means = trine.as_tensor(mean, dtype=tensor.dtype, device=tensor.device)
    deviations = trine.as_tensor(std, dtype=tensor.dtype, device=tensor.device)
    if bool((deviations == 0).any()):
        raise ValueError(f"normalize: std = {std} has a zero in {tensor.dtype}, which cannot be divided by")
    if means.dim() == 1:
        means = means.view(-1, 1, 1)
    if deviations.dim() == 1:
        deviations = deviations.view(-1, 1, 1)
    return tensor.sub_(means).div_(deviations)


def _pair(name: str, size: int | Sequence[int]) -> tuple[int, int]:
    if isinstance(size, int):
        return size, size
    sides = [int(side) for side in size]
    if len(sides) not in (1, 2):
        raise ValueError(f"{name}: expected one or two numbers, got {size}")
    return sides[0], sides[-1]
