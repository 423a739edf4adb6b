"""Coins: the Bernoulli distribution, its continuous relative, and the geometric distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import trine
from trine import Size, Tensor

from . import constraints
from ._probabilities import WithProbabilities
from .distribution import ExponentialFamily
from .utils import broadcast_all, clamp_probs

__all__ = ["Bernoulli", "ContinuousBernoulli", "Geometric"]


class Bernoulli(WithProbabilities, ExponentialFamily):
    """1 with the probability ``probs`` (or ``sigmoid(logits)``), else 0.

    Raises ``ValueError`` unless exactly one of the two is given.

    >>> from trine.distributions import Bernoulli
    >>> Bernoulli(0.25).log_prob(torch.tensor([0.0, 1.0]))
    tensor([-0.2877, -1.3863])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}  # type: ignore[assignment]
    support = constraints.boolean  # type: ignore[assignment]
    has_enumerate_support = True
    _mean_carrier_measure = 0  # type: ignore[assignment]
    _parameter_dims = {"probs": 0, "logits": 0}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._take_probabilities(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        mode = (self.probs >= 0.5).to(self.probs)
        return mode.masked_fill(self.probs == 0.5, math.nan)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with trine.no_grad():
            return trine.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -trine.nn.functional.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return trine.nn.functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = trine.arange(2, dtype=self._param.dtype, device=self._param.device).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (trine.logit(self.probs),)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return trine.log1p(trine.exp(x))


class ContinuousBernoulli(WithProbabilities, ExponentialFamily):
    """Numbers x in [0, 1] of density proportional to probs^x (1 - probs)^(1 - x) (Loaiza-Ganem and Cunningham, 2019).

    Near ``probs`` = 1/2 closed forms are 0/0; within ``lims`` series take their place. Raises ``ValueError`` unless exactly one of
    ``probs`` and ``logits`` is given.

    >>> from trine.distributions import ContinuousBernoulli
    >>> ContinuousBernoulli(0.2).mean
    tensor(0.3880)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}  # type: ignore[assignment]
    support = constraints.unit_interval  # type: ignore[assignment]
    has_rsample = True
    _mean_carrier_measure = 0  # type: ignore[assignment]
    _parameter_dims = {"probs": 0, "logits": 0}

    def __init__(
        self, probs: Any = None, logits: Any = None, lims: tuple[float, float] = (0.499, 0.501), validate_args: bool | None = None
    ) -> None:
        self._take_probabilities(probs, logits)
        if probs is not None:
            if validate_args is not None and validate_args and not bool(self.arg_constraints["probs"].check(self.probs).all()):
                raise ValueError("ContinuousBernoulli: the parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(self._param.size(), validate_args=validate_args)

    def _expand_others(self, new: Any, batch_shape: Size) -> None:
        new._lims = self._lims

    def _by_region(self, closed: Any, series: Any) -> Tensor:
        """``closed(probs)`` away from 1/2, ``series(probs - 1/2)`` near it."""
        away = (self.probs <= self._lims[0]) | (self.probs > self._lims[1])
        # Neither branch may see what it cannot take: NaN would enter gradients.
        return trine.where(away, closed(trine.where(away, self.probs, self._lims[0])), series(self.probs - 0.5))

    def _log_constant(self) -> Tensor:
        """log of the normalising constant 2 atanh(1 - 2 p) / (1 - 2 p)."""

        def closed(p: Tensor) -> Tensor:
            return (trine.log1p(-p) - p.log()).abs().log() - (1 - 2 * p).abs().log()

        return self._by_region(closed, lambda x: math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x.pow(2)) * x.pow(2))

    @property
    def mean(self) -> Tensor:
        return self._by_region(
            lambda p: p / (2 * p - 1) + 1 / (trine.log1p(-p) - p.log()),
            lambda x: 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x,
        )

    @property
    def stddev(self) -> Tensor:
        return self.variance.sqrt()

    @property
    def variance(self) -> Tensor:
        return self._by_region(
            lambda p: p * (p - 1) / (1 - 2 * p).pow(2) + 1 / (trine.log1p(-p) - p.log()).pow(2),
            lambda x: 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x.pow(2)) * x.pow(2),
        )

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with trine.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.icdf(trine.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -trine.nn.functional.binary_cross_entropy_with_logits(logits, value, reduction="none") + self._log_constant()

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        inside = self._by_region(
            lambda p: (p.pow(value) * (1 - p).pow(1 - value) + p - 1) / (2 * p - 1),
            lambda x: value,
        )
        return trine.where(value <= 0, 0.0, trine.where(value >= 1, 1.0, inside))

    def icdf(self, value: Tensor) -> Tensor:
        return self._by_region(
            lambda p: (trine.log1p(-p + value * (2 * p - 1)) - trine.log1p(-p)) / (p.log() - trine.log1p(-p)),
            lambda x: value,
        )

    def entropy(self) -> Tensor:
        failure = trine.log1p(-self.probs)
        return self.mean * (failure - self.probs.log()) - self._log_constant() - failure

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        """log((exp(x) - 1) / x)."""
        away = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        safe = trine.where(away, x, self._lims[0] - 0.5)
        closed = safe.expm1().abs().log() - safe.abs().log()
        return trine.where(away, closed, 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0)


class Geometric(WithProbabilities):
    """The number of failures before the first success, of probability ``probs`` (or ``sigmoid(logits)``) in (0, 1].

    Raises ``ValueError`` unless exactly one of the two is given.

    >>> from trine.distributions import Geometric
    >>> Geometric(0.25).mean, Geometric(0.25).log_prob(torch.tensor(0.0))
    (tensor(3.), tensor(-1.3863))
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}  # type: ignore[assignment]
    support = constraints.nonnegative_integer  # type: ignore[assignment]
    _parameter_dims = {"probs": 0, "logits": 0}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._take_probabilities(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)
        if self._validate_args and probs is not None and not bool((self.probs > 0).all()):
            raise ValueError(f"Geometric: expected probs > 0, but found invalid values:\n{self.probs}")

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return trine.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with trine.no_grad():
            u = self.probs.new_empty(self._extended_shape(sample_shape)).uniform_(trine.finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.masked_fill((probs == 1) & (value == 0), 0)  # no failure at all: 0 * log(0)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return trine.nn.functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
