"""Normal vectors with full covariance matrices, and with those of low rank plus a diagonal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import trine
from trine import Size, Tensor, _ops

from . import constraints
from .distribution import Distribution
from .utils import _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal", "MultivariateNormal"]


def _batch_mv(matrix: Tensor, vector: Tensor) -> Tensor:
    """Products of matrices (..., m, n) and vectors (..., n)."""
    return (matrix @ vector.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(factor: Tensor, x: Tensor) -> Tensor:
    """|L^-1 x|^2 for lower triangular L (..., n, n) and x (..., n)."""
    if factor.dim() == 2:  # one factorisation for all vectors
        solved = _ops.linalg_solve_triangular(factor, x.reshape(-1, x.shape[-1]).mT, upper=False)
        return solved.pow(2).sum(-2).reshape(x.shape[:-1])
    return _ops.linalg_solve_triangular(factor, x.unsqueeze(-1), upper=False).pow(2).sum((-2, -1))


def _half_log_det(factor: Tensor) -> Tensor:
    """The logarithm of the determinant of triangular matrices: half that of L L^T."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def _precision_to_scale_tril(precision: Tensor) -> Tensor:
    """The Cholesky factor of the inverse: that of the matrix read backwards, inverted, is triangular the right way round."""
    reversed_factor = _ops.linalg_cholesky(precision.flip((-2, -1)))
    identity = trine.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return _ops.linalg_solve_triangular(reversed_factor.flip((-2, -1)).mT, identity, upper=False)


class MultivariateNormal(Distribution):
    """Normal vectors of mean ``loc`` (..., n) and one of: ``covariance_matrix``, its inverse ``precision_matrix``, its lower
    Cholesky factor ``scale_tril``, (..., n, n) each. The last is the cheapest.

    Raises ``ValueError`` unless exactly one is given, of at least two dimensions.

    >>> from trine.distributions import MultivariateNormal
    >>> MultivariateNormal(torch.zeros(2), torch.eye(2)).log_prob(torch.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints = {  # type: ignore[assignment]
        "loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky,
    }  # fmt: skip
    support = constraints.real_vector  # type: ignore[assignment]
    has_rsample = True
    _parameter_dims = {"loc": 1, "covariance_matrix": 2, "precision_matrix": 2, "scale_tril": 2}

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("MultivariateNormal: expected loc of at least one dimension")
        matrices = {"scale_tril": scale_tril, "covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix}
        given = {name: matrix for name, matrix in matrices.items() if matrix is not None}
        if len(given) != 1:
            raise ValueError("MultivariateNormal: exactly one of covariance_matrix, precision_matrix and scale_tril must be specified")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(f"MultivariateNormal: expected {name} of at least two dimensions, got shape {tuple(matrix.shape)}")
        batch_shape = trine.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.__dict__[name] = matrix.expand((*batch_shape, -1, -1))
        self.loc = loc.expand((*batch_shape, -1))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        if scale_tril is not None:
            self._unbroadcasted_scale_tril = scale_tril
        elif covariance_matrix is not None:
            self._unbroadcasted_scale_tril = _ops.linalg_cholesky(covariance_matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(precision_matrix)

    def _expand_others(self, new: Any, batch_shape: Size) -> None:
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril

    @property
    def _matrix_shape(self) -> Size:
        return Size(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance matrix."""
        return self._unbroadcasted_scale_tril.expand(self._matrix_shape)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        return (self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT).expand(self._matrix_shape)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        return trine.cholesky_inverse(self._unbroadcasted_scale_tril).expand(self._matrix_shape)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        noise = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, noise)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        square = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + square) - _half_log_det(self._unbroadcasted_scale_tril)

    def entropy(self) -> Tensor:
        n = self._event_shape[0]
        return (0.5 * n * (1.0 + math.log(2 * math.pi)) + _half_log_det(self._unbroadcasted_scale_tril)).expand(self._batch_shape)


class LowRankMultivariateNormal(Distribution):
    """Normal vectors of mean ``loc`` (..., n) and covariance W W^T + diag(D), with ``cov_factor`` W (..., n, r) and
    ``cov_diag`` D (..., n) > 0: determinants and inverses take time in proportion to n r^2 (Woodbury's identity).

    Raises ``ValueError`` for shapes that do not fit.

    >>> from trine.distributions import LowRankMultivariateNormal
    >>> LowRankMultivariateNormal(torch.zeros(2), torch.tensor([[1.0], [0.0]]), torch.ones(2)).covariance_matrix
    tensor([[2., 0.],
            [0., 1.]])
    """

    arg_constraints = {  # type: ignore[assignment]
        "loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }  # fmt: skip
    support = constraints.real_vector  # type: ignore[assignment]
    has_rsample = True
    _parameter_dims = {
        "loc": 1, "cov_factor": 2, "cov_diag": 1, "covariance_matrix": 2, "precision_matrix": 2, "scale_tril": 2,
    }  # fmt: skip

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None) -> None:
        shapes = f"loc {tuple(loc.shape)}, cov_factor {tuple(cov_factor.shape)}, cov_diag {tuple(cov_diag.shape)}"
        if loc.dim() < 1 or cov_factor.dim() < 2:
            raise ValueError(
                f"LowRankMultivariateNormal: expected loc of one dimension or more and cov_factor of two or more, got {shapes}"
            )
        event_shape = loc.shape[-1:]
        if cov_factor.shape[-2:-1] != event_shape or cov_diag.shape[-1:] != event_shape:
            raise ValueError(
                f"LowRankMultivariateNormal: expected cov_factor (..., {loc.shape[-1]}, r) and cov_diag (..., {loc.shape[-1]}), got {shapes}"
            )
        try:
            batch_shape = trine.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError(f"LowRankMultivariateNormal: batch dimensions do not broadcast: {shapes}") from error
        self.loc = loc.expand(batch_shape + event_shape)
        self.cov_factor = cov_factor.expand(batch_shape + cov_factor.shape[-2:])
        self.cov_diag = cov_diag.expand(batch_shape + event_shape)
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        scaled = self._scaled_factor
        # the Cholesky factor of the capacitance matrix I + W^T D^-1 W
        self._capacitance_tril = _ops.linalg_cholesky(
            scaled @ cov_factor + trine.eye(cov_factor.shape[-1], dtype=loc.dtype, device=loc.device)
        )
        super().__init__(batch_shape, event_shape, validate_args=validate_args)

    @property
    def _scaled_factor(self) -> Tensor:
        """W^T D^-1."""
        return self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)

    def _expand_others(self, new: Any, batch_shape: Size) -> None:
        for name in ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril"):
            setattr(new, name, getattr(self, name))

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def _matrix_shape(self) -> Size:
        return Size(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def variance(self) -> Tensor:  # type: ignore[override]
        """The diagonal of the covariance matrix."""
        return (self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance matrix."""
        deviation = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / deviation
        n = self._event_shape[0]
        return (deviation * _ops.linalg_cholesky(scaled @ scaled.mT + trine.eye(n, dtype=scaled.dtype, device=scaled.device))).expand(
            self._matrix_shape
        )

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """W W^T + diag(D)."""
        factor = self._unbroadcasted_cov_factor
        return (factor @ factor.mT + trine.diag_embed(self._unbroadcasted_cov_diag)).expand(self._matrix_shape)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        solved = _ops.linalg_solve_triangular(self._capacitance_tril, self._scaled_factor, upper=False)
        return (trine.diag_embed(self._unbroadcasted_cov_diag.reciprocal()) - solved.mT @ solved).expand(self._matrix_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        factor_shape = shape[:-1] + self.cov_factor.shape[-1:]
        common = _standard_normal(factor_shape, self.loc.dtype, self.loc.device)
        own = _standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_cov_factor, common) + self._unbroadcasted_cov_diag.sqrt() * own

    def _log_det(self) -> Tensor:
        """By the matrix determinant lemma."""
        return 2 * _half_log_det(self._capacitance_tril) + self._unbroadcasted_cov_diag.log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        difference = value - self.loc
        projected = _batch_mahalanobis(self._capacitance_tril, _batch_mv(self._scaled_factor, difference))
        square = (difference.pow(2) / self._unbroadcasted_cov_diag).sum(-1) - projected
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_det() + square)

    def entropy(self) -> Tensor:
        return (0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det())).expand(self._batch_shape)
