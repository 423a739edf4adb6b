"""Sliding blocks of an image as columns, and their sum back into an image."""

from __future__ import annotations

from collections.abc import Sequence

import trine
from trine import Tensor, _ops

from .._tuples import _pair

_Size = int | Sequence[int]


def _positions(size: int, kernel: int, dilation: int, padding: int, stride: int) -> Tensor | None:
    """(kernel, blocks) positions in the padded dimension, None when no block fits."""
    blocks = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    if blocks < 1:
        return None
    return (trine.arange(kernel) * dilation).unsqueeze(1) + trine.arange(blocks) * stride


def _grid(name: str, size: Sequence[int], kernel: tuple, dilation: tuple, padding: tuple, stride: tuple) -> tuple[Tensor, Tensor]:
    rows, columns = (_positions(*args) for args in zip(size, kernel, dilation, padding, stride, strict=True))
    if rows is None or columns is None:
        raise RuntimeError(
            f"{name}: no block of kernel_size={kernel}, dilation={dilation}, padding={padding}, stride={stride} "
            f"fits into the spatial size {tuple(size)}"
        )
    return rows, columns


def unfold(input: Tensor, kernel_size: _Size, dilation: _Size = 1, padding: _Size = 0, stride: _Size = 1) -> Tensor:
    """All blocks of `(N, C, H, W)` or `(C, H, W)` as columns: `(N, C kh kw, blocks)` (im2col).

    >>> import trine
    >>> trine.nn.functional.unfold(trine.arange(9.).view(1, 1, 3, 3), 2)[0, :, 0].tolist()
    [0.0, 1.0, 3.0, 4.0]
    """
    if input.dim() not in (3, 4):
        raise RuntimeError(f"Expected 3D or 4D (batch mode) tensor for input, but got: {list(input.shape)}")
    kernel, dilation, padding, stride = (_pair(v) for v in (kernel_size, dilation, padding, stride))
    rows, columns = _grid("unfold", input.shape[-2:], kernel, dilation, padding, stride)
    if any(padding):
        input = _ops.constant_pad_nd(input, (padding[1], padding[1], padding[0], padding[0]), 0)
    lead = input.shape[:-2]
    flat = input.index_select(-2, rows.reshape(-1).to(input.device)).index_select(-1, columns.reshape(-1).to(input.device))
    blocks = flat.view(*lead, *rows.shape, *columns.shape)  # (..., C, kh, oh, kw, ow)
    n = len(lead)
    blocks = blocks.permute(*range(n), n, n + 2, n + 1, n + 3)
    return blocks.reshape(*lead[:-1], lead[-1] * kernel[0] * kernel[1], -1)


def fold(input: Tensor, output_size: _Size, kernel_size: _Size, dilation: _Size = 1, padding: _Size = 0, stride: _Size = 1) -> Tensor:
    """Sum of the columns `(N, C kh kw, blocks)` at their places in `(N, C, H, W)`, the adjoint of `unfold` (col2im)."""
    if input.dim() not in (2, 3):
        raise RuntimeError(f"Expected 2D or 3D (batch mode) tensor for input, but got: {list(input.shape)}")
    size, kernel, dilation, padding, stride = (_pair(v) for v in (output_size, kernel_size, dilation, padding, stride))
    rows, columns = _grid("fold", size, kernel, dilation, padding, stride)
    area = kernel[0] * kernel[1]
    if input.shape[-2] % area:
        raise RuntimeError(
            f"Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={input.shape[-2]} and kernel_size={kernel}."
        )
    blocks = rows.shape[1] * columns.shape[1]
    if input.shape[-1] != blocks:
        raise RuntimeError(
            f"Given output_size={size}, kernel_size={kernel}, dilation={dilation}, padding={padding}, stride={stride}, "
            f"expected size of input's dimension 2 to match the calculated number of sliding blocks "
            f"{rows.shape[1]} * {columns.shape[1]} = {blocks}, but got input.size(2)={input.shape[-1]}."
        )
    height, width = size[0] + 2 * padding[0], size[1] + 2 * padding[1]
    lead = (*input.shape[:-2], input.shape[-2] // area)
    # Flat positions in the padded image, in the order of the columns' elements: (kh, kw, oh, ow).
    places = rows.view(kernel[0], 1, -1, 1) * width + columns.view(1, kernel[1], 1, -1)
    image = trine.zeros((*lead, height * width), dtype=input.dtype, device=input.device)
    image = image.index_add(-1, places.reshape(-1).to(input.device), input.reshape(*lead, -1))
    return image.view(*lead, height, width)[..., padding[0] : height - padding[0], padding[1] : width - padding[1]].contiguous()
