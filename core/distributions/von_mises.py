"""The normal distribution's relative on the circle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import trine
from trine import Size, Tensor, _ops

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all, lazy_property

__all__ = ["VonMises"]


class VonMises(Distribution):
    """Angles (radians) of density proportional to exp(concentration * cos(x - loc)), ``concentration`` > 0.

    Samples lie in [-pi, pi) and come by rejection from a wrapped Cauchy distribution (Best and Fisher, 1979), in float64.

    >>> from trine.distributions import VonMises
    >>> VonMises(0.0, 1.0).log_prob(torch.tensor(0.0))
    tensor(-1.0738)
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}  # type: ignore[assignment]
    support = constraints.real  # type: ignore[assignment]
    has_rsample = False
    _parameter_dims = {"loc": 0, "concentration": 0}

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, Size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The circular mean."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:  # type: ignore[override]
        """The circular variance 1 - I1(concentration) / I0(concentration)."""
        return 1 - _ops.special_i1e(self.concentration) / _ops.special_i0e(self.concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        log_bessel = _ops.special_i0e(self.concentration).log() + self.concentration
        return self.concentration * trine.cos(value - self.loc) - math.log(2 * math.pi) - log_bessel

    @lazy_property
    def _proposal_r(self) -> Tensor:
        """The parameter of the wrapped Cauchy distribution, in float64."""
        kappa = self.concentration.double()
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        # Where kappa is small the difference cancels: the first terms of the series of r.
        return trine.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with trine.no_grad():
            shape = self._extended_shape(sample_shape)
            loc, kappa, r = self.loc.double(), self.concentration.double(), self._proposal_r
            x = trine.empty(shape, dtype=trine.float64, device=self.loc.device)
            done = trine.zeros(shape, dtype=trine.bool, device=self.loc.device)
            while not bool(done.all()):
                u1, u2, u3 = trine.rand((3, *shape), dtype=trine.float64, device=self.loc.device).unbind()
                z = trine.cos(math.pi * u1)
                f = (1 + r * z) / (r + z)
                c = kappa * (r - f)
                accept = (c * (2 - c) - u2 > 0) | ((c / u2).log() + 1 - c >= 0)
                x = trine.where(accept, (u3 - 0.5).sign() * f.acos(), x)
                done = done | accept
            return ((x + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)
