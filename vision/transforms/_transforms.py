"""Transforms without chance, as objects for :class:`Compose`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import trine
from trine import Tensor, nn
from trine.vision.transforms import functional as F
from trine.vision.transforms._interpolation import InterpolationMode, as_mode


class Compose:
    """Several transforms, one after the other.

    >>> import trine
    >>> from trine.vision import transforms as T
    >>> prepare = T.Compose([T.Resize(8), T.CenterCrop(4), T.ConvertImageDtype(trine.float32)])
    >>> prepare(trine.zeros(3, 16, 20, dtype=trine.uint8)).shape
    torch.Size([3, 4, 4])
    """

    def __init__(self, transforms: Sequence[Callable]) -> None:
        self.transforms = transforms

    def __call__(self, img: Any) -> Any:
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self) -> str:
        lines = "".join(f"\n    {transform}" for transform in self.transforms)
        return f"{type(self).__name__}({lines}\n)"


class ToTensor:
    """:func:`~trine.vision.transforms.functional.to_tensor`: samples to floating point, uint8 to 0 to 1."""

    def __call__(self, pic: Any) -> Tensor:
        return F.to_tensor(pic)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class PILToTensor:
    """:func:`~trine.vision.transforms.functional.pil_to_tensor`: a PIL image's samples as they are."""

    def __call__(self, pic: Any) -> Tensor:
        return F.pil_to_tensor(pic)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class ToPILImage:
    """:func:`~trine.vision.transforms.functional.to_pil_image`."""

    def __init__(self, mode: str | None = None) -> None:
        self.mode = mode

    def __call__(self, pic: Any) -> Any:
        return F.to_pil_image(pic, self.mode)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({f'mode={self.mode}' if self.mode is not None else ''})"


class Lambda:
    """A function of one's own."""

    def __init__(self, lambd: Callable) -> None:
        if not callable(lambd):
            raise TypeError(f"Lambda: expected a function, got {type(lambd).__name__}")
        self.lambd = lambd

    def __call__(self, img: Any) -> Any:
        return self.lambd(img)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class ConvertImageDtype(nn.Module):
    """:func:`~trine.vision.transforms.functional.convert_image_dtype`."""

    def __init__(self, dtype: trine.dtype) -> None:
        super().__init__()
        self.dtype = dtype

    def forward(self, image: Tensor) -> Tensor:
        return F.convert_image_dtype(image, self.dtype)

    def extra_repr(self) -> str:
        return f"dtype={self.dtype}"


class Normalize(nn.Module):
    """:func:`~trine.vision.transforms.functional.normalize`."""

    def __init__(self, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> None:
        super().__init__()
        self.mean = mean
        self.std = std
        self.inplace = inplace

    def forward(self, tensor: Tensor) -> Tensor:
        return F.normalize(tensor, self.mean, self.std, self.inplace)

    def extra_repr(self) -> str:
        return f"mean={self.mean}, std={self.std}"


class Resize(nn.Module):
    """:func:`~trine.vision.transforms.functional.resize`."""

    def __init__(
        self,
        size: int | Sequence[int] | None,
        interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
        max_size: int | None = None,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.size = size
        self.max_size = max_size
        self.interpolation = as_mode("Resize", interpolation)
        self.antialias = antialias

    def forward(self, img: Any) -> Any:
        return F.resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def extra_repr(self) -> str:
        return f"size={self.size}, interpolation={self.interpolation.value}, max_size={self.max_size}, antialias={self.antialias}"


class CenterCrop(nn.Module):
    """:func:`~trine.vision.transforms.functional.center_crop`."""

    def __init__(self, size: int | Sequence[int]) -> None:
        super().__init__()
        self.size = size

    def forward(self, img: Any) -> Any:
        return F.center_crop(img, self.size)

    def extra_repr(self) -> str:
        return f"size={self.size}"


class FiveCrop(nn.Module):
    """:func:`~trine.vision.transforms.functional.five_crop`: a tuple of five pictures."""

    def __init__(self, size: int | Sequence[int]) -> None:
        super().__init__()
        self.size = size

    def forward(self, img: Any) -> tuple[Any, Any, Any, Any, Any]:
        return F.five_crop(img, self.size)

    def extra_repr(self) -> str:
        return f"size={self.size}"


class Pad(nn.Module):
    """:func:`~trine.vision.transforms.functional.pad`."""

    def __init__(self, padding: int | Sequence[int], fill: float | Sequence[float] = 0, padding_mode: str = "constant") -> None:
        super().__init__()
        self.padding = padding
        self.fill = fill
        self.padding_mode = padding_mode

    def forward(self, img: Any) -> Any:
        return F.pad(img, self.padding, self.fill, self.padding_mode)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, fill={self.fill}, padding_mode={self.padding_mode}"


class Grayscale(nn.Module):
    """:func:`~trine.vision.transforms.functional.rgb_to_grayscale`."""

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img: Any) -> Any:
        return F.rgb_to_grayscale(img, self.num_output_channels)

    def extra_repr(self) -> str:
        return f"num_output_channels={self.num_output_channels}"
