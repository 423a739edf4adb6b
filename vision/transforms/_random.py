"""Transforms with chance. They draw from trine's default generator in torchvision's order, so that the same seed
chooses the same rectangles and flips."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import trine
from trine import nn
from trine.vision.transforms import functional as F
from trine.vision.transforms._interpolation import InterpolationMode, as_mode


def _uniform(low: float, high: float) -> float:
    return float(trine.empty(1).uniform_(low, high))


def _below(count: int) -> int:
    return int(trine.randint(0, count, size=(1,)).item())


def _happens(probability: float) -> bool:
    return bool(trine.rand(1) < probability)


def _two(size: int | Sequence[int]) -> tuple[int, int]:
    if isinstance(size, int):
        return size, size
    return int(size[0]), int(size[-1])


class RandomCrop(nn.Module):
    """A rectangle of fixed size anywhere in the picture.

    Args:
        size: (height, width) or one number for both.
        padding: added first, see :func:`~trine.vision.transforms.functional.pad`.
        pad_if_needed: pad a picture that is smaller than ``size`` instead of raising.
        fill: the value of constant padding.
        padding_mode: as in :func:`~trine.vision.transforms.functional.pad`.
    """

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: float = 0,
        padding_mode: str = "constant",
    ) -> None:
        super().__init__()
        self.size = _two(size)
        self.padding = padding
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self.padding_mode = padding_mode

    @staticmethod
    def get_params(img: Any, output_size: tuple[int, int]) -> tuple[int, int, int, int]:
        """(top, left, height, width) of a random rectangle.

        Raises:
            ValueError: if the picture is smaller than ``output_size``.
        """
        _, height, width = F.get_dimensions(img)
        new_height, new_width = output_size
        if height < new_height or width < new_width:
            raise ValueError(f"RandomCrop: {output_size} does not fit into {(height, width)} (height, width)")
        if (height, width) == (new_height, new_width):
            return 0, 0, height, width
        return _below(height - new_height + 1), _below(width - new_width + 1), new_height, new_width

    def forward(self, img: Any) -> Any:
        if self.padding is not None:
            img = F.pad(img, self.padding, self.fill, self.padding_mode)
        if self.pad_if_needed:
            _, height, width = F.get_dimensions(img)
            if width < self.size[1]:
                img = F.pad(img, [self.size[1] - width, 0], self.fill, self.padding_mode)
            if height < self.size[0]:
                img = F.pad(img, [0, self.size[0] - height], self.fill, self.padding_mode)
        return F.crop(img, *self.get_params(img, self.size))

    def extra_repr(self) -> str:
        return f"size={self.size}, padding={self.padding}"


class RandomResizedCrop(nn.Module):
    """A rectangle of random area and proportions, resized to ``size``.

    Args:
        size: (height, width) or one number for both.
        scale: the range of the area, as a part of the picture's.
        ratio: the range of width over height, drawn evenly in its logarithm.
        interpolation: the filter.
        antialias: see :func:`~trine.vision.transforms.functional.resize`.
    """

    def __init__(
        self,
        size: int | Sequence[int],
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.size = _two(size)
        self.scale = scale
        self.ratio = ratio
        self.interpolation = as_mode("RandomResizedCrop", interpolation)
        self.antialias = antialias

    @staticmethod
    def get_params(img: Any, scale: Sequence[float], ratio: Sequence[float]) -> tuple[int, int, int, int]:
        """(top, left, height, width) of a random rectangle; the middle of the picture if ten draws do not fit."""
        _, height, width = F.get_dimensions(img)
        logarithms = trine.log(trine.tensor(ratio))
        low, high = float(logarithms[0]), float(logarithms[1])
        for _ in range(10):
            area = height * width * _uniform(scale[0], scale[1])
            aspect = float(trine.exp(trine.empty(1).uniform_(low, high)))
            new_width = round(math.sqrt(area * aspect))
            new_height = round(math.sqrt(area / aspect))
            if 0 < new_width <= width and 0 < new_height <= height:
                return _below(height - new_height + 1), _below(width - new_width + 1), new_height, new_width
        aspect = width / height
        if aspect < min(ratio):
            new_width, new_height = width, round(width / min(ratio))
        elif aspect > max(ratio):
            new_height, new_width = height, round(height * max(ratio))
        else:
            new_height, new_width = height, width
        return (height - new_height) // 2, (width - new_width) // 2, new_height, new_width

    def forward(self, img: Any) -> Any:
        where = self.get_params(img, self.scale, self.ratio)
        return F.resized_crop(img, *where, self.size, self.interpolation, self.antialias)

    def extra_repr(self) -> str:
        return f"size={self.size}, scale={self.scale}, ratio={self.ratio}, interpolation={self.interpolation.value}"


class RandomHorizontalFlip(nn.Module):
    """Mirror left and right with probability ``p``."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def forward(self, img: Any) -> Any:
        return F.hflip(img) if _happens(self.p) else img

    def extra_repr(self) -> str:
        return f"p={self.p}"


class RandomVerticalFlip(nn.Module):
    """Mirror top and bottom with probability ``p``."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def forward(self, img: Any) -> Any:
        return F.vflip(img) if _happens(self.p) else img

    def extra_repr(self) -> str:
        return f"p={self.p}"


class RandomGrayscale(nn.Module):
    """Gray with probability ``p``, in as many channels as the picture had."""

    def __init__(self, p: float = 0.1) -> None:
        super().__init__()
        self.p = p

    def forward(self, img: Any) -> Any:
        channels = F.get_image_num_channels(img)
        return F.rgb_to_grayscale(img, channels) if _happens(self.p) else img

    def extra_repr(self) -> str:
        return f"p={self.p}"


class ColorJitter(nn.Module):
    """Random brightness, contrast and saturation, in random order.

    Args:
        brightness: the factor is drawn from max(0, 1 - brightness) to 1 + brightness; or give the range itself.
        contrast: likewise.
        saturation: likewise.
    """

    def __init__(
        self,
        brightness: float | tuple[float, float] = 0,
        contrast: float | tuple[float, float] = 0,
        saturation: float | tuple[float, float] = 0,
    ) -> None:
        super().__init__()
        self.brightness = self._range("brightness", brightness)
        self.contrast = self._range("contrast", contrast)
        self.saturation = self._range("saturation", saturation)

    @staticmethod
    def _range(name: str, value: float | tuple[float, float]) -> tuple[float, float] | None:
        if isinstance(value, (int, float)):
            if value < 0:
                raise ValueError(f"ColorJitter: {name} must not be negative, got {value}")
            low, high = max(0.0, 1.0 - value), 1.0 + value
        else:
            low, high = value
            if not 0 <= low <= high:
                raise ValueError(f"ColorJitter: {name} must be a range of factors, got {value}")
        return None if low == high == 1 else (float(low), float(high))

    def forward(self, img: Any) -> Any:
        steps = (
            (F.adjust_brightness, self.brightness),
            (F.adjust_contrast, self.contrast),
            (F.adjust_saturation, self.saturation),
        )
        order = trine.randperm(4).tolist()  # torchvision draws a place for hue as well
        factors = [None if limits is None else _uniform(*limits) for _, limits in steps]
        for i in order:
            if i < len(steps) and factors[i] is not None:
                img = steps[i][0](img, factors[i])
        return img

    def extra_repr(self) -> str:
        return f"brightness={self.brightness}, contrast={self.contrast}, saturation={self.saturation}"


class RandomApply(nn.Module):
    """All of ``transforms`` with probability ``p``, else none."""

    def __init__(self, transforms: Sequence[Callable], p: float = 0.5) -> None:
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, img: Any) -> Any:
        if self.p < trine.rand(1):
            return img
        for transform in self.transforms:
            img = transform(img)
        return img

    def extra_repr(self) -> str:
        return f"p={self.p}"


class RandomChoice:
    """One of ``transforms``, by Python's ``random`` as in torchvision; ``p`` are its weights."""

    def __init__(self, transforms: Sequence[Callable], p: Sequence[float] | None = None) -> None:
        self.transforms = transforms
        self.p = p

    def __call__(self, img: Any) -> Any:
        return random.choices(self.transforms, weights=self.p)[0](img)


class RandomOrder:
    """All of ``transforms`` in an order drawn by Python's ``random``."""

    def __init__(self, transforms: Sequence[Callable]) -> None:
        self.transforms = transforms

    def __call__(self, img: Any) -> Any:
        order = list(range(len(self.transforms)))
        random.shuffle(order)
        for i in order:
            img = self.transforms[i](img)
        return img
