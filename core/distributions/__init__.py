"""Probability distributions: densities, samples and their gradients, divergences, constraints and transforms.

>>> from trine.distributions import Normal, kl_divergence
>>> d = Normal(torch.tensor([0.0, 1.0]), 1.0)
>>> d.log_prob(torch.tensor(0.0)), kl_divergence(d, Normal(0.0, 1.0))
(tensor([-0.9189, -1.4189]), tensor([0.0000, 0.5000]))
"""

import sys as _sys

from . import (
    bernoulli,
    binomial,
    categorical,
    cauchy,
    constraint_registry,
    constraints,
    dirichlet,
    distribution,
    exponential,
    gamma,
    independent,
    kl,
    mixture_same_family,
    multivariate_normal,
    normal,
    relaxed_bernoulli,
    relaxed_categorical,
    transformed_distribution,
    transforms,
    uniform,
    utils,
    von_mises,
    wishart,
)
from .bernoulli import Bernoulli, ContinuousBernoulli, Geometric
from .binomial import Binomial, NegativeBinomial, Poisson
from .categorical import Categorical, Multinomial, OneHotCategorical, OneHotCategoricalStraightThrough
from .cauchy import Cauchy, HalfCauchy
from .constraint_registry import biject_to, transform_to
from .dirichlet import Beta, Dirichlet
from .distribution import Distribution, ExponentialFamily
from .exponential import Exponential, GeneralizedPareto, Gumbel, Laplace, Pareto, Weibull
from .gamma import Chi2, FisherSnedecor, Gamma, InverseGamma, StudentT
from .independent import Independent
from .kl import kl_divergence, register_kl
from .mixture_same_family import MixtureSameFamily
from .multivariate_normal import LowRankMultivariateNormal, MultivariateNormal
from .normal import HalfNormal, LogisticNormal, LogNormal, Normal
from .relaxed_bernoulli import RelaxedBernoulli
from .relaxed_categorical import RelaxedOneHotCategorical
from .transformed_distribution import TransformedDistribution
from .transforms import *
from .transforms import __all__ as _transforms
from .uniform import Kumaraswamy, Uniform
from .von_mises import VonMises
from .wishart import LKJCholesky, Wishart

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli", "Dirichlet", "Distribution",
    "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma", "GeneralizedPareto", "Geometric", "Gumbel", "HalfCauchy",
    "HalfNormal", "Independent", "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal",
    "LowRankMultivariateNormal", "MixtureSameFamily", "Multinomial", "MultivariateNormal", "NegativeBinomial", "Normal",
    "OneHotCategorical", "OneHotCategoricalStraightThrough", "Pareto", "Poisson", "RelaxedBernoulli", "RelaxedOneHotCategorical",
    "StudentT", "TransformedDistribution", "Uniform", "VonMises", "Weibull", "Wishart", "biject_to", "kl_divergence", "register_kl",
    "transform_to", *_transforms,
]  # fmt: skip

# PyTorch has a module for each distribution; here a module holds what belongs together, and answers to those names too.
for _module, _names in {
    bernoulli: "continuous_bernoulli geometric",
    binomial: "negative_binomial poisson",
    categorical: "multinomial one_hot_categorical",
    cauchy: "half_cauchy",
    dirichlet: "beta",
    distribution: "exp_family",
    exponential: "generalized_pareto gumbel laplace pareto weibull",
    gamma: "chi2 fishersnedecor inverse_gamma studentT",
    multivariate_normal: "lowrank_multivariate_normal",
    normal: "half_normal log_normal logistic_normal",
    uniform: "kumaraswamy",
    wishart: "lkj_cholesky",
}.items():
    for _name in _names.split():
        globals()[_name] = _sys.modules[f"{__name__}.{_name}"] = _module
