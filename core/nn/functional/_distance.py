"""Similarities and distances of vectors."""

from __future__ import annotations

import trine
from trine import Tensor, _ops


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """`x1 . x2 / (max(|x1|, eps) max(|x2|, eps))` along `dim`; shapes broadcast.

    >>> import trine
    >>> a = trine.tensor([[1., 0.]])
    >>> trine.nn.functional.cosine_similarity(a, -a).tolist()
    [-1.0]
    """
    kind = trine.promote_types(x1.dtype, x2.dtype)
    if not kind.is_floating_point:
        raise RuntimeError("expected common dtype to be floating point, yet common dtype is " + str(kind))
    x1, x2 = trine.broadcast_tensors(x1.to(kind), x2.to(kind))
    n1 = _length(x1, dim).clamp_min(eps)
    n2 = _length(x2, dim).clamp_min(eps)
    # Dividing first keeps the product of two large vectors from overflowing.
    return ((x1 / n1) * (x2 / n2)).sum(dim)


def _length(x: Tensor, dim: int) -> Tensor:
    return x.norm(2, dim, keepdim=True)


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """p-norm of `x1 - x2 + eps` along the last dimension: `(*, D)` -> `(*)`."""
    return (x1 - x2 + eps).norm(p, -1, keepdim=keepdim)


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """Distances of all pairs of rows: `(N, D)` -> `(N (N - 1) / 2,)`, in the order (0,1), (0,2), ... (1,2), ..."""
    return _ops.pdist(input, p)
