"""Between arrays, Pillow's images and tensors, and between dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trine
from trine import Tensor
from trine.vision._buffers import buffer_of
from trine.vision.transforms._images import is_pil_image, largest_value, require_pil

_DTYPE_OF_PIL_MODE = {"I": trine.int32, "I;16": trine.int16, "F": trine.float32}


def pil_to_tensor(pic: Any) -> Tensor:
    """The samples of a PIL image as (channels, height, width), not rescaled.

    Raises:
        TypeError: if ``pic`` is not a PIL image.
    """
    if not is_pil_image(pic):
        raise TypeError(f"pil_to_tensor: expected a PIL image, got {type(pic).__name__}")
    if pic.mode == "1":
        pic = pic.convert("L")
    dtype = _DTYPE_OF_PIL_MODE.get(pic.mode, trine.uint8)
    samples = trine.frombuffer(bytearray(pic.tobytes()), dtype=dtype)
    return samples.view(pic.height, pic.width, len(pic.getbands())).permute(2, 0, 1).contiguous()


def to_tensor(pic: Any) -> Tensor:
    """A picture as a float (channels, height, width) tensor; uint8 samples are scaled to 0 to 1.

    Args:
        pic: a PIL image, a NumPy array (height, width) or (height, width, channels), or a tensor
            (channels, height, width) as the decoders return it.

    Raises:
        TypeError: if it is none of these.
        ValueError: if an array has another number of dimensions.
    """
    if isinstance(pic, Tensor):
        image = pic
    elif is_pil_image(pic):
        image = pil_to_tensor(pic)
    elif hasattr(pic, "__array_interface__"):
        if pic.ndim not in (2, 3):
            raise ValueError(f"to_tensor: expected an array of 2 or 3 dimensions, got {tuple(pic.shape)}")
        array = trine.from_numpy(pic if pic.ndim == 3 else pic[:, :, None])
        image = array.permute(2, 0, 1).contiguous()
    else:
        raise TypeError(f"to_tensor: expected a PIL image, an array or a Tensor, got {type(pic).__name__}")
    if image.dtype == trine.uint8:
        return image.to(trine.get_default_dtype()).div(255)
    return image


def convert_image_dtype(image: Tensor, dtype: trine.dtype = trine.float32) -> Tensor:
    """The same picture in another dtype: 1.0 in floating point is the largest number of an integer dtype.

    Raises:
        TypeError: if ``image`` is not a tensor.
        RuntimeError: if float32 is to become int32 or int64, or float64 int64, which it is too coarse for.

    >>> import trine
    >>> from trine.vision.transforms.functional import convert_image_dtype
    >>> convert_image_dtype(trine.tensor([0, 51, 255], dtype=trine.uint8))
    tensor([0.0000, 0.2000, 1.0000])
    """
    if not isinstance(image, Tensor):
        raise TypeError(f"convert_image_dtype: expected a Tensor, got {type(image).__name__}")
    if image.dtype == dtype:
        return image
    if image.is_floating_point():
        if dtype.is_floating_point:
            return image.to(dtype)
        too_coarse = (image.dtype == trine.float32 and dtype in (trine.int32, trine.int64)) or (
            image.dtype == trine.float64 and dtype == trine.int64
        )
        if too_coarse:
            raise RuntimeError(f"convert_image_dtype: {image.dtype} cannot hold the values of {dtype}")
        # Just below the next number, so that each integer gets an equal share of 0 to 1.
        return image.mul(largest_value(dtype) + 1.0 - 1e-3).to(dtype)

    from_largest = largest_value(image.dtype)
    if dtype.is_floating_point:
        return image.to(dtype) / from_largest
    to_largest = largest_value(dtype)
    if from_largest > to_largest:
        factor = (from_largest + 1) // (to_largest + 1)
        return trine.div(image, factor, rounding_mode="floor").to(dtype)
    return image.to(dtype) * ((to_largest + 1) // (from_largest + 1))


def to_pil_image(pic: Any, mode: str | None = None) -> Any:
    """A PIL image of a tensor (channels, height, width) or an array (height, width, channels).

    Args:
        pic: uint8 samples, or floating point from 0 to 1; a single channel may also be int16, int32 or float32.
        mode: Pillow's name of the colour space; guessed from the number of channels if not given.

    Raises:
        TypeError: if ``pic`` is neither, or its dtype has no PIL mode.
        ValueError: if the number of dimensions or channels is wrong, or ``mode`` does not fit it.
    """
    image_module = require_pil("to_pil_image")
    if isinstance(pic, Tensor):
        if pic.dim() not in (2, 3):
            raise ValueError(f"to_pil_image: expected 2 or 3 dimensions, got {tuple(pic.shape)}")
        image = pic.unsqueeze(0) if pic.dim() == 2 else pic
        if image.is_floating_point() and mode != "F":
            image = image.mul(255).to(trine.uint8)
        samples = image.permute(1, 2, 0)
    elif hasattr(pic, "__array_interface__"):
        if pic.ndim not in (2, 3):
            raise ValueError(f"to_pil_image: expected 2 or 3 dimensions, got {tuple(pic.shape)}")
        samples = trine.from_numpy(pic if pic.ndim == 3 else pic[:, :, None])
    else:
        raise TypeError(f"to_pil_image: expected a Tensor or an array, got {type(pic).__name__}")

    height, width, channels = samples.shape
    allowed = _pil_modes(samples.dtype, channels)
    if mode is not None and mode not in allowed:
        raise ValueError(f"to_pil_image: mode {mode} does not fit {channels} channels of {samples.dtype}: {allowed}")
    samples = samples.detach().cpu().contiguous()
    return image_module.frombytes(mode or allowed[0], (width, height), bytes(buffer_of(samples)))


def _pil_modes(dtype: trine.dtype, channels: int) -> Sequence[str]:
    by_channels = {1: ("L",), 2: ("LA",), 3: ("RGB", "YCbCr", "HSV"), 4: ("RGBA", "CMYK", "RGBX")}
    if channels not in by_channels:
        raise ValueError(f"to_pil_image: expected 1 to 4 channels, got {channels}")
    if dtype == trine.uint8:
        return by_channels[channels]
    of_dtype = {trine.int16: ("I;16",), trine.int32: ("I",), trine.float32: ("F",)}
    if channels == 1 and dtype in of_dtype:
        return of_dtype[dtype]
    raise TypeError(f"to_pil_image: no PIL mode for {channels} channels of {dtype}")
