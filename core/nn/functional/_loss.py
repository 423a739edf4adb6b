"""Losses of classification and regression, each with `reduction` "none", "mean" or "sum"."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import trine
from trine import Tensor, _ops

from .. import _reduction


def in_float32(function: Callable) -> Callable:
    """A function whose tensors are float32 within an autocast region."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not trine._C.is_autocast_cpu_enabled():
            return function(*args, **kwargs)

        def wide(v: Any) -> Any:
            return v.float() if isinstance(v, Tensor) and v.dtype in (trine.float16, trine.bfloat16) else v

        with trine.autocast("cpu", enabled=False):
            return function(*map(wide, args), **{k: wide(v) for k, v in kwargs.items()})

    return call


def _reduce(loss: Tensor, reduction: str) -> Tensor:
    number = _reduction.get_enum(reduction)
    return loss if number == 0 else loss.mean() if number == 1 else loss.sum()


def _same_shape(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Both broadcast to one shape, with a warning when they had two."""
    if target.shape == input.shape:
        return input, target
    warnings.warn(
        f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). "
        "This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
        stacklevel=3,
    )
    return trine.broadcast_tensors(input, target)


def _weighted(loss: Tensor, weight: Tensor, input: Tensor, reduction: str, divide_by_weight: bool) -> Tensor:
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    loss = loss * weight
    if reduction == "mean" and divide_by_weight:
        return loss.sum() / weight.sum()
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")
    return _reduce(loss, reduction)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross entropy of logits `(N, C, *)` or `(C,)` with class numbers `(N, *)` or probabilities `(N, C, *)`.

    `weight` `(C,)` rescales classes; class `ignore_index` counts nothing; `label_smoothing` in [0, 1] mixes the
    targets with the uniform distribution.

    >>> import trine
    >>> loss = trine.nn.functional.cross_entropy(trine.zeros(2, 4), trine.tensor([0, 3]))
    >>> round(loss.item(), 4)
    1.3863
    """
    number = _reduction.get_enum(_reduction.choose(reduction, size_average, reduce))
    return _ops.cross_entropy_loss(input, target, weight, number, ignore_index, label_smoothing)


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative of the log-probability `(N, C, *)` at the class numbers `(N, *)`."""
    number = _reduction.get_enum(_reduction.choose(reduction, size_average, reduce))
    return _ops.nll_loss_nd(input, target, weight, number, ignore_index)


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Squared difference; with `weight` the mean is divided by the sum of the weights."""
    reduction = _reduction.choose(reduction, size_average, reduce)
    a, b = _same_shape(input, target)
    if weight is not None:
        return _weighted((a - b) ** 2, weight, input, reduction, True)
    return _ops.mse_loss(a, b, _reduction.get_enum(reduction))


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Absolute difference; with `weight` the mean is divided by the sum of the weights."""
    reduction = _reduction.choose(reduction, size_average, reduce)
    a, b = _same_shape(input, target)
    if weight is not None:
        return _weighted((a - b).abs(), weight, input, reduction, True)
    return _ops.l1_loss(a, b, _reduction.get_enum(reduction))


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """`d^2 / (2 beta)` for differences d below `beta`, `|d| - beta / 2` above."""
    reduction = _reduction.choose(reduction, size_average, reduce)
    a, b = _same_shape(input, target)
    number = _reduction.get_enum(reduction)
    return _ops.l1_loss(a, b, number) if beta == 0.0 else _ops.smooth_l1_loss(a, b, number, beta)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None) -> Tensor:
    """`d^2 / 2` for differences d below `delta`, `delta (|d| - delta / 2)` above."""
    a, b = _same_shape(input, target)
    if weight is not None:
        return _weighted(_ops.huber_loss(a, b, 0, delta), weight, input, reduction, False)
    return _ops.huber_loss(a, b, _reduction.get_enum(reduction), delta)


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Cross entropy of probabilities in [0, 1] with targets of the same shape."""
    number = _reduction.get_enum(_reduction.choose(reduction, size_average, reduce))
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is deprecated. "
            "Please ensure they have the same size."
        )
    if weight is not None:
        weight = weight.expand(trine.broadcast_shapes(target.size(), weight.size()))
    return _ops.binary_cross_entropy(input, target, weight, number)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Binary cross entropy of logits, stable for large ones; `pos_weight` rescales the positive class."""
    number = _reduction.get_enum(_reduction.choose(reduction, size_average, reduce))
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return _ops.binary_cross_entropy_with_logits(input, target, weight, pos_weight, number)


@in_float32
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """`target * (log(target) - input)` for log-probabilities `input`; "batchmean" divides the sum by the batch size."""
    if input.is_complex() or target.is_complex():
        raise RuntimeError("kl_div: Complex inputs not supported.")
    legacy = size_average is not None or reduce is not None
    reduction = _reduction.choose(reduction, size_average, reduce)
    if reduction == "mean" and not legacy:
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
            stacklevel=2,
        )
    if log_target:
        loss = target.exp() * (target - input)
    else:
        # xlogy(t, t): the limit 0 where t is 0.
        log = trine.where(target == 0, trine.ones_like(target), target).log()
        loss = target * log - target * input
    if reduction == "batchmean":
        return loss.sum() / input.shape[0] if input.dim() else loss.sum()
    return _reduce(loss, reduction)


@in_float32
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative log-likelihood of counts under a Poisson distribution; `full` adds Stirling's term."""
    reduction = _reduction.choose(reduction, size_average, reduce)
    if log_input:
        loss = input.exp() - target * input
    else:
        loss = input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return _reduce(loss, reduction)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Negative log-likelihood of `target` under a normal distribution of mean `input` and variance `var` (at least `eps`)."""
    if not isinstance(var, Tensor):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = trine.full_like(input.detach(), float(var))
    elif bool((var < 0).any()):
        raise ValueError("var has negative entry/entries")
    if var.shape != input.shape:
        differing = [b for a, b in zip(input.shape, var.shape, strict=False) if a != b]
        if tuple(input.shape[:-1]) == tuple(var.shape):
            var = var.unsqueeze(-1)
        elif input.dim() != var.dim() or sum(differing) != 1:
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    # The clamp changes the value, not the gradient.
    var = var.clone()
    with trine.no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduce(loss, reduction)


@in_float32
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`log(1 + exp(-target * input))` for targets 1 and -1."""
    reduction = _reduction.choose(reduction, size_average, reduce)
    return _reduce((-target * input).exp().log1p(), reduction)
