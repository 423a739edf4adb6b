"""Folding batch normalisation of evaluation mode into the layer before it."""

from __future__ import annotations

import copy
from typing import Any

import trine
from trine import Tensor

from ..parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the convolution that does what convolution and normalisation do."""
    bias = trine.zeros_like(bn_rm) if conv_b is None else conv_b
    gamma = trine.ones_like(bn_rm) if bn_w is None else bn_w
    beta = trine.zeros_like(bn_rm) if bn_b is None else bn_b
    scale = gamma * (bn_rv + bn_eps).rsqrt()
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    weight = (conv_w * scale.reshape(shape)).to(conv_w.dtype)
    fused = ((bias - bn_rm) * scale + beta).to(conv_w.dtype if conv_b is None else conv_b.dtype)
    wants_grad = conv_w.requires_grad
    return (
        Parameter(weight.detach(), wants_grad),
        Parameter(fused.detach(), wants_grad if conv_b is None else conv_b.requires_grad),
    )


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor,
    bn_b: Tensor,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the dense layer that does what dense layer and normalisation do."""
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def _check_eval(first: Any, bn: Any) -> None:
    if first.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("Only support fusion when running statistics exist")


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A copy of `conv` that includes `bn`; both have to be in evaluation mode.

    >>> import trine
    >>> conv, bn = trine.nn.Conv2d(1, 2, 1).eval(), trine.nn.BatchNorm2d(2).eval()
    >>> trine.nn.utils.fuse_conv_bn_eval(conv, bn)
    Conv2d(1, 2, kernel_size=(1, 1), stride=(1, 1))
    """
    _check_eval(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A copy of `linear` that includes `bn`; both have to be in evaluation mode."""
    _check_eval(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)
    return fused
