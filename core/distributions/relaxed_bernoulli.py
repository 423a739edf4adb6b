"""Coins relaxed to numbers between 0 and 1, through which gradients reach the probability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trine
from trine import Size, Tensor

from . import constraints
from ._probabilities import WithProbabilities
from .transformed_distribution import TransformedDistribution
from .transforms import SigmoidTransform
from .utils import broadcast_all, clamp_probs

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(WithProbabilities):
    """The logits of ``RelaxedBernoulli``: (logits + logistic noise) / temperature (Maddison, Mnih and Teh, 2017)."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}  # type: ignore[assignment]
    support = constraints.real  # type: ignore[assignment]
    _parameter_dims = {"probs": 0, "logits": 0}

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self.temperature = temperature
        self._take_probabilities(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    def _expand_others(self, new: Any, batch_shape: Size) -> None:
        new.temperature = self.temperature

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(trine.rand(shape, dtype=probs.dtype, device=probs.device))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        difference = logits - value * self.temperature
        return trine.as_tensor(self.temperature).log() + difference - 2 * difference.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """Numbers in (0, 1) that become the coins of ``Bernoulli`` as ``temperature`` goes to zero.

    The binary case of the Concrete distribution (Maddison, Mnih and Teh, 2017; Jang, Gu and Poole, 2017). Raises ``ValueError``
    unless exactly one of ``probs`` and ``logits`` is given.

    >>> from trine.distributions import RelaxedBernoulli
    >>> p = torch.tensor(0.3, requires_grad=True)
    >>> RelaxedBernoulli(torch.tensor(0.5), probs=p).rsample().backward()
    >>> bool(p.grad > 0)
    True
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval  # type: ignore[assignment]
    has_rsample = True  # type: ignore[assignment]
    _parameter_dims = {}

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Any:
        """How far from coins the numbers are."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """Log-odds of the coins."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """Probabilities of the coins."""
        return self.base_dist.probs
