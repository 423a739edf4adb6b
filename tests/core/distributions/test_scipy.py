"""Densities, distribution functions, moments and samples agree with SciPy's.

What a user would lose: the distribution that the formula on the page says.
"""

from __future__ import annotations

import distribution_cases as cases
import numpy as np
import pytest
import scipy.stats
import trine

WITH_SCIPY = {name: case for name, case in cases.CASES.items() if case.scipy}
LEAST = 1e-4  # a right sampler fails one test in ten thousand; the seeds are fixed


def both(name):
    bench = cases.Bench(trine)
    names = bench.names()
    case = WITH_SCIPY[name]
    return eval(case.make, names), eval(case.values, names), eval(case.scipy, {"s": scipy.stats})


def discrete(theirs) -> bool:
    return isinstance(theirs.dist, scipy.stats.rv_discrete)


@pytest.mark.parametrize("name", WITH_SCIPY)
def test_density_equals_scipys(name):
    ours, x, theirs = both(name)
    wanted = theirs.logpmf(x) if discrete(theirs) else theirs.logpdf(x)
    np.testing.assert_allclose(ours.log_prob(x).detach().numpy(), wanted, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", WITH_SCIPY)
def test_distribution_function_equals_scipys_and_has_its_inverse(name):
    ours, x, theirs = both(name)
    try:
        found = ours.cdf(x)
    except NotImplementedError:
        assert name in (
            "Bernoulli",
            "Beta",
            "Binomial",
            "FisherSnedecor",
            "Geometric",
            "NegativeBinomial",
            "Poisson",
            "StudentT",
            "VonMises",
        )
        return
    np.testing.assert_allclose(found.detach().numpy(), theirs.cdf(x), rtol=1e-8, atol=1e-10)
    try:
        back = ours.icdf(found)
    except NotImplementedError:
        assert name in ("Chi2", "Gamma", "InverseGamma")
        return
    np.testing.assert_allclose(back.detach().numpy(), x.numpy(), rtol=1e-6)


@pytest.mark.parametrize("name", WITH_SCIPY)
def test_mean_and_variance_equal_scipys(name):
    ours, _, theirs = both(name)
    if name == "VonMises":  # circular ones, which scipy has for samples only
        rotated = np.exp(1j * theirs.rvs((200_000, 3), random_state=1)).mean(0)
        np.testing.assert_allclose(ours.mean.detach().numpy(), np.angle(rotated), atol=0.02)
        np.testing.assert_allclose(ours.variance.detach().numpy(), 1 - np.abs(rotated), atol=5e-3)
        return
    if name == "TransformedDistribution":
        with pytest.raises(NotImplementedError):
            _ = ours.mean
        return
    mean, variance = (m.detach().numpy() for m in (ours.mean, ours.variance))
    defined = np.isfinite(mean)
    np.testing.assert_allclose(mean[defined], np.broadcast_to(theirs.mean(), mean.shape)[defined], rtol=1e-9)
    defined = np.isfinite(variance)
    np.testing.assert_allclose(variance[defined], np.broadcast_to(theirs.var(), mean.shape)[defined], rtol=1e-9)


@pytest.mark.parametrize("name", WITH_SCIPY)
def test_entropy_equals_scipys(name):
    ours, _, theirs = both(name)
    try:
        found = ours.entropy()
    except NotImplementedError:
        assert name in ("FisherSnedecor", "NegativeBinomial", "Poisson", "TransformedDistribution", "VonMises") or name == "Binomial"
        return
    np.testing.assert_allclose(found.detach().numpy(), theirs.entropy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", WITH_SCIPY)
def test_samples_are_of_the_distribution(name):
    ours, _, theirs = both(name)
    trine.manual_seed(5)
    drawn = ours.sample((5000,)).numpy().reshape(5000, -1)
    for column in range(drawn.shape[1]):
        if discrete(theirs):
            assert discrete_p_value(drawn[:, column], theirs, column) > LEAST
        else:

            def cdf(v, column=column):
                full = np.repeat(v[:, None], drawn.shape[1], 1)
                return np.broadcast_to(theirs.cdf(full), full.shape)[:, column]

            assert scipy.stats.kstest(drawn[:, column], cdf).pvalue > LEAST


def discrete_p_value(drawn: np.ndarray, theirs, column: int) -> float:
    """Of a chi-squared test over values that are expected at least ten times, all others together."""
    values = np.arange(drawn.max() + 200)
    chances = theirs.pmf(values[:, None])[:, column] * len(drawn)
    usual = chances >= 10
    expected = np.append(chances[usual], len(drawn) - chances[usual].sum())
    counts = np.array([(drawn == v).sum() for v in values[usual]])
    observed = np.append(counts, len(drawn) - counts.sum())
    kept = expected > 1e-6
    assert observed[~kept].sum() == 0
    if kept.sum() < 2:
        return 1.0
    return scipy.stats.chisquare(observed[kept], expected[kept] * observed[kept].sum() / expected[kept].sum()).pvalue


@pytest.mark.parametrize("count", [3, 40, 10_000, 10**8])
@pytest.mark.parametrize("p", [0.004, 0.3, 0.5, 0.93])
def test_binomial_numbers_are_binomial_whatever_the_count(count, p):
    trine.manual_seed(2)
    drawn = trine.binomial(trine.full((4000,), float(count), dtype=trine.float64), trine.tensor(p, dtype=trine.float64)).numpy()
    theirs = scipy.stats.binom(count, p)
    if theirs.std() < 20:
        assert discrete_p_value(drawn, scipy.stats.binom([count], p), 0) > LEAST
    else:  # spread evenly between neighbours, counts have nearly a continuous distribution
        u = np.random.default_rng(0).random(len(drawn))
        assert scipy.stats.kstest(theirs.cdf(drawn - 1) * (1 - u) + theirs.cdf(drawn) * u, "uniform").pvalue > LEAST


def test_multivariate_samples_have_their_moments():
    d = trine.distributions
    covariance = trine.tensor(eval(cases.MATRIX), dtype=trine.float64)
    loc = trine.tensor([1.0, -2.0, 0.5], dtype=trine.float64)
    trine.manual_seed(3)
    for ours in (
        d.MultivariateNormal(loc, covariance),
        d.MultivariateNormal(loc, precision_matrix=covariance),
        d.LowRankMultivariateNormal(loc, covariance[:, :2], loc.abs()),
    ):
        drawn = ours.sample((40_000,)).numpy()
        np.testing.assert_allclose(drawn.mean(0), loc.numpy(), atol=0.05)
        np.testing.assert_allclose(np.cov(drawn.T), ours.covariance_matrix.numpy(), atol=0.08)
        theirs = scipy.stats.multivariate_normal(loc.numpy(), ours.covariance_matrix.numpy())
        np.testing.assert_allclose(ours.log_prob(trine.tensor(drawn[:5])).numpy(), theirs.logpdf(drawn[:5]), rtol=1e-9)
        np.testing.assert_allclose(ours.entropy().numpy(), theirs.entropy(), rtol=1e-9)
        np.testing.assert_allclose(ours.precision_matrix.numpy(), np.linalg.inv(ours.covariance_matrix.numpy()), atol=1e-10)
        np.testing.assert_allclose((ours.scale_tril @ ours.scale_tril.mT).numpy(), ours.covariance_matrix.numpy(), atol=1e-10)


def test_wishart_dirichlet_and_multinomial_equal_scipys():
    d = trine.distributions
    v = cases.Bench(trine).names()["v"]
    scale = np.array(eval(cases.MATRIX))
    ours, theirs = d.Wishart(v(5.0), v(scale)), scipy.stats.wishart(5.0, scale)
    trine.manual_seed(4)
    drawn = ours.sample((20_000,)).numpy()
    np.testing.assert_allclose(ours.log_prob(trine.tensor(drawn[:4])).numpy(), theirs.logpdf(np.moveaxis(drawn[:4], 0, -1)), rtol=1e-9)
    np.testing.assert_allclose(drawn.mean(0), ours.mean.numpy(), atol=0.2)
    np.testing.assert_allclose(drawn.var(0), ours.variance.numpy(), rtol=0.1)
    np.testing.assert_allclose(ours.entropy().numpy(), theirs.entropy(), rtol=1e-9)

    ours, theirs = d.Dirichlet(v([0.5, 2.0, 3.5])), scipy.stats.dirichlet([0.5, 2.0, 3.5])
    drawn = ours.sample((20_000,)).numpy()
    np.testing.assert_allclose(ours.log_prob(v([0.2, 0.3, 0.5])).numpy(), theirs.logpdf([0.2, 0.3, 0.5]), rtol=1e-9)
    np.testing.assert_allclose([drawn.mean(0), drawn.var(0)], [theirs.mean(), theirs.var()], atol=0.01)
    for i, a in enumerate([0.5, 2.0, 3.5]):
        assert scipy.stats.kstest(drawn[:, i], scipy.stats.beta(a, 6.0 - a).cdf).pvalue > LEAST
    np.testing.assert_allclose(ours.entropy().numpy(), theirs.entropy(), rtol=1e-9)

    ours, theirs = d.Multinomial(6, v([0.2, 0.3, 0.5])), scipy.stats.multinomial(6, [0.2, 0.3, 0.5])
    np.testing.assert_allclose(ours.log_prob(v([1.0, 2.0, 3.0])).numpy(), theirs.logpmf([1, 2, 3]), rtol=1e-9)
    np.testing.assert_allclose(ours.entropy().numpy(), theirs.entropy(), rtol=1e-9)
    np.testing.assert_allclose(ours.sample((20_000,)).numpy().mean(0), [1.2, 1.8, 3.0], atol=0.04)


def test_correlation_matrices_have_the_spread_of_their_concentration():
    """An off-diagonal element is 2 Beta(b, b) - 1 with b = concentration - 1 + dim / 2."""
    trine.manual_seed(6)
    factor = trine.distributions.LKJCholesky(4, 1.5).sample((20_000,)).double()
    correlation = (factor @ factor.mT).numpy()
    for i, j in ((1, 0), (2, 0), (2, 1), (3, 1), (3, 2)):
        assert scipy.stats.kstest((correlation[:, i, j] + 1) / 2, scipy.stats.beta(2.5, 2.5).cdf).pvalue > LEAST
