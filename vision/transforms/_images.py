"""What a transform may be given: a tensor of pictures or, where Pillow is installed, one of its images."""

from __future__ import annotations

import sys
from typing import Any

import trine
from trine import Tensor

_INTEGER_LIMITS = {
    trine.uint8: 255,
    trine.int8: 127,
    trine.int16: 32_767,
    trine.int32: 2_147_483_647,
    trine.int64: 9_223_372_036_854_775_807,
}


def is_pil_image(image: Any) -> bool:
    """Whether ``image`` is Pillow's. Does not import Pillow: without it nothing can be one of its images."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(image, module.Image)


def require_pil(name: str) -> Any:
    """The module ``PIL.Image``, or an error that says how to get it."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(f"{name}: this needs Pillow (pip install pillow)") from None
    return Image


def expect_image(name: str, image: Any) -> None:
    """Raise TypeError unless ``image`` is a (..., channels, height, width) tensor or Pillow's."""
    if isinstance(image, Tensor):
        if image.dim() < 2:
            raise TypeError(f"{name}: expected a tensor (..., channels, height, width), got {tuple(image.shape)}")
    elif not is_pil_image(image):
        raise TypeError(f"{name}: expected a Tensor or a PIL image, got {type(image).__name__}")


def largest_value(dtype: trine.dtype) -> int:
    """White: 1 for floating point and bool, else the dtype's largest number."""
    return _INTEGER_LIMITS.get(dtype, 1)


def get_dimensions(image: Any) -> list[int]:
    """[channels, height, width] of a tensor (..., channels, height, width) or a PIL image.

    >>> import trine
    >>> from trine.vision.transforms import functional as F
    >>> F.get_dimensions(trine.zeros(3, 4, 5))
    [3, 4, 5]
    """
    expect_image("get_dimensions", image)
    if isinstance(image, Tensor):
        channels = 1 if image.dim() == 2 else image.shape[-3]
        return [channels, *image.shape[-2:]]
    return [len(image.getbands()), image.height, image.width]


def get_image_size(image: Any) -> list[int]:
    """[width, height] of a tensor or PIL image."""
    _, height, width = get_dimensions(image)
    return [width, height]


def get_image_num_channels(image: Any) -> int:
    """The number of channels of a tensor or PIL image."""
    return get_dimensions(image)[0]
