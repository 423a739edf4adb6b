"""Mixtures whose components are a batch of one family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trine
from trine import Size, Tensor

from . import constraints
from .categorical import Categorical
from .constraints import MixtureSameFamilyConstraint
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A component chosen by ``mixture_distribution``, a ``Categorical``, then a value of that component.

    The last batch dimension of ``component_distribution`` numbers the components. Raises ``ValueError`` where the two do not fit.

    >>> from trine.distributions import Categorical, MixtureSameFamily, Normal
    >>> d = MixtureSameFamily(Categorical(torch.ones(2)), Normal(torch.tensor([-1.0, 1.0]), torch.ones(2)))
    >>> d.mean, d.variance
    (tensor(0.), tensor(2.))
    """

    arg_constraints: dict[str, constraints.Constraint] = {}  # type: ignore[assignment]
    has_rsample = False
    _parameter_dims = {}

    def __init__(self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None) -> None:
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError("MixtureSameFamily: expected a Categorical as mixture_distribution")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("MixtureSameFamily: expected a Distribution as component_distribution")
        mixture_batch, component_batch = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for ours, theirs in zip(reversed(mixture_batch), reversed(component_batch), strict=False):
            if ours != 1 and theirs != 1 and ours != theirs:
                raise ValueError(
                    f"MixtureSameFamily: mixture_distribution.batch_shape {tuple(mixture_batch)} does not fit "
                    f"component_distribution.batch_shape[:-1] {tuple(component_batch)}"
                )
        self._num_component = component_distribution.batch_shape[-1]
        categories = mixture_distribution.logits.shape[-1]
        if categories != self._num_component:
            raise ValueError(f"MixtureSameFamily: {categories} categories for {self._num_component} components")
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(component_batch, component_distribution.event_shape, validate_args=validate_args)

    def _expand_others(self, new: Any, batch_shape: Size) -> None:
        new._component_distribution = self._component_distribution.expand((*batch_shape, self._num_component))
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component = self._num_component
        new._event_ndims = self._event_ndims

    @constraints.dependent_property
    def support(self) -> Any:  # type: ignore[override]
        return MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """Which component a value is of."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The components."""
        return self._component_distribution

    @property
    def _weights(self) -> Tensor:
        """Probabilities of the components, with the dimensions of an event behind them."""
        probs = self.mixture_distribution.probs
        return probs.reshape(probs.shape + (1,) * self._event_ndims)

    def _pad(self, x: Tensor) -> Tensor:
        return x.unsqueeze(-1 - self._event_ndims)

    @property
    def mean(self) -> Tensor:
        return (self._weights * self.component_distribution.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self) -> Tensor:
        """By the law of total variance."""
        weights, dim = self._weights, -1 - self._event_ndims
        within = (weights * self.component_distribution.variance).sum(dim)
        between = (weights * (self.component_distribution.mean - self._pad(self.mean)).pow(2)).sum(dim)
        return within + between

    def cdf(self, x: Tensor) -> Tensor:
        return (self.component_distribution.cdf(self._pad(x)) * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(x)
        log_weights = trine.log_softmax(self.mixture_distribution.logits, -1)
        return trine.logsumexp(self.component_distribution.log_prob(self._pad(x)) + log_weights, -1)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with trine.no_grad():
            chosen = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            dim = len(Size(sample_shape)) + len(self.batch_shape)
            index = chosen.reshape(chosen.shape + (1,) * (self._event_ndims + 1))
            index = index.expand((*drawn.shape[:dim], 1, *self._event_shape))
            return drawn.gather(dim, index).squeeze(dim)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
