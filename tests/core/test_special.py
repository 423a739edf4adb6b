"""Special functions against SciPy over their whole range: tails, poles, huge arguments."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special
import trine

RANDOM = np.random.default_rng(5)
WIDE = np.concatenate([RANDOM.uniform(-50, 50, 3000), RANDOM.normal(size=2000), [0.0, 1e-300, 700.0, -700.0, 1e5, 19.99, 20.0, 20.01]])
CHANCES = np.concatenate([RANDOM.uniform(0.001, 0.499, 2000), 10 ** RANDOM.uniform(-290, -3, 1000), [0.0, 1.0]])
SHAPES = np.concatenate([10 ** RANDOM.uniform(-3, 5, 3000), RANDOM.uniform(0, 30, 1000)])
POINTS = np.concatenate([SHAPES[:1500] * RANDOM.uniform(0.5, 1.5, 1500), 10 ** RANDOM.uniform(-3, 5, 1500), RANDOM.uniform(0, 40, 1000)])


def agree(found, wanted, rtol, smallest=1e-250):
    """Below ``smallest`` an exponential loses digits in every implementation, so such results count as zero."""
    found, wanted = (np.where(np.abs(x) < smallest, 0.0, x) for x in (found, wanted))
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=0)


@pytest.mark.parametrize("name", ["i0", "i0e", "i1", "i1e", "erfcx", "ndtr", "log_ndtr", "entr"])
def test_function_of_one_number(name):
    with np.errstate(all="ignore"):
        wanted = getattr(scipy.special, name)(WIDE)
    found = getattr(trine.special, name)(trine.tensor(WIDE)).numpy()
    agree(found, wanted, 2e-13)
    single = getattr(trine.special, name)(trine.tensor(WIDE.astype(np.float32))).numpy()
    with np.errstate(all="ignore"):
        wanted = getattr(scipy.special, name)(WIDE.astype(np.float32).astype(np.float64)).astype(np.float32)
    agree(single, wanted, 2e-6, smallest=1e-37)


def test_inverse_of_the_normal_distribution():
    agree(trine.special.ndtri(trine.tensor(CHANCES)).numpy(), scipy.special.ndtri(CHANCES), 1e-12)
    assert trine.special.ndtri(trine.tensor([0.5, -0.1, 1.1])).isnan().tolist() == [False, True, True]


@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
def test_incomplete_gamma(name):
    wanted = getattr(scipy.special, name)(SHAPES, POINTS)
    agree(getattr(trine.special, name)(trine.tensor(SHAPES), trine.tensor(POINTS)).numpy(), wanted, 1e-10)
    edges = trine.tensor([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [-1.0, 1.0], [2.0, np.inf]], dtype=trine.float64)
    found = getattr(trine.special, name)(edges[:, 0].contiguous(), edges[:, 1].contiguous()).numpy()
    np.testing.assert_array_equal(found, {"gammainc": [1, 0, np.nan, np.nan, 1], "gammaincc": [0, 1, np.nan, np.nan, 0]}[name])


def test_zeta_and_polygamma():
    exponents, offsets = RANDOM.uniform(1.01, 30, 3000), 10 ** RANDOM.uniform(-3, 6, 3000)
    agree(trine.special.zeta(trine.tensor(exponents), trine.tensor(offsets)).numpy(), scipy.special.zeta(exponents, offsets), 1e-13)
    places = RANDOM.uniform(0.01, 50, 500)
    for n in range(8):
        agree(trine.special.polygamma(n, trine.tensor(places)).numpy(), scipy.special.polygamma(n, places), 2e-12)
    assert trine.special.zeta(trine.tensor([1.0, 0.5, 2.0]), trine.tensor([2.0, 2.0, -1.0])).tolist()[::2] == [np.inf, np.inf]
    with pytest.raises(RuntimeError, match="negative n"):
        trine.polygamma(-1, trine.ones(2))
