"""Special functions against SciPy over their whole range: tails, poles, huge arguments."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special
import trine

RANDOM = np.random.default_rng(5)
# Where one form of a function takes over from another, and their neighbours.
SEAMS = np.array([0.45, 0.5, 0.65, 0.97, 1.0, 2.0, 4.0, 8.0, 9.4, 10.0, 11.0, 15.0, 20.0, 28.0])
SEAMS = np.concatenate([s * SEAMS * (1 + d) for s in (1, -1) for d in (0, 1e-6, -1e-6)])
WIDE = np.concatenate([RANDOM.uniform(-50, 50, 3000), RANDOM.normal(size=2000), [0.0, 1e-300, 700.0, -700.0, 1e5], SEAMS])
CHANCES = np.concatenate([RANDOM.uniform(0.001, 0.499, 2000), 10 ** RANDOM.uniform(-290, -3, 1000), [0.0, 1.0]])
SHAPES = np.concatenate([10 ** RANDOM.uniform(-3, 5, 3000), RANDOM.uniform(0, 30, 1000)])
POINTS = np.concatenate([SHAPES[:1500] * RANDOM.uniform(0.5, 1.5, 1500), 10 ** RANDOM.uniform(-3, 5, 1500), RANDOM.uniform(0, 40, 1000)])


def agree(found, wanted, rtol, smallest=1e-250):
    """Below ``smallest`` an exponential loses digits in every implementation, so such results count as zero."""
    found, wanted = (np.where(np.abs(x) < smallest, 0.0, x) for x in (found, wanted))
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=0)


@pytest.mark.parametrize("name", ["i0", "i0e", "i1", "i1e", "erf", "erfc", "erfcx", "ndtr", "log_ndtr", "entr"])
def test_function_of_one_number(name):
    with np.errstate(all="ignore"):
        wanted = getattr(scipy.special, name)(WIDE)
    found = getattr(trine.special, name)(trine.tensor(WIDE)).numpy()
    agree(found, wanted, 2e-13)
    single = getattr(trine.special, name)(trine.tensor(WIDE.astype(np.float32))).numpy()
    with np.errstate(all="ignore"):
        wanted = getattr(scipy.special, name)(WIDE.astype(np.float32).astype(np.float64)).astype(np.float32)
    agree(single, wanted, 2e-6, smallest=1e-37)


def test_logarithm_of_the_gamma_function_keeps_its_digits_near_zeros_and_poles():
    x = np.concatenate(
        [WIDE, RANDOM.uniform(-8, 8, 3000), 1 + 1e-5 * SEAMS, 2 + 1e-5 * SEAMS, -2.457024738 + 1e-5 * SEAMS, 10.0 ** np.arange(-40, 38)]
    )
    single = x.astype(np.float32)
    with np.errstate(over="ignore"):
        wanted = scipy.special.gammaln(single.astype(np.float64)).astype(np.float32)
    agree(trine.lgamma(trine.tensor(single)).numpy(), wanted, 3e-7)
    ends = trine.lgamma(trine.tensor([0.0, -0.0, -3.0, -1e9, np.inf, -np.inf, np.nan, 1.0, 2.0])).tolist()
    assert ends[:6] == [np.inf] * 6 and np.isnan(ends[6]) and ends[7:] == [0.0, 0.0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sinc_is_exact_at_whole_numbers_and_far_out(dtype):
    x = np.concatenate([RANDOM.uniform(-60, 60, 3000), RANDOM.uniform(-1, 1, 1000), SEAMS, np.arange(-9, 9, 0.5)]).astype(dtype)
    wide = x.astype(np.longdouble)
    turns = np.sin(np.pi * np.longdouble(1) * (wide - np.rint(wide))) * (1 - 2 * (np.rint(wide) % 2))
    wanted = np.where(x == 0, 1, turns / (np.longdouble("3.14159265358979323846") * np.where(x == 0, 1, wide)))
    np.testing.assert_allclose(trine.sinc(trine.tensor(x)).numpy(), wanted.astype(dtype), rtol=6 * np.finfo(dtype).eps, atol=0)
    far = trine.sinc(trine.tensor(np.array([1e6, 1e30, -1e30, np.inf, np.nan], dtype))).numpy()
    np.testing.assert_array_equal(far, [0, 0, 0, np.nan, np.nan])


def test_angle_of_real_numbers():
    x = trine.tensor([1.0, -2.0, 0.0, -0.0, np.nan, -np.inf], requires_grad=True)
    np.testing.assert_array_equal(trine.angle(x).detach().numpy(), np.array([0, np.pi, 0, 0, np.nan, np.pi], np.float32))
    trine.angle(x).nansum().backward()
    assert x.grad.tolist() == [0.0] * 6
    assert trine.angle(trine.tensor([-1, 2])).dtype == trine.float32


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


BESSEL = {
    "bessel_j0": scipy.special.j0,
    "bessel_j1": scipy.special.j1,
    "bessel_y0": scipy.special.y0,
    "bessel_y1": scipy.special.y1,
    "modified_bessel_i0": scipy.special.i0,
    "modified_bessel_i1": scipy.special.i1,
    "modified_bessel_k0": scipy.special.k0,
    "modified_bessel_k1": scipy.special.k1,
    "scaled_modified_bessel_k0": scipy.special.k0e,
    "scaled_modified_bessel_k1": scipy.special.k1e,
    "spherical_bessel_j0": lambda x: scipy.special.spherical_jn(0, x),
    "airy_ai": lambda x: scipy.special.airy(x)[0],
}
# What oscillates is exact to a part of its amplitude, not of its value near a root.
OSCILLATING = {"bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "spherical_bessel_j0", "airy_ai"}


@pytest.mark.parametrize("name", BESSEL)
def test_bessel_and_airy_functions(name):
    x = np.concatenate([RANDOM.uniform(-60, 60, 3000), 10 ** RANDOM.uniform(-12, 1, 1000), [0.0, 2.0, -3.0, 1.99999, 2.00001, np.nan]])
    found = getattr(trine.special, name)(trine.tensor(x)).numpy()
    if name in OSCILLATING:
        np.testing.assert_allclose(found, BESSEL[name](x), rtol=1e-13, atol=2e-14)
        decay = RANDOM.uniform(0, 30, 500)
        if name == "airy_ai":
            agree(trine.special.airy_ai(trine.tensor(decay)).numpy(), BESSEL[name](decay), 5e-13)
    else:
        agree(found, BESSEL[name](x), 1e-13)
    single = x.astype(np.float32)
    found = getattr(trine.special, name)(trine.tensor(single)).numpy()
    with np.errstate(over="ignore"):
        wanted = BESSEL[name](single.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(found, wanted, rtol=3e-7, atol=1e-37)


# Values at infinity and minus infinity, as PyTorch has them: NaN where the function oscillates or grows.
ENDS = (
    {name: [np.nan, np.nan] for name in BESSEL}
    | {name: [0, np.nan] for name in BESSEL if "bessel_k" in name}
    | {"spherical_bessel_j0": [0, 0]}
)


@pytest.mark.parametrize("name", BESSEL)
def test_bessel_functions_end_like_pytorch_and_have_no_history(name):
    function = getattr(trine.special, name)
    np.testing.assert_array_equal(function(trine.tensor([np.inf, -np.inf])).numpy(), ENDS[name])
    assert not function(trine.ones(2, requires_grad=True)).requires_grad


POLYNOMIALS = {
    "chebyshev_polynomial_t": scipy.special.eval_chebyt,
    "chebyshev_polynomial_u": scipy.special.eval_chebyu,
    "chebyshev_polynomial_v": lambda n, x: scipy.special.eval_jacobi(n, -0.5, 0.5, x) / scipy.special.eval_jacobi(n, -0.5, 0.5, 1.0),
    "chebyshev_polynomial_w": lambda n, x: (
        (2 * n + 1) * scipy.special.eval_jacobi(n, 0.5, -0.5, x) / scipy.special.eval_jacobi(n, 0.5, -0.5, 1.0)
    ),
    "hermite_polynomial_h": scipy.special.eval_hermite,
    "hermite_polynomial_he": scipy.special.eval_hermitenorm,
    "laguerre_polynomial_l": scipy.special.eval_laguerre,
    "legendre_polynomial_p": scipy.special.eval_legendre,
}
POLYNOMIALS |= {f"shifted_{name}": lambda n, x, f=f: f(n, 2 * x - 1) for name, f in list(POLYNOMIALS.items()) if "chebyshev" in name}


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_orthogonal_polynomials_of_low_and_high_degree(name):
    polynomial = getattr(trine.special, name)
    x = np.concatenate([RANDOM.uniform(-1, 1, 200), RANDOM.uniform(-3, 3, 100), [1.0, -1.0, 0.0]])
    for n in (0, 1, 2, 3, 6, 7, 8, 25):
        wanted = POLYNOMIALS[name](n, x)
        found = polynomial(trine.tensor(x), n).numpy()
        # Near a root what counts is the size of the largest terms.
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12 * max(1.0, np.median(np.abs(wanted))) * (1 + n) ** 2)
    assert polynomial(trine.tensor(x), -1).eq(0).all()
    assert polynomial(trine.tensor(0.3), 2.7).equal(polynomial(trine.tensor(0.3), 2))
    degrees = trine.tensor([0, 3, 9])
    assert polynomial(0.3, degrees).tolist() == [polynomial(trine.tensor(0.3), int(n)).item() for n in degrees]
    assert polynomial(trine.arange(3), degrees).dtype == trine.float32
