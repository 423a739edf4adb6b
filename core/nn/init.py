"""Initial values of weights, drawn from the generator in the order PyTorch draws them.

Every function fills the given tensor in place, without recording gradients, and returns it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import trine
from trine import Generator, Tensor

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

_LINEAR = (
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "sigmoid",
)


def calculate_gain(nonlinearity: str, param: int | float | None = None) -> float:
    """Factor by which a non-linearity's weights should be scaled; `param` is the slope of leaky_relu.

    >>> import trine
    >>> round(trine.nn.init.calculate_gain("relu"), 4)
    1.4142
    """
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif isinstance(param, (int, float)) and not isinstance(param, bool):
            slope = param
        else:
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform numbers of `[a, b)`."""
    with trine.no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal numbers of the given mean and standard deviation."""
    with trine.no_grad():
        return tensor.normal_(mean, std, generator=generator)


def _normal_cdf(x: float) -> float:
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _redraw_normal(tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Generator | None) -> None:
    """Draw normal numbers, and again where they fell outside of `[a, b]`."""
    low, high = tensor.new_tensor(a).item(), tensor.new_tensor(b).item()
    tensor.normal_(mean, std, generator=generator)
    while bool((outside := (tensor < low) | (tensor > high)).any()):
        # Every round draws a whole tensor: the stream that PyTorch uses up.
        fresh = trine.empty_like(tensor).normal_(mean, std, generator=generator)
        tensor.copy_(trine.where(outside, fresh, tensor))


def _accept_uniform(tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Generator | None) -> None:
    """Draw uniform numbers of `[a, b]` and accept each with the normal density relative to its peak there."""
    log_peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    pending = trine.ones(tensor.shape, dtype=trine.bool, device=tensor.device)
    while bool(pending.any()):
        drawn = trine.empty_like(tensor).uniform_(a, b, generator=generator)
        log_density = ((drawn - mean) / std).pow(2) * -0.5 - log_peak
        rejected = trine.empty_like(tensor).uniform_(generator=generator).log() > log_density
        tensor.copy_(trine.where(pending, drawn, tensor))
        pending &= rejected


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Normal numbers of the given mean and standard deviation within `[a, b]`, by rejection."""
    if tensor.is_meta or tensor.numel() == 0:
        return tensor
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.",
            stacklevel=2,
        )
    inside = _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std)
    with trine.no_grad():
        # Where normal numbers seldom fall inside, uniform ones are accepted more often.
        (_redraw_normal if inside > 0.3 else _accept_uniform)(tensor, mean, std, a, b, generator)
    return tensor


def constant_(tensor: Tensor, val: float) -> Tensor:
    """The value `val` everywhere."""
    with trine.no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    with trine.no_grad():
        return tensor.zero_()


def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix; ValueError unless the tensor has 2 dimensions."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with trine.no_grad():
        tensor.zero_()
        tensor.diagonal().fill_(1)
    return tensor


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Convolution weights (3 to 5 dimensions) that pass their input channels through unchanged."""
    dims = tensor.dim()
    if dims not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    out_channels = tensor.shape[0]
    if out_channels % groups:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = out_channels // groups
    centre = tuple(s // 2 for s in tensor.shape[2:])
    with trine.no_grad():
        tensor.zero_()
        for g in range(groups):
            for d in range(min(per_group, tensor.shape[1])):
                index = (g * per_group + d, d, *centre)
                tensor[index] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Numbers of inputs and outputs that one element of a layer's output and input is connected with."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform in `[-a, a]`, `a = gain * sqrt(6 / (fan_in + fan_out))` (Glorot and Bengio, 2010)."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal of standard deviation `gain * sqrt(2 / (fan_in + fan_out))` (Glorot and Bengio, 2010)."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def _nothing_to_fill(tensor: Tensor) -> bool:
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return True
    return False


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Uniform in `[-b, b]`, `b = gain * sqrt(3 / fan)` (He et al., 2015); `a` is the slope of leaky_relu.

    >>> import trine
    >>> w = trine.nn.init.kaiming_uniform_(trine.empty(4, 6), nonlinearity="relu")
    >>> bool(w.abs().max() <= 1)
    True
    """
    if _nothing_to_fill(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Normal of standard deviation `gain / sqrt(fan)` (He et al., 2015)."""
    if _nothing_to_fill(tensor):
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _orthonormal_columns(matrix: Tensor) -> Tensor:
    """Gram-Schmidt in float64, each column cleaned twice: the factor Q whose R has a positive diagonal.

    That choice of signs makes the distribution of Q uniform when the matrix is normal (arXiv math-ph/0609050).
    """
    q = matrix.double().clone()
    for j in range(q.shape[1]):
        column, before = q[:, j].clone(), q[:, :j]
        for _ in range(2):
            column -= before @ (before.t() @ column)
        q[:, j] = column / column.norm()
    return q.to(matrix.dtype)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """A (semi-)orthogonal matrix times `gain`, made of the first dimension against the others (Saxe et al., 2014)."""
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    with trine.no_grad():
        flat = trine.empty(rows, columns, dtype=tensor.dtype, device=tensor.device).normal_(0, 1, generator=generator)
        if rows < columns:
            flat = flat.t()
        q = _orthonormal_columns(flat)
        if rows < columns:
            q = q.t()
        tensor.view_as(q).copy_(q) if tensor.is_contiguous() else tensor.copy_(q.reshape(tensor.shape))
        return tensor.mul_(gain)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Normal numbers with the fraction `sparsity` of every column set to zero (Martens, 2010)."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with trine.no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            order = trine.randperm(rows)
            tensor[order[:zeros], column] = 0
    return tensor


def _deprecated(new: Callable[..., Tensor]) -> Callable[..., Tensor]:
    old_name = new.__name__[:-1]

    def old(*args: object, **kwargs: object) -> Tensor:
        warnings.warn(
            f"`nn.init.{old_name}` is now deprecated in favor of `nn.init.{new.__name__}`.",
            FutureWarning,
            stacklevel=2,
        )
        return new(*args, **kwargs)

    old.__name__ = old_name
    old.__doc__ = f"Older name of `{new.__name__}`."
    return old


uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)
