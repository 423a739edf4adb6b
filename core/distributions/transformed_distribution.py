"""Distributions of transformed samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trine
from trine import Size, Tensor

from . import constraints
from .distribution import Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of f(x) for x of ``base_distribution`` and the transforms f, one or a list, the first one first.

    log p(f(x)) = log p(x) - log |det df/dx|. Raises ``ValueError`` for anything but transforms, and where the base
    distribution has fewer dimensions than the first of them needs.

    >>> from trine.distributions import Normal, TransformedDistribution
    >>> from trine.distributions.transforms import ExpTransform
    >>> TransformedDistribution(Normal(0.0, 1.0), ExpTransform()).log_prob(torch.tensor(2.0))
    tensor(-1.8523)
    """

    arg_constraints: dict[str, constraints.Constraint] = {}
    _parameter_dims = {}

    def __init__(self, base_distribution: Distribution, transforms: Any, validate_args: bool | None = None) -> None:
        if isinstance(transforms, Transform):
            self.transforms = [transforms]
        elif isinstance(transforms, list) and all(isinstance(t, Transform) for t in transforms):
            self.transforms = transforms
        else:
            raise ValueError(f"TransformedDistribution: expected a Transform or a list of them, got {transforms}")
        transform = ComposeTransform(self.transforms)
        base_shape = base_distribution.batch_shape + base_distribution.event_shape
        base_dims = len(base_distribution.event_shape)
        if len(base_shape) < transform.domain.event_dim:
            raise ValueError(
                f"TransformedDistribution: a base distribution of shape {tuple(base_shape)} has fewer than the "
                f"{transform.domain.event_dim} dimensions that the transforms need"
            )
        shape = transform.forward_shape(base_shape)
        # What the transforms broadcast, and what they see as part of one value, the base has to have too.
        expanded = transform.inverse_shape(shape)
        if tuple(expanded) != tuple(base_shape):
            base_distribution = base_distribution.expand(Size(expanded[: len(expanded) - base_dims]))
        missing = transform.domain.event_dim - base_dims
        if missing > 0:
            base_distribution = Independent(base_distribution, missing)
        self.base_dist: Any = base_distribution
        event_dim = transform.codomain.event_dim + max(base_dims - transform.domain.event_dim, 0)
        cut = len(shape) - event_dim
        super().__init__(Size(shape[:cut]), Size(shape[cut:]), validate_args=validate_args)

    def _expand_others(self, new: Any, batch_shape: Size) -> None:
        new.transforms = self.transforms
        shape = ComposeTransform(self.transforms).inverse_shape(batch_shape + self.event_shape)
        new.base_dist = self.base_dist.expand(Size(shape[: len(shape) - len(self.base_dist.event_shape)]))

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:  # type: ignore[override]
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        missing = len(self.event_shape) - support.event_dim
        return constraints.independent(support, missing) if missing > 0 else support

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with trine.no_grad():
            x = self.base_dist.sample(sample_shape)
            for transform in self.transforms:
                x = transform(x)
            return x

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        x = self.base_dist.rsample(sample_shape)
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        event_dim = len(self.event_shape)
        result: Any = 0.0
        for transform in reversed(self.transforms):
            x = transform.inv(value)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            result = result - _sum_rightmost(transform.log_abs_det_jacobian(x, value), event_dim - transform.domain.event_dim)
            value = x
        return result + _sum_rightmost(self.base_dist.log_prob(value), event_dim - len(self.base_dist.event_shape))

    def _monotonize_cdf(self, value: Tensor) -> Tensor:
        """1 - value where the transforms turn the line round."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        value = self.base_dist.icdf(self._monotonize_cdf(value))
        for transform in self.transforms:
            value = transform(value)
        return value
