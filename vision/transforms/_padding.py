"""Padding of tensors and PIL images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trine
from trine import Tensor
from trine.nn import functional as nn
from trine.vision.transforms._convert import pil_to_tensor, to_pil_image


def four_sides(padding: int | Sequence[int]) -> list[int]:
    """[left, top, right, bottom] of one, two or four numbers.

    Raises:
        ValueError: if there is another count of numbers.
    """
    if isinstance(padding, int):
        return [padding] * 4
    sides = [int(side) for side in padding]
    if len(sides) not in (1, 2, 4):
        raise ValueError(f"pad: padding must be 1, 2 or 4 numbers, got {padding}")
    return sides * (4 // len(sides))


def pad_tensor(image: Tensor, sides: Sequence[int], fill: float | Sequence[float], mode: str) -> Tensor:
    """``image`` (..., height, width) with ``sides`` [left, top, right, bottom] added."""
    left, top, right, bottom = sides
    if mode == "constant":
        value = fill if isinstance(fill, (int, float)) else _single("pad", fill)
        return nn.pad(image, [left, right, top, bottom], mode="constant", value=value)
    for dim, before, after in ((-2, top, bottom), (-1, left, right)):
        size = image.shape[dim]
        index = [_source(i, size, mode) for i in range(-before, size + after)]
        image = image.index_select(dim, trine.tensor(index, device=image.device))
    return image


def _single(name: str, fill: Sequence[float]) -> float:
    if len(fill) != 1:
        raise ValueError(f"{name}: a tensor is filled with one number, got {fill}")
    return fill[0]


def _source(position: int, size: int, mode: str) -> int:
    """Which of ``size`` pixels stands at ``position``, which may lie outside."""
    if mode == "edge" or size == 1:
        return min(max(position, 0), size - 1)
    if mode == "symmetric":
        position %= 2 * size
        return position if position < size else 2 * size - 1 - position
    period = 2 * (size - 1)
    position %= period
    return position if position < size else period - position


def pad_pil(image: Any, sides: Sequence[int], fill: float | Sequence[float], mode: str) -> Any:
    """A PIL image with ``sides`` [left, top, right, bottom] added."""
    left, top, right, bottom = sides
    if mode != "constant":
        return to_pil_image(pad_tensor(pil_to_tensor(image), sides, 0, mode), image.mode)
    from PIL import ImageOps

    bands = len(image.getbands())
    values = [fill] * bands if isinstance(fill, (int, float)) else list(fill)
    if len(values) == 1:
        values *= bands
    color = int(values[0]) if bands == 1 else tuple(int(value) for value in values)
    return ImageOps.expand(image, border=(left, top, right, bottom), fill=color)
