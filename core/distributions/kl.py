"""Kullback-Leibler divergences, in a table of pairs of distributions that users can add to.

Many pairs of different families follow from few expectations: KL(p || q) is -entropy(p) - E_p[log q], and log q of the families below
needs no more than the mean, the variance, E[log x] or E[exp(t x)] of p.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import trine
from trine import Tensor, _ops

from .bernoulli import Bernoulli, ContinuousBernoulli, Geometric
from .binomial import Binomial, Poisson
from .categorical import Categorical, OneHotCategorical
from .cauchy import Cauchy
from .dirichlet import Beta, Dirichlet
from .distribution import Distribution, ExponentialFamily
from .exponential import Exponential, Gumbel, Laplace, Pareto
from .gamma import Gamma
from .independent import Independent
from .multivariate_normal import LowRankMultivariateNormal, MultivariateNormal, _batch_mahalanobis, _batch_mv, _half_log_det
from .normal import HalfNormal, Normal
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import _sum_rightmost, euler_constant

__all__ = ["kl_divergence", "register_kl"]

_Rule = Callable[[Any, Any], Tensor]
_KL_REGISTRY: dict[tuple[type, type], _Rule] = {}
_KL_MEMOIZE: dict[tuple[type, type], _Rule | None] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[_Rule], _Rule]:
    """A decorator that registers f(p, q) as the divergence of two classes of distributions and their subclasses.

    Raises ``TypeError`` for what is no class of distributions.

    >>> from trine.distributions import Normal, kl_divergence, register_kl
    >>> class Mine(Normal):
    ...     pass
    >>> @register_kl(Mine, Mine)
    ... def kl_mine(p, q):
    ...     return torch.tensor(42.0)
    >>> kl_divergence(Mine(0.0, 1.0), Mine(0.0, 1.0))
    tensor(42.)
    """
    for given in (type_p, type_q):
        if not (isinstance(given, type) and issubclass(given, Distribution)):
            raise TypeError(f"register_kl: expected a class of distributions, got {given}")

    def decorate(rule: _Rule) -> _Rule:
        _KL_REGISTRY[type_p, type_q] = rule
        _KL_MEMOIZE.clear()  # classes looked up before may have a nearer rule now
        return rule

    return decorate


def _dispatch_kl(type_p: type, type_q: type) -> _Rule | None:
    """The rule of the nearest base classes."""
    near_p, near_q = type_p.__mro__.index, type_q.__mro__.index
    matches = [pair for pair in _KL_REGISTRY if issubclass(type_p, pair[0]) and issubclass(type_q, pair[1])]
    if not matches:
        return None
    left = min(matches, key=lambda pair: (near_p(pair[0]), near_q(pair[1])))
    right = min(matches, key=lambda pair: (near_q(pair[1]), near_p(pair[0])))
    if _KL_REGISTRY[left] is not _KL_REGISTRY[right]:
        warnings.warn(
            f"kl_divergence({type_p.__name__}, {type_q.__name__}) is ambiguous: register_kl({left[0].__name__}, {right[1].__name__}) "
            "would settle it",
            RuntimeWarning,
        )
    return _KL_REGISTRY[left]


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """KL(p || q), the integral of p log(p / q), of the shape of the two batch shapes broadcast.

    Raises ``NotImplementedError`` for pairs that no rule is registered for.

    >>> from trine.distributions import Normal, kl_divergence
    >>> kl_divergence(Normal(1.0, 1.0), Normal(0.0, 1.0))
    tensor(0.5000)
    """
    pair = type(p), type(q)
    if pair not in _KL_MEMOIZE:
        _KL_MEMOIZE[pair] = _dispatch_kl(*pair)
    rule = _KL_MEMOIZE[pair]
    if rule is None:
        raise NotImplementedError(f"no rule for KL({type(p).__name__} || {type(q).__name__}) is registered")
    return rule(p, q)


# Two of one family.


@register_kl(Bernoulli, Bernoulli)
def _(p: Bernoulli, q: Bernoulli) -> Tensor:
    success = p.probs * (trine.nn.functional.softplus(-q.logits) - trine.nn.functional.softplus(-p.logits))
    success = success.masked_fill(q.probs == 0, trine.inf).masked_fill(p.probs == 0, 0)
    failure = (1 - p.probs) * (trine.nn.functional.softplus(q.logits) - trine.nn.functional.softplus(p.logits))
    return success + failure.masked_fill(q.probs == 1, trine.inf).masked_fill(p.probs == 1, 0)


@register_kl(Beta, Beta)
def _(p: Beta, q: Beta) -> Tensor:
    return _kl_dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Binomial, Binomial)
def _(p: Binomial, q: Binomial) -> Tensor:
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError("KL(Binomial || Binomial) where q.total_count > p.total_count has no closed form")
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return kl.masked_fill(p.total_count > q.total_count, trine.inf)


@register_kl(Categorical, Categorical)
def _(p: Categorical, q: Categorical) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    return terms.masked_fill(q.probs == 0, trine.inf).masked_fill(p.probs == 0, 0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return kl_divergence(p._categorical, q._categorical)


@register_kl(Cauchy, Cauchy)
def _(p: Cauchy, q: Cauchy) -> Tensor:
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    return -p.entropy() - _mean_log_continuous_bernoulli(p.mean, q)


@register_kl(Dirichlet, Dirichlet)
def _kl_dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    total_p, total_q = p.concentration.sum(-1), q.concentration.sum(-1)
    constants = total_p.lgamma() - total_q.lgamma() + (q.concentration.lgamma() - p.concentration.lgamma()).sum(-1)
    mean_log = p.concentration.digamma() - total_p.digamma().unsqueeze(-1)
    return constants + ((p.concentration - q.concentration) * mean_log).sum(-1)


@register_kl(Exponential, Exponential)
def _(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """The Bregman divergence of the log-normalizer (Nielsen and Nock, 2010)."""
    if type(p) is not type(q):
        raise NotImplementedError(f"KL({type(p).__name__} || {type(q).__name__}): two different exponential families have no common rule")
    with trine.enable_grad():
        natural = [x if x.requires_grad else x.detach().requires_grad_() for x in p._natural_params]
        normalizer = p._log_normalizer(*natural)
        gradients = trine.autograd.grad(normalizer.sum(), natural, create_graph=True)
    result = q._log_normalizer(*q._natural_params) - normalizer
    for ours, theirs, gradient in zip(natural, q._natural_params, gradients, strict=True):
        term = (theirs - ours) * gradient
        result = result - _sum_rightmost(term, term.dim() - result.dim())
    return result


@register_kl(Gamma, Gamma)
def _(p: Gamma, q: Gamma) -> Tensor:
    return (
        q.concentration * (p.rate / q.rate).log()
        + trine.lgamma(q.concentration)
        - trine.lgamma(p.concentration)
        + (p.concentration - q.concentration) * trine.digamma(p.concentration)
        + (q.rate - p.rate) * (p.concentration / p.rate)
    )


@register_kl(Geometric, Geometric)
def _(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - trine.log1p(-q.probs) / p.probs - q.logits


@register_kl(Gumbel, Gumbel)
def _(p: Gumbel, q: Gumbel) -> Tensor:
    ratio, shift = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return -ratio.log() + shift + ratio * euler_constant + (trine.lgamma(1 + ratio) - shift).exp() - (1 + euler_constant)


@register_kl(HalfNormal, HalfNormal)
def _(p: HalfNormal, q: HalfNormal) -> Tensor:
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _(p: Laplace, q: Laplace) -> Tensor:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * trine.exp(-distance / p.scale) - 1


@register_kl(Normal, Normal)
def _(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Pareto, Pareto)
def _(p: Pareto, q: Pareto) -> Tensor:
    ratio = q.alpha / p.alpha
    kl = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return kl.masked_fill(p.scale < q.scale, trine.inf)


@register_kl(Poisson, Poisson)
def _(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _(p: Uniform, q: Uniform) -> Tensor:
    kl = ((q.high - q.low) / (p.high - p.low)).log()
    return kl.masked_fill((q.low > p.low) | (q.high < p.high), trine.inf)


@register_kl(Independent, Independent)
def _(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL(Independent || Independent): the two differ in reinterpreted_batch_ndims")
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("KL(TransformedDistribution || TransformedDistribution): the two differ in transforms or event_shape")
    return kl_divergence(p.base_dist, q.base_dist)


# Normal vectors: (log det q - log det p + trace(q^-1 p) + |mean difference|^2 in the metric of q - n) / 2.


def _trace_of_solved(factor: Tensor, other: Tensor) -> Tensor:
    """trace((L L^T)^-1 M M^T) for lower triangular L = ``factor`` (..., n, n) and M = ``other`` (..., n, m)."""
    batch = trine.broadcast_shapes(factor.shape[:-2], other.shape[:-2])
    factor, other = factor.expand((*batch, *factor.shape[-2:])), other.expand((*batch, *other.shape[-2:]))
    return _ops.linalg_solve_triangular(factor, other, upper=False).pow(2).sum((-2, -1))


def _check_sizes(p: Any, q: Any) -> None:
    if p.event_shape != q.event_shape:
        raise ValueError(f"KL of normal vectors: they have different event_shape, {tuple(p.event_shape)} and {tuple(q.event_shape)}")


@register_kl(MultivariateNormal, MultivariateNormal)
def _(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    _check_sizes(p, q)
    ours, theirs = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    square = _batch_mahalanobis(theirs, q.loc - p.loc)
    return _half_log_det(theirs) - _half_log_det(ours) + 0.5 * (_trace_of_solved(theirs, ours) + square - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _(p: LowRankMultivariateNormal, q: MultivariateNormal) -> Tensor:
    _check_sizes(p, q)
    theirs = q._unbroadcasted_scale_tril
    trace = _trace_of_solved(theirs, p._unbroadcasted_cov_factor)
    trace = trace + _trace_of_solved(theirs, trine.diag_embed(p._unbroadcasted_cov_diag.sqrt()))
    square = _batch_mahalanobis(theirs, q.loc - p.loc)
    return 0.5 * (2 * _half_log_det(theirs) - p._log_det() + trace + square - p.event_shape[0])


def _kl_to_low_rank(p: Any, q: LowRankMultivariateNormal, log_det: Tensor, roots: list[Tensor]) -> Tensor:
    """``roots`` are matrices whose products with their own transposes sum up to the covariance of p."""
    _check_sizes(p, q)
    # q^-1 = D^-1 - A^T A with A = L^-1 W^T D^-1, L the factor of q's capacitance matrix
    diagonal, scaled = q._unbroadcasted_cov_diag, q._scaled_factor
    difference = q.loc - p.loc
    square = (difference.pow(2) / diagonal).sum(-1) - _batch_mahalanobis(q._capacitance_tril, _batch_mv(scaled, difference))
    trace: Any = 0
    for root in roots:
        trace = trace + (root.pow(2) / diagonal.unsqueeze(-1)).sum((-2, -1)) - _trace_of_solved(q._capacitance_tril, scaled @ root)
    return 0.5 * (q._log_det() - log_det + trace + square - p.event_shape[0])


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _(p: MultivariateNormal, q: LowRankMultivariateNormal) -> Tensor:
    factor = p._unbroadcasted_scale_tril
    return _kl_to_low_rank(p, q, 2 * _half_log_det(factor), [factor])


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _(p: LowRankMultivariateNormal, q: LowRankMultivariateNormal) -> Tensor:
    roots = [p._unbroadcasted_cov_factor, trine.diag_embed(p._unbroadcasted_cov_diag.sqrt())]
    return _kl_to_low_rank(p, q, p._log_det(), roots)


# Two of different families.


def _x_log_x(x: Tensor) -> Tensor:
    return trine.xlogy(x, x)


def _mean_log(p: Any) -> Tensor:
    """E[log x]."""
    if isinstance(p, Beta):
        return trine.digamma(p.concentration1) - trine.digamma(p.concentration1 + p.concentration0)
    if isinstance(p, Exponential):
        return -euler_constant - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + p.alpha.reciprocal()
    return (_x_log_x(p.high) - _x_log_x(p.low)) / (p.high - p.low) - 1  # uniform


def _mean_exp(p: Any, t: Tensor) -> Tensor:
    """E[exp(-t x)], t > 0."""
    if isinstance(p, Exponential):
        return p.rate / (p.rate + t)
    if isinstance(p, Gamma):
        return (1 + t / p.rate).pow(-p.concentration)
    if isinstance(p, Normal):
        return (0.5 * (p.scale * t).pow(2) - p.loc * t).exp()
    return ((-t * p.low).exp() - (-t * p.high).exp()) / (t * (p.high - p.low))  # uniform


def _mean_log_continuous_bernoulli(mean: Tensor, q: ContinuousBernoulli) -> Tensor:
    """E[log q(x)] for x of a mean."""
    return mean * q.logits + trine.log1p(-q.probs) + q._log_constant()


def _outside(p: Any, low: Any, high: Any) -> Tensor:
    """Whether p has values outside of [low, high]."""
    if isinstance(p, Uniform):
        return (p.low < low) | (p.high > high)
    return trine.as_tensor((low > 0) | (high < 1))  # the beta distribution and the continuous Bernoulli distribution live on [0, 1]


def _bernoulli_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


def _to_continuous_bernoulli(p: Any, q: ContinuousBernoulli) -> Tensor:
    kl = -p.entropy() - _mean_log_continuous_bernoulli(p.mean, q)
    return kl.masked_fill(_outside(p, 0, 1), trine.inf) if isinstance(p, Uniform) else kl


def _to_exponential(p: Any, q: Exponential) -> Tensor:
    kl = -p.entropy() - q.rate.log() + q.rate * p.mean
    return kl.masked_fill(p.low < 0, trine.inf) if isinstance(p, Uniform) else kl


def _to_gamma(p: Any, q: Gamma) -> Tensor:
    constant = trine.lgamma(q.concentration) - q.concentration * q.rate.log()
    kl = -p.entropy() + constant + (1 - q.concentration) * _mean_log(p) + q.rate * p.mean
    return kl.masked_fill(p.low < 0, trine.inf) if isinstance(p, Uniform) else kl


def _to_gumbel(p: Any, q: Gumbel) -> Tensor:
    shift = q.loc / q.scale
    return -p.entropy() + q.scale.log() + p.mean / q.scale - shift + shift.exp() * _mean_exp(p, q.scale.reciprocal())


def _to_normal(p: Any, q: Normal) -> Tensor:
    square = (p.variance + (p.mean - q.loc).pow(2)) / q.scale.pow(2)
    return -p.entropy() + 0.5 * math.log(2 * math.pi) + q.scale.log() + 0.5 * square


def _to_uniform(p: Any, q: Uniform) -> Tensor:
    return (-p.entropy() + (q.high - q.low).log()).masked_fill(_outside(p, q.low, q.high), trine.inf)


def _normal_laplace(p: Normal, q: Laplace) -> Tensor:
    distance = (p.loc - q.loc) / p.scale
    mean_distance = p.scale * (math.sqrt(2 / math.pi) * trine.exp(-0.5 * distance.pow(2)) + distance * trine.erf(distance / math.sqrt(2)))
    return -p.entropy() + (2 * q.scale).log() + mean_distance / q.scale


def _uniform_beta(p: Uniform, q: Beta) -> Tensor:
    mirrored = (_x_log_x(1 - p.low) - _x_log_x(1 - p.high)) / (p.high - p.low) - 1  # E[log(1 - x)]
    a, b = q.concentration1, q.concentration0
    kl = -p.entropy() + a.lgamma() + b.lgamma() - (a + b).lgamma() - (a - 1) * _mean_log(p) - (b - 1) * mirrored
    return kl.masked_fill(_outside(p, 0, 1), trine.inf)


def _uniform_pareto(p: Uniform, q: Pareto) -> Tensor:
    kl = -p.entropy() - q.alpha.log() - q.alpha * q.scale.log() + (q.alpha + 1) * _mean_log(p)
    return kl.masked_fill(p.low < q.scale, trine.inf)


def _infinite(p: Any, q: Any) -> Tensor:
    """p has values that q has not."""
    shape = trine.broadcast_shapes(p.batch_shape, q.batch_shape)
    return trine.full(shape, trine.inf, dtype=p.mean.dtype, device=p.mean.device)


_OF_DIFFERENT_FAMILIES: list[tuple[_Rule, list[type], type]] = [
    (_bernoulli_poisson, [Bernoulli], Poisson),
    (_infinite, [Poisson], Bernoulli),
    (_infinite, [Poisson], Binomial),
    (_infinite, [Exponential, Gamma, Gumbel, Laplace, Normal, Pareto], Beta),
    (_uniform_beta, [Uniform], Beta),
    (_infinite, [Exponential, Gamma, Gumbel, Laplace, Normal, Pareto], ContinuousBernoulli),
    (_to_continuous_bernoulli, [Beta, Uniform], ContinuousBernoulli),
    (_infinite, [Gumbel, Laplace, Normal], Exponential),
    (_to_exponential, [Beta, ContinuousBernoulli, Gamma, Pareto, Uniform], Exponential),
    (_infinite, [Gumbel, Laplace, Normal], Gamma),
    (_to_gamma, [Beta, Exponential, Pareto, Uniform], Gamma),
    (_to_gumbel, [Exponential, Gamma, Normal, Uniform], Gumbel),
    (_to_normal, [Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform], Normal),
    (_normal_laplace, [Normal], Laplace),
    (_infinite, [Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Normal], Pareto),
    (_uniform_pareto, [Uniform], Pareto),
    (_infinite, [Exponential, Gamma, Gumbel, Laplace, Normal, Pareto], Uniform),
    (_to_uniform, [Beta, ContinuousBernoulli], Uniform),
]
for _rule, _ps, _q in _OF_DIFFERENT_FAMILIES:
    for _p in _ps:
        register_kl(_p, _q)(_rule)
