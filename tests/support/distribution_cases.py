"""Distributions, divergences, constraints and transforms that must answer as PyTorch's do: the cases, and the command that stores its answers.

    python tests/support/distribution_cases.py       # under a Python that has PyTorch: writes tests/data/distributions.json

A case is an expression over `d` (the module), `torch`, and `t`, which makes a float64 tensor whose gradient is looked at.
"""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

REFERENCE = Path(__file__).parents[1] / "data" / "distributions.json"
SEED = 11


class Case(NamedTuple):
    """A distribution, values of it, and the same distribution in SciPy (or None)."""

    make: str
    values: str
    scipy: str | None = None


MATRIX = "[[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.5]]"
TRIL = "[[1.2, 0.0, 0.0], [0.4, 0.9, 0.0], [-0.3, 0.2, 1.1]]"
REALS = "v([-1.3, 0.2, 2.0])"
POSITIVES = "v([0.3, 1.1, 4.0])"
UNIT = "v([0.1, 0.45, 0.9])"
SIMPLEX = "v([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])"
VECTORS = "v([[0.1, -0.4, 2.0], [1.0, 0.0, -1.0]])"
FACTOR = "v([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.6, 0.8]])"

# SciPy's notation for the same: `s` is scipy.stats; parameters of a batch as lists.
CASES: dict[str, Case] = {
    "Bernoulli": Case("d.Bernoulli(t([0.2, 0.5, 0.9]))", "v([0.0, 1.0, 1.0])", "s.bernoulli([0.2, 0.5, 0.9])"),
    "Bernoulli_logits": Case("d.Bernoulli(logits=t([-2.0, 0.0, 30.0]))", "v([0.0, 1.0, 1.0])"),
    "Bernoulli_number": Case("d.Bernoulli(0.3)", "torch.tensor(1.0)"),
    "Beta": Case("d.Beta(t([0.5, 2.0, 30.0]), t([0.7, 3.0, 4.0]))", UNIT, "s.beta([0.5, 2.0, 30.0], [0.7, 3.0, 4.0])"),
    "Beta_number": Case("d.Beta(2.0, 3.0)", "torch.tensor(0.25)"),
    "Binomial": Case("d.Binomial(10, t([0.2, 0.5, 0.9]))", "v([0.0, 4.0, 10.0])", "s.binom(10, [0.2, 0.5, 0.9])"),
    "Binomial_counts": Case("d.Binomial(v([3.0, 100.0, 1e6]), logits=t([-1.0, 0.5, 2.0]))", "v([1.0, 60.0, 9e5])"),
    "Categorical": Case("d.Categorical(t([[1.0, 2.0, 3.0], [0.0, 1.0, 1.0]]))", "torch.tensor([2, 1])"),
    "Categorical_logits": Case("d.Categorical(logits=t([[1.0, -2.0, 3.0], [0.5, 1.0, 1.0]]))", "torch.tensor([[2, 1], [0, 0]])"),
    "Cauchy": Case("d.Cauchy(t([0.0, 1.0, -2.0]), t([1.0, 0.5, 3.0]))", REALS, "s.cauchy([0.0, 1.0, -2.0], [1.0, 0.5, 3.0])"),
    "Chi2": Case("d.Chi2(t([0.7, 3.0, 12.0]))", POSITIVES, "s.chi2([0.7, 3.0, 12.0])"),
    "ContinuousBernoulli": Case("d.ContinuousBernoulli(t([0.2, 0.5, 0.9]))", UNIT),
    "ContinuousBernoulli_logits": Case("d.ContinuousBernoulli(logits=t([-3.0, 1e-3, 2.0]))", UNIT),
    "Dirichlet": Case("d.Dirichlet(t([[0.5, 1.5, 3.0], [2.0, 2.0, 10.0]]))", SIMPLEX),
    "Dirichlet_small": Case("d.Dirichlet(t([0.3, 0.4]))", "v([0.25, 0.75])"),
    "Exponential": Case("d.Exponential(t([0.5, 1.0, 4.0]))", POSITIVES, "s.expon(0, [2.0, 1.0, 0.25])"),
    "FisherSnedecor": Case("d.FisherSnedecor(t([1.0, 3.0, 10.0]), t([3.0, 5.0, 20.0]))", POSITIVES, "s.f([1.0, 3.0, 10.0], [3.0, 5.0, 20.0])"),
    "Gamma": Case("d.Gamma(t([0.3, 2.0, 50.0]), t([1.0, 0.5, 20.0]))", POSITIVES, "s.gamma([0.3, 2.0, 50.0], 0, [1.0, 2.0, 0.05])"),
    "GeneralizedPareto": Case("d.GeneralizedPareto(t([0.0, 0.1, 0.2]), t([1.0, 2.0, 6.0]), t([0.3, -0.2, -0.5]))", POSITIVES, "s.genpareto([0.3, -0.2, -0.5], [0.0, 0.1, 0.2], [1.0, 2.0, 6.0])"),
    "GeneralizedPareto_exponential": Case("d.GeneralizedPareto(v(0.0), t(2.0), v(0.0))", POSITIVES, "s.expon(0, 2.0)"),
    "Geometric": Case("d.Geometric(t([0.2, 0.5, 0.9]))", "v([0.0, 2.0, 1.0])", "s.geom([0.2, 0.5, 0.9], -1)"),
    "Geometric_logits": Case("d.Geometric(logits=t([-2.0, 0.0, 1.0]))", "v([0.0, 2.0, 1.0])"),
    "Gumbel": Case("d.Gumbel(t([0.0, 1.0, -2.0]), t([1.0, 0.5, 3.0]))", REALS, "s.gumbel_r([0.0, 1.0, -2.0], [1.0, 0.5, 3.0])"),
    "HalfCauchy": Case("d.HalfCauchy(t([1.0, 0.5, 3.0]))", POSITIVES, "s.halfcauchy(0, [1.0, 0.5, 3.0])"),
    "HalfNormal": Case("d.HalfNormal(t([1.0, 0.5, 3.0]))", POSITIVES, "s.halfnorm(0, [1.0, 0.5, 3.0])"),
    "Independent": Case("d.Independent(d.Normal(t([[0.0, 1.0, 2.0]] * 2), t([1.0, 2.0, 3.0])), 1)", VECTORS),
    "Independent_all": Case("d.Independent(d.Bernoulli(t([[0.2, 0.5], [0.7, 0.9]])), 2)", "v([[0.0, 1.0], [1.0, 1.0]])"),
    "InverseGamma": Case("d.InverseGamma(t([2.5, 3.0, 9.0]), t([1.0, 0.5, 20.0]))", POSITIVES, "s.invgamma([2.5, 3.0, 9.0], 0, [1.0, 0.5, 20.0])"),
    "Kumaraswamy": Case("d.Kumaraswamy(t([1.5, 2.0, 3.0]), t([1.2, 3.0, 4.0]))", UNIT),
    "LKJCholesky": Case("d.LKJCholesky(3, t([0.5, 1.0, 4.0]))", FACTOR),
    "Laplace": Case("d.Laplace(t([0.0, 1.0, -2.0]), t([1.0, 0.5, 3.0]))", REALS, "s.laplace([0.0, 1.0, -2.0], [1.0, 0.5, 3.0])"),
    "LogNormal": Case("d.LogNormal(t([0.0, 1.0, -2.0]), t([1.0, 0.5, 0.7]))", POSITIVES, "s.lognorm([1.0, 0.5, 0.7], 0, [1.0, 2.718281828459045, 0.1353352832366127])"),
    "LogisticNormal": Case("d.LogisticNormal(t([[0.0, 0.5], [1.0, -1.0]]), t([1.0, 2.0]))", SIMPLEX),
    "LowRankMultivariateNormal": Case("d.LowRankMultivariateNormal(t([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]]), t([[1.0], [0.5], [-1.0]]), t([1.0, 2.0, 0.5]))", VECTORS),
    "MixtureSameFamily": Case("d.MixtureSameFamily(d.Categorical(t([0.2, 0.8])), d.Normal(t([-1.0, 2.0]), t([1.0, 0.5])))", REALS),
    "MixtureSameFamily_vectors": Case("d.MixtureSameFamily(d.Categorical(t([0.2, 0.8])), d.Independent(d.Normal(t([[-1.0, 2.0, 0.0], [0.0, 1.0, 1.0]]), t([1.0, 0.5, 2.0])), 1))", VECTORS),
    "Multinomial": Case("d.Multinomial(5, t([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]]))", "v([[1.0, 1.0, 3.0], [5.0, 0.0, 0.0]])"),
    "Multinomial_logits": Case("d.Multinomial(4, logits=t([1.0, 0.0]))", "v([3.0, 1.0])"),
    "MultivariateNormal_covariance": Case(f"d.MultivariateNormal(t([0.0, 1.0, 2.0]), t({MATRIX}))", VECTORS),
    "MultivariateNormal_precision": Case(f"d.MultivariateNormal(t([[0.0, 1.0, 2.0], [1.0, 0.0, 0.0]]), precision_matrix=t({MATRIX}))", VECTORS),
    "MultivariateNormal_tril": Case(f"d.MultivariateNormal(t([0.0, 1.0, 2.0]), scale_tril=t([{TRIL}, {TRIL}]))", VECTORS),
    "NegativeBinomial": Case("d.NegativeBinomial(t([1.0, 4.5, 20.0]), t([0.2, 0.5, 0.9]))", "v([0.0, 2.0, 150.0])", "s.nbinom([1.0, 4.5, 20.0], [0.8, 0.5, 0.1])"),
    "NegativeBinomial_logits": Case("d.NegativeBinomial(t([1.0, 4.5, 20.0]), logits=t([-2.0, 0.0, 1.0]))", "v([0.0, 2.0, 15.0])"),
    "Normal": Case("d.Normal(t([0.0, 1.0, -2.0]), t([1.0, 0.5, 3.0]))", REALS, "s.norm([0.0, 1.0, -2.0], [1.0, 0.5, 3.0])"),
    "Normal_number": Case("d.Normal(1, 2.5)", "torch.tensor(0.5)"),
    "OneHotCategorical": Case("d.OneHotCategorical(t([[1.0, 2.0, 3.0], [0.0, 1.0, 1.0]]))", "v([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])"),
    "OneHotCategoricalStraightThrough": Case("d.OneHotCategoricalStraightThrough(logits=t([[1.0, 2.0, 3.0]]))", "v([[0.0, 1.0, 0.0]])"),
    "Pareto": Case("d.Pareto(t([0.2, 0.5, 1.0]), t([1.5, 2.5, 9.0]))", POSITIVES, "s.pareto([1.5, 2.5, 9.0], 0, [0.2, 0.5, 1.0])"),
    "Poisson": Case("d.Poisson(t([0.3, 4.0, 50.0]))", "v([0.0, 5.0, 44.0])", "s.poisson([0.3, 4.0, 50.0])"),
    "RelaxedBernoulli": Case("d.RelaxedBernoulli(v(0.7), t([0.2, 0.5, 0.9]))", UNIT),
    "LogitRelaxedBernoulli": Case("d.relaxed_bernoulli.LogitRelaxedBernoulli(v(0.7), logits=t([0.2, 0.5, -0.9]))", REALS),
    "RelaxedOneHotCategorical": Case("d.RelaxedOneHotCategorical(v(0.7), t([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]]))", SIMPLEX),
    "StudentT": Case("d.StudentT(t([0.8, 3.0, 15.0]), t([0.0, 1.0, -2.0]), t([1.0, 0.5, 3.0]))", REALS, "s.t([0.8, 3.0, 15.0], [0.0, 1.0, -2.0], [1.0, 0.5, 3.0])"),
    "TransformedDistribution": Case("d.TransformedDistribution(d.Uniform(t(0.0), t(1.0)), [d.SigmoidTransform().inv, d.AffineTransform(t(1.0), t(-2.0))])", REALS, "s.logistic(1.0, 2.0)"),
    "TransformedDistribution_vectors": Case("d.TransformedDistribution(d.Normal(t([0.0, 1.0]), t([1.0, 2.0])), [d.StickBreakingTransform()])", SIMPLEX),
    "Uniform": Case("d.Uniform(t([0.0, -1.0, -3.0]), t([1.0, 1.0, 4.0]))", "v([0.3, 0.2, 2.0])", "s.uniform([0.0, -1.0, -3.0], [1.0, 2.0, 7.0])"),
    "VonMises": Case("d.VonMises(t([0.0, 1.0, -2.0]), t([0.3, 2.0, 40.0]))", "v([-1.3, 0.2, -2.2])", "s.vonmises([0.3, 2.0, 40.0], [0.0, 1.0, -2.0])"),
    "Weibull": Case("d.Weibull(t([1.0, 0.5, 3.0]), t([1.5, 1.0, 3.0]))", POSITIVES, "s.weibull_min([1.5, 1.0, 3.0], 0, [1.0, 0.5, 3.0])"),
    "Wishart": Case(f"d.Wishart(t(4.5), t({MATRIX}))", f"v({MATRIX})"),
    "Wishart_batch": Case(f"d.Wishart(t([4.5, 7.0]), scale_tril=t({TRIL}))", f"v({MATRIX})"),
}  # fmt: skip

# What is asked of each: an expression over `p`, the distribution, and `x`, the values.
ASKED = {
    "text": "repr(p)", "shapes": "[list(p.batch_shape), list(p.event_shape), p.has_rsample, p.has_enumerate_support]",
    "support": "repr(p.support)", "arg_constraints": "sorted((n, repr(c)) for n, c in p.arg_constraints.items())",
    "log_prob": "p.log_prob(x)", "cdf": "p.cdf(x)", "icdf": f"p.icdf({UNIT})", "entropy": "p.entropy()", "perplexity": "p.perplexity()",
    "mean": "p.mean", "mode": "p.mode", "variance": "p.variance", "stddev": "p.stddev",
    "enumerate_support": "p.enumerate_support()", "enumerate_short": "p.enumerate_support(expand=False)",
    "sample": "p.sample((4,))", "sample_once": "p.sample()", "rsample": "p.rsample((5,))",
    "expanded": "p.expand((2, *p.batch_shape)).log_prob(x)", "expanded_text": "repr(p.expand((2, *p.batch_shape)))",
    "expanded_sample": "p.expand((2, *p.batch_shape)).sample()",
    "outside": "p.log_prob(torch.full_like(x, -7 if x.is_floating_point() else 77))",
}  # fmt: skip
WITH_GRADIENTS = ("log_prob", "cdf", "entropy", "rsample", "mean", "variance")

KL: dict[str, str] = {
    "Bernoulli": "d.Bernoulli(t([0.2, 0.7]))", "Bernoulli_sure": "d.Bernoulli(t([0.0, 1.0]))", "Beta": "d.Beta(t([0.8, 2.0]), t([1.5, 3.0]))",
    "Beta_other": "d.Beta(t([2.0, 1.0]), t([1.0, 3.0]))", "Binomial": "d.Binomial(10, t([0.2, 0.7]))", "Binomial_more": "d.Binomial(12, t([0.3, 0.6]))",
    "Categorical": "d.Categorical(t([[0.2, 0.8], [0.5, 0.5]]))", "Categorical_sure": "d.Categorical(t([[0.0, 1.0], [0.3, 0.7]]))",
    "Cauchy": "d.Cauchy(t([0.0, 1.0]), t([1.0, 2.0]))", "Chi2": "d.Chi2(t([1.0, 3.0]))",
    "ContinuousBernoulli": "d.ContinuousBernoulli(t([0.2, 0.7]))", "Dirichlet": "d.Dirichlet(t([[0.2, 1.8], [2.5, 0.5]]))",
    "Dirichlet_other": "d.Dirichlet(t([1.0, 3.0]))", "Exponential": "d.Exponential(t([0.5, 2.0]))", "Gamma": "d.Gamma(t([0.8, 4.0]), t([1.0, 2.0]))",
    "Geometric": "d.Geometric(t([0.2, 0.7]))", "Gumbel": "d.Gumbel(t([0.0, 1.0]), t([1.0, 2.0]))", "HalfNormal": "d.HalfNormal(t([1.0, 2.0]))",
    "Independent": "d.Independent(d.Normal(t([0.0, 1.0]), t([1.0, 2.0])), 1)", "Laplace": "d.Laplace(t([0.5, -1.0]), t([1.0, 2.0]))",
    "LogNormal": "d.LogNormal(t([0.5, -1.0]), t([1.0, 2.0]))",
    "LowRank": "d.LowRankMultivariateNormal(t([0.0, 1.0]), t([[1.0], [0.5]]), t([1.0, 2.0]))",
    "LowRank_batch": "d.LowRankMultivariateNormal(t([[0.0, 1.0]] * 2), t([[0.3], [0.5]]), t([[1.5, 2.0], [1.0, 1.0]]))",
    "Multivariate": "d.MultivariateNormal(t([1.0, -1.0]), t([[2.0, 0.5], [0.5, 1.0]]))",
    "Multivariate_batch": "d.MultivariateNormal(t([[1.0, -1.0], [0.0, 0.0]]), scale_tril=t([[[1.0, 0.0], [0.5, 2.0]], [[2.0, 0.0], [0.1, 0.3]]]))",
    "NegativeBinomial": "d.NegativeBinomial(t(3.0), t([0.2, 0.7]))", "Normal": "d.Normal(t([0.5, -1.0]), t([1.0, 2.0]))",
    "OneHot": "d.OneHotCategorical(t([[0.2, 0.8], [0.5, 0.5]]))", "Pareto": "d.Pareto(t([1.0, 2.0]), t([1.5, 3.0]))",
    "Pareto_lower": "d.Pareto(t([0.5, 1.0]), t([2.0, 4.0]))", "Poisson": "d.Poisson(t([0.5, 4.0]))", "Uniform": "d.Uniform(t([0.5, 0.2]), t([0.8, 0.9]))",
    "Uniform_wide": "d.Uniform(t([-2.0, 1.0]), t([2.0, 3.0]))", "Wishart": "d.Wishart(t(3.0), t([[2.0, 0.5], [0.5, 1.0]]))",
}  # fmt: skip

MATRICES = "v([[[1.0, 0.0], [0.6, 0.8]], [[2.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.0], [0.3, -1.0]]])"
NUMBERS = "v([-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float('nan')])"
ROWS = "v([[0.2, 0.8], [1.0, 0.0], [1.2, -0.2], [2.0, 1.0]])"
CONSTRAINTS: dict[str, str] = {
    "boolean": NUMBERS, "one_hot": ROWS, "nonnegative_integer": NUMBERS, "positive_integer": NUMBERS, "integer_interval(0, 2)": NUMBERS,
    "real": NUMBERS, "real_vector": ROWS, "positive": NUMBERS, "nonnegative": NUMBERS, "greater_than(1)": NUMBERS, "greater_than_eq(1)": NUMBERS,
    "less_than(1)": NUMBERS, "unit_interval": NUMBERS, "interval(0.5, 2)": NUMBERS, "half_open_interval(0.5, 2)": NUMBERS, "simplex": ROWS,
    "multinomial(2)": ROWS, "lower_triangular": MATRICES, "lower_cholesky": MATRICES, "corr_cholesky": MATRICES, "square": MATRICES,
    "symmetric": MATRICES, "positive_semidefinite": MATRICES, "positive_definite": MATRICES, "independent(constraints.positive, 1)": ROWS,
    "cat([constraints.positive, constraints.real], 0, [2, 2])": ROWS, "stack([constraints.positive, constraints.real], -1)": ROWS,
    "MixtureSameFamilyConstraint(constraints.positive)": NUMBERS, "dependent": NUMBERS,
    "independent(constraints.unit_interval, 3)": ROWS,
}  # fmt: skip

TRANSFORMS: dict[str, str] = {
    "AbsTransform()": REALS, "AffineTransform(t(0.5), t(-2.0))": REALS, "AffineTransform(1, 3.0)": REALS, "AffineTransform(t([0.0, 1.0, 2.0]), 2.0, 1)": VECTORS,
    "ComposeTransform([d.AffineTransform(0.0, 0.5), d.ExpTransform()])": REALS, "ComposeTransform([d.ExpTransform(), d.StickBreakingTransform()])": VECTORS,
    "CorrCholeskyTransform()": VECTORS, "CumulativeDistributionTransform(d.Normal(t(0.0), t(2.0)))": REALS, "ExpTransform()": REALS,
    "IndependentTransform(d.ExpTransform(), 1)": VECTORS, "LowerCholeskyTransform()": f"v({MATRIX})", "PositiveDefiniteTransform()": f"v({MATRIX})",
    "PowerTransform(t(1.7))": POSITIVES, "PowerTransform(-2)": POSITIVES, "ReshapeTransform((3,), (3, 1))": VECTORS, "SigmoidTransform()": REALS,
    "SoftplusTransform()": REALS, "TanhTransform()": REALS, "SoftmaxTransform()": VECTORS, "StickBreakingTransform()": VECTORS,
    "CatTransform([d.ExpTransform(), d.AffineTransform(0.0, 2.0)], dim=-1, lengths=[1, 2])": VECTORS,
    "CatTransform([d.ExpTransform(), d.AffineTransform(0.0, 2.0)], dim=0)": VECTORS,
    "StackTransform([d.ExpTransform(), d.AffineTransform(0.0, 2.0), d.identity_transform], dim=-1)": VECTORS, "ExpTransform().inv": POSITIVES,
    "SigmoidTransform().inv": UNIT, "StickBreakingTransform().inv": SIMPLEX, "CorrCholeskyTransform().inv": FACTOR, "identity_transform": REALS,
    "biject_to(d.constraints.interval(v(1.0), v(3.0)))": REALS, "biject_to(d.constraints.simplex)": VECTORS,
    "transform_to(d.constraints.positive_definite)": f"v({MATRIX})", "transform_to(d.constraints.less_than(2.0))": REALS,
    "biject_to(d.constraints.independent(d.constraints.positive, 1))": VECTORS, "biject_to(d.constraints.corr_cholesky)": VECTORS,
    "biject_to(d.constraints.stack([d.constraints.positive, d.constraints.real, d.constraints.unit_interval], -1))": VECTORS,
    "transform_to(d.constraints.cat([d.constraints.positive, d.constraints.real], -1, [2, 1]))": VECTORS,
    "transform_to(d.constraints.lower_cholesky)": f"v({MATRIX})", "biject_to(d.constraints.positive_definite)": REALS,
}  # fmt: skip
ASKED_OF_TRANSFORMS = {
    "text": "repr(f)", "facts": "[f.bijective, repr(f.domain), repr(f.codomain)]", "sign": "f.sign", "event_dim": "f.event_dim", "forward": "f(x)",
    "back": "f.inv(f(x))", "log_det": "f.log_abs_det_jacobian(x, f(x))", "log_det_back": "f.inv.log_abs_det_jacobian(f(x), x)",
    "shapes": "[list(f.forward_shape(x.shape)), list(f.inverse_shape(f(x).shape))]", "equal": "[f == f, f.inv == f.inv, f.inv.inv is f, f == d.ExpTransform()]",
    "cached": "(lambda g, y: [g.inv(y) is x, g(x) is y])(*(lambda g: (g, g(x)))(f.with_cache(1)))",
}  # fmt: skip

# Calls that have to fail, and as PyTorch's do.
WRONG = """
d.Normal(v([0.0]), v([-1.0]))
d.Normal(v([float('nan')]), v([1.0]))
d.Normal('a', 1.0)
d.Normal(v([0.0, 1.0]), v([1.0, 2.0, 3.0]))
d.Normal(0.0, 1.0).log_prob(3.0)
d.Normal(v([0.0, 1.0]), 1.0).log_prob(v([0.0, 1.0, 2.0]))
d.Normal(0.0, 1.0).enumerate_support()
d.Normal(v([0.0, 1.0]), 1.0).expand((3,))
d.Exponential(1.0).log_prob(v(-1.0))
d.Bernoulli()
d.Bernoulli(0.5, 0.5)
d.Bernoulli(v(1.5))
d.Bernoulli(0.5).log_prob(v(0.3))
d.Bernoulli(0.5).rsample()
d.Bernoulli(0.5).cdf(v(1.0))
d.Categorical(v(0.5))
d.Categorical(v([-1.0, 2.0]))
d.Categorical(v([0.5, 0.5])).log_prob(torch.tensor(2))
d.OneHotCategorical(v([0.5, 0.5])).log_prob(v([1.0, 1.0]))
d.Multinomial(v(3.0), v([0.5, 0.5]))
d.Multinomial(3, v([0.5, 0.5])).log_prob(v([3.0, 1.0]))
d.Binomial(v([2.0, 3.0]), 0.5).enumerate_support()
d.Binomial(v([2.0, 3.0]), 0.5).entropy()
d.Binomial(-1, 0.5)
d.Geometric(0.0)
d.Geometric(v(0.5)).log_prob(v(0.5))
d.Dirichlet(v(1.0))
d.Dirichlet(v([1.0, 1.0])).log_prob(v([0.5, 0.6]))
d.Uniform(1.0, 0.0)
d.Uniform(v(1.0), v(1.0))
d.Gamma(0.0, 1.0)
d.StudentT(0.0)
d.LKJCholesky(1)
d.MultivariateNormal(v([0.0]))
d.MultivariateNormal(v(0.0), v([[1.0]]))
d.MultivariateNormal(v([0.0]), v([1.0]))
d.MultivariateNormal(v([0.0, 0.0]), v([[1.0, 2.0], [2.0, 1.0]]))
d.MultivariateNormal(v([0.0]), v([[1.0]]), v([[1.0]]))
d.LowRankMultivariateNormal(v([0.0]), v([1.0]), v([1.0]))
d.LowRankMultivariateNormal(v([0.0]), v([[1.0], [1.0]]), v([1.0]))
d.LowRankMultivariateNormal(v([0.0]), v([[1.0]]), v([1.0, 2.0]))
d.Wishart(v(0.5), v([[1.0, 0.0], [0.0, 1.0]]))
d.Wishart(v(3.0))
d.Wishart(v(3.0), v([1.0]))
d.Independent(d.Normal(0.0, 1.0), 1)
d.MixtureSameFamily(d.Normal(0.0, 1.0), d.Normal(v([0.0]), 1.0))
d.MixtureSameFamily(d.Categorical(v([1.0, 1.0])), d.Normal(v([0.0] * 3), 1.0))
d.MixtureSameFamily(d.Categorical(v([1.0, 1.0])), 3)
d.MixtureSameFamily(d.Categorical(v([[1.0, 1.0]] * 3)), d.Normal(v([[0.0, 1.0]] * 2), 1.0))
d.TransformedDistribution(d.Normal(0.0, 1.0), 3)
d.TransformedDistribution(d.Normal(0.0, 1.0), d.StickBreakingTransform())
d.TransformedDistribution(d.Normal(0.0, 1.0), d.AbsTransform()).cdf(v(1.0))
d.kl_divergence(d.Normal(0.0, 1.0), d.Cauchy(0.0, 1.0))
d.kl_divergence(d.Binomial(3, 0.5), d.Binomial(4, 0.5))
d.kl_divergence(d.LogNormal(0.0, 1.0), d.HalfNormal(1.0))
d.kl_divergence(d.Independent(d.Normal(v([[0.0]]), 1.0), 1), d.Independent(d.Normal(v([[0.0]]), 1.0), 2))
d.register_kl(3, d.Normal)
d.Distribution.set_default_validate_args(3)
d.Distribution().log_prob(v(0.0))
d.Distribution(validate_args=False).arg_constraints
d.Distribution(validate_args=False).support
d.Distribution(validate_args=False).expand((2,))
d.constraints.Constraint().check(v(0.0))
d.constraints.cat([3])
d.constraints.stack([3])
d.biject_to(d.constraints.boolean)
d.biject_to(3)
d.transform_to.register(3, lambda c: None)
d.ExpTransform(cache_size=2)
d.AbsTransform().sign
d.Transform()(v(0.0))
d.StickBreakingTransform().event_dim
d.ReshapeTransform((2,), (3,))
d.ReshapeTransform((2,), (2, 1)).forward_shape((3,))
d.CorrCholeskyTransform().forward_shape((2,))
d.CorrCholeskyTransform().inverse_shape((2, 3))
d.StickBreakingTransform().forward_shape(())
d.StackTransform([d.ExpTransform()], 0)(v([1.0, 2.0]))
d.CatTransform([d.ExpTransform()], 0)(v([1.0, 2.0]))
d.IndependentTransform(d.ExpTransform(), 2)(v([1.0]))
d.utils.broadcast_all([1.0], 2.0)
d.Normal(1 + 0j, 1.0)
d.utils.vec_to_tril_matrix(v([1.0, 2.0]))
d.RelaxedBernoulli(v(0.5))
d.VonMises(0.0, 0.0)
d.Poisson(-1.0)
d.NegativeBinomial(1.0, 1.0)
""".strip().splitlines()


def encode(value: Any) -> Any:
    """A result as JSON can hold it."""
    if hasattr(value, "detach"):
        value = value.detach()
        return {"dtype": str(value.dtype).rpartition(".")[2], "shape": list(value.shape), "values": encode(value.flatten().tolist())}
    if isinstance(value, (list, tuple)):
        return [encode(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, str):  # what made a tensor is not what is compared
        return re.sub(r",\s+(grad_fn=<\w+>|requires_grad=True)", "", value)
    return value


class Bench:
    """Evaluates expressions in one library."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.leaves: list[Any] = []

    def names(self, **others: Any) -> dict[str, Any]:
        def t(values: Any) -> Any:
            self.leaves.append(self.library.tensor(values, dtype=self.library.float64, requires_grad=True))
            return self.leaves[-1]

        def v(values: Any) -> Any:
            return self.library.tensor(values, dtype=self.library.float64)

        return {
            "torch": self.library,
            "d": self.library.distributions,
            "constraints": self.library.distributions.constraints,
            "t": t,
            "v": v,
            **others,
        }

    def attempt(self, call: Callable[[], Any]) -> Any:
        """What a call gives, or the type of its error."""
        self.library.manual_seed(SEED)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return encode(call())
            except Exception as error:
                return {"error": type(error).__name__}

    def gradients(self, result: Any) -> Any:
        """Of the result's elements, each with a weight of its own."""
        weights = (self.library.arange(result.numel(), dtype=self.library.float64) + 1).sin().reshape(result.shape)
        return self.library.autograd.grad((result * weights).sum(), self.leaves, allow_unused=True)

    def distribution(self, case: Case) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for name, expression in ASKED.items():
            self.leaves = []
            names = self.names()
            names.update(p=eval(case.make, names), x=eval(case.values, names))
            out[name] = self.attempt(lambda e=expression, n=names: eval(e, n))
            if "sample" in name:
                out[name] = [out[name], float(self.library.rand(1))]  # how much of the stream was drawn
            if name in WITH_GRADIENTS and self.leaves and "error" not in str(out[name]):
                out[name + " gradient"] = self.attempt(lambda e=expression, n=names: self.gradients(eval(e, n)))
        return out

    def divergence(self, p: str, q: str) -> Any:
        self.leaves = []
        names = self.names()
        names.update(p=eval(p, names), q=eval(q, names))
        value = self.attempt(lambda: eval("d.kl_divergence(p, q)", names))
        return value if "error" in value else [value, self.attempt(lambda: self.gradients(eval("d.kl_divergence(p, q)", names)))]

    def transform(self, make: str, values: str) -> dict[str, Any]:
        names = self.names()
        names["x"] = eval(values, names)
        made = self.attempt(lambda: names.update(f=eval("d." + make, names)))
        if made is not None:
            return made
        return {name: self.attempt(lambda e=expression: eval(e, names)) for name, expression in ASKED_OF_TRANSFORMS.items()}

    def constraint(self, make: str, values: str) -> Any:
        names = self.names()
        names.update(c=eval("constraints." + make, names), x=eval(values, names))
        return [self.attempt(lambda e=e: eval(e, names)) for e in ("repr(c)", "c.is_discrete", "c.event_dim", "c.check(x)")]

    def everything(self) -> dict[str, Any]:
        return {
            "distributions": {name: self.distribution(case) for name, case in CASES.items()},
            "divergences": {f"{p} || {q}": self.divergence(KL[p], KL[q]) for p in KL for q in KL},
            "transforms": {make: self.transform(make, values) for make, values in TRANSFORMS.items()},
            "constraints": {make: self.constraint(make, values) for make, values in CONSTRAINTS.items()},
            "wrong": {e: self.attempt(lambda e=e: eval(e, self.names())) for e in WRONG},
        }


def main() -> None:
    import torch
    import torch.distributions

    stored = Bench(torch).everything()
    lines = [
        f"{json.dumps(family)}: {{\n" + ",\n".join(f"{json.dumps(n)}: {json.dumps(a)}" for n, a in found.items()) + "\n}"
        for family, found in stored.items()
    ]
    REFERENCE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf8")


if __name__ == "__main__":
    main()
