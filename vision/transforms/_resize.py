"""Resampling of tensors. uint8 pictures go to native code whose results equal Pillow's; the rest to
:func:`trine.nn.functional.interpolate`."""

from __future__ import annotations

from collections.abc import Sequence

import trine
from trine import Tensor
from trine.nn import functional as nn
from trine.vision import _C
from trine.vision._buffers import buffer_of
from trine.vision.transforms._interpolation import InterpolationMode

_NATIVE_FILTER = {
    InterpolationMode.BILINEAR: 0,
    InterpolationMode.BICUBIC: 1,
    InterpolationMode.LANCZOS: 2,
    InterpolationMode.BOX: 3,
    InterpolationMode.HAMMING: 4,
}
_NEAREST = (InterpolationMode.NEAREST, InterpolationMode.NEAREST_EXACT)


def output_size(height: int, width: int, size: int | Sequence[int] | None, max_size: int | None) -> tuple[int, int]:
    """(height, width) after resizing: two numbers are taken as they are, one is meant for the shorter side.

    Raises:
        ValueError: if ``size`` has neither one nor two numbers, or ``max_size`` does not fit it.
    """
    sides = [size] if isinstance(size, int) else list(size) if size is not None else []
    if len(sides) > 2 or (size is not None and not sides):
        raise ValueError(f"resize: size must be one or two numbers, got {size}")
    if len(sides) == 2:
        if max_size is not None:
            raise ValueError("resize: max_size needs a single size, for the shorter side")
        return int(sides[0]), int(sides[1])
    if not sides:
        if max_size is None:
            raise ValueError("resize: size is None, so max_size must be given")
        # The longer side becomes max_size.
        scale = max_size / max(height, width)
        return (max_size, int(scale * width)) if height >= width else (int(scale * height), max_size)

    short, long = min(height, width), max(height, width)
    new_short, new_long = int(sides[0]), int(sides[0] * long / short)
    if max_size is not None:
        if max_size <= sides[0]:
            raise ValueError(f"resize: max_size = {max_size} must be greater than size = {sides[0]}")
        if new_long > max_size:
            new_short, new_long = int(max_size * new_short / new_long), max_size
    return (new_long, new_short) if width <= height else (new_short, new_long)


def resize_tensor(image: Tensor, height: int, width: int, mode: InterpolationMode, antialias: bool) -> Tensor:
    """(..., channels, height, width) resampled to the given size, in the same dtype and memory order.

    Raises:
        ValueError: if the filter does not exist for this dtype.
    """
    if mode in _NEAREST:
        return _resize_nearest(image, height, width, centered=mode is InterpolationMode.NEAREST_EXACT)
    if image.dtype == trine.uint8 and antialias and image.device.type == "cpu" and image.numel():
        return _resize_native(image, height, width, mode)
    if mode not in (InterpolationMode.BILINEAR, InterpolationMode.BICUBIC):
        raise ValueError(f"resize: {mode.value} works on uint8 tensors with antialias=True only, got {image.dtype}")
    return _resize_float(image, height, width, mode, antialias)


def _resize_nearest(image: Tensor, height: int, width: int, centered: bool) -> Tensor:
    shift = 0.5 if centered else 0.0
    for dim, size in ((-2, height), (-1, width)):
        before = image.shape[dim]
        if before != size:
            index = [min(int((i + shift) * before / size), before - 1) for i in range(size)]
            image = image.index_select(dim, trine.tensor(index, device=image.device))
    return image


def _resize_float(image: Tensor, height: int, width: int, mode: InterpolationMode, antialias: bool) -> Tensor:
    pictures = image.reshape(-1, *image.shape[-3:]) if image.dim() != 4 else image
    dtype = image.dtype
    if not dtype.is_floating_point:
        pictures = pictures.to(trine.float32)
    result = nn.interpolate(pictures, (height, width), mode=mode.value, align_corners=False, antialias=antialias)
    if not dtype.is_floating_point:
        if dtype == trine.uint8:
            result = result.clamp(0, 255)  # a cubic overshoots
        result = result.round().to(dtype)
    return result.reshape(*image.shape[:-2], height, width)


def _resize_native(image: Tensor, height: int, width: int, mode: InterpolationMode) -> Tensor:
    code = _NATIVE_FILTER[mode]
    old_height, old_width = image.shape[-2:]
    box = (0.0, 0.0, float(old_width), float(old_height))
    channels = image.shape[-3] if image.dim() >= 3 else 1

    # Pictures from the decoders have their channels last: they are resampled as they lie.
    interleaved = image.movedim(-3, -1) if image.dim() >= 3 else image
    if image.dim() >= 3 and 1 < channels <= 4 and interleaved.is_contiguous():
        depth, source = channels, interleaved
        target = trine.empty((*image.shape[:-3], height, width, channels), dtype=trine.uint8)
    else:
        depth, source = 1, image.contiguous()
        target = trine.empty((*image.shape[:-2], height, width), dtype=trine.uint8)

    old_bytes, new_bytes = old_height * old_width * depth, height * width * depth
    old, new = buffer_of(source).cast("B"), buffer_of(target).cast("B")
    for i in range(image.numel() // old_bytes):
        _C.resize(
            old[i * old_bytes : (i + 1) * old_bytes], old_height, old_width, depth,
            new[i * new_bytes : (i + 1) * new_bytes], height, width, box, code,
        )  # fmt: skip
    return target.movedim(-1, -3) if depth > 1 else target
