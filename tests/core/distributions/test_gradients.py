"""Gradients through samples follow quantiles, log-determinants are those of Jacobians, divergences those of samples.

What a user would lose: a variational model that climbs in another direction than its objective says.
"""

from __future__ import annotations

import warnings

import distribution_cases as cases
import numpy as np
import pytest
import scipy.special
import scipy.stats
import trine

d = trine.distributions


def quantile_derivative(make, parameters: list[np.ndarray], which: int, at: np.ndarray) -> np.ndarray:
    """How far the value at a probability moves when parameter `which` grows: -(dF / dparameter) / density."""
    step = 1e-5 * parameters[which]
    moved = [[p + sign * step if i == which else p for i, p in enumerate(parameters)] for sign in (-2, -1, 1, 2)]
    a, b, c, e = (make(*p).cdf(at) for p in moved)
    return -((a - e) + 8 * (c - b)) / (12 * step) / make(*parameters).pdf(at)


SHAPES = np.array([0.05, 0.3, 0.9, 1.0, 1.7, 4.0, 9.0, 30.0, 300.0, 5000.0])
CHANCES = np.array([1e-4, 0.03, 0.2, 0.5, 0.8, 0.97, 0.9999])


def test_gamma_numbers_move_as_their_quantiles():
    a = np.repeat(SHAPES, len(CHANCES))
    z = scipy.stats.gamma.ppf(np.tile(CHANCES, len(SHAPES)), a)
    found = trine._standard_gamma_grad(trine.tensor(a), trine.tensor(z)).numpy()
    kept = z > 1e-30
    np.testing.assert_allclose(found[kept], quantile_derivative(scipy.stats.gamma, [a], 0, z)[kept], rtol=2e-6)


# By 40-digit derivatives of the regularised incomplete functions (mpmath): arguments, derivative of the number.
GAMMA_MOTION = [
    (0.05, 0.001, 0.12833851283676012),
    (0.5, 0.25, 0.9080144917641113),
    (1.0, 1.0, 1.1735630272247268),
    (3.0, 6.0, 1.4649803323596435),
    (20.0, 18.0, 0.9561799436078112),
    (300.0, 330.0, 1.0489944554677773),
]
BETA_MOTION = [
    (0.2, 0.05, 0.3, 13.592674776929975),
    (0.5, 0.5, 2.0, 0.4885786342665755),
    (0.9, 2.0, 0.3, 0.055835572749276384),
    (0.999, 50.0, 0.3, 2.0130270203491606e-05),
    (0.5, 50.0, 40.0, 0.00530473030176392),
    (0.02, 0.5, 40.0, 0.04155959955555035),
]


def test_gamma_and_beta_numbers_move_exactly():
    a, z, wanted = (trine.tensor(column, dtype=trine.float64) for column in zip(*GAMMA_MOTION, strict=True))
    assert trine.allclose(trine._standard_gamma_grad(a, z), wanted, rtol=1e-13)
    x, a, b, wanted = (trine.tensor(column, dtype=trine.float64) for column in zip(*BETA_MOTION, strict=True))
    assert trine.allclose(trine._dirichlet_grad(x, a, a + b) * (1 - x), wanted, rtol=1e-12)


def test_large_gamma_numbers_move_without_a_break_between_the_formulas():
    a = trine.tensor([0.999e5, 1.001e5, 1e7], dtype=trine.float64)
    w = trine.tensor([[-3.0], [0.0], [3.0]], dtype=trine.float64)
    found = trine._standard_gamma_grad(a, a + w * a.sqrt() + (w * w - 1) / 3)
    assert trine.allclose(found, 1 + w / (2 * a.sqrt()), rtol=3e-7)


@pytest.mark.parametrize("other", [0.05, 0.7, 3.0, 80.0, 2000.0])
def test_beta_numbers_move_as_their_quantiles(other):
    a = np.repeat(SHAPES, len(CHANCES))
    b = np.full_like(a, other)
    x = scipy.stats.beta.ppf(np.tile(CHANCES, len(SHAPES)), a, b)
    kept = (x > 1e-30) & (x < 1 - 1e-9)
    a, b, x = a[kept], b[kept], x[kept]
    found = trine._dirichlet_grad(trine.tensor(x), trine.tensor(a), trine.tensor(a + b)).numpy() * (1 - x)
    np.testing.assert_allclose(found, quantile_derivative(scipy.stats.beta, [a, b], 0, x), rtol=2e-5)


REPARAMETERISED = {
    "Gamma": (d.Gamma, lambda a, r: scipy.stats.gamma(a, 0, 1 / r), [2.5, 0.7]),
    "Chi2": (d.Chi2, scipy.stats.chi2, [3.5]),
    "InverseGamma": (d.InverseGamma, lambda a, r: scipy.stats.invgamma(a, 0, r), [2.5, 0.7]),
    "Exponential": (d.Exponential, lambda r: scipy.stats.expon(0, 1 / r), [0.7]),
    "Beta": (d.Beta, scipy.stats.beta, [0.8, 3.0]),
    "Laplace": (d.Laplace, scipy.stats.laplace, [1.0, 0.7]),
    "Cauchy": (d.Cauchy, scipy.stats.cauchy, [1.0, 0.7]),
    "Gumbel": (d.Gumbel, scipy.stats.gumbel_r, [1.0, 0.7]),
    "Weibull": (d.Weibull, lambda s, c: scipy.stats.weibull_min(c, 0, s), [1.3, 2.0]),
    "Pareto": (d.Pareto, lambda s, a: scipy.stats.pareto(a, 0, s), [1.3, 2.0]),
    "LogNormal": (d.LogNormal, lambda m, s: scipy.stats.lognorm(s, 0, np.exp(m)), [0.5, 0.7]),
    "Uniform": (d.Uniform, lambda a, b: scipy.stats.uniform(a, b - a), [1.0, 3.0]),
    "GeneralizedPareto": (d.GeneralizedPareto, lambda m, s, c: scipy.stats.genpareto(c, m, s), [1.0, 0.7, 0.4]),
}


@pytest.mark.parametrize("name", REPARAMETERISED)
def test_samples_move_as_their_quantiles(name):
    make, theirs, values = REPARAMETERISED[name]
    parameters = [trine.full((200,), v, dtype=trine.float64, requires_grad=True) for v in values]
    trine.manual_seed(1)
    drawn = make(*parameters).rsample()
    found = trine.autograd.grad(drawn.sum(), parameters)
    at = drawn.detach().numpy()
    for which, gradient in enumerate(found):
        wanted = quantile_derivative(theirs, [np.full(200, v) for v in values], which, at)
        np.testing.assert_allclose(gradient.numpy(), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["StudentT", "FisherSnedecor", "Dirichlet", "Wishart"])
def test_gradients_of_expectations_are_those_of_moments(name):
    """Where several numbers make a sample, only expectations tell: d E[f(x)] / d parameters."""
    trine.manual_seed(1)

    def leaf(values):
        return trine.tensor(values, dtype=trine.float64, requires_grad=True)

    if name == "StudentT":
        p = leaf(9.0)
        found = d.StudentT(p).rsample((200_000,)).pow(2).mean()
        wanted = p / (p - 2)
    elif name == "FisherSnedecor":
        p = leaf(12.0)
        found, wanted = d.FisherSnedecor(5.0, p).rsample((200_000,)).mean(), p / (p - 2)
    elif name == "Dirichlet":
        p = leaf([0.7, 1.5, 3.0])
        weights = trine.tensor([1.0, -2.0, 0.5], dtype=trine.float64)
        found = (d.Dirichlet(p).rsample((200_000,)) * weights).sum(-1).mean()
        wanted = (p / p.sum() * weights).sum()
    else:
        p = leaf(6.0)
        found = d.Wishart(p, trine.eye(2, dtype=trine.float64)).rsample((50_000,)).diagonal(dim1=-2, dim2=-1).sum(-1).mean()
        wanted = 2 * p
    (one,), (other,) = (trine.autograd.grad(v, p) for v in (found, wanted))
    np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=0.05, atol=0.005)


@pytest.mark.parametrize("function", ["gammainc", "gammaincc"])
def test_incomplete_gamma_functions_have_both_derivatives(function):
    a = trine.tensor([0.3, 1.0, 4.0, 50.0, 3.0], dtype=trine.float64, requires_grad=True)
    x = trine.tensor([0.2, 2.0, 1.0, 60.0, 9.0], dtype=trine.float64, requires_grad=True)
    assert trine.autograd.gradcheck(getattr(trine.special, function), (a, x))


BELOW = (1, 2, 2), (0, 0, 1)  # what is free in a 3 x 3 Cholesky factor of a correlation matrix


def free(constraint, value):
    """The coordinates of values that others do not follow from, in one row."""
    if repr(constraint) == "Simplex()":
        return value[..., :-1].reshape(-1)
    return value[(..., *BELOW)].reshape(-1) if repr(constraint) == "CorrCholesky()" else value.reshape(-1)


def full(constraint, coordinates, like):
    """The values again."""
    if repr(constraint) == "Simplex()":
        first = coordinates.reshape(*like.shape[:-1], -1)
        return trine.cat([first, 1 - first.sum(-1, keepdim=True)], -1)
    if repr(constraint) == "CorrCholesky()":
        below = trine.zeros_like(like).index_put(tuple(trine.tensor(i) for i in BELOW), coordinates)
        return below + (1 - (below**2).sum(-1)).sqrt().diag_embed()
    return coordinates.reshape(like.shape)


NO_BIJECTION = ("Abs", "Softmax", "LowerCholesky", "PositiveDefinite", "positive_definite", "lower_cholesky")


@pytest.mark.parametrize("make", [make for make in cases.TRANSFORMS if not any(word in make for word in NO_BIJECTION)])
def test_log_determinant_is_that_of_the_jacobian(make):
    names = cases.Bench(trine).names()
    transform, x = eval("d." + make, names), eval(cases.TRANSFORMS[make], names)
    assert trine.allclose(transform.inv(transform(x)), x, atol=1e-9)
    domain, codomain = transform.domain, transform.codomain
    jacobian = trine.autograd.functional.jacobian(lambda c: free(codomain, transform(full(domain, c, x))), free(domain, x))
    # of a batch, the Jacobian has a block for each value
    assert trine.allclose(trine.linalg.slogdet(jacobian).logabsdet, transform.log_abs_det_jacobian(x, transform(x)).sum(), atol=1e-8)


SAMPLED = [n for n in cases.KL if n not in ("Bernoulli_sure", "Categorical_sure", "Binomial_more", "NegativeBinomial")]


@pytest.mark.parametrize("p", SAMPLED)
def test_divergence_is_the_mean_of_the_log_ratio(p, monkeypatch):
    monkeypatch.setattr(d.Distribution, "_validate_args", False)  # a value outside has a log-density too
    trine.manual_seed(9)
    ours = eval(cases.KL[p], cases.Bench(trine).names())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = ours.expand(ours.batch_shape or (2,)).sample((40_000,)).detach()
    checked = 0
    for q in SAMPLED:
        theirs = eval(cases.KL[q], cases.Bench(trine).names())
        try:
            found = d.kl_divergence(ours, theirs).detach()
        except NotImplementedError:
            continue
        ratio = (ours.log_prob(drawn) - theirs.log_prob(drawn)).detach()
        mean, error = ratio.mean(0), ratio.std(0) / 200
        finite = found.isfinite()
        # An infinite one is the reference's matter: values outside may be too rare to be drawn.
        assert bool(((mean - found).abs() <= 6 * error + 1e-9)[finite].all()), (q, mean, found, error)
        checked += int(finite.sum())
    assert checked
