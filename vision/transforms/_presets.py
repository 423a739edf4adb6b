"""The preparation that published weights expect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trine
from trine import Tensor, nn
from trine.vision.transforms import functional as F
from trine.vision.transforms._interpolation import InterpolationMode

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


class ImageClassification(nn.Module):
    """Resize the shorter side, crop the middle, scale to 0 to 1 and normalize: (3, crop_size, crop_size) floats.

    Takes uint8 tensors (..., 3, height, width) and RGB PIL images, which give the same result.
    """

    def __init__(
        self,
        *,
        crop_size: int,
        resize_size: int = 256,
        mean: Sequence[float] = IMAGENET_MEAN,
        std: Sequence[float] = IMAGENET_STD,
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.crop_size = [crop_size]
        self.resize_size = [resize_size]
        self.mean = list(mean)
        self.std = list(std)
        self.interpolation = interpolation
        self.antialias = antialias

    def forward(self, img: Any) -> Tensor:
        img = F.resize(img, self.resize_size, interpolation=self.interpolation, antialias=self.antialias)
        img = F.center_crop(img, self.crop_size)
        if not isinstance(img, Tensor):
            img = F.pil_to_tensor(img)
        img = F.convert_image_dtype(img, trine.float32)
        return F.normalize(img, mean=self.mean, std=self.std)

    def extra_repr(self) -> str:
        return f"crop_size={self.crop_size}, resize_size={self.resize_size}, mean={self.mean}, std={self.std}"
