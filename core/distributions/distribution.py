"""The base of all distributions: shapes, checks, and what follows from a log-density."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import trine
from trine import Size, Tensor

from . import constraints
from .utils import _sum_rightmost, lazy_property

__all__ = ["Distribution", "ExponentialFamily"]


def _holds(found: Any) -> bool:
    """Whether a check passed for all values; checks of user-defined constraints may be plain bools."""
    return bool(found.all()) if isinstance(found, Tensor) else bool(found)


class Distribution:
    """A batch of probability distributions.

    A sample has the shape ``sample_shape + batch_shape + event_shape``: so many draws of each of a batch of distributions
    over values of one event shape. ``log_prob(value)`` has the shape without ``event_shape``.

    ``validate_args`` says whether parameters and values are checked (by default what ``set_default_validate_args`` was told,
    else ``True`` unless Python runs with ``-O``). Raises ``ValueError`` for parameters outside of ``arg_constraints``.

    >>> from trine.distributions import Normal
    >>> Normal(torch.zeros(3), 1.0).log_prob(torch.tensor([0.0, 1.0, 2.0]))
    tensor([-0.9189, -1.4189, -2.9189])
    """

    has_rsample = False
    """Whether ``rsample`` gives samples through which gradients reach the parameters."""
    has_enumerate_support = False
    """Whether ``enumerate_support`` can list all values."""
    _validate_args = __debug__

    # The parameters that `expand` expands, each with the number of its last dimensions that belong to an event. A class states
    # it beside its `__init__`, empty where `_expand_others` does it all, or defines `expand`.
    _parameter_dims: ClassVar[dict[str, int]]

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Sets whether distributions check their arguments when they are not told. Raises ``ValueError`` unless it is a bool."""
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args: expected True or False, got {value!r}")
        Distribution._validate_args = value

    def __init__(self, batch_shape: Sequence[int] = Size(), event_shape: Sequence[int] = Size(), validate_args: bool | None = None) -> None:
        self._batch_shape = batch_shape if isinstance(batch_shape, Size) else Size(batch_shape)
        self._event_shape = event_shape if isinstance(event_shape, Size) else Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _check_parameters(self) -> None:
        try:
            wanted = self.arg_constraints
        except NotImplementedError:
            warnings.warn(f"{type(self)} does not define `arg_constraints`: set validate_args=False to turn the checks off")
            return
        for name, constraint in wanted.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name, None), lazy_property):
                continue  # it would be computed from the parameter that was given
            value = getattr(self, name)
            if not _holds(constraint.check(value)):
                raise ValueError(
                    f"{type(self).__name__}: expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) to satisfy "
                    f"the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """The same distribution with its batch dimensions expanded to ``batch_shape``, without copies of the parameters.

        A subclass with an ``__init__`` of its own has to define it; it may pass an object of its own as ``_instance``.
        """
        owner = next((c for c in type(self).__mro__ if "_parameter_dims" in c.__dict__), None)
        if owner is None:
            raise NotImplementedError(f"{type(self).__name__} does not define expand")
        new = self._get_checked_instance(owner, _instance)
        batch_shape = Size(batch_shape)
        for name, dims in self._parameter_dims.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                setattr(new, name, value.expand(batch_shape + value.shape[value.dim() - dims :]))
        self._expand_others(new, batch_shape)
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _expand_others(self, new: Any, batch_shape: Size) -> None:
        """Gives an expanded object what it has beside its expanded parameters."""

    @property
    def batch_shape(self) -> Size:
        """The shape over which parameters are batched."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one value."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """What each parameter has to satisfy."""
        raise NotImplementedError(f"{type(self).__name__} does not define arg_constraints")

    @property
    def support(self) -> Any:
        """The set of the values that can be drawn."""
        raise NotImplementedError(f"{type(self).__name__} does not define support")

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError(f"{type(self).__name__} does not define mean")

    @property
    def mode(self) -> Tensor:
        """The value of the greatest density or probability."""
        raise NotImplementedError(f"{type(self).__name__} does not define mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError(f"{type(self).__name__} does not define variance")

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """Samples of the shape ``sample_shape + batch_shape + event_shape``, without gradients."""
        with trine.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """Samples through which gradients reach the parameters."""
        raise NotImplementedError(f"{type(self).__name__} does not define rsample")

    def sample_n(self, n: int) -> Tensor:
        """``n`` samples. Deprecated: ``sample((n,))`` is the same."""
        warnings.warn("sample_n(n) is deprecated: use sample((n,))", UserWarning)
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density or probability of a value."""
        raise NotImplementedError(f"{type(self).__name__} does not define log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of values up to ``value``."""
        raise NotImplementedError(f"{type(self).__name__} does not define cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """The inverse of ``cdf``."""
        raise NotImplementedError(f"{type(self).__name__} does not define icdf")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values along a new first dimension, of the shape ``(count,) + batch_shape + event_shape``.

        With ``expand=False`` the batch dimensions have size 1 each.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define enumerate_support")

    def entropy(self) -> Tensor:
        """The entropy in nats, of the shape ``batch_shape``."""
        raise NotImplementedError(f"{type(self).__name__} does not define entropy")

    def perplexity(self) -> Tensor:
        """The exponential of the entropy."""
        return trine.exp(self.entropy())

    def _extended_shape(self, sample_shape: Sequence[int] = Size()) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Tensor) -> None:
        """Raises ``ValueError`` when ``value`` has not the shape of a sample or lies outside of the support."""
        name = type(self).__name__
        if not isinstance(value, Tensor):
            raise ValueError(f"{name}: expected a tensor as value, got {type(value).__name__}")
        start = value.dim() - len(self._event_shape)
        if value.shape[max(start, 0) :] != self._event_shape:
            raise ValueError(
                f"{name}: the last sizes of a value of shape {tuple(value.shape)} are not event_shape {tuple(self._event_shape)}"
            )
        for ours, theirs in zip(reversed(self._extended_shape()), reversed(value.shape), strict=False):
            if ours != theirs and ours != 1 and theirs != 1:
                expected = tuple(self._extended_shape())
                raise ValueError(
                    f"{name}: a value of shape {tuple(value.shape)} does not broadcast with batch_shape + event_shape {expected}"
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(f"{type(self)} does not define `support`: set validate_args=False to turn the checks off")
            return
        if not _holds(support.check(value)):
            raise ValueError(
                f"{name}: expected a value (Tensor of shape {tuple(value.shape)}) within the support {support!r}, "
                f"but found invalid values:\n{value}"
            )

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(f"{type(self).__name__} has an __init__ of its own, so it has to define expand too")
        return self.__new__(type(self)) if _instance is None else _instance

    def __repr__(self) -> str:
        given = {name: self.__dict__[name] for name in self.arg_constraints if name in self.__dict__}
        return f"{type(self).__name__}({', '.join(f'{n}: {v if v.numel() == 1 else v.size()}' for n, v in given.items())})"


class ExponentialFamily(Distribution):
    """Distributions with densities exp(<natural parameters, statistics(x)> - log_normalizer(parameters) + carrier(x)).

    Subclasses define ``_natural_params``, ``_log_normalizer`` and ``_mean_carrier_measure`` and get entropy and
    Kullback-Leibler divergence as Bregman divergences of the log-normalizer (Nielsen and Nock, Entropies and cross-entropies
    of exponential families, 2010).
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError(f"{type(self).__name__} does not define _natural_params")

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} does not define _log_normalizer")

    @property
    def _mean_carrier_measure(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not define _mean_carrier_measure")

    def entropy(self) -> Tensor:
        """The entropy from the gradient of the log-normalizer."""
        natural = [p.detach().requires_grad_() for p in self._natural_params]
        with trine.enable_grad():
            normalizer = self._log_normalizer(*natural)
            gradients = trine.autograd.grad(normalizer.sum(), natural, create_graph=True)
        result = -self._mean_carrier_measure + normalizer
        for parameter, gradient in zip(natural, gradients, strict=True):
            term = parameter * gradient
            result = result - _sum_rightmost(term, term.dim() - len(self._batch_shape))
        return result
