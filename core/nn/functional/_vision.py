"""Resizing and rearranging pictures and volumes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from trine import Tensor, _ops

from ._pool import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

_INTERPOLATING = ("linear", "bilinear", "bicubic", "trilinear")


def _output_size(
    input: Tensor, size: int | Sequence[int] | None, scale_factor: float | Sequence[float] | None, recompute: bool | None
) -> tuple[list[int], list[float | None]]:
    spatial = input.dim() - 2
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    nothing: list[float | None] = [None] * spatial
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        if isinstance(size, (list, tuple)):
            if len(size) != spatial:
                raise ValueError(
                    "Input and output must have the same number of spatial dimensions, but got input with spatial "
                    f"dimensions of {list(input.shape[2:])} and output size of {size}. Please provide input tensor in "
                    "(N, C, d1, d2, ...,dK) format and output size in (o1, o2, ...,oK) format."
                )
            return [int(s) for s in size], nothing
        return [int(size)] * spatial, nothing
    if isinstance(scale_factor, (list, tuple)):
        if len(scale_factor) != spatial:
            raise ValueError(
                "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial "
                f"dimensions of {list(input.shape[2:])} and scale_factor of shape {scale_factor}. Please provide input "
                "tensor in (N, C, d1, d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format."
            )
        factors = [float(f) for f in scale_factor]
    else:
        factors = [float(scale_factor)] * spatial
    out = [int(s * f) for s, f in zip(input.shape[2:], factors, strict=False)]
    return out, nothing if recompute else list(factors)


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resize the spatial dimensions of `(N, C, L)`, `(N, C, H, W)` or `(N, C, D, H, W)`.

    `mode`: "nearest", "nearest-exact", "area" for all; "linear" for 3-D, "bilinear" and "bicubic" for 4-D (these two
    with `antialias` if wanted), "trilinear" for 5-D input. `align_corners` puts the outermost pixel centres of input
    and output on top of each other.

    >>> import trine
    >>> x = trine.tensor([[[1., 2.]]])
    >>> trine.nn.functional.interpolate(x, scale_factor=2).tolist()
    [[[1.0, 1.0, 2.0, 2.0]]]
    """
    if mode in ("nearest", "area", "nearest-exact") and align_corners is not None:
        raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear")
    align = bool(align_corners)
    out, scales = _output_size(input, size, scale_factor, recompute_scale_factor)
    dim = input.dim()
    if antialias and not (mode in ("bilinear", "bicubic") and dim == 4):
        raise ValueError("Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input")
    if dim not in (3, 4, 5):
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported"
            f" (got {dim}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got {mode})"
        )
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[dim - 3](input, out)
    if mode == "nearest":
        return (_ops.upsample_nearest1d, _ops.upsample_nearest2d, _ops.upsample_nearest3d)[dim - 3](input, out, *scales)
    if mode == "nearest-exact":
        exact = (_ops.upsample_nearest_exact1d, _ops.upsample_nearest_exact2d, _ops.upsample_nearest_exact3d)
        return exact[dim - 3](input, out, *scales)
    if mode == "linear" and dim == 3:
        return _ops.upsample_linear1d(input, out, align, *scales)
    if mode == "bilinear" and dim == 4:
        return _ops.upsample_bilinear2d(input, out, align, antialias, *scales)
    if mode == "bicubic" and dim == 4:
        return _ops.upsample_bicubic2d(input, out, align, antialias, *scales)
    if mode == "trilinear" and dim == 5:
        return _ops.upsample_trilinear3d(input, out, align, *scales)
    if mode in _INTERPOLATING:
        needs = {"linear": "3D", "bilinear": "4D", "bicubic": "4D", "trilinear": "5D"}[mode]
        raise NotImplementedError(f"Got {dim}D input, but {mode} mode needs {needs} input")
    raise NotImplementedError(
        "Input Error: Only 3D, 4D and 5D input Tensors supported"
        f" (got {dim}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got {mode})"
    )


def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Older name of `interpolate`."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | None = None) -> Tensor:
    """Older name of `interpolate(mode="nearest")`."""
    warnings.warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
) -> Tensor:
    """Older name of `interpolate(mode="bilinear", align_corners=True)`."""
    warnings.warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """`(*, C r^2, H, W)` -> `(*, C, H r, W r)` for `r = upscale_factor` (Shi et al., 2016)."""
    r = upscale_factor
    if input.dim() < 3:
        raise RuntimeError(f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {input.dim()} dimension(s)")
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    *lead, channels, h, w = input.shape
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={channels} is not divisible by {r * r}"
        )
    c = channels // (r * r)
    split = input.reshape(-1, c, r, r, h, w).permute(0, 1, 4, 2, 5, 3)
    return split.reshape(*lead, c, h * r, w * r)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """`(*, C, H r, W r)` -> `(*, C r^2, H, W)`, the inverse of `pixel_shuffle`."""
    r = downscale_factor
    if input.dim() < 3:
        raise RuntimeError(f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with {input.dim()} dimension(s)")
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    *lead, c, h, w = input.shape
    for name, position, size in (("height", -2, h), ("width", -1, w)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, "
                f"but input.size({position})={size} is not divisible by {r}"
            )
    split = input.reshape(-1, c, h // r, r, w // r, r).permute(0, 1, 3, 5, 2, 4)
    return split.reshape(*lead, c * r * r, h // r, w // r)


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Interleave `groups` groups of channels of `(N, C, *)` (Zhang et al., 2018)."""
    if input.dim() < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    n, c = input.shape[:2]
    if c % groups:
        raise RuntimeError(f"Number of channels must be divisible by groups. Got {c} channels and {groups} groups.")
    return input.reshape(n, groups, c // groups, *input.shape[2:]).transpose(1, 2).reshape(input.shape)
