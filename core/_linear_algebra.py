"""Linear algebra over the operators: forms that PyTorch had before ``linalg``, and low-rank approximations."""

from __future__ import annotations

import warnings
from typing import Any

from trine import _C, _ops

from ._low_rank import get_approximate_basis, pca_lowrank, svd_lowrank
from .overrides import overridable

__all__ = ["eig", "get_approximate_basis", "lobpcg", "lstsq", "lu", "matrix_rank", "pca_lowrank", "solve", "svd_lowrank", "symeig"]

Tensor = _C.Tensor


def _deprecated(name: str, instead: str) -> None:
    warnings.warn(f"trine.{name} is deprecated; use {instead}", UserWarning, stacklevel=4)


def _fill(op: str, out: tuple[Tensor, ...] | None, results: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Writes ``results`` into ``out=``, if given."""
    if out is None:
        return results
    if len(out) != len(results):
        raise TypeError(f"{op}: out= needs a tuple of {len(results)} tensors, got {len(out)}")
    for target, result in zip(out, results, strict=True):
        target.resize_(result.shape).copy_(result)
    return tuple(out)


@overridable
def symeig(
    input: Tensor, eigenvectors: bool = False, upper: bool = True, *, out: tuple[Tensor, Tensor] | None = None
) -> tuple[Tensor, ...]:
    """Deprecated: eigenvalues of symmetric matrices (..., n, n) in ascending order, with or without eigenvectors.

    Without ``eigenvectors`` the second result is empty. Use ``linalg.eigh``, which reads the lower triangle by default.
    """
    _deprecated("symeig", "linalg.eigh or linalg.eigvalsh")
    uplo = "U" if upper else "L"
    if eigenvectors:
        return _fill("symeig", out, tuple(_ops.linalg_eigh(input, uplo)))
    return _fill("symeig", out, (_ops.linalg_eigvalsh(input, uplo), _ops.empty(0, dtype=input.dtype, device=input.device)))


@overridable
def eig(input: Tensor, eigenvectors: bool = False, *, out: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, ...]:
    """Deprecated: eigenvalues of a real square matrix as an (n, 2) tensor of real and imaginary parts, and eigenvectors.

    The eigenvectors stand in the columns; those of a conjugate pair share two columns, the real part and the imaginary part.
    Without ``eigenvectors`` the second result is empty. Use ``linalg.eig``, whose results are complex.
    """
    _deprecated("eig", "linalg.eig or linalg.eigvals")
    if input.dim() != 2:
        raise RuntimeError(f"eig: expected a matrix, got a tensor of shape {tuple(input.shape)}")
    if not eigenvectors:
        values = _ops.linalg_eigvals(input)
        empty = _ops.empty(0, dtype=input.dtype, device=input.device)
        return _fill("eig", out, (values if input.is_complex() else _ops.view_as_real(values), empty))
    values, vectors = _ops.linalg_eig(input)
    if input.is_complex():
        return _fill("eig", out, (values, vectors))
    second = values.imag < 0  # the conjugate of the eigenvalue before it
    return _fill("eig", out, (_ops.view_as_real(values), _ops.where(second, -vectors.imag, vectors.real)))


@overridable
def solve(input: Tensor, A: Tensor, *, out: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, ...]:
    """Deprecated: the solution X (..., n, k) of A X = input, and the LU factors of A. Use ``linalg.solve(A, B)``."""
    _deprecated("solve", "linalg.solve, which takes the arguments in the other order")
    if input.dim() < 2 or A.dim() < 2:
        raise RuntimeError(f"solve: B and A must have at least 2 dimensions, got shapes {tuple(input.shape)} and {tuple(A.shape)}")
    return _fill("solve", out, (_ops.linalg_solve(A, input), _ops.linalg_lu_factor_ex(A)[0]))


@overridable
def lstsq(input: Tensor, A: Tensor, *, out: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, ...]:
    """Deprecated: the least squares solution of A X = input, and the QR decomposition of A in LAPACK's form.

    For A (m, n) and input (m, k) the first result is (max(m, n), k): the first n rows are the solution, the squares of the others
    add up to the squared residuals. Use ``linalg.lstsq(A, B)``.
    """
    _deprecated("lstsq", "linalg.lstsq, which takes the arguments in the other order")
    if A.dim() != 2 or input.dim() not in (1, 2) or input.shape[0] != A.shape[0]:
        raise RuntimeError(f"lstsq: expected A (m, n) and B (m, k) with equal m, got shapes {tuple(A.shape)} and {tuple(input.shape)}")
    b = input.unsqueeze(1) if input.dim() == 1 else input
    m, n = A.shape
    factors, tau = _ops.geqrf(A)
    if m < n:
        return _fill("lstsq", out, (_ops.linalg_lstsq(A, b, driver="gels").solution, factors))
    rotated = _ops.ormqr(factors, tau, b, True, True)
    solution = _ops.linalg_solve_triangular(factors[:n], rotated[:n], upper=True)
    return _fill("lstsq", out, (_ops.cat([solution, rotated[n:]]), factors))


@overridable
def matrix_rank(input: Tensor, tol: float | None = None, symmetric: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Deprecated: the number of singular values above ``tol``. Use ``linalg.matrix_rank``."""
    _deprecated("matrix_rank", "linalg.matrix_rank")
    if tol is None:
        return _ops.linalg_matrix_rank(input, hermitian=symmetric, out=out)
    return _ops.linalg_matrix_rank(input, tol, symmetric, out=out)


@overridable
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: tuple[Tensor, ...] | None = None) -> tuple[Tensor, ...]:
    """LU factors of (..., m, n) in compact form, the row exchanges (int32, from 1), and with ``get_infos`` an int32 for each matrix.

    The last is 0, or the position of the first zero pivot; without ``get_infos`` a zero pivot is a RuntimeError.
    See ``linalg.lu_factor`` and ``lu_unpack``.
    """
    LU, pivots, info = _ops._lu_with_info(A, pivot, not get_infos)
    return _fill("lu", out, (LU, pivots, info) if get_infos else (LU, pivots))


def lobpcg(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    from ._lobpcg import lobpcg as function

    return function(*args, **kwargs)
