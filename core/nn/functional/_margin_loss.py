"""Losses that ask for a margin between a right and a wrong answer."""

from __future__ import annotations

from collections.abc import Callable

import trine
from trine import Tensor

from .. import _reduction
from ._activation import logsigmoid
from ._distance import pairwise_distance
from ._loss import _reduce, in_float32


@in_float32
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`max(0, -target * (x1 - x2) + margin)`: target 1 wants x1 larger, -1 wants x2 larger."""
    reduction = _reduction.choose(reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return _reduce((-target * (input1 - input2) + margin).clamp_min(0), reduction)


@in_float32
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`x` for target 1, `max(0, margin - x)` for target -1."""
    reduction = _reduction.choose(reduction, size_average, reduce)
    far = (margin - input).clamp_min(0).masked_fill(target == 1, 0)
    near = input.masked_fill(target == -1, 0)
    return _reduce(near + far, reduction)


@in_float32
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`1 - cos(x1, x2)` for target 1, `max(0, cos(x1, x2) - margin)` for target -1."""
    reduction = _reduction.choose(reduction, size_average, reduce)
    if target.dim() not in (0, 1):
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.dim() == 1 and input1.dim() != 2 and input2.dim() != 2:
        raise RuntimeError(
            f"1D target tensor expects 2D input tensors, but found inputs with sizes {list(input1.shape)} and {list(input2.shape)}."
        )
    if target.dim() == 0 and input1.dim() != 1 and input2.dim() != 1:
        raise RuntimeError(
            f"0D target tensor expects 1D input tensors, but found inputs with sizes {list(input1.shape)} and {list(input2.shape)}."
        )
    # A small constant keeps the gradient finite for zero vectors.
    epsilon = 1e-12
    dot = (input1 * input2).sum(-1)
    cosine = dot / (((input1 * input1).sum(-1) + epsilon) * ((input2 * input2).sum(-1) + epsilon)).sqrt()
    zeros = trine.zeros_like(cosine)
    loss = trine.where(target == 1, 1 - cosine, zeros) + trine.where(target == -1, (cosine - margin).clamp_min(0), zeros)
    return _reduce(loss, reduction)


@in_float32
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`max(0, |a - p| - |a - n| + margin)` over vectors of the last dimension."""
    reduction = _reduction.choose(reduction, size_average, reduce)
    return triplet_margin_with_distance_loss(
        anchor,
        positive,
        negative,
        distance_function=lambda a, b: pairwise_distance(a, b, p, eps),
        margin=margin,
        swap=swap,
        reduction=reduction,
    )


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`max(0, d(a, p) - d(a, n) + margin)`; `swap` takes the positive as anchor where it is nearer to the negative."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs"
        )
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = trine.minimum(far, distance(positive, negative))
    return _reduce((margin + near - far).clamp_min(0), reduction)


@in_float32
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Mean over the other classes of `max(0, margin - x[y] + x[i]) ** p`: `(N, C)`, `(N,)` -> `(N,)`."""
    reduction = _reduction.choose(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    single = input.dim() < 2
    x = input.reshape(1, -1) if single else input
    y = target.reshape(-1, 1)
    violation = (margin - x.gather(1, y) + x).clamp_min(0)
    if p == 2:
        violation = violation * violation
    if weight is not None:
        violation = violation * weight[y]
    loss = violation.scatter(1, y, 0.0).sum(1) / x.shape[1]
    return _reduce(loss.reshape(target.shape) if single else loss, reduction)


@in_float32
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Hinge of every labelled class against every other: `(N, C)` and `(N, C)` of labels ended by -1."""
    reduction = _reduction.choose(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    single = input.dim() < 2
    x = input.reshape(1, -1) if single else input
    y = target.reshape(1, -1) if single else target
    # Labels count up to the first -1.
    valid = (y < 0).cumsum(1) == 0
    labels = y.clamp_min(0)
    labelled = trine.zeros(x.shape, dtype=trine.int64, device=x.device).scatter_add(1, labels, valid.long()) > 0
    gap = 1 - x.gather(1, labels).unsqueeze(2) + x.unsqueeze(1)  # (N, label, class)
    counted = valid.unsqueeze(2) & ~labelled.unsqueeze(1)
    loss = gap.clamp_min(0).masked_fill(~counted, 0).sum((1, 2)) / x.shape[1]
    return _reduce(loss.reshape(()) if single else loss, reduction)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Mean over classes (last dimension) of the binary cross entropy of logits."""
    reduction = _reduction.choose(reduction, size_average, reduce)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return _reduce(loss.mean(-1), reduction)
