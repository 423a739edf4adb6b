"""Many pictures as one, and pictures as files."""

from __future__ import annotations

import math
import os
from typing import Any, BinaryIO

import trine
from trine import Tensor
from trine.vision._buffers import buffer_of
from trine.vision.io import encode_jpeg, encode_png, write_file


def make_grid(
    tensor: Tensor | list[Tensor],
    nrow: int = 8,
    padding: int = 2,
    normalize: bool = False,
    value_range: tuple[float, float] | None = None,
    scale_each: bool = False,
    pad_value: float = 0.0,
) -> Tensor:
    """Lay pictures of one size out in rows.

    Args:
        tensor: (batch, channels, height, width), or a list of (channels, height, width); gray becomes RGB.
        nrow: pictures in a row.
        padding: pixels around each.
        normalize: shift and scale to 0 to 1.
        value_range: what becomes 0 and 1; by default the smallest and largest value.
        scale_each: find that range for each picture, not for all.
        pad_value: of the pixels between.

    Returns:
        (channels, height, width); a single picture is returned as it is.

    Raises:
        TypeError: if ``tensor`` is neither, or ``value_range`` is no pair.

    >>> import trine
    >>> from trine.vision.utils import make_grid
    >>> make_grid(trine.zeros(10, 3, 8, 8), nrow=5).shape
    torch.Size([3, 22, 52])
    """
    pictures = trine.stack(tensor, dim=0) if isinstance(tensor, list) and all(isinstance(item, Tensor) for item in tensor) else tensor
    if not isinstance(pictures, Tensor):
        raise TypeError(f"make_grid: expected a Tensor or a list of Tensors, got {type(tensor).__name__}")
    if value_range is not None and not isinstance(value_range, tuple):
        raise TypeError(f"make_grid: value_range must be a pair (smallest, largest), got {value_range!r}")

    if pictures.dim() == 2:
        pictures = pictures.unsqueeze(0)
    if pictures.dim() == 3:
        pictures = pictures.unsqueeze(0)
    if pictures.shape[1] == 1:
        pictures = trine.cat((pictures, pictures, pictures), 1)
    if normalize:
        parts = list(pictures) if scale_each else [pictures]
        scaled = [_to_unit_range(part, value_range) for part in parts]
        pictures = trine.stack(scaled) if scale_each else scaled[0]
    if pictures.shape[0] == 1:
        return pictures.squeeze(0)

    count, channels, height, width = pictures.shape
    columns = min(nrow, count)
    rows = math.ceil(count / columns)
    step_y, step_x = height + padding, width + padding
    shape = (channels, step_y * rows + padding, step_x * columns + padding)
    grid = trine.full(shape, pad_value, dtype=pictures.dtype, device=pictures.device)
    for i in range(count):
        top, left = i // columns * step_y + padding, i % columns * step_x + padding
        grid[:, top : top + height, left : left + width] = pictures[i]
    return grid


def _to_unit_range(image: Tensor, value_range: tuple[float, float] | None) -> Tensor:
    low, high = value_range if value_range is not None else (float(image.min()), float(image.max()))
    return image.clamp(min=low, max=high).sub(low).div(max(high - low, 1e-5))


def save_image(tensor: Tensor | list[Tensor], fp: str | os.PathLike[str] | BinaryIO, format: str | None = None, **kwargs: Any) -> None:
    """Write float pictures (0 to 1) to a PNG or JPEG file, as a grid if there are several.

    Args:
        tensor: as in :func:`make_grid`.
        fp: a path, or an object with ``write``.
        format: ``"png"`` or ``"jpeg"``; by default what the path's ending says.
        **kwargs: of :func:`make_grid`.

    Raises:
        ValueError: if the format is neither, or not given for an object.
    """
    grid = make_grid(tensor, **kwargs)
    # Half a level is added, so that cutting off rounds.
    pixels = grid.mul(255).add_(0.5).clamp_(0, 255).to("cpu", trine.uint8)
    name = format or (os.path.splitext(fp)[1][1:] if isinstance(fp, (str, os.PathLike)) else "")
    if name.lower() == "png":
        data = encode_png(pixels)
    elif name.lower() in ("jpg", "jpeg"):
        data = encode_jpeg(pixels)
    else:
        raise ValueError(f"save_image: format must be png or jpeg, got {name!r}")
    if isinstance(fp, (str, os.PathLike)):
        write_file(fp, data)
    else:
        fp.write(bytes(buffer_of(data)))
