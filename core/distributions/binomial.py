"""Counts of events: binomial, negative binomial and Poisson distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trine
from trine import Size, Tensor

from . import constraints
from ._probabilities import WithProbabilities
from .distribution import ExponentialFamily
from .gamma import Gamma
from .utils import broadcast_all, lazy_property

__all__ = ["Binomial", "NegativeBinomial", "Poisson"]


def _positive_part(x: Tensor) -> Tensor:
    """max(x, 0), of which the gradient at 0 is 1/2, as that of (x + |x|) / 2 is not."""
    return (x.clamp(min=0) + x - x.clamp(max=0)) / 2


class Binomial(WithProbabilities):
    """The number of successes in ``total_count`` trials of probability ``probs`` (or ``sigmoid(logits)``).

    ``total_count`` broadcasts with the other. Raises ``ValueError`` unless exactly one of the two is given.

    >>> from trine.distributions import Binomial
    >>> Binomial(4, torch.tensor(0.5)).log_prob(torch.tensor(2.0)).exp()
    tensor(0.3750)
    """

    arg_constraints = {  # type: ignore[assignment]
        "total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval, "logits": constraints.real,
    }  # fmt: skip
    has_enumerate_support = True
    _parameter_dims = {"total_count": 0, "probs": 0, "logits": 0}

    def __init__(self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        (count,) = self._take_probabilities(probs, logits, total_count)
        self.total_count = count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with trine.no_grad():
            return trine.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n, logits = self.total_count, self.logits
        log_coefficient = trine.lgamma(n + 1) - trine.lgamma(value + 1) - trine.lgamma(n - value + 1)
        # n log(1 + exp(logits)) without overflow
        log_normalizer = n * _positive_part(logits) + n * trine.log1p(trine.exp(-logits.abs()))
        return log_coefficient + value * logits - log_normalizer

    def entropy(self) -> Tensor:
        """Summed over all values; raises ``NotImplementedError`` where counts differ."""
        if not bool((self.total_count == self.total_count.max()).all()):
            raise NotImplementedError("Binomial: the entropy needs one total_count for the whole batch")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Raises ``NotImplementedError`` where counts differ."""
        count = int(self.total_count.max())
        if not bool((self.total_count == count).all()):
            raise NotImplementedError("Binomial: enumerate_support needs one total_count for the whole batch")
        values = trine.arange(1 + count, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values


class NegativeBinomial(WithProbabilities):
    """The number of successes, of probability ``probs``, before ``total_count`` failures.

    ``total_count`` may be any non-negative number. Raises ``ValueError`` unless exactly one of ``probs`` and ``logits`` is given.

    >>> from trine.distributions import NegativeBinomial
    >>> NegativeBinomial(3.0, torch.tensor(0.5)).mean
    tensor(3.)
    """

    arg_constraints = {  # type: ignore[assignment]
        "total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0), "logits": constraints.real,
    }  # fmt: skip
    support = constraints.nonnegative_integer  # type: ignore[assignment]
    _parameter_dims = {"total_count": 0, "probs": 0, "logits": 0}

    def __init__(self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        (count,) = self._take_probabilities(probs, logits, total_count)
        self.total_count = count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * trine.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / trine.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Gamma:
        # The rates of a Poisson distribution, which mixed by these is ours.
        return Gamma(concentration=self.total_count, rate=trine.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with trine.no_grad():
            return trine.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        logsigmoid = trine.nn.functional.logsigmoid
        unnormalized = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        log_coefficient = trine.lgamma(n + value) - trine.lgamma(1.0 + value) - trine.lgamma(n)
        return unnormalized + log_coefficient.masked_fill(n + value == 0.0, 0.0)


class Poisson(ExponentialFamily):
    """The number of independent events of the expected number ``rate`` >= 0.

    >>> from trine.distributions import Poisson
    >>> Poisson(4.0).log_prob(torch.tensor(0.0))
    tensor(-4.)
    """

    arg_constraints = {"rate": constraints.nonnegative}  # type: ignore[assignment]
    support = constraints.nonnegative_integer  # type: ignore[assignment]
    _parameter_dims = {"rate": 0}

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with trine.no_grad():
            return trine.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (trine.log(self.rate),)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return trine.exp(x)
