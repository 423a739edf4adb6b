"""One-hot vectors relaxed to points of the simplex, through which gradients reach the probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import trine
from trine import Size, Tensor

from . import constraints
from .categorical import Categorical
from .distribution import Distribution
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform
from .utils import broadcast_all, clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(Distribution):
    """The logarithms of ``RelaxedOneHotCategorical``: log-softmax of (logits + Gumbel noise) / temperature."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}  # type: ignore[assignment]
    support = constraints.real_vector  # type: ignore[assignment] # its values satisfy more: their exponentials sum to 1
    has_rsample = True
    _parameter_dims = {}

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def _expand_others(self, new: Any, batch_shape: Size) -> None:
        new.temperature = self.temperature
        new._categorical = self._categorical.expand(batch_shape)

    @property
    def _param(self) -> Tensor:
        return self._categorical._param

    @property
    def param_shape(self) -> Size:
        """The shape of ``probs`` and ``logits``."""
        return self._categorical.param_shape

    @property
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Tensor:
        """Probabilities of the categories."""
        return self._categorical.probs

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(trine.rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        scores = (self.logits - (-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n = self._event_shape[0]
        logits, value = broadcast_all(self.logits, value)
        log_scale = trine.as_tensor(self.temperature, dtype=logits.dtype).log() * (n - 1) + math.lgamma(n)
        score = logits - value * self.temperature
        return (score - score.logsumexp(-1, keepdim=True)).sum(-1) + log_scale


class RelaxedOneHotCategorical(TransformedDistribution):
    """Points of the simplex that become the vectors of ``OneHotCategorical`` as ``temperature`` goes to zero.

    The Concrete or Gumbel-softmax distribution (Maddison, Mnih and Teh, 2017; Jang, Gu and Poole, 2017). Raises ``ValueError``
    unless exactly one of ``probs`` and ``logits`` is given.

    >>> from trine.distributions import RelaxedOneHotCategorical
    >>> d = RelaxedOneHotCategorical(torch.tensor(0.5), probs=torch.tensor([0.2, 0.8]))
    >>> bool(d.support.check(d.rsample()))
    True
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex  # type: ignore[assignment]
    has_rsample = True  # type: ignore[assignment]
    _parameter_dims = {}

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Any:
        """How far from one-hot vectors the points are."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """Probabilities of the categories."""
        return self.base_dist.probs
