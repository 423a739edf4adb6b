"""Layers and losses as PyTorch's main namespace offers them: arguments in the native order, reductions as numbers.

Reductions are 0 (none), 1 (mean) and 2 (sum). The functions of ``nn.functional`` are the ones to use in new programs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import trine
from trine import Tensor, _ops

from .nn.functional._activation import _rrelu
from .overrides import overridable

__all__ = [
    "alpha_dropout_", "batch_norm", "bilinear", "binary_cross_entropy_with_logits", "celu", "celu_", "channel_shuffle",
    "cosine_embedding_loss", "cosine_similarity", "detach_", "embedding", "feature_alpha_dropout_", "feature_dropout_", "group_norm",
    "hinge_embedding_loss", "instance_norm", "is_anomaly_enabled", "kl_div", "layer_norm", "margin_ranking_loss",
    "native_channel_shuffle", "norm_except_dim", "pairwise_distance", "pixel_shuffle", "pixel_unshuffle", "poisson_nll_loss", "prelu",
    "rms_norm", "rrelu", "rrelu_", "selu", "selu_", "set_anomaly_enabled", "triplet_margin_loss",
]  # fmt: skip

F = trine.nn.functional
_REDUCTIONS = ("none", "mean", "sum")


def _reduction(number: int) -> str:
    if number not in (0, 1, 2):
        raise ValueError(f"{number} is not a valid value for reduction: 0 (none), 1 (mean) or 2 (sum)")
    return _REDUCTIONS[number]


def _forward(function: Callable) -> Callable:
    """A function of ``nn.functional`` whose first arguments stand in the native order already."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


celu, celu_, selu, selu_ = (_forward(f) for f in (F.celu, F.celu_, F.selu, F.selu_))
prelu, bilinear, cosine_similarity = (_forward(f) for f in (F.prelu, F.bilinear, F.cosine_similarity))
pairwise_distance, pixel_shuffle, pixel_unshuffle = (_forward(f) for f in (F.pairwise_distance, F.pixel_shuffle, F.pixel_unshuffle))
channel_shuffle = _forward(F.channel_shuffle)
native_channel_shuffle = channel_shuffle


@overridable
def rrelu(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, generator: trine.Generator | None = None
) -> Tensor:
    """``x`` where positive, else ``x`` times a slope drawn from [lower, upper) (their mean when not training)."""
    return _rrelu(input, lower, upper, training, False, generator)


@overridable
def rrelu_(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, generator: trine.Generator | None = None
) -> Tensor:
    """``rrelu`` in place."""
    return _rrelu(input, lower, upper, training, True, generator)


@overridable
def batch_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, training: bool,
    momentum: float, eps: float, cudnn_enabled: bool = True,
) -> Tensor:  # fmt: skip
    """Normalisation of each channel of (n, c, ...) by the batch's or the running mean and variance."""
    return F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


@overridable
def instance_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None,
    use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool = True,
) -> Tensor:  # fmt: skip
    """Normalisation of each channel of each sample of (n, c, ...)."""
    return F.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


@overridable
def layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Tensor:  # fmt: skip
    """Normalisation over the last dimensions, of shape ``normalized_shape``."""
    return F.layer_norm(input, normalized_shape, weight, bias, eps)


@overridable
def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """Division by the root mean square over the last dimensions."""
    return F.rms_norm(input, normalized_shape, weight, eps)


@overridable
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:  # fmt: skip
    """Normalisation of groups of channels of (n, c, ...)."""
    return F.group_norm(input, num_groups, weight, bias, eps)


@overridable
def embedding(weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """Rows of ``weight`` (rows, width) at ``indices`` (*) -> (*, width)."""
    return _ops.embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse)


@overridable
def kl_div(input: Tensor, target: Tensor, reduction: int = 1, *, log_target: bool = False) -> Tensor:
    """Kullback-Leibler divergence of log-probabilities ``input`` from ``target``."""
    pointwise = F.kl_div(input, target, reduction="none", log_target=log_target)
    return pointwise.mean() if reduction == 1 else pointwise.sum() if reduction == 2 else pointwise


@overridable
def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: int = 1
) -> Tensor:
    """Binary cross entropy of logits."""
    return F.binary_cross_entropy_with_logits(input, target, weight, reduction=_reduction(reduction), pos_weight=pos_weight)


@overridable
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """Negative log-likelihood of counts under a Poisson distribution."""
    return F.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_reduction(reduction))


@overridable
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1) -> Tensor:
    """Cosine distance for target 1, cosine similarity above the margin for target -1."""
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=_reduction(reduction))


@overridable
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 1) -> Tensor:
    """Distances for target 1, what they lack to the margin for target -1."""
    return F.hinge_embedding_loss(input, target, margin, reduction=_reduction(reduction))


@overridable
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1) -> Tensor:
    """What two scores lack to stand in the order that the target, 1 or -1, asks for."""
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=_reduction(reduction))


@overridable
def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-6, swap: bool = False,
    reduction: int = 1,
) -> Tensor:  # fmt: skip
    """What the distance to the negative lacks to exceed that to the positive by the margin."""
    return F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=_reduction(reduction))


def _in_place_dropout(name: str) -> Callable:
    @overridable
    def call(input: Tensor, p: float, train: bool) -> Tensor:
        result = getattr(_ops, name)(input, p, train)
        return input.copy_(result) if result is not input else input

    call.__name__ = call.__qualname__ = name + "_"
    call.__doc__ = f"``{name}`` in place, with probability ``p``; nothing unless ``train``."
    return call


alpha_dropout_, feature_alpha_dropout_, feature_dropout_ = (
    _in_place_dropout(name) for name in ("alpha_dropout", "feature_alpha_dropout", "feature_dropout")
)


@overridable
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """Norm of order ``pow`` over all dimensions but ``dim`` (-1: over all), which are kept with size 1."""
    if dim == -1:
        return v.norm(pow)
    dims = [d for d in range(v.dim()) if d != dim % v.dim()]
    return _ops.linalg_vector_norm(v, pow, dims, True) if dims else v.abs()


def detach_(input: Tensor) -> Tensor:
    """Takes the tensor out of the graph, in place."""
    return input.detach_()


def is_anomaly_enabled() -> bool:
    """Whether ``autograd.set_detect_anomaly`` is on."""
    return trine._C._anomaly_mode()[0]


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switches anomaly detection on or off."""
    trine._C._set_anomaly(enabled, check_nan)
