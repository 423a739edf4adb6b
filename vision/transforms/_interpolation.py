"""The names of the resampling filters."""

from __future__ import annotations

from enum import Enum


class InterpolationMode(Enum):
    """Resampling filters. BOX, HAMMING and LANCZOS work on uint8 tensors and PIL images only."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


# Pillow's numbers, which older programs pass.
_OF_PIL_NUMBER = {
    0: InterpolationMode.NEAREST,
    1: InterpolationMode.LANCZOS,
    2: InterpolationMode.BILINEAR,
    3: InterpolationMode.BICUBIC,
    4: InterpolationMode.BOX,
    5: InterpolationMode.HAMMING,
}
PIL_NUMBER = {mode: number for number, mode in _OF_PIL_NUMBER.items()} | {InterpolationMode.NEAREST_EXACT: 0}


def as_mode(name: str, interpolation: InterpolationMode | int) -> InterpolationMode:
    """``interpolation`` itself, or the mode that Pillow's number stands for."""
    if isinstance(interpolation, InterpolationMode):
        return interpolation
    if isinstance(interpolation, int) and interpolation in _OF_PIL_NUMBER:
        return _OF_PIL_NUMBER[interpolation]
    raise TypeError(f"{name}: interpolation must be an InterpolationMode, got {interpolation!r}")
