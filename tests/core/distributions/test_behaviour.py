"""What programs rely on beside numbers: names, lazy loading, subclasses, checks, copies, and the examples of the page."""

from __future__ import annotations

import copy
import doctest
import importlib
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import distribution_cases as cases
import pytest
import trine

d = trine.distributions
PAGE = Path(__file__).resolve().parents[3] / "docs" / "distributions.md"

# PyTorch's modules and what programs import from each.
MODULES = """
    bernoulli.Bernoulli beta.Beta binomial.Binomial categorical.Categorical cauchy.Cauchy chi2.Chi2 constraint_registry.biject_to
    constraints.positive continuous_bernoulli.ContinuousBernoulli dirichlet.Dirichlet distribution.Distribution
    exp_family.ExponentialFamily exponential.Exponential fishersnedecor.FisherSnedecor gamma.Gamma
    generalized_pareto.GeneralizedPareto geometric.Geometric gumbel.Gumbel half_cauchy.HalfCauchy half_normal.HalfNormal
    independent.Independent inverse_gamma.InverseGamma kl.kl_divergence kumaraswamy.Kumaraswamy laplace.Laplace
    lkj_cholesky.LKJCholesky log_normal.LogNormal logistic_normal.LogisticNormal
    lowrank_multivariate_normal.LowRankMultivariateNormal mixture_same_family.MixtureSameFamily multinomial.Multinomial
    multivariate_normal.MultivariateNormal negative_binomial.NegativeBinomial normal.Normal
    one_hot_categorical.OneHotCategoricalStraightThrough pareto.Pareto poisson.Poisson relaxed_bernoulli.LogitRelaxedBernoulli
    relaxed_categorical.ExpRelaxedCategorical studentT.StudentT transformed_distribution.TransformedDistribution
    transforms.ExpTransform uniform.Uniform utils.broadcast_all von_mises.VonMises weibull.Weibull wishart.Wishart
"""


def fresh(*arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_distributions_load_on_first_use_and_without_layers():
    code = "import sys, trine; a = 'trine.distributions' in sys.modules; trine.distributions.Normal; print(a, 'trine.nn' in sys.modules)"
    assert fresh("-c", code) == "False False"


@pytest.mark.parametrize("path", MODULES.split())
def test_modules_have_pytorchs_names(path):
    module, name = path.split(".")
    found = getattr(importlib.import_module(f"trine.distributions.{module}"), name)
    assert found is getattr(getattr(d, module), name) and found is getattr(d, name, found)


def test_programs_import_from_single_modules():
    code = "import torch.distributions.log_normal as m; from torch.distributions.chi2 import Chi2; import torch; print(m.LogNormal is torch.distributions.LogNormal, Chi2)"
    assert fresh("-m", "trine.as_torch", "-c", code) == "True <class 'trine.distributions.gamma.Chi2'>"


def test_examples_of_the_page_run():
    parser = doctest.DocTestParser()
    test = parser.get_doctest(PAGE.read_text(encoding="utf8"), {}, PAGE.name, str(PAGE), 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    runner.run(test, out=report.append)
    assert len(test.examples) > 20 and not runner.summarize(verbose=False).failed, "".join(report)


@pytest.mark.parametrize("name", cases.CASES)
def test_distribution_survives_pickling_and_copying(name):
    names = {**cases.Bench(trine).names(), "t": cases.Bench(trine).names()["v"]}
    original, x = eval(cases.CASES[name].make, names), eval(cases.CASES[name].values, names)
    for other in (pickle.loads(pickle.dumps(original)), copy.deepcopy(original)):
        assert trine.equal(other.log_prob(x), original.log_prob(x))


@pytest.mark.parametrize("name", cases.CASES)
def test_float32_samples_keep_their_type_and_lie_in_the_support(name):
    v = lambda values: trine.tensor(values, dtype=trine.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = eval(cases.CASES[name].make, {**cases.Bench(trine).names(), "t": v, "v": v})
        drawn = made.sample((500,))
    assert drawn.dtype == (trine.int64 if name.startswith("Categorical") else trine.float32)
    assert not drawn.requires_grad and bool(made.support.check(drawn).all()) and made.log_prob(drawn).shape == (500, *made.batch_shape)


def test_subclass_with_its_own_init_has_to_define_expand():
    class Mine(d.Normal):
        def __init__(self, loc):
            super().__init__(loc, 1.0)

    with pytest.raises(NotImplementedError, match="Mine"):
        Mine(trine.zeros(2)).expand((3, 2))

    class Expanding(Mine):
        def expand(self, batch_shape, _instance=None):
            return super().expand(batch_shape, _instance=self.__new__(type(self)) if _instance is None else _instance)

    assert isinstance(Expanding(trine.zeros(2)).expand((3, 2)), Expanding)

    class Unchanged(d.Gamma):
        pass

    assert Unchanged(1.0, 2.0).expand((3,)).batch_shape == (3,)


def test_distribution_of_ones_own_gets_what_follows_from_its_parts():
    class Triangle(d.Distribution):
        """Density 2 x on [0, 1]."""

        arg_constraints = {}
        support = d.constraints.unit_interval
        has_rsample = True

        def rsample(self, sample_shape=()):
            return trine.rand(self._extended_shape(sample_shape)).sqrt()

        def log_prob(self, value):
            if self._validate_args:
                self._validate_sample(value)
            return (2 * value).log()

    mine = Triangle()
    assert mine.sample((4,)).shape == (4,) and float(mine.log_prob(trine.tensor(0.5))) == 0.0
    with pytest.raises(ValueError, match="Triangle"):
        mine.log_prob(trine.tensor(2.0))
    shifted = d.TransformedDistribution(mine, d.AffineTransform(1.0, 2.0))
    assert float(shifted.log_prob(trine.tensor(2.0))) == pytest.approx(-0.6931472)
    for ask in ("mean", "variance", "mode", "stddev"):
        with pytest.raises(NotImplementedError, match="Triangle"):
            getattr(mine, ask)


def test_exponential_family_of_ones_own_gets_entropy_and_divergence():
    class Slow(d.Exponential):
        entropy = d.ExponentialFamily.entropy

    p, q = Slow(trine.tensor([0.5, 2.0])), Slow(trine.tensor([1.0, 3.0]))
    rule = d.kl._KL_REGISTRY[d.ExponentialFamily, d.ExponentialFamily]
    assert trine.allclose(p.entropy(), d.Exponential(p.rate).entropy())
    assert trine.allclose(rule(p, q), d.kl_divergence(d.Exponential(p.rate), d.Exponential(q.rate)))


@pytest.mark.parametrize("name", ["Bernoulli", "ContinuousBernoulli", "Exponential", "Gamma", "Normal", "Wishart_batch"])
def test_entropy_from_the_log_normalizer_is_the_formulas(name):
    made = eval(cases.CASES[name].make, cases.Bench(trine).names())
    assert trine.allclose(d.ExponentialFamily.entropy(made), made.entropy(), rtol=1e-6)


@pytest.mark.parametrize("name", ["Bernoulli", "Beta", "ContinuousBernoulli", "Dirichlet", "Exponential", "Gamma", "Normal", "Poisson"])
def test_divergence_from_the_log_normalizer_is_the_formulas(name):
    p = eval(cases.KL[name], cases.Bench(trine).names())
    q = type(p)(*(getattr(p, n).flip(0) for n in p.arg_constraints if n != "logits"))
    rule = d.kl._KL_REGISTRY[d.ExponentialFamily, d.ExponentialFamily]
    assert trine.allclose(rule(p, q), d.kl_divergence(p, q), rtol=1e-6)


def test_checks_can_be_turned_off_for_one_and_for_all():
    assert d.Normal(0.0, -1.0, validate_args=False).scale < 0
    d.Distribution.set_default_validate_args(False)
    try:
        assert d.Normal(0.0, -1.0).scale < 0
        with pytest.raises(ValueError):
            d.Normal(0.0, -1.0, validate_args=True)
    finally:
        d.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="scale"):
        d.Normal(0.0, -1.0)


def test_ambiguous_divergence_is_named():
    class P(d.Normal):
        pass

    class Q(d.Normal):
        pass

    @d.register_kl(P, d.Normal)
    def left(p, q):
        return trine.tensor(1.0)

    @d.register_kl(d.Normal, Q)
    def right(p, q):
        return trine.tensor(2.0)

    try:
        with pytest.warns(RuntimeWarning, match=r"register_kl\(P, Q\)"):
            assert d.kl_divergence(P(0.0, 1.0), Q(0.0, 1.0)) == 1.0
    finally:
        del d.kl._KL_REGISTRY[P, d.Normal], d.kl._KL_REGISTRY[d.Normal, Q]
        d.kl._KL_MEMOIZE.clear()


def test_divergence_from_a_continuous_bernoulli_to_the_whole_interval_is_finite():
    p = d.ContinuousBernoulli(0.3)
    assert trine.allclose(d.kl_divergence(p, d.Uniform(0.0, 1.0)), -p.entropy())
    assert d.kl_divergence(p, d.Uniform(0.1, 1.0)) == trine.inf


def test_inverse_of_a_cached_transform_is_exact():
    tanh = d.TanhTransform(cache_size=1)
    x = trine.tensor([20.0, -30.0])  # tanh is 1 and -1 there
    assert trine.equal(tanh.inv(tanh(x)), x)
    squashed = d.TransformedDistribution(d.Normal(trine.zeros(2), 1.0), [d.TanhTransform(cache_size=1)])
    action = squashed.rsample()
    assert squashed.log_prob(action).isfinite().all()


def test_triangles_and_vectors_are_each_others_inverse():
    for diag in (-2, -1, 0, 1, 2):
        matrix = trine.arange(32.0).reshape(2, 4, 4).tril(diag) + 0.0
        vector = d.utils.tril_matrix_to_vec(matrix, diag)
        assert trine.equal(d.utils.vec_to_tril_matrix(vector, diag), matrix)
    with pytest.raises(ValueError):
        d.utils.tril_matrix_to_vec(trine.eye(3), 3)


def test_deprecated_sample_n_warns_and_works():
    with pytest.warns(UserWarning, match="sample_n"):
        assert d.Normal(trine.zeros(2), 1.0).sample_n(3).shape == (3, 2)


def test_binomial_refuses_what_pytorch_refuses():
    for count, p, error in (
        (trine.tensor([3]), trine.tensor([0.5]), ValueError),
        (trine.tensor([3.0]), trine.tensor([0.5], dtype=trine.float64), RuntimeError),
        (trine.tensor([3.0]).half(), trine.tensor([0.5]).half(), NotImplementedError),
    ):
        with pytest.raises(error):
            trine.binomial(count, p)
    found = trine.binomial(trine.tensor([-1.0, 3.0, 3.0, 3.0, trine.inf]), trine.tensor([0.5, 1.5, -0.5, trine.nan, 0.5]))
    assert found[:3].tolist() == [0.0, 3.0, 0.0] and found[3:].isnan().all()


def test_native_samplers_take_generators_and_broadcast():
    g = trine.Generator().manual_seed(1)
    first = trine._standard_gamma(trine.full((3,), 2.0), g), trine.binomial(trine.full((3, 1), 9.0), trine.full((2,), 0.5), g)
    g.manual_seed(1)
    second = trine._standard_gamma(trine.full((3,), 2.0), g), trine.binomial(trine.full((3, 1), 9.0), trine.full((2,), 0.5), g)
    assert all(trine.equal(a, b) for a, b in zip(first, second, strict=True)) and first[1].shape == (3, 2)
    assert trine._standard_gamma_grad(trine.ones(3, 1), trine.ones(2)).shape == (3, 2)
    assert trine._standard_gamma(trine.ones(3, device="meta")).shape == (3,)
    for call in (trine._standard_gamma, trine._sample_dirichlet):
        with pytest.raises(NotImplementedError):
            call(trine.ones(3, dtype=trine.int64))
