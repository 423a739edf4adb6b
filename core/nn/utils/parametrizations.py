"""Parametrisations in common use: orthogonal weights, spectral and weight normalisation."""

from __future__ import annotations

from typing import Any

import trine
from trine import Tensor

from .. import functional as F
from ..modules import conv
from ..modules.module import Module
from . import parametrize

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

_MAPS = ("matrix_exp", "cayley", "householder")


def _is_orthogonal(Q: Tensor) -> bool:
    n, k = Q.size(-2), Q.size(-1)
    unit = trine.eye(k, dtype=Q.dtype, device=Q.device)
    return trine.allclose(Q.mH @ Q, unit.expand(*Q.shape[:-2], k, k), atol=10.0 * n * trine.finfo(Q.dtype).eps)


def _make_orthogonal(A: Tensor) -> Tensor:
    """The orthogonal factor of a QR decomposition whose R has positive diagonal."""
    X, tau = trine.geqrf(A)
    Q = trine.linalg.householder_product(X, tau)
    return Q * X.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    base: Tensor

    def __init__(self, weight: Tensor, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        wide = X.size(-2) < X.size(-1)
        if wide:
            X = X.mT
        n, k = X.size(-2), X.size(-1)
        if self.orthogonal_map == "householder":
            A = X.tril(diagonal=-1)
            tau = 2.0 / (1.0 + (A * A).sum(dim=-2))
            Q = trine.linalg.householder_product(A, tau)
            # The diagonal says whether a column is reflected.
            Q = Q * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            X = X.tril()
            if n != k:
                X = trine.cat([X, X.new_zeros(n, n - k).expand(*X.shape[:-2], -1, -1)], dim=-1)
            A = X - X.mH
            if self.orthogonal_map == "matrix_exp":
                Q = trine.matrix_exp(A)
            else:
                unit = trine.eye(n, dtype=A.dtype, device=A.device)
                Q = trine.linalg.solve(trine.add(unit, A, alpha=-0.5), trine.add(unit, A, alpha=0.5))
            Q = Q[..., :k]
        if hasattr(self, "base") and self.base is not None:
            Q = self.base @ Q
        return Q.mT if wide else Q

    def right_inverse(self, Q: Tensor) -> Tensor:
        if Q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}.")
        given, wide = Q, Q.size(-2) < Q.size(-1)
        if wide:
            Q = Q.mT
        n, k = Q.size(-2), Q.size(-1)
        if not hasattr(self, "base"):
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when use_trivialization=False."
                )
            A, tau = trine.geqrf(Q)
            diagonal = A.diagonal(dim1=-2, dim2=-1)
            diagonal.sign_()
            diagonal[tau == 0.0] *= -1
            return A.mT if wide else A
        if n == k:
            Q = Q.clone() if _is_orthogonal(Q) else _make_orthogonal(Q)
        else:
            # The columns that the base has beyond the weight's are any that complete it.
            Q = _make_orthogonal(trine.cat([Q, trine.randn(*Q.shape[:-1], n - k, dtype=Q.dtype, device=Q.device)], dim=-1))
        self.base = Q
        minus_one = trine.zeros_like(given)
        minus_one.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return minus_one


def orthogonal(module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True) -> Module:
    """Keeps the weight (..., m, n) of a module orthogonal (unitary when complex); the module is changed and returned.

    Columns are orthonormal for m >= n, rows otherwise. ``orthogonal_map``: "matrix_exp" (default for square weights), "cayley" or
    "householder" (default for others). ``use_trivialization`` computes relative to a base that is set when the weight is assigned.
    ValueError for an unknown map or name, and for tensors of fewer than two dimensions.

    >>> import trine
    >>> layer = trine.nn.utils.parametrizations.orthogonal(trine.nn.Linear(4, 4))
    >>> bool(trine.allclose(layer.weight @ layer.weight.T, trine.eye(4), atol=1e-5))
    True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.size(-2) == weight.size(-1) or weight.is_complex() else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}')
    return parametrize.register_parametrization(
        module, name, _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization), unsafe=True
    )


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / trine.norm_except_dim(weight_v, 2, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return trine.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int = 0) -> Module:
    """Splits a weight into length (``original0``) and direction (``original1``), a length for each slice of ``dim`` (None: one in all)."""
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict: dict, prefix: str, *_: Any) -> None:
        # Checkpoints of the older hook-based weight_norm.
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.dim = dim % ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._matrix(weight)
            height, width = matrix.shape
            u, v = matrix.new_empty(height).normal_(0, 1), matrix.new_empty(width).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    @trine.no_grad()
    def _power_method(self, matrix: Tensor, iterations: int) -> None:
        for _ in range(iterations):
            self._u.copy_(F.normalize(matrix.mv(self._v), dim=0, eps=self.eps))
            self._v.copy_(F.normalize(matrix.mH.mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        return weight / trine.vdot(self._u.clone(), matrix.mv(self._v.clone()))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None) -> Module:
    """Divides a weight by its largest singular value, which power iterations in each training forward pass keep track of.

    The weight is taken as a matrix with ``dim`` (0; 1 for transposed convolutions) as rows. ValueError for an unknown name.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if isinstance(module, (conv.ConvTranspose1d, conv.ConvTranspose2d, conv.ConvTranspose3d)) else 0
    return parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
