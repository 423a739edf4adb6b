"""Exponential tails and extreme values: exponential, Laplace, Weibull, Pareto, generalised Pareto and Gumbel distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import trine
from trine import Size, Tensor

from . import constraints
from .distribution import Distribution, ExponentialFamily
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform, PowerTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Exponential", "GeneralizedPareto", "Gumbel", "Laplace", "Pareto", "Weibull"]


class Exponential(ExponentialFamily):
    """The time to the next event where ``rate`` > 0 of them are expected in a unit of time.

    >>> from trine.distributions import Exponential
    >>> Exponential(2.0).mean, Exponential(2.0).cdf(torch.tensor(1.0))
    (tensor(0.5000), tensor(0.8647))
    """

    arg_constraints = {"rate": constraints.positive}  # type: ignore[assignment]
    support = constraints.nonnegative  # type: ignore[assignment]
    has_rsample = True
    _mean_carrier_measure = 0  # type: ignore[assignment]
    _parameter_dims = {"rate": 0}

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        return trine.zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.rate.new_empty(self._extended_shape(sample_shape)).exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return 1 - trine.exp(-self.rate * value)

    def icdf(self, value: Tensor) -> Tensor:
        return -trine.log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        return 1.0 - self.rate.log()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (-self.rate,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return -trine.log(-x)


class Laplace(Distribution):
    """The distribution of density exp(-|x - loc| / scale) / (2 scale), ``scale`` > 0.

    >>> from trine.distributions import Laplace
    >>> Laplace(0.0, 1.0).log_prob(torch.tensor(1.0))
    tensor(-1.6931)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}  # type: ignore[assignment]
    support = constraints.real  # type: ignore[assignment]
    has_rsample = True
    _parameter_dims = {"loc": 0, "scale": 0}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return 2**0.5 * self.scale

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.pow(2)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        # -1 itself would be infinitely far away
        u = self.loc.new_empty(self._extended_shape(sample_shape)).uniform_(trine.finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * u.sign() * trine.log1p(-u.abs())

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return -trine.log(2 * self.scale) - trine.abs(value - self.loc) / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        away = value - self.loc
        return 0.5 - 0.5 * away.sign() * trine.expm1(-away.abs() / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * trine.log1p(-2 * term.abs())

    def entropy(self) -> Tensor:
        return 1 + trine.log(2 * self.scale)


class Weibull(TransformedDistribution):
    """Numbers x >= 0 of the distribution function 1 - exp(-(x / scale)^concentration).

    >>> from trine.distributions import Weibull
    >>> Weibull(2.0, 1.0).mean
    tensor(2.)
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive  # type: ignore[assignment]
    _parameter_dims = {"scale": 0, "concentration": 0}

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(trine.ones_like(self.scale), validate_args=validate_args)
        transforms = [PowerTransform(exponent=self.concentration_reciprocal), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    def _expand_others(self, new: Any, batch_shape: Size) -> None:
        super()._expand_others(new, batch_shape)
        new.concentration_reciprocal = new.concentration.reciprocal()

    @property
    def mean(self) -> Tensor:
        return self.scale * trine.exp(trine.lgamma(1 + self.concentration_reciprocal))

    @property
    def mode(self) -> Tensor:
        return self.scale * ((self.concentration - 1) / self.concentration) ** self.concentration.reciprocal()

    @property
    def variance(self) -> Tensor:
        r = self.concentration_reciprocal
        return self.scale.pow(2) * (trine.exp(trine.lgamma(1 + 2 * r)) - trine.exp(2 * trine.lgamma(1 + r)))

    def entropy(self) -> Tensor:
        r = self.concentration_reciprocal
        return euler_constant * (1 - r) + trine.log(self.scale * r) + 1


class Pareto(TransformedDistribution):
    """Numbers x >= scale of the distribution function 1 - (scale / x)^alpha.

    >>> from trine.distributions import Pareto
    >>> Pareto(1.0, 2.0).mean, Pareto(1.0, 0.5).mean
    (tensor(2.), tensor(inf))
    """

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}
    _parameter_dims = {"alpha": 0, "scale": 0}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(loc=0, scale=self.scale)], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        a = self.alpha.clamp(min=1)  # infinite up to 1
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        a = self.alpha.clamp(min=2)  # infinite up to 2
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        return constraints.greater_than_eq(self.scale)

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class GeneralizedPareto(Distribution):
    """What exceeds a high threshold: numbers x >= loc with P(X > x) = (1 + concentration (x - loc) / scale)^(-1 / concentration).

    With ``concentration`` 0 it is the exponential distribution; below 0 values end at loc - scale / concentration.

    >>> from trine.distributions import GeneralizedPareto
    >>> GeneralizedPareto(0.0, 1.0, 0.5).cdf(torch.tensor(2.0))
    tensor(0.7500)
    """

    arg_constraints = {  # type: ignore[assignment]
        "loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real,
    }  # fmt: skip
    has_rsample = True
    _parameter_dims = {"loc": 0, "scale": 0, "concentration": 0}

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def _by_concentration(self, general: Any, exponential: Tensor) -> Tensor:
        """``general(concentration)`` where it is not near 0, its limit there."""
        near = trine.isclose(self.concentration, trine.zeros_like(self.concentration))
        return trine.where(near, exponential, general(trine.where(near, 1.0, self.concentration)))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        end = self.loc - self.scale / trine.where(self.concentration < 0, self.concentration, -1.0)
        return constraints.interval(self.loc, trine.where(self.concentration < 0, end, trine.inf))

    @property
    def mean(self) -> Tensor:
        mean = self.loc + self.scale / (1 - self.concentration)
        return trine.where(self.concentration < 1, mean, trine.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        variance = (self.scale / (1 - self.concentration)).square() / (1 - 2 * self.concentration)
        return trine.where(self.concentration < 0.5, variance, trine.nan)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.icdf(trine.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z = (value - self.loc) / self.scale
        return self._by_concentration(lambda c: -(1 + 1 / c) * trine.log1p(c * z), -z) - self.scale.log()

    def log_survival_function(self, value: Tensor) -> Tensor:
        """log of the probability of values above ``value``."""
        if self._validate_args:
            self._validate_sample(value)
        z = (value - self.loc) / self.scale
        return self._by_concentration(lambda c: -trine.log1p(c * z) / c, -z)

    def log_cdf(self, value: Tensor) -> Tensor:
        """log of the probability of values up to ``value``."""
        return trine.log1p(-trine.exp(self.log_survival_function(value)))

    def cdf(self, value: Tensor) -> Tensor:
        return trine.exp(self.log_cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        survival = trine.log1p(-value)
        return self.loc + self.scale * self._by_concentration(lambda c: trine.expm1(-c * survival) / c, -survival)

    def entropy(self) -> Tensor:
        return trine.log(self.scale) + self.concentration + 1


class Gumbel(TransformedDistribution):
    """The largest of many numbers: the distribution function exp(-exp(-(x - loc) / scale)).

    >>> from trine.distributions import Gumbel
    >>> Gumbel(0.0, 1.0).mean
    tensor(0.5772)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real  # type: ignore[assignment]
    _parameter_dims = {"loc": 0, "scale": 0}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = trine.finfo(self.loc.dtype)
        low, high = trine.full_like(self.loc, limits.tiny), trine.full_like(self.loc, 1 - limits.eps)
        # -log(-log(u)), both logarithms as the inverse of exp
        transforms = [
            ExpTransform().inv,
            AffineTransform(loc=0, scale=-trine.ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(loc=self.loc, scale=-self.scale),
        ]
        super().__init__(Uniform(low, high, validate_args=validate_args), transforms, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)
