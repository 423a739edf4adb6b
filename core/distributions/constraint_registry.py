"""From constraints to transforms of unconstrained numbers into them.

``biject_to(constraint)`` gives a bijection from the reals, for samplers that need Jacobians (Hamiltonian Monte Carlo);
``transform_to(constraint)`` a cheaper and smoother map that need not be one, for optimisation.

>>> from trine.distributions import constraints, transform_to
>>> transform_to(constraints.interval(2.0, 4.0))(torch.tensor([-9.0, 0.0, 9.0]))
tensor([2.0002, 3.0000, 3.9998])
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from . import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """A table from classes of constraints to functions that make a transform for a constraint of the class."""

    def __init__(self) -> None:
        self._registry: dict[type, Callable[[Any], transforms.Transform]] = {}
        super().__init__()

    def register(self, constraint: Any, factory: Callable[[Any], Any] | None = None) -> Any:
        """Registers ``factory`` for the class of a constraint; without it, a decorator for one.

        Raises ``TypeError`` for what is no constraint.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        if isinstance(constraint, constraints.Constraint):
            constraint = type(constraint)
        if not isinstance(constraint, type) or not issubclass(constraint, constraints.Constraint):
            raise TypeError(f"register: expected a Constraint or a class of them, got {constraint}")
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint: Any) -> transforms.Transform:
        """The transform into a constraint; raises ``NotImplementedError`` where none is registered."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"no transform into constraints of type {type(constraint).__name__} is registered")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _both(*kinds: Any) -> Callable[[Callable[..., Any]], Any]:
    """Registers f(constraint, registry) for classes of constraints in both tables."""

    def decorate(factory: Callable[..., Any]) -> Any:
        for kind in kinds:
            for registry in (biject_to, transform_to):
                registry.register(kind, partial(factory, registry=registry))
        return factory

    return decorate


@_both(constraints.real)
def _(constraint: Any, registry: ConstraintRegistry) -> Any:
    return transforms.identity_transform


@_both(constraints.independent)
def _(constraint: Any, registry: ConstraintRegistry) -> Any:
    return transforms.IndependentTransform(registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims)


@_both(constraints.greater_than, constraints.greater_than_eq)
def _(constraint: Any, registry: ConstraintRegistry) -> Any:
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(constraint.lower_bound, 1)])


@_both(constraints.less_than)
def _(constraint: Any, registry: ConstraintRegistry) -> Any:
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)])


@_both(constraints.interval, constraints.half_open_interval)
def _(constraint: Any, registry: ConstraintRegistry) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


@_both(constraints.corr_cholesky)
def _(constraint: Any, registry: ConstraintRegistry) -> Any:
    return transforms.CorrCholeskyTransform()


@_both(constraints.cat)
def _(constraint: Any, registry: ConstraintRegistry) -> Any:
    return transforms.CatTransform([registry(c) for c in constraint.cseq], constraint.dim, constraint.lengths)


@_both(constraints.stack)
def _(constraint: Any, registry: ConstraintRegistry) -> Any:
    return transforms.StackTransform([registry(c) for c in constraint.cseq], constraint.dim)


biject_to.register(constraints.simplex, lambda constraint: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda constraint: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda constraint: transforms.LowerCholeskyTransform())
transform_to.register(constraints.positive_definite, lambda constraint: transforms.PositiveDefiniteTransform())
transform_to.register(constraints.positive_semidefinite, lambda constraint: transforms.PositiveDefiniteTransform())
