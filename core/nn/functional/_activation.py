"""Pointwise non-linearities, and softmax with its relatives."""

from __future__ import annotations

import warnings

import trine
from trine import Tensor, _ops

# Constants of "Self-Normalizing Neural Networks" (Klambauer et al., 2017).
_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """`max(x, 0)` of each element.

    >>> import trine
    >>> trine.nn.functional.relu(trine.tensor([-1., 2.])).tolist()
    [0.0, 2.0]
    """
    return _ops.relu_(input) if inplace else _ops.relu(input)


def relu_(input: Tensor) -> Tensor:
    """In-place `relu`."""
    return _ops.relu_(input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """`min(max(x, 0), 6)` of each element."""
    return _ops.relu6_(input) if inplace else _ops.relu6(input)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Each element clipped to `[min_val, max_val]`; ValueError when `min_val > max_val`."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return (_ops.hardtanh_ if inplace else _ops.hardtanh)(input, min_val, max_val)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """In-place `hardtanh`."""
    return hardtanh(input, min_val, max_val, True)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """`clip(x / 6 + 1/2, 0, 1)` of each element."""
    return (_ops.hardsigmoid_ if inplace else _ops.hardsigmoid)(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * clip(x + 3, 0, 6) / 6` of each element (MobileNetV3, Howard et al., 2019)."""
    return (_ops.hardswish_ if inplace else _ops.hardswish)(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * sigmoid(x)` of each element."""
    return (_ops.silu_ if inplace else _ops.silu)(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * tanh(softplus(x))` of each element (Misra, 2019)."""
    return (_ops.mish_ if inplace else _ops.mish)(input)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """`x * Phi(x)` with the normal distribution function, or its tanh approximation with `approximate="tanh"`."""
    return _ops.gelu(input, approximate=approximate)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`x` where positive, `alpha * (exp(x) - 1)` elsewhere."""
    return (_ops.elu_ if inplace else _ops.elu)(input, alpha)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """In-place `elu`."""
    return _ops.elu_(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """ELU with the scale and slope that keep mean 0 and variance 1 through deep networks."""
    return (_ops.elu_ if inplace else _ops.elu)(input, _SELU_ALPHA, _SELU_SCALE)


def selu_(input: Tensor) -> Tensor:
    """In-place `selu`."""
    return selu(input, True)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)`, the continuously differentiable ELU (Barron, 2017)."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return (_ops.elu_ if inplace else _ops.elu)(input, alpha, 1.0, 1.0 / alpha)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """In-place `celu`."""
    return celu(input, alpha, True)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """`x` where positive, `negative_slope * x` elsewhere."""
    return (_ops.leaky_relu_ if inplace else _ops.leaky_relu)(input, negative_slope)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """In-place `leaky_relu`."""
    return _ops.leaky_relu_(input, negative_slope)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """`x` where positive, `weight * x` elsewhere; `weight` has one element, or one per channel (dimension 1)."""
    channels = input.shape[1] if input.dim() >= 2 else 1
    if weight.dim() not in (0, 1):
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.dim()}")
    if weight.numel() != 1:
        if input.dim() == 0:
            raise RuntimeError("prelu: Not allow zero-dim input tensor.")
        if weight.numel() != channels:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{weight.numel()} and channel size = {channels}."
            )
        weight = weight.view([-1] + [1] * (input.dim() - 2)) if input.dim() >= 2 else weight
    elif input.dim() == 0:
        weight = weight.view([])
    return _ops.prelu_kernel(input, weight)


def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False) -> Tensor:
    """Leaky ReLU whose slope is drawn from `[lower, upper]` per element in training, else their mean."""
    return _rrelu(input, lower, upper, training, inplace, None)


def _rrelu(input: Tensor, lower: float, upper: float, training: bool, inplace: bool, generator: trine.Generator | None) -> Tensor:
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    negative = input.detach() <= 0
    slope = trine.ones_like(input.detach())
    # One float64 draw for every element that needs a slope, in their order: PyTorch's stream.
    drawn = trine.empty(int(negative.sum()), dtype=trine.float64).uniform_(lower, upper, generator=generator)
    slope[negative] = drawn.to(input.dtype)
    return input.mul_(slope) if inplace else input * slope


def rrelu_(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False) -> Tensor:
    """In-place `rrelu`."""
    return rrelu(input, lower, upper, training, True)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """`x` where `x > threshold`, `value` elsewhere."""
    return (_ops.threshold_ if inplace else _ops.threshold)(input, threshold, value)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """In-place `threshold`."""
    return _ops.threshold_(input, threshold, value)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """`log(1 + exp(beta * x)) / beta`; linear where `beta * x > threshold`."""
    return _ops.softplus(input, beta, threshold)


def logsigmoid(input: Tensor) -> Tensor:
    """`log(sigmoid(x))` of each element, stable for large negative ones."""
    return _ops.log_sigmoid(input)


def softsign(input: Tensor) -> Tensor:
    """`x / (1 + |x|)` of each element."""
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """`x - tanh(x)` of each element."""
    return input - input.tanh()


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """`x` outside `[-lambd, lambd]`, 0 inside."""
    return _ops.hardshrink(input, lambd)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """`x` moved by `lambd` towards 0, and 0 inside `[-lambd, lambd]`."""
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd:g}.")
    return _ops.softshrink(input, lambd)


def tanh(input: Tensor) -> Tensor:
    """Hyperbolic tangent of each element."""
    return _ops.tanh(input)


def sigmoid(input: Tensor) -> Tensor:
    """`1 / (1 + exp(-x))` of each element."""
    return _ops.sigmoid(input)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """`a * sigmoid(b)` for the halves `a`, `b` of `dim`, which must be even (Dauphin et al., 2017)."""
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    if input.shape[dim] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim % input.dim()} is size {input.shape[dim]}")
    if input.is_complex():
        raise NotImplementedError(f"glu: not implemented for {input.dtype}")
    a, b = input.chunk(2, dim)
    return _ops.glu_gate(a, b)


def _implicit_softmax_dim(name: str, ndim: int, stacklevel: int) -> int:
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: trine.dtype | None = None) -> Tensor:
    """`exp(x) / sum(exp(x))` along `dim`; `dtype` converts before computing.

    >>> import trine
    >>> trine.nn.functional.softmax(trine.zeros(4), dim=0).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    if dim is None:
        dim = _implicit_softmax_dim("softmax", input.dim(), _stacklevel)
    return _ops.softmax(input, dim, dtype) if dtype is not None else _ops.softmax(input, dim)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: trine.dtype | None = None) -> Tensor:
    """Softmax of `-x` along `dim`."""
    if dim is None:
        dim = _implicit_softmax_dim("softmin", input.dim(), _stacklevel)
    return softmax(-input, dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: trine.dtype | None = None) -> Tensor:
    """Logarithm of softmax along `dim`, computed without overflow."""
    if dim is None:
        dim = _implicit_softmax_dim("log_softmax", input.dim(), _stacklevel)
    return _ops.log_softmax(input, dim, dtype) if dtype is not None else _ops.log_softmax(input, dim)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A sample of the Gumbel-softmax distribution (Jang et al., 2017); one-hot with a soft gradient when `hard`."""
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    gumbels = -trine.empty_like(logits.detach()).exponential_().log()
    soft = softmax((logits + gumbels) / tau, dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one_hot = trine.zeros_like(logits.detach()).scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """`x / max(norm_p(x), eps)` along `dim`."""
    denominator = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    if out is None:
        return input / denominator
    return trine.div(input, denominator, out=out)
