"""Pooling over windows of one, two and three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import trine
from trine import Tensor, _ops

from .._tuples import _list_with_default, _pair, _single, _triple
from ._loss import in_float32

_Size = int | Sequence[int]


def _max_pool(dims: int) -> tuple[Callable, Callable]:
    """The function with `return_indices`, and the one that always returns the indices too."""
    values_only = getattr(_ops, f"max_pool{dims}d")
    both = getattr(_ops, f"max_pool{dims}d_with_indices")

    def max_pool_with_indices(
        input: Tensor,
        kernel_size: _Size,
        stride: _Size | None = None,
        padding: _Size = 0,
        dilation: _Size = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> tuple[Tensor, Tensor]:
        return both(input, kernel_size, () if stride is None else stride, padding, dilation, ceil_mode)

    def max_pool(
        input: Tensor,
        kernel_size: _Size,
        stride: _Size | None = None,
        padding: _Size = 0,
        dilation: _Size = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        pool = both if return_indices else values_only
        return pool(input, kernel_size, () if stride is None else stride, padding, dilation, ceil_mode)

    shape, pooled = _SHAPES[dims]
    max_pool_with_indices.__doc__ = f"Maxima over windows of `{shape}` and their positions, counted over all pooled dimensions."
    max_pool.__doc__ = f"Maximum over windows: `{shape}` -> `{pooled}`; with `return_indices` also where each was found."
    for function, name in ((max_pool, f"max_pool{dims}d"), (max_pool_with_indices, f"max_pool{dims}d_with_indices")):
        function.__name__ = function.__qualname__ = name
    return max_pool, max_pool_with_indices


_SHAPES = {
    1: ("(N, C, L)", "(N, C, L')"),
    2: ("(N, C, H, W)", "(N, C, H', W')"),
    3: ("(N, C, D, H, W)", "(N, C, D', H', W')"),
}

max_pool1d, max_pool1d_with_indices = _max_pool(1)
max_pool2d, max_pool2d_with_indices = _max_pool(2)
max_pool3d, max_pool3d_with_indices = _max_pool(3)


def avg_pool1d(
    input: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Mean over windows: `(N, C, L)` -> `(N, C, L')`."""
    return _ops.avg_pool1d(input, kernel_size, () if stride is None else stride, padding, ceil_mode, count_include_pad)


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

    >>> import trine
    >>> trine.nn.functional.avg_pool2d(trine.arange(16.).view(1, 1, 4, 4), 2).tolist()
    [[[[2.5, 4.5], [10.5, 12.5]]]]
    """
    stride = () if stride is None else stride
    return _ops.avg_pool2d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Mean over windows: `(N, C, D, H, W)` -> `(N, C, D', H', W')`; options as in `avg_pool2d`."""
    stride = () if stride is None else stride
    return _ops.avg_pool3d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def _lp(mean: Tensor, count: int, norm_type: float) -> Tensor:
    # The detour over sign and relu gives gradient 0, not NaN, where a window holds zeros only.
    return (mean.sign() * mean.abs().relu()).mul(count).pow(1.0 / norm_type)


def lp_pool1d(input: Tensor, norm_type: float, kernel_size: int, stride: _Size | None = None, ceil_mode: bool = False) -> Tensor:
    """`(sum of x ** p) ** (1 / p)` over windows of `(N, C, L)`."""
    k = _single(kernel_size)[0]
    return _lp(avg_pool1d(input.pow(norm_type), k, stride, 0, ceil_mode), k, norm_type)


def lp_pool2d(input: Tensor, norm_type: float, kernel_size: _Size, stride: _Size | None = None, ceil_mode: bool = False) -> Tensor:
    """`(sum of x ** p) ** (1 / p)` over windows of `(N, C, H, W)`."""
    kh, kw = _pair(kernel_size)
    return _lp(avg_pool2d(input.pow(norm_type), (kh, kw), stride, 0, ceil_mode), kh * kw, norm_type)


def lp_pool3d(input: Tensor, norm_type: float, kernel_size: _Size, stride: _Size | None = None, ceil_mode: bool = False) -> Tensor:
    """`(sum of x ** p) ** (1 / p)` over windows of `(N, C, D, H, W)`."""
    kd, kh, kw = _triple(kernel_size)
    return _lp(avg_pool3d(input.pow(norm_type), (kd, kh, kw), stride, 0, ceil_mode), kd * kh * kw, norm_type)


def adaptive_avg_pool1d(input: Tensor, output_size: _Size) -> Tensor:
    """Mean over `output_size` windows that cover `(N, C, L)`."""
    return _ops.adaptive_avg_pool1d(input, output_size)


def adaptive_avg_pool2d(input: Tensor, output_size: _Size) -> Tensor:
    """Mean over `(H', W')` windows that cover `(N, C, H, W)`; None keeps a dimension's size.

    >>> import trine
    >>> trine.nn.functional.adaptive_avg_pool2d(trine.ones(1, 2, 5, 7), 1).flatten().tolist()
    [1.0, 1.0]
    """
    return _ops.adaptive_avg_pool2d(input, _list_with_default(output_size, input.size()))


def adaptive_avg_pool3d(input: Tensor, output_size: _Size) -> Tensor:
    """Mean over `(D', H', W')` windows that cover `(N, C, D, H, W)`; None keeps a dimension's size."""
    return _ops.adaptive_avg_pool3d(input, _list_with_default(output_size, input.size()))


def adaptive_max_pool1d_with_indices(input: Tensor, output_size: _Size, return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool1d` together with the positions of the maxima."""
    return _ops.adaptive_max_pool1d(input, output_size)


def adaptive_max_pool1d(input: Tensor, output_size: _Size, return_indices: bool = False) -> Any:
    """Maximum over `output_size` windows that cover `(N, C, L)`."""
    result = adaptive_max_pool1d_with_indices(input, output_size)
    return result if return_indices else result[0]


def adaptive_max_pool2d_with_indices(input: Tensor, output_size: _Size, return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool2d` together with the flat positions of the maxima."""
    return _ops.adaptive_max_pool2d(input, _list_with_default(output_size, input.size()))


def adaptive_max_pool2d(input: Tensor, output_size: _Size, return_indices: bool = False) -> Any:
    """Maximum over `(H', W')` windows that cover `(N, C, H, W)`; None keeps a dimension's size."""
    result = adaptive_max_pool2d_with_indices(input, output_size)
    return result if return_indices else result[0]


def adaptive_max_pool3d_with_indices(input: Tensor, output_size: _Size, return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool3d` together with the flat positions of the maxima."""
    return _ops.adaptive_max_pool3d(input, _list_with_default(output_size, input.size()))


def adaptive_max_pool3d(input: Tensor, output_size: _Size, return_indices: bool = False) -> Any:
    """Maximum over `(D', H', W')` windows that cover `(N, C, D, H, W)`; None keeps a dimension's size."""
    result = adaptive_max_pool3d_with_indices(input, output_size)
    return result if return_indices else result[0]


def _unpool(name: str, input: Tensor, indices: Tensor, kernel: tuple, stride: tuple, padding: tuple, output_size: Any) -> Tensor:
    n = len(kernel)
    if input.dim() not in (n + 1, n + 2):
        raise RuntimeError(f"{name}: Expected {n + 1}D or {n + 2}D input, but got input of shape {list(input.shape)}")
    default = [(input.shape[i - n] - 1) * stride[i] + kernel[i] - 2 * padding[i] for i in range(n)]
    out = default
    if output_size is not None:
        out = list(output_size)[-n:]
        if len(output_size) not in (n, n + 2):
            raise ValueError(
                f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of '{len(output_size)}'"
            )
        for i in range(n):
            low, high = default[i] - stride[i], default[i] + stride[i]
            if not low < out[i] < high:
                raise ValueError(f"invalid output_size {list(output_size)} (dim {i} must be between {low} and {high})")
    lead = input.shape[: input.dim() - n]
    count = 1
    for s in out:
        count *= s
    flat = trine.zeros((*lead, count), dtype=input.dtype, device=input.device)
    flat = flat.scatter(-1, indices.flatten(len(lead)), input.flatten(len(lead)))
    return flat.view(*lead, *out)


@in_float32
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
    return _unpool("max_unpool1d", input, indices, k, k if stride is None else _single(stride), _single(padding), output_size)


@in_float32
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
    return _unpool("max_unpool2d", input, indices, k, k if stride is None else _pair(stride), _pair(padding), output_size)


@in_float32
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
    return _unpool("max_unpool3d", input, indices, k, k if stride is None else _triple(stride), _triple(padding), output_size)
