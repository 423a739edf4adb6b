"""The uniform distribution, and the Kumaraswamy distribution made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trine
from trine import Size, Tensor

from . import constraints
from .distribution import Distribution
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .utils import broadcast_all, euler_constant

__all__ = ["Kumaraswamy", "Uniform"]


class Uniform(Distribution):
    """Numbers in [low, high). Raises ``ValueError`` unless ``low < high``.

    >>> from trine.distributions import Uniform
    >>> Uniform(0.0, 4.0).log_prob(torch.tensor(1.0)), Uniform(0.0, 4.0).cdf(torch.tensor(1.0))
    (tensor(-1.3863), tensor(0.2500))
    """

    has_rsample = True
    _parameter_dims = {"low": 0, "high": 0}

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.size(), validate_args=validate_args)
        if self._validate_args and not bool(trine.lt(self.low, self.high).all()):
            raise ValueError(f"Uniform: expected low < high, got low={self.low} and high={self.high}")

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return trine.nan * self.high

    @property
    def stddev(self) -> Tensor:
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        u = trine.rand(self._extended_shape(sample_shape), dtype=self.low.dtype, device=self.low.device)
        return self.low + u * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        inside = (self.low <= value) & (self.high > value)
        return inside.type_as(self.low).log() - (self.high - self.low).log()

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return (self.high - self.low).log()


def _moment(a: Tensor, b: Tensor, n: int) -> Tensor:
    """The n-th moment of Kumaraswamy(a, b): b B(1 + n / a, b)."""
    arg = 1 + n / a
    return (b.log() + trine.lgamma(arg) + trine.lgamma(b) - trine.lgamma(arg + b)).exp()


class Kumaraswamy(TransformedDistribution):
    """Numbers in [0, 1] of the distribution function 1 - (1 - x^concentration1)^concentration0.

    >>> from trine.distributions import Kumaraswamy
    >>> Kumaraswamy(1.0, 1.0).mean
    tensor(0.5000)
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval  # type: ignore[assignment]
    has_rsample = True  # type: ignore[assignment]
    _parameter_dims = {"concentration1": 0, "concentration0": 0}

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(trine.zeros_like(self.concentration0), trine.ones_like(self.concentration0), validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return _moment(self.concentration1, self.concentration0, 1)

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        # ((a - 1) / (a b - 1))^(1 / a)
        mode = (a.reciprocal() * ((a - 1).log() - (a * b - 1).log())).exp()
        return mode.masked_fill((a < 1) | (b < 1), trine.nan)

    @property
    def variance(self) -> Tensor:
        return _moment(self.concentration1, self.concentration0, 2) - self.mean.pow(2)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = trine.digamma(b + 1) + euler_constant
        return (1 - a.reciprocal()) * harmonic + (1 - b.reciprocal()) - a.log() - b.log()
