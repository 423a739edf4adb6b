"""One of several categories, as an index or as a one-hot vector, and counts of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trine
from trine import Size, Tensor

from . import constraints
from ._probabilities import WithProbabilities
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["Categorical", "Multinomial", "OneHotCategorical", "OneHotCategoricalStraightThrough"]


class Categorical(WithProbabilities):
    """Index i from 0 to K - 1 with the probability ``probs[..., i]`` (normalised), or by the softmax of ``logits``.

    Raises ``ValueError`` unless exactly one of the two is given, with at least one dimension.

    >>> from trine.distributions import Categorical
    >>> d = Categorical(torch.tensor([1.0, 1.0, 2.0]))
    >>> d.probs, d.log_prob(torch.tensor(2)), d.entropy()
    (tensor([0.2500, 0.2500, 0.5000]), tensor(-0.6931), tensor(1.0397))
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}  # type: ignore[assignment]
    has_enumerate_support = True
    _binary = False
    _parameter_dims = {"probs": 1, "logits": 1}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Categorical: either `probs` or `logits` must be specified, but not both")
        given = logits if probs is None else probs
        if given.dim() < 1:
            raise ValueError(f"Categorical: expected `{'probs' if logits is None else 'logits'}` of at least one dimension")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(-1, keepdim=True)
        self._num_events = given.size(-1)
        super().__init__(given.size()[:-1], validate_args=validate_args)

    def _expand_others(self, new: Any, batch_shape: Size) -> None:
        new._num_events = self._num_events

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        return self._param.new_full(self._extended_shape(), trine.nan)

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        return self._param.new_full(self._extended_shape(), trine.nan)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        sample_shape = Size(sample_shape)
        rows = self.probs.reshape(-1, self._num_events).detach()
        return trine.multinomial(rows, sample_shape.numel(), True).T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        value, log_probs = trine.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return log_probs.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        # A logit of -inf times a probability of 0 is to count as 0.
        logits = self.logits.clamp(min=trine.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = trine.arange(self._num_events, dtype=trine.long, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values


class OneHotCategorical(Distribution):
    """The unit vector of an index with the probabilities of ``Categorical``.

    >>> from trine.distributions import OneHotCategorical
    >>> OneHotCategorical(torch.tensor([0.0, 1.0, 0.0])).sample()
    tensor([0., 1., 0.])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}  # type: ignore[assignment]
    support = constraints.one_hot  # type: ignore[assignment]
    has_enumerate_support = True
    _parameter_dims = {}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def _expand_others(self, new: Any, batch_shape: Size) -> None:
        new._categorical = self._categorical.expand(batch_shape)

    @property
    def _param(self) -> Tensor:
        return self._categorical._param

    @property
    def probs(self) -> Tensor:
        """Probabilities of the categories."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """Their logarithms."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """The shape of ``probs``."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return trine.nn.functional.one_hot(self.probs.argmax(-1), self._event_shape[0]).to(self.probs)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return trine.nn.functional.one_hot(self._categorical.sample(sample_shape), self._event_shape[0]).to(self.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self._event_shape[0]
        values = trine.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((n,) + (1,) * len(self._batch_shape) + (n,))
        return values.expand((n, *self._batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """``OneHotCategorical`` whose ``rsample`` passes gradients on to the probabilities as they are (Bengio et al., 2013).

    >>> from trine.distributions import OneHotCategoricalStraightThrough
    >>> p = torch.tensor([0.5, 0.5], requires_grad=True)
    >>> OneHotCategoricalStraightThrough(p, validate_args=False).rsample().sum().backward()
    >>> p.grad
    tensor([0., 0.])
    """

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Multinomial(Distribution):
    """How often each category comes up in ``total_count`` independent draws of ``Categorical(probs, logits)``.

    ``total_count`` is one int; ``log_prob`` also takes counts of another sum. Raises ``NotImplementedError`` for tensors of counts.

    >>> from trine.distributions import Multinomial
    >>> Multinomial(4, torch.tensor([1.0, 1.0])).log_prob(torch.tensor([2.0, 2.0])).exp()
    tensor(0.3750)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}  # type: ignore[assignment]
    total_count: int
    _parameter_dims = {}

    def __init__(self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError(f"Multinomial: expected an int as total_count, got {type(total_count).__name__}")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def _expand_others(self, new: Any, batch_shape: Size) -> None:
        new._categorical = self._categorical.expand(batch_shape)
        new.total_count = self.total_count

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:  # type: ignore[override]
        return constraints.multinomial(self.total_count)

    @property
    def _binomial(self) -> Any:
        from .binomial import Binomial

        return Binomial(total_count=self.total_count, probs=self.probs)

    @property
    def probs(self) -> Tensor:
        """Probabilities of the categories."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """Their logarithms."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """The shape of ``probs``."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        sample_shape = Size(sample_shape)
        drawn = self._categorical.sample(Size((self.total_count,)) + sample_shape).movedim(0, -1)
        counts = self.probs.new_zeros(self._extended_shape(sample_shape)).detach()
        return counts.scatter_add(-1, drawn, trine.ones(drawn.shape, dtype=counts.dtype, device=counts.device))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -trine.inf), 0)  # what never happens did not
        return trine.lgamma(value.sum(-1) + 1) - trine.lgamma(value + 1).sum(-1) + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        """log n! and the categories' entropies, less the expected logarithms of the counts' factorials."""
        n = self.probs.new_tensor(float(self.total_count))
        counts = self._binomial.enumerate_support(expand=False)[1:]
        chances = self._binomial.log_prob(counts).exp()
        return n * self._categorical.entropy() - trine.lgamma(n + 1) + (chances * trine.lgamma(counts + 1)).sum((0, -1))
