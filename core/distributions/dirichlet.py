"""The Dirichlet distribution and its case of two parts, the beta distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trine
from trine import Size, Tensor

from . import constraints
from .distribution import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Beta", "Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Points of the simplex of density proportional to the product of x_i^(concentration_i - 1).

    ``concentration`` (..., n) has positive elements. Raises ``ValueError`` where it has no dimension. Gradients of ``rsample``
    follow the quantiles of the parts, which are beta numbers (implicit reparameterisation).

    >>> from trine.distributions import Dirichlet
    >>> Dirichlet(torch.tensor([1.0, 1.0, 2.0])).mean
    tensor([0.2500, 0.2500, 0.5000])
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}  # type: ignore[assignment]
    support = constraints.simplex  # type: ignore[assignment]
    has_rsample = True
    _parameter_dims = {"concentration": 1}

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("Dirichlet: expected a concentration of at least one dimension")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        # Density without bound at corners: the corner of the largest concentration.
        unbounded = (self.concentration < 1).all(-1)
        corner = trine.nn.functional.one_hot(mode.argmax(-1), self.concentration.shape[-1]).to(mode)
        return trine.where(unbounded.unsqueeze(-1), corner, mode)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return trine._sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return (
            trine.xlogy(self.concentration - 1.0, value).sum(-1)
            + trine.lgamma(self.concentration.sum(-1))
            - trine.lgamma(self.concentration).sum(-1)
        )

    def entropy(self) -> Tensor:
        n, total = self.concentration.shape[-1], self.concentration.sum(-1)
        return (
            trine.lgamma(self.concentration).sum(-1)
            - trine.lgamma(total)
            - (n - total) * trine.digamma(total)
            - ((self.concentration - 1.0) * trine.digamma(self.concentration)).sum(-1)
        )

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return x.lgamma().sum(-1) - trine.lgamma(x.sum(-1))


class Beta(ExponentialFamily):
    """Numbers in (0, 1) of density proportional to x^(concentration1 - 1) (1 - x)^(concentration0 - 1).

    >>> from trine.distributions import Beta
    >>> Beta(1.0, 3.0).mean, Beta(2.0, 2.0).log_prob(torch.tensor(0.5)).exp()
    (tensor(0.2500), tensor(1.5000))
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}  # type: ignore[assignment]
    support = constraints.unit_interval  # type: ignore[assignment]
    has_rsample = True
    _parameter_dims = {}

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self._dirichlet = Dirichlet(trine.stack(broadcast_all(concentration1, concentration0), -1))
        super().__init__(self._dirichlet._batch_shape, validate_args=validate_args)

    def _expand_others(self, new: Any, batch_shape: Size) -> None:
        new._dirichlet = self._dirichlet.expand(batch_shape)

    @property
    def concentration1(self) -> Tensor:
        """One more than the exponent of x."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Tensor:
        """One more than the exponent of 1 - x."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        value = trine.as_tensor(value)
        return self._dirichlet.log_prob(trine.stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        return trine.lgamma(x) + trine.lgamma(y) - trine.lgamma(x + y)
