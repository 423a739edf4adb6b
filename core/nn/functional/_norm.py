"""Normalisation over batches, layers, groups, samples and neighbouring channels."""

from __future__ import annotations

from collections.abc import Sequence

import trine
from trine import Tensor, _ops


def _check_batch_size(size: Sequence[int]) -> None:
    count = size[0]
    for s in size[2:]:
        count *= s
    if count == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise every channel (dimension 1) of `(N, C, *)` (Ioffe and Szegedy, 2015).

    In training with the statistics of the batch, which also move the running ones by `momentum`; otherwise with
    the running ones. Statistics, weight and bias have shape `(C,)`.
    """
    if training:
        _check_batch_size(input.size())
    return _ops.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise every channel of every sample of `(N, C, *)` on its own (Ulyanov et al., 2016)."""
    if use_input_stats:
        spatial = 1
        for s in input.shape[2:]:
            spatial *= s
        if spatial == 1:
            raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.size()}")
    elif running_mean is None or running_var is None:
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    n, c = input.shape[:2]

    def per_sample(t: Tensor | None) -> Tensor | None:
        return None if t is None else t.repeat(n)

    mean, var = per_sample(running_mean), per_sample(running_var)
    flat = input.contiguous().view(1, n * c, *input.shape[2:])
    result = _ops.batch_norm(flat, per_sample(weight), per_sample(bias), mean, var, use_input_stats, momentum, eps)
    if use_input_stats and running_mean is not None:
        with trine.no_grad():
            running_mean.copy_(mean.view(n, c).mean(0))
            running_var.copy_(var.view(n, c).mean(0))
    return result.view(input.shape)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise over the last dimensions, whose sizes are `normalized_shape` (Ba et al., 2016)."""
    return _ops.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Normalise groups of channels of every sample of `(N, C, *)` (Wu and He, 2018)."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    size = input.size()
    _check_batch_size([size[0] * size[1] // num_groups, num_groups, *size[2:]])
    return _ops.group_norm(input, num_groups, weight, bias, eps)


def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """Divide by the root of the mean square over the last dimensions (Zhang and Sennrich, 2019).

    `eps` defaults to the machine epsilon of the type computed in, which is float32 for half types.

    >>> import trine
    >>> trine.nn.functional.rms_norm(trine.full((4,), 2.0), (4,)).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    count = len(normalized_shape)
    if tuple(input.shape[input.dim() - count :]) != tuple(normalized_shape):
        raise RuntimeError(
            f"Given normalized_shape={list(normalized_shape)}, expected input with shape "
            f"[*, {', '.join(map(str, normalized_shape))}], but got input of size{list(input.shape)}"
        )
    x = input.float() if input.dtype in (trine.float16, trine.bfloat16) else input
    if eps is None:
        eps = trine.finfo(x.dtype).eps
    dims = list(range(-count, 0))
    result = x * (x * x).mean(dims, keepdim=True).add(eps).rsqrt()
    if weight is not None:
        result = result * weight
    return result.to(input.dtype)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """Divide by `(k + alpha * mean of squares over size neighbouring channels) ** beta` (Krizhevsky et al., 2012)."""
    dim = input.dim()
    if dim < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {dim} dimensions)")
    if input.numel() == 0:
        return input
    squares = input.mul(input).unsqueeze(1)
    padded = (size // 2, (size - 1) // 2)
    if dim == 3:
        mean = _ops.avg_pool2d(_ops.constant_pad_nd(squares, (0, 0, *padded), 0.0), (size, 1), 1).squeeze(1)
    else:
        n, c, *spatial = input.shape
        plane = squares.reshape(n, 1, c, -1)
        mean = _ops.avg_pool2d(_ops.constant_pad_nd(plane, (0, 0, *padded), 0.0), (size, 1), 1)
        mean = mean.view(n, c, *spatial)
    return input / mean.mul(alpha).add(k).pow(beta)
