"""Pooling over windows of one, two and three dimensions.

Two dimensions are native. One dimension is a plane of height 1; three dimensions are a pooling of the planes
followed by one along the depth, which is exact for maxima and for means alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trine
from trine import Tensor, _ops

from .._tuples import _list_with_default, _pair, _single, _triple

_Size = int | Sequence[int]


def _check_dim(name: str, input: Tensor, spatial: int) -> None:
    if input.dim() not in (spatial + 1, spatial + 2):
        raise RuntimeError(f"{name}: Expected {spatial + 1}D or {spatial + 2}D input, but got input of shape {list(input.shape)}")


def _max_pool(native: Any, name: str, input: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool) -> Any:
    """One dimension through the two-dimensional operator `native`."""
    _check_dim(name, input, 1)
    k, p, d = _single(kernel)[0], _single(padding)[0], _single(dilation)[0]
    s = k if stride is None or stride == () or stride == [] else _single(stride)[0]
    return native(input.unsqueeze(-2), (1, k), (1, s), (0, p), (1, d), ceil)


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    dilation: _Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """`max_pool1d` together with the positions of the maxima."""
    values, indices = _max_pool(_ops.max_pool2d_with_indices, "max_pool1d", input, kernel_size, stride, padding, dilation, ceil_mode)
    return values.squeeze(-2), indices.squeeze(-2)


def max_pool1d(
    input: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    dilation: _Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Maximum over windows: `(N, C, L)` -> `(N, C, L')`; with `return_indices` also where each was found."""
    if return_indices:
        return max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return _max_pool(_ops.max_pool2d, "max_pool1d", input, kernel_size, stride, padding, dilation, ceil_mode).squeeze(-2)


def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    dilation: _Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """`max_pool2d` together with the flat positions (in `H * W`) of the maxima."""
    return _ops.max_pool2d_with_indices(input, kernel_size, kernel_size if stride is None else stride, padding, dilation, ceil_mode)


def max_pool2d(
    input: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    dilation: _Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Maximum over windows: `(N, C, H, W)` -> `(N, C, H', W')`; with `return_indices` also where each was found.

    >>> import trine
    >>> trine.nn.functional.max_pool2d(trine.arange(16.).view(1, 1, 4, 4), 2).tolist()
    [[[[5.0, 7.0], [13.0, 15.0]]]]
    """
    native = _ops.max_pool2d_with_indices if return_indices else _ops.max_pool2d
    return native(input, kernel_size, kernel_size if stride is None else stride, padding, dilation, ceil_mode)


def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    dilation: _Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """`max_pool3d` together with the flat positions (in `D * H * W`) of the maxima."""
    _check_dim("max_pool3d", input, 3)
    k, p, d = _triple(kernel_size), _triple(padding), _triple(dilation)
    s = k if stride is None else _triple(stride)
    lead, (depth, height, width) = input.shape[:-3], input.shape[-3:]
    planes, where = _ops.max_pool2d_with_indices(input.reshape(-1, depth, height, width), k[1:], s[1:], p[1:], d[1:], ceil_mode)
    h, w = planes.shape[-2:]
    values, where_depth = _ops.max_pool2d_with_indices(
        planes.reshape(-1, 1, depth, h * w), (k[0], 1), (s[0], 1), (p[0], 0), (d[0], 1), ceil_mode
    )
    out_depth = values.shape[-2]
    where_depth = where_depth.view(-1, out_depth * h * w)
    in_plane = where.view(-1, depth * h * w).gather(1, where_depth)
    indices = trine.div(where_depth, h * w, rounding_mode="floor") * (height * width) + in_plane
    shape = (*lead, out_depth, h, w)
    return values.view(shape), indices.view(shape)


def max_pool3d(
    input: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    dilation: _Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Maximum over windows: `(N, C, D, H, W)` -> `(N, C, D', H', W')`."""
    if return_indices:
        return max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    _check_dim("max_pool3d", input, 3)
    k, p, d = _triple(kernel_size), _triple(padding), _triple(dilation)
    s = k if stride is None else _triple(stride)
    lead, size = input.shape[:-3], input.shape[-3:]
    planes = _ops.max_pool2d(input.reshape(-1, *size), k[1:], s[1:], p[1:], d[1:], ceil_mode)
    h, w = planes.shape[-2:]
    values = _ops.max_pool2d(planes.reshape(-1, 1, size[0], h * w), (k[0], 1), (s[0], 1), (p[0], 0), (d[0], 1), ceil_mode)
    return values.view(*lead, -1, h, w)


def avg_pool1d(
    input: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Mean over windows: `(N, C, L)` -> `(N, C, L')`."""
    _check_dim("avg_pool1d", input, 1)
    k, p = _single(kernel_size)[0], _single(padding)[0]
    s = k if stride is None else _single(stride)[0]
    return _ops.avg_pool2d(input.unsqueeze(-2), (1, k), (1, s), (0, p), ceil_mode, count_include_pad).squeeze(-2)


def avg_pool2d(
    input: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Mean over windows: `(N, C, H, W)` -> `(N, C, H', W')`.

    `count_include_pad` counts padding zeros as elements; `divisor_override` replaces the number of elements.
    """
    return _ops.avg_pool2d(
        input,
        kernel_size,
        kernel_size if stride is None else stride,
        padding,
        ceil_mode,
        count_include_pad,
        divisor_override,
    )


def avg_pool3d(
    input: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Mean over windows: `(N, C, D, H, W)` -> `(N, C, D', H', W')`."""
    _check_dim("avg_pool3d", input, 3)
    k, p = _triple(kernel_size), _triple(padding)
    s = k if stride is None else _triple(stride)
    lead, size = input.shape[:-3], input.shape[-3:]
    part = None if divisor_override is None else 1
    planes = _ops.avg_pool2d(input.reshape(-1, *size), k[1:], s[1:], p[1:], ceil_mode, count_include_pad, part)
    h, w = planes.shape[-2:]
    result = _ops.avg_pool2d(
        planes.reshape(-1, 1, size[0], h * w), (k[0], 1), (s[0], 1), (p[0], 0), ceil_mode, count_include_pad, part
    ).view(*lead, -1, h, w)
    return result if divisor_override is None else result / divisor_override


def lp_pool1d(input: Tensor, norm_type: float, kernel_size: int, stride: _Size | None = None, ceil_mode: bool = False) -> Tensor:
    """`(sum of x ** p) ** (1 / p)` over windows of `(N, C, L)`."""
    _check_dim("lp_pool1d", input, 1)
    k = _single(kernel_size)[0]
    mean = avg_pool1d(input.pow(norm_type), k, stride, 0, ceil_mode)
    return _lp(mean, k, norm_type)


def lp_pool2d(input: Tensor, norm_type: float, kernel_size: _Size, stride: _Size | None = None, ceil_mode: bool = False) -> Tensor:
    """`(sum of x ** p) ** (1 / p)` over windows of `(N, C, H, W)`."""
    _check_dim("lp_pool2d", input, 2)
    kh, kw = _pair(kernel_size)
    mean = avg_pool2d(input.pow(norm_type), (kh, kw), stride, 0, ceil_mode)
    return _lp(mean, kh * kw, norm_type)


def lp_pool3d(input: Tensor, norm_type: float, kernel_size: _Size, stride: _Size | None = None, ceil_mode: bool = False) -> Tensor:
    """`(sum of x ** p) ** (1 / p)` over windows of `(N, C, D, H, W)`."""
    _check_dim("lp_pool3d", input, 3)
    kd, kh, kw = _triple(kernel_size)
    mean = avg_pool3d(input.pow(norm_type), (kd, kh, kw), stride, 0, ceil_mode)
    return _lp(mean, kd * kh * kw, norm_type)


def _lp(mean: Tensor, count: int, norm_type: float) -> Tensor:
    # The detour over sign and relu gives gradient 0, not NaN, where a window holds zeros only.
    return (mean.sign() * mean.abs().relu()).mul(count).pow(1.0 / norm_type)


def adaptive_avg_pool1d(input: Tensor, output_size: _Size) -> Tensor:
    """Mean over `output_size` windows that cover `(N, C, L)`."""
    _check_dim("adaptive_avg_pool1d", input, 1)
    return _ops.adaptive_avg_pool2d(input.unsqueeze(-2), (1, _single(output_size)[0])).squeeze(-2)


def adaptive_avg_pool2d(input: Tensor, output_size: _Size) -> Tensor:
    """Mean over `(H', W')` windows that cover `(N, C, H, W)`; None keeps a dimension's size.

    >>> import trine
    >>> trine.nn.functional.adaptive_avg_pool2d(trine.ones(1, 2, 5, 7), 1).flatten().tolist()
    [1.0, 1.0]
    """
    size = _list_with_default(_pair(output_size), input.size())
    return _ops.adaptive_avg_pool2d(input, size)


def adaptive_avg_pool3d(input: Tensor, output_size: _Size) -> Tensor:
    """Mean over `(D', H', W')` windows that cover `(N, C, D, H, W)`; None keeps a dimension's size."""
    _check_dim("adaptive_avg_pool3d", input, 3)
    out = _list_with_default(_triple(output_size), input.size())
    lead, size = input.shape[:-3], input.shape[-3:]
    planes = _ops.adaptive_avg_pool2d(input.reshape(-1, *size), out[1:])
    h, w = planes.shape[-2:]
    return _ops.adaptive_avg_pool2d(planes.reshape(-1, 1, size[0], h * w), (out[0], h * w)).view(*lead, out[0], h, w)


def _adaptive_windows(size: int, out: int) -> Tensor:
    """`(out, k)` positions; a window shorter than the longest repeats its last position."""
    starts = [i * size // out for i in range(out)]
    ends = [-(-(i + 1) * size // out) for i in range(out)]
    longest = max(e - s for s, e in zip(starts, ends, strict=False))
    return trine.tensor([[min(s + j, e - 1) for j in range(longest)] for s, e in zip(starts, ends, strict=False)])


def _adaptive_max(name: str, input: Tensor, out: list[int]) -> tuple[Tensor, Tensor]:
    n = len(out)
    _check_dim(name, input, n)
    size = list(input.shape[-n:])
    if 0 in size or 0 in out:
        raise RuntimeError(f"{name}: Expected input and output to have non-zero size, got {size} and {out}")
    windows = input
    positions = trine.zeros([1] * (2 * n), dtype=trine.int64)
    lead = input.dim() - n
    for i in range(n):
        index = _adaptive_windows(size[i], out[i])
        # Dimension i becomes the pair (out_i, k_i); 2 * i counts the pairs already made.
        dim = lead + 2 * i
        shape = list(windows.shape)
        shape[dim : dim + 1] = index.shape
        windows = windows.index_select(dim, index.reshape(-1).to(input.device)).view(shape)
        place = [1] * (2 * n)
        place[2 * i], place[2 * i + 1] = index.shape
        stride = 1
        for s in size[i + 1 :]:
            stride *= s
        positions = positions + index.view(place) * stride
    order = [2 * i for i in range(n)] + [2 * i + 1 for i in range(n)]
    windows = windows.permute([*range(lead), *(lead + o for o in order)]).flatten(lead + n)
    positions = positions.permute(order).flatten(n).to(input.device)
    values, chosen = windows.max(-1)
    indices = positions.expand(*input.shape[:lead], *positions.shape).gather(-1, chosen.unsqueeze(-1)).squeeze(-1)
    return values, indices


def adaptive_max_pool1d_with_indices(input: Tensor, output_size: _Size, return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool1d` together with the positions of the maxima."""
    return _adaptive_max("adaptive_max_pool1d", input, list(_single(output_size)))


def adaptive_max_pool1d(input: Tensor, output_size: _Size, return_indices: bool = False) -> Any:
    """Maximum over `output_size` windows that cover `(N, C, L)`."""
    result = adaptive_max_pool1d_with_indices(input, output_size)
    return result if return_indices else result[0]


def adaptive_max_pool2d_with_indices(input: Tensor, output_size: _Size, return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool2d` together with the flat positions of the maxima."""
    return _adaptive_max("adaptive_max_pool2d", input, _list_with_default(_pair(output_size), input.size()))


def adaptive_max_pool2d(input: Tensor, output_size: _Size, return_indices: bool = False) -> Any:
    """Maximum over `(H', W')` windows that cover `(N, C, H, W)`; None keeps a dimension's size."""
    result = adaptive_max_pool2d_with_indices(input, output_size)
    return result if return_indices else result[0]


def adaptive_max_pool3d_with_indices(input: Tensor, output_size: _Size, return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool3d` together with the flat positions of the maxima."""
    return _adaptive_max("adaptive_max_pool3d", input, _list_with_default(_triple(output_size), input.size()))


def adaptive_max_pool3d(input: Tensor, output_size: _Size, return_indices: bool = False) -> Any:
    """Maximum over `(D', H', W')` windows that cover `(N, C, D, H, W)`; None keeps a dimension's size."""
    result = adaptive_max_pool3d_with_indices(input, output_size)
    return result if return_indices else result[0]


def _unpool(name: str, input: Tensor, indices: Tensor, kernel: tuple, stride: tuple, padding: tuple, output_size: Any) -> Tensor:
    n = len(kernel)
    _check_dim(name, input, n)
    default = [(input.shape[i - n] - 1) * stride[i] + kernel[i] - 2 * padding[i] for i in range(n)]
    out = default
    if output_size is not None:
        out = list(output_size)[-n:]
        if len(output_size) not in (n, n + 2):
            raise ValueError(
                f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of '{len(output_size)}'"
            )
        for i in range(n):
            if not default[i] - stride[i] < out[i] < default[i] + stride[i]:
                raise ValueError(
                    f"invalid output_size {list(output_size)} (dim {i} must be between "
                    f"{default[i] - stride[i]} and {default[i] + stride[i]})"
                )
    lead = input.shape[: input.dim() - n]
    count = 1
    for s in out:
        count *= s
    flat = trine.zeros((*lead, count), dtype=input.dtype, device=input.device)
    flat = flat.scatter(-1, indices.flatten(len(lead)), input.flatten(len(lead)))
    return flat.view(*lead, *out)


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Put maxima back where `max_pool1d(return_indices=True)` found them, zeros elsewhere."""
    k = _single(kernel_size)
    s = k if stride is None else _single(stride)
    return _unpool("max_unpool1d", input, indices, k, s, _single(padding), output_size)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Put maxima back where `max_pool2d(return_indices=True)` found them, zeros elsewhere."""
    k = _pair(kernel_size)
    s = k if stride is None else _pair(stride)
    return _unpool("max_unpool2d", input, indices, k, s, _pair(padding), output_size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Put maxima back where `max_pool3d(return_indices=True)` found them, zeros elsewhere."""
    k = _triple(kernel_size)
    s = k if stride is None else _triple(stride)
    return _unpool("max_unpool3d", input, indices, k, s, _triple(padding), output_size)
