"""Random positive definite matrices: the Wishart distribution, and correlation matrices of the LKJ distribution."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from numbers import Number
from typing import Any

import trine
from trine import Size, Tensor, _ops

from . import constraints
from .dirichlet import Beta
from .distribution import Distribution, ExponentialFamily
from .gamma import Chi2
from .multivariate_normal import _half_log_det, _precision_to_scale_tril
from .utils import broadcast_all, lazy_property

__all__ = ["LKJCholesky", "Wishart"]


def _mvdigamma(x: Tensor, p: int) -> Tensor:
    """The derivative of ``mvlgamma``."""
    if not bool(x.gt((p - 1) / 2).all()):
        raise AssertionError("mvdigamma: expected arguments above (p - 1) / 2")
    return trine.digamma(x.unsqueeze(-1) - trine.arange(p, dtype=x.dtype, device=x.device) / 2).sum(-1)


class Wishart(ExponentialFamily):
    """Scatter matrices of ``df`` > n - 1 normal vectors whose covariance matrix is given as one of ``covariance_matrix``,
    ``precision_matrix`` and ``scale_tril``, (..., n, n) each.

    Raises ``ValueError`` unless exactly one is given, and where ``df`` is too small. Samples by Bartlett's decomposition.

    >>> from trine.distributions import Wishart
    >>> Wishart(torch.tensor(3.0), torch.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    arg_constraints = {  # type: ignore[assignment]
        "covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky, "df": constraints.greater_than(0),
    }  # fmt: skip
    support = constraints.positive_definite  # type: ignore[assignment]
    has_rsample = True
    _mean_carrier_measure = 0  # type: ignore[assignment]
    _parameter_dims = {"df": 0, "covariance_matrix": 2, "precision_matrix": 2, "scale_tril": 2}

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        matrices = {"scale_tril": scale_tril, "covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix}
        given = {name: matrix for name, matrix in matrices.items() if matrix is not None}
        if len(given) != 1:
            raise AssertionError("Wishart: exactly one of covariance_matrix, precision_matrix and scale_tril must be specified")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(f"Wishart: expected {name} of at least two dimensions, got shape {tuple(matrix.shape)}")
        event_shape = Size(matrix.shape[-2:])
        if isinstance(df, Number):
            batch_shape = Size(matrix.shape[:-2])
            df = trine.tensor(df, dtype=matrix.dtype, device=matrix.device)
        else:
            batch_shape = trine.broadcast_shapes(matrix.shape[:-2], df.shape)
        self.df = df.expand(batch_shape)
        if bool((self.df <= event_shape[-1] - 1).any()):
            raise ValueError(f"Wishart: expected df > {event_shape[-1] - 1}, the size of the matrices less one, got df={df}")
        self.__dict__[name] = matrix.expand((*batch_shape, -1, -1))
        self.arg_constraints = {**type(self).arg_constraints, "df": constraints.greater_than(event_shape[-1] - 1)}  # type: ignore[misc,dict-item]
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        if scale_tril is not None:
            self._unbroadcasted_scale_tril = scale_tril
        elif covariance_matrix is not None:
            self._unbroadcasted_scale_tril = _ops.linalg_cholesky(covariance_matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(precision_matrix)
        self._dist_chi2 = self._make_chi2()

    def _make_chi2(self) -> Chi2:
        """The squares of the diagonal of Bartlett's triangular matrix."""
        steps = trine.arange(self._event_shape[-1], dtype=self.df.dtype, device=self.df.device)
        return Chi2(self.df.unsqueeze(-1) - steps)

    def _expand_others(self, new: Any, batch_shape: Size) -> None:
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        new.arg_constraints = self.arg_constraints
        new._event_shape = self._event_shape
        new._dist_chi2 = new._make_chi2()

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance matrix."""
        return self._unbroadcasted_scale_tril.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix of the vectors."""
        return (self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        return trine.cholesky_inverse(self._unbroadcasted_scale_tril).expand(self._batch_shape + self._event_shape)

    @property
    def mean(self) -> Tensor:
        return self.df.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        return factor.masked_fill(factor <= 0, trine.nan).view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        return self.df.view((*self._batch_shape, 1, 1)) * (v.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def _bartlett_sampling(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        p = self._event_shape[-1]
        noise = self._dist_chi2.rsample(sample_shape).sqrt().diag_embed(dim1=-2, dim2=-1)
        i, j = trine.tril_indices(p, p, offset=-1, device=noise.device)
        below = Size((*sample_shape, *self._batch_shape, p * (p - 1) // 2))
        noise[..., i, j] = trine.randn(below, dtype=noise.dtype, device=noise.device)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def rsample(self, sample_shape: Sequence[int] = Size(), max_try_correction: int | None = None) -> Tensor:
        """Samples; those that rounding made singular are drawn again, up to ``max_try_correction`` times (3, or 10 of a batch)."""
        if max_try_correction is None:
            max_try_correction = 3 if not self._batch_shape else 10
        sample_shape = Size(sample_shape)
        self._bartlett_sampling(sample_shape)  # PyTorch throws its first samples away: so the stream is the same
        sample = self._bartlett_sampling(sample_shape)
        singular = ~self.support.check(sample)
        if bool(singular.any()):
            warnings.warn("Wishart: singular samples are drawn again")
            for _ in range(max_try_correction):
                again = self._bartlett_sampling(sample_shape)
                sample = trine.where(singular.unsqueeze(-1).unsqueeze(-1), again, sample)
                singular = ~self.support.check(sample)
                if not bool(singular.any()):
                    break
        return sample

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        nu, p, factor = self.df, self._event_shape[-1], self._unbroadcasted_scale_tril
        trace = trine.cholesky_solve(value, factor).diagonal(dim1=-2, dim2=-1).sum(-1)
        return (
            -nu * (p * math.log(2) / 2 + _half_log_det(factor))
            - trine.mvlgamma(nu / 2, p=p)
            + (nu - p - 1) / 2 * _ops.linalg_slogdet(value)[1]
            - trace / 2
        )

    def entropy(self) -> Tensor:
        nu, p, factor = self.df, self._event_shape[-1], self._unbroadcasted_scale_tril
        return (
            (p + 1) * (p * math.log(2) / 2 + _half_log_det(factor))
            + trine.mvlgamma(nu / 2, p=p)
            - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p=p)
            + nu * p / 2
        )

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        p = self._event_shape[-1]
        half = y + (p + 1) / 2
        return half * (-_ops.linalg_slogdet(-2 * x)[1] + math.log(2) * p) + trine.mvlgamma(half, p=p)


class LKJCholesky(Distribution):
    """Cholesky factors of ``dim`` x ``dim`` correlation matrices of density proportional to det^(concentration - 1).

    With ``concentration`` 1 all correlation matrices are equally likely; above it those near the identity are more so.
    Raises ``ValueError`` for ``dim`` < 2. Samples by the onion method (Lewandowski, Kurowicka and Joe, 2009).

    >>> from trine.distributions import LKJCholesky
    >>> factor = LKJCholesky(3, 0.5).sample()
    >>> torch.allclose((factor @ factor.T).diagonal(), torch.ones(3))
    True
    """

    arg_constraints = {"concentration": constraints.positive}  # type: ignore[assignment]
    support = constraints.corr_cholesky  # type: ignore[assignment]
    _parameter_dims = {"concentration": 0}

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"LKJCholesky: expected dim >= 2, got {dim}")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        # The squared length of the k-th row left of its diagonal is of Beta(k / 2, concentration + (dim - 1 - k) / 2). PyTorch has
        # k - 1 / 2 in place of k / 2, which gives the elements of one matrix different distributions.
        rows = trine.arange(dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)
        rows = trine.cat([rows.new_zeros((1,)), rows])
        last = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(0.5 * rows + 0.5, last.unsqueeze(-1) - 0.5 * rows)
        super().__init__(self.concentration.size(), Size((dim, dim)), validate_args=validate_args)

    def _expand_others(self, new: Any, batch_shape: Size) -> None:
        new.dim = self.dim
        new._beta = self._beta.expand((*batch_shape, self.dim))

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with trine.no_grad():
            length = self._beta.sample(sample_shape).unsqueeze(-1)
            direction = trine.randn(self._extended_shape(sample_shape), dtype=length.dtype, device=length.device).tril(-1)
            direction = direction / direction.norm(dim=-1, keepdim=True)
            direction[..., 0, :] = 0.0  # the first row has nothing below its diagonal
            w = length.sqrt() * direction
            rest = (1 - (w**2).sum(-1)).clamp(min=trine.finfo(w.dtype).tiny).sqrt()
            return w + trine.diag_embed(rest)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = trine.arange(2, self.dim + 1, dtype=self.concentration.dtype, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        m = self.dim - 1
        alpha = self.concentration + 0.5 * m
        # page 1999 of the paper
        log_normalizer = 0.5 * m * math.log(math.pi) + trine.mvlgamma(alpha - 0.5, m) - trine.lgamma(alpha) * m
        return (order * diagonal.log()).sum(-1) - log_normalizer
