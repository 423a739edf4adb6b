"""Dropout of elements and of whole channels."""

from __future__ import annotations

import math
import warnings

import trine
from trine import Tensor, _ops

# Minus the value that SELU tends to for large negative inputs: scale * alpha.
_ALPHA = 1.7580993408473766


def _check_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero each element with probability `p` and divide the others by `1 - p`; the input itself unless `training`.

    >>> import trine
    >>> trine.nn.functional.dropout(trine.ones(2), 0.9, training=False).tolist()
    [1.0, 1.0]
    """
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return _ops.dropout_(input, p, training) if inplace else _ops.dropout(input, p, training)


def _noise_like(input: Tensor, feature: bool) -> Tensor:
    """Uninitialised noise: one value per element, or one per sample and channel."""
    if not feature:
        return trine.empty_like(input.detach())
    if input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return trine.empty([*input.shape[:2], *([1] * (input.dim() - 2))], dtype=input.dtype, device=input.device)


def _masked(input: Tensor, p: float, training: bool, inplace: bool, feature: bool, alpha: bool) -> Tensor:
    _check_probability(p)
    if p == 0 or not training or input.numel() == 0:
        return input
    if p == 1:
        zero = trine.zeros((), dtype=input.dtype, device=input.device)
        return input.mul_(zero) if inplace else input * zero
    noise = _noise_like(input, feature).bernoulli_(1 - p)
    shift = None
    if alpha:
        a = 1.0 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
        shift = noise.add(-1).mul_(_ALPHA * a).add_(_ALPHA * a * p)
        noise.mul_(a)
    else:
        noise.div_(1 - p)
    result = input.mul_(noise) if inplace else input * noise
    return result if shift is None else result.add_(shift)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean and variance of SELU activations (Klambauer et al., 2017)."""
    return _masked(input, p, training, inplace, feature=False, alpha=True)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Alpha dropout of whole channels."""
    return _masked(input, p, training, inplace, feature=True, alpha=True)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of `(N, C, L)` or `(C, L)` with probability `p`."""
    _check_probability(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d exists to "
            "provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional "
            "batch dimension (i.e. 2D or 3D inputs)."
        )
    return _unbatched(input, 3, p, training, inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of `(N, C, H, W)` with probability `p`."""
    _check_probability(p)
    if input.dim() not in (3, 4):
        warnings.warn(
            f"dropout2d: Received a {input.dim()}-D input to dropout2d, which is deprecated and will result in an "
            "error in a future release. To retain the behavior and silence this warning, please use dropout instead. "
            "Note that dropout2d exists to provide channel-wise dropout on inputs with 2 spatial dimensions, a channel "
            "dimension, and an optional batch dimension (i.e. 3D or 4D inputs).",
            stacklevel=2,
        )
    if input.dim() == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired "
            "- input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a "
            "future release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain "
            "the 1D channel-wise dropout behavior, please switch to using dropout1d instead.",
            stacklevel=2,
        )
    return _masked(input, p, training, inplace, feature=True, alpha=False)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of `(N, C, D, H, W)` or `(C, D, H, W)` with probability `p`."""
    _check_probability(p)
    if input.dim() not in (4, 5):
        warnings.warn(
            f"dropout3d: Received a {input.dim()}-D input to dropout3d, which is deprecated and will result in an "
            "error in a future release. To retain the behavior and silence this warning, please use dropout instead. "
            "Note that dropout3d exists to provide channel-wise dropout on inputs with 3 spatial dimensions, a channel "
            "dimension, and an optional batch dimension (i.e. 4D or 5D inputs).",
            stacklevel=2,
        )
    return _unbatched(input, 5, p, training, inplace)


def _unbatched(input: Tensor, batched_dim: int, p: float, training: bool, inplace: bool) -> Tensor:
    if input.dim() == batched_dim:
        return _masked(input, p, training, inplace, feature=True, alpha=False)
    batch = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = _masked(batch, p, training, inplace, feature=True, alpha=False)
    return result.squeeze_(0) if inplace else result.squeeze(0)
