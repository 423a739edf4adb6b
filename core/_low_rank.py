"""Singular value and principal component analysis of matrices of low rank, by random projections (Halko, Martinsson, Tropp 2009)."""

from __future__ import annotations

from trine import _C, _ops

__all__ = ["get_approximate_basis", "pca_lowrank", "svd_lowrank"]

Tensor = _C.Tensor


def get_approximate_basis(A: Tensor, q: int, niter: int | None = 2, M: Tensor | None = None) -> Tensor:
    """Orthonormal columns Q (..., m, q) that nearly span the range of A - M, for A (..., m, n) of a rank that is not much above q.

    ``niter`` power iterations sharpen the basis when the singular values fall slowly.
    """
    niter = 2 if niter is None else niter
    real = A if M is None else A - M
    dtype = real.dtype
    R = _ops.randn(real.shape[-1], q, dtype=dtype, device=real.device)
    Q = _ops.linalg_qr(real @ R).Q
    for _ in range(niter):
        Q = _ops.linalg_qr(real.mH @ Q).Q
        Q = _ops.linalg_qr(real @ Q).Q
    return Q


def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Approximate U (..., m, q), S (..., q) and V (..., n, q) with ``A - M`` near ``U diag(S) V^H``.

    ``q`` is an estimate of the rank, at most min(m, n); ``niter`` is the number of power iterations. ``M`` is a mean to take away
    from A and must broadcast to it. The result depends on random numbers: see ``manual_seed``. ValueError for a bad q or niter.
    """
    q = 6 if q is None else q
    m, n = A.shape[-2:]
    if not 0 <= q <= min(m, n):
        raise ValueError(f"svd_lowrank: q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter is not None and niter < 0:
        raise ValueError(f"svd_lowrank: niter(={niter}) must be non-negative integer")
    difference = A if M is None else A - M.expand(A.shape)
    wide = m < n
    tall = difference.mH if wide else difference
    Q = get_approximate_basis(tall, q, niter)
    U, S, Vh = _ops.linalg_svd(Q.mH @ tall, full_matrices=False)
    U, V = Q @ U, Vh.mH
    return (V, S, U) if wide else (U, S, V)


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components of A (..., m, n), m observations of n features: U (..., m, q), S (..., q) and directions V (..., n, q).

    ``center`` takes away the mean of each column first. ``A @ V[:, :k]`` projects on the first k directions. q is 6 unless given.
    ValueError for a bad q or niter.
    """
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"pca_lowrank: q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"pca_lowrank: niter(={niter}) must be non-negative integer")
    if not A.is_floating_point() and not A.is_complex():
        raise ValueError(f"pca_lowrank: input must have a float dtype, got {A.dtype}")
    return svd_lowrank(A - A.mean(dim=-2, keepdim=True) if center else A, q, niter)
