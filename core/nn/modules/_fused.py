"""Convolution, batch normalisation and activation as one operator, where nothing but the result is wanted.

In evaluation without recording, normalisation is a factor and a summand for each channel and a rectifier is a limit: the convolution
applies both while its result is in the cache, instead of three passes over memory.
"""

from __future__ import annotations

import math

import trine
from trine import Tensor, _ops

from ._hooks import has_call_hooks
from .activation import Hardtanh, ReLU, ReLU6
from .batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from .conv import Conv1d, Conv2d, Conv3d
from .module import Module, weight_and_bias

_NORMS = {Conv1d: BatchNorm1d, Conv2d: BatchNorm2d, Conv3d: BatchNorm3d}
CONVOLUTIONS = frozenset(_NORMS)


def limits(activation: Module | None) -> tuple[float, float] | None:
    """Lowest and highest value that `activation` lets through unchanged; None when it is not such a limit or has hooks."""
    if activation is None:
        return -math.inf, math.inf
    if has_call_hooks(activation):
        return None
    kind = type(activation)
    if kind is ReLU:
        return 0.0, math.inf
    if kind is ReLU6 or kind is Hardtanh:
        return float(activation.min_val), float(activation.max_val)
    return None


def fused(conv: Module, norm: Module, x: Tensor, bounds: tuple[float, float], residual: Tensor | None = None) -> Tensor | None:
    """The whole block in one operator; None when these modules or this mode need the single calls."""
    if type(norm) is not _NORMS.get(type(conv)) or norm.training or trine.is_grad_enabled() or trine._C.is_autocast_cpu_enabled():
        return None
    if type(x) is not Tensor or x.dim() != conv.weight.dim() or conv.padding_mode != "zeros" or isinstance(conv.padding, str):
        return None
    mean, var = norm.running_mean, norm.running_var
    if has_call_hooks(conv) or has_call_hooks(norm) or mean is None or var is None or mean.dtype is not x.dtype:
        return None
    where = (conv.stride, conv.padding, conv.dilation, conv.groups)
    return _ops._conv_batch_norm(x, *weight_and_bias(conv), *weight_and_bias(norm), mean, var, norm.eps, *where, *bounds, residual)


def conv_norm_activation(conv: Module, norm: Module, activation: Module | None, x: Tensor, residual: Tensor | None = None) -> Tensor:
    """``activation(norm(conv(x)) + residual)``, in one operator where that is possible."""
    bounds = limits(activation)
    result = None if bounds is None else fused(conv, norm, x, bounds, residual)
    if result is None:
        result = norm(conv(x))
        if residual is not None:
            result += residual
        if activation is not None:
            result = activation(result)
    return result


def run_in_row(modules: list[Module], x: Tensor) -> Tensor:
    """Each module with the result of the one before; convolution, normalisation and activation that follow each other become one."""
    i, count = 0, len(modules)
    while i < count:
        module = modules[i]
        if type(module) in CONVOLUTIONS and i + 1 < count:
            bounds = limits(modules[i + 2]) if i + 2 < count else None
            result = fused(module, modules[i + 1], x, bounds or (-math.inf, math.inf))
            if result is not None:
                x, i = result, i + (2 if bounds is None else 3)
                continue
        x = module(x)
        i += 1
    return x
