"""Similarities and distances of vectors."""

from __future__ import annotations

from trine import Tensor, _ops


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """`x1 . x2 / (max(|x1|, eps) max(|x2|, eps))` along `dim`; shapes broadcast.

    >>> import trine
    >>> a = trine.tensor([[1., 0.]])
    >>> trine.nn.functional.cosine_similarity(a, -a).tolist()
    [-1.0]
    """
    return _ops.cosine_similarity(x1, x2, dim, eps)


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """p-norm of `x1 - x2 + eps` along the last dimension: `(*, D)` -> `(*)`."""
    return (x1 - x2 + eps).norm(p, -1, keepdim=keepdim)


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """Distances of all pairs of rows: `(N, D)` -> `(N (N - 1) / 2,)`, in the order (0,1), (0,2), ... (1,2), ..."""
    return _ops.pdist(input, p)
