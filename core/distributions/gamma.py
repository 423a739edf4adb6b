"""The gamma distribution and its relatives: chi-squared, inverse gamma, F and Student's t."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import trine
from trine import Size, Tensor, _ops

from . import constraints
from .distribution import Distribution, ExponentialFamily
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform
from .utils import _at_least_tiny, _standard_normal, broadcast_all

__all__ = ["Chi2", "FisherSnedecor", "Gamma", "InverseGamma", "StudentT"]


class Gamma(ExponentialFamily):
    """The gamma distribution of shape ``concentration`` > 0 and ``rate`` > 0 (the inverse of the scale), which broadcast.

    Gradients of ``rsample`` follow the quantiles (implicit reparameterisation: Figurnov, Mohamed and Mnih, 2018).

    >>> from trine.distributions import Gamma
    >>> Gamma(2.0, 3.0).mean, Gamma(2.0, 3.0).log_prob(torch.tensor(1.0))
    (tensor(0.6667), tensor(-0.8028))
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}  # type: ignore[assignment]
    support = constraints.nonnegative  # type: ignore[assignment]
    has_rsample = True
    _mean_carrier_measure = 0  # type: ignore[assignment]
    _parameter_dims = {"concentration": 0, "rate": 0}

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return _at_least_tiny(trine._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        value = trine.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        if self._validate_args:
            self._validate_sample(value)
        return (
            trine.xlogy(self.concentration, self.rate)
            + trine.xlogy(self.concentration - 1, value)
            - self.rate * value
            - trine.lgamma(self.concentration)
        )

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return _ops.igamma(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - self.rate.log() + trine.lgamma(a) + (1.0 - a) * trine.digamma(a)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        return trine.lgamma(x + 1) + (x + 1) * trine.log(-y.reciprocal())


class Chi2(Gamma):
    """The sum of ``df`` squares of standard normal numbers: Gamma(df / 2, 1 / 2).

    >>> from trine.distributions import Chi2
    >>> Chi2(3.0).mean
    tensor(3.)
    """

    arg_constraints = {"df": constraints.positive}  # type: ignore[assignment]
    _parameter_dims = Gamma._parameter_dims

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Tensor:
        """The number of squares."""
        return self.concentration * 2


class InverseGamma(TransformedDistribution):
    """The distribution of 1 / x for x of Gamma(concentration, rate).

    >>> from trine.distributions import InverseGamma
    >>> InverseGamma(3.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive  # type: ignore[assignment]
    has_rsample = True  # type: ignore[assignment]
    _parameter_dims = {}

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    @property
    def concentration(self) -> Tensor:
        """The shape."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        """The rate of the gamma distribution, which is the scale of this one."""
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        result = self.rate / (self.concentration - 1)
        return trine.where(self.concentration > 1, result, trine.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        result = self.rate.square() / ((self.concentration - 1).square() * (self.concentration - 2))
        return trine.where(self.concentration > 2, result, trine.inf)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + trine.lgamma(a) - (1 + a) * trine.digamma(a)


class FisherSnedecor(Distribution):
    """The F distribution: the ratio of two chi-squared numbers, each over its degrees of freedom ``df1`` and ``df2``.

    >>> from trine.distributions import FisherSnedecor
    >>> FisherSnedecor(2.0, 6.0).mean
    tensor(1.5000)
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}  # type: ignore[assignment]
    support = constraints.positive  # type: ignore[assignment]
    has_rsample = True
    _parameter_dims = {"df1": 0, "df2": 0}

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(self.df1.size(), validate_args=validate_args)

    def _expand_others(self, new: Any, batch_shape: Size) -> None:
        new._gamma1 = self._gamma1.expand(batch_shape)
        new._gamma2 = self._gamma2.expand(batch_shape)

    @property
    def mean(self) -> Tensor:
        df2 = self.df2.masked_fill(self.df2 <= 2, trine.nan)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Tensor:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.masked_fill(self.df1 <= 2, trine.nan)

    @property
    def variance(self) -> Tensor:
        df2 = self.df2.masked_fill(self.df2 <= 4, trine.nan)
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return _at_least_tiny(self._gamma1.rsample(sample_shape) / self._gamma2.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        log_constant = (half1 + half2).lgamma() - half1.lgamma() - half2.lgamma()
        return log_constant + half1 * ratio.log() + (half1 - 1) * value.log() - (half1 + half2) * trine.log1p(ratio * value)


class StudentT(Distribution):
    """Student's t distribution of ``df`` > 0 degrees of freedom, moved by ``loc`` and scaled by ``scale`` > 0.

    >>> from trine.distributions import StudentT
    >>> StudentT(3.0).log_prob(torch.tensor(0.0)).exp()
    tensor(0.3676)
    """

    arg_constraints = {  # type: ignore[assignment]
        "df": constraints.positive, "loc": constraints.real, "scale": constraints.positive,
    }  # fmt: skip
    support = constraints.real  # type: ignore[assignment]
    has_rsample = True
    _parameter_dims = {"df": 0, "loc": 0, "scale": 0}

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    def _expand_others(self, new: Any, batch_shape: Size) -> None:
        new._chi2 = self._chi2.expand(batch_shape)

    @property
    def mean(self) -> Tensor:
        return self.loc.masked_fill(self.df <= 1, trine.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        finite = self.scale.pow(2) * self.df / (self.df - 2)
        return trine.where(self.df > 2, finite, trine.inf).masked_fill(self.df <= 1, trine.nan)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        x = _standard_normal(self._extended_shape(sample_shape), self.df.dtype, self.df.device)
        return self.loc + self.scale * x * trine.rsqrt(self._chi2.rsample(sample_shape) / self.df)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        log_constant = (
            self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi)
            + trine.lgamma(0.5 * self.df) - trine.lgamma(0.5 * (self.df + 1.0))
        )  # fmt: skip
        return -0.5 * (self.df + 1.0) * trine.log1p(y**2.0 / self.df) - log_constant

    def entropy(self) -> Tensor:
        half, next_half = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = trine.lgamma(half) + math.lgamma(0.5) - trine.lgamma(next_half)
        return self.scale.log() + next_half * (trine.digamma(next_half) - trine.digamma(half)) + 0.5 * self.df.log() + log_beta
