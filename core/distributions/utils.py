"""What distributions share: broadcasting of parameters, probabilities and their logits, lazily computed attributes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import trine
from trine import Tensor
from trine.overrides import is_tensor_like

__all__ = [
    "broadcast_all", "clamp_probs", "euler_constant", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]  # fmt: skip

euler_constant = 0.57721566490153286060
"""The Euler-Mascheroni constant."""


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Tensors of one shape from tensors and numbers; numbers take the dtype of the first tensor, else the default dtype.

    Raises ``ValueError`` for anything that is neither.

    >>> from trine.distributions.utils import broadcast_all
    >>> broadcast_all(torch.zeros(2), 1)
    (tensor([0., 0.]), tensor([1., 1.]))
    """
    for value in values:
        if not (is_tensor_like(value) or isinstance(value, Real)):
            raise ValueError(f"broadcast_all: expected numbers and tensors, got {type(value).__name__}")
    first = next((v for v in values if isinstance(v, Tensor)), None)
    options: dict[str, Any] = {"dtype": trine.get_default_dtype()} if first is None else {"dtype": first.dtype, "device": first.device}
    return tuple(trine.broadcast_tensors(*(v if is_tensor_like(v) else trine.tensor(v, **options) for v in values)))


def _standard_normal(shape: Sequence[int], dtype: trine.dtype, device: Any) -> Tensor:
    return trine.normal(trine.zeros(shape, dtype=dtype, device=device), trine.ones(shape, dtype=dtype, device=device))


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """The sum over the last ``dim`` dimensions."""
    return value if dim == 0 else value.reshape((*value.shape[: value.dim() - dim], -1)).sum(-1)


def _at_least_tiny(value: Tensor) -> Tensor:
    """Positive samples kept above the smallest normal number; gradients pass as if nothing had happened."""
    return value + (trine.finfo(value.dtype).tiny - value.detach()).clamp(min=0)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of logits: the logistic function, or the softmax over the last dimension."""
    return trine.sigmoid(logits) if is_binary else trine.softmax(logits, -1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities moved into [eps, 1 - eps], eps being that of their dtype."""
    eps = trine.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Logits of probabilities: log-odds, or the logarithms of normalised probabilities."""
    clamped = clamp_probs(probs)
    return clamped.log() - (-clamped).log1p() if is_binary else clamped.log()


class lazy_property:
    """A method that becomes an attribute when it is first asked for; gradients flow whatever the mode is then."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        with trine.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The lower triangles (up to diagonal ``diag``) of matrices (..., n, n), row after row, as vectors.

    Raises ``ValueError`` when there is no such diagonal.
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"tril_matrix_to_vec: diag={diag} lies outside of [{-n}, {n - 1}]")
    return mat[..., trine.ones(n, n, dtype=trine.bool, device=mat.device).tril(diag)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The inverse of ``tril_matrix_to_vec``: lower triangular matrices of vectors.

    Raises ``ValueError`` when no triangle has that many elements.
    """
    # L = n (n + 1) / 2 + diag n, less the corner above it where diag > 0, plus the missing one where diag < 0
    shift = 1 + 2 * diag
    n = (-shift + math.sqrt(shift * shift + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1))) / 2
    if abs(n - round(n)) > trine.finfo(vec.dtype).eps:
        raise ValueError(f"vec_to_tril_matrix: no triangle has {vec.shape[-1]} elements up to diagonal {diag}")
    size = round(n)
    mask = trine.ones(size, size, dtype=trine.bool, device=vec.device).tril(diag)
    mat = vec.new_zeros((*vec.shape[:-1], size, size))
    mat[..., mask] = vec
    return mat
