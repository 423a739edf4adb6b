"""trine.fft beyond what the operator matrix says: every length, normalisations, layouts, refusals, gradients of complex input."""

import numpy as np
import pytest
import scipy.fft
import trine
from trine.autograd import gradcheck, gradgradcheck

PRIMES = [n for n in range(67, 1010) if all(n % p for p in range(2, 32))]
SMOOTH = [
    65,
    72,
    77,
    91,
    96,
    100,
    121,
    128,
    143,
    169,
    210,
    243,
    256,
    360,
    625,
    1000,
    1024,
    2310,
    4096,
    5040,
    8192,
    10007,
    16384,
    30030,
    65536,
]
TOLERANCES = {"float32": 2e-6, "float64": 1e-14}


def complex_signal(rng, *shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def assert_close(ours, expected, dtype):
    scale = max(np.abs(expected).max(), 1e-30) * np.log2(4 + expected.shape[-1]) ** 0.5
    assert np.abs(ours.numpy() - expected).max() <= TOLERANCES[dtype] * scale


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("lengths", [range(1, 65), PRIMES, SMOOTH], ids=["all to 64", "primes to 1009", "others"])
@pytest.mark.parametrize("lines", [1, 5])
def test_every_length_equals_numpy(dtype, lengths, lines):
    rng = np.random.default_rng(1)
    kind = {"float32": np.complex64, "float64": np.complex128}[dtype]
    for n in lengths:
        signal = complex_signal(rng, lines, n).astype(kind)
        real, wide = signal.real.copy(), signal.astype(np.complex128)
        x, r = trine.from_numpy(signal), trine.from_numpy(real)
        assert_close(trine.fft.fft(x), np.fft.fft(wide), dtype)
        assert_close(trine.fft.ifft(x), np.fft.ifft(wide), dtype)
        assert_close(trine.fft.fft(r), np.fft.fft(wide.real), dtype)
        assert_close(trine.fft.rfft(r), np.fft.rfft(wide.real), dtype)
        half = wide[:, : n // 2 + 1]
        assert_close(trine.fft.irfft(x[:, : n // 2 + 1], n), np.fft.irfft(half, n), dtype)
        assert_close(trine.fft.hfft(x[:, : n // 2 + 1], n), np.fft.hfft(half, n), dtype)


@pytest.mark.parametrize("n", [6, 16, 31, 257, 300])
def test_columns_and_strided_lines_equal_numpy(n):
    rng = np.random.default_rng(2)
    wide = complex_signal(rng, 3, n, 18)
    x = trine.from_numpy(wide)
    assert_close(trine.fft.fft(x, dim=1), np.fft.fft(wide, axis=1), "float64")
    assert_close(trine.fft.fft(x[:, :, ::3], dim=1), np.fft.fft(wide[:, :, ::3], axis=1), "float64")
    assert_close(trine.fft.rfft(x.real, dim=1), np.fft.rfft(wide.real, axis=1), "float64")
    assert_close(trine.fft.irfft(x, dim=1), np.fft.irfft(wide, axis=1), "float64")
    assert_close(trine.fft.fftn(x.transpose(0, 2)), np.fft.fftn(wide.transpose(2, 1, 0)), "float64")


@pytest.mark.parametrize("norm", [None, "backward", "forward", "ortho"])
def test_round_trips_give_the_signal_back(norm):
    x, r = trine.randn(3, 4, 5, 7, dtype=trine.complex128), trine.randn(3, 4, 5, 7, dtype=trine.float64)
    for there, back in (("fft", "ifft"), ("fft2", "ifft2"), ("fftn", "ifftn")):
        trine.testing.assert_close(getattr(trine.fft, back)(getattr(trine.fft, there)(x, norm=norm), norm=norm), x)
    for there, back in (("rfft", "irfft"), ("ihfft", "hfft")):
        trine.testing.assert_close(getattr(trine.fft, back)(getattr(trine.fft, there)(r, norm=norm), 7, norm=norm), r)
        shape = {"rfft": r.shape, "ihfft": (5, 7)}[there]
        several = "n" if there == "rfft" else "2"
        trine.testing.assert_close(
            getattr(trine.fft, back + several)(getattr(trine.fft, there + several)(r, norm=norm), shape, norm=norm), r
        )


@pytest.mark.parametrize("name", ["hfft2", "hfftn", "ihfft2", "ihfftn"])
@pytest.mark.parametrize("norm", ["backward", "forward", "ortho"])
def test_hermitian_transforms_of_several_dimensions_equal_scipy(name, norm):
    rng = np.random.default_rng(3)
    signal = rng.standard_normal((3, 4, 5)) if name.startswith("i") else complex_signal(rng, 3, 4, 5)
    assert_close(getattr(trine.fft, name)(trine.from_numpy(signal), norm=norm), getattr(scipy.fft, name)(signal, norm=norm), "float64")


def test_results_do_not_depend_on_the_number_of_threads():
    x = trine.randn(64, 1000, dtype=trine.complex64)
    threads = trine.get_num_threads()
    try:
        trine.set_num_threads(1)
        alone = [trine.fft.fft(x), trine.fft.fft2(x), trine.fft.rfft(x.real), trine.fft.fft(x.reshape(-1))]
        trine.set_num_threads(2)
        together = [trine.fft.fft(x), trine.fft.fft2(x), trine.fft.rfft(x.real), trine.fft.fft(x.reshape(-1))]
    finally:
        trine.set_num_threads(threads)
    assert all(trine.equal(a, b) for a, b in zip(alone, together, strict=True))


def test_the_input_is_left_alone():
    x = trine.randn(4, 5, 6, dtype=trine.complex64)
    before = x.clone()
    for name in ("fft", "fftn", "irfftn", "hfftn", "irfft"):
        getattr(trine.fft, name)(x)
    assert trine.equal(x, before)


def test_out_is_resized_filled_and_checked():
    x = trine.randn(3, 8)
    for name, kind in (("fft", trine.complex64), ("rfft2", trine.complex64), ("irfft", trine.float32), ("hfftn", trine.float32)):
        out = trine.empty(0, dtype=kind)
        result = getattr(trine.fft, name)(x, out=out)
        assert result is out and trine.equal(out, getattr(trine.fft, name)(x))
    wrong = trine.empty(0, dtype=trine.float32)
    with pytest.raises(RuntimeError):
        trine.fft.fft(x, out=wrong)
    frequencies = trine.empty(0)
    assert trine.fft.fftfreq(6, 0.5, out=frequencies) is frequencies and frequencies.tolist() == pytest.approx(list(np.fft.fftfreq(6, 0.5)))


x = trine.zeros(3, 4, 6)
REFUSED = [
    (lambda: trine.fft.fft(x.half()), RuntimeError, "Unsupported dtype"),
    (lambda: trine.fft.rfftn(x.bfloat16()), RuntimeError, "Unsupported dtype"),
    (lambda: trine.fft.fft(trine.tensor(1.0)), IndexError, "no dimensions"),
    (lambda: trine.fft.fft(trine.zeros(3, 0)), RuntimeError, "Invalid number of data points"),
    (lambda: trine.fft.fft(x, 0), RuntimeError, "Invalid number of data points"),
    (lambda: trine.fft.fft(x, -1), RuntimeError, "Invalid number of data points"),
    (lambda: trine.fft.irfft(x[..., :1]), RuntimeError, "Invalid number of data points"),
    (lambda: trine.fft.fft(x, dim=3), IndexError, "out of range"),
    (lambda: trine.fft.fft2(x[0, 0]), IndexError, "out of range"),
    (lambda: trine.fft.fft(x, norm="none"), RuntimeError, "Invalid normalization mode"),
    (lambda: trine.fft.fft(x, norm=1), TypeError, "norm"),
    (lambda: trine.fft.rfft(x + 0j), RuntimeError, "real"),
    (lambda: trine.fft.ihfft(x + 0j), RuntimeError, "real"),
    (lambda: trine.fft.rfft2(x + 0j), RuntimeError, "real"),
    (lambda: trine.fft.ihfftn(x + 0j), RuntimeError, "floating-point"),
    (lambda: trine.fft.fftn(x, dim=(0, 0)), RuntimeError, "unique"),
    (lambda: trine.fft.fftn(x, dim=(-1, 2)), RuntimeError, "unique"),
    (lambda: trine.fft.fftn(x, s=(2, 3), dim=(0,)), RuntimeError, "same length"),
    (lambda: trine.fft.fft2(x, s=(2,)), RuntimeError, "same length"),
    (lambda: trine.fft.fftn(x, s=(2, 2, 2, 2)), RuntimeError, "only has 3 dimensions"),
    (lambda: trine.fft.fftn(x, s=(2, 0)), RuntimeError, "Invalid number of data points"),
    (lambda: trine.fft.rfftn(x, dim=()), RuntimeError, "at least one axis"),
    (lambda: trine.fft.irfftn(trine.tensor(1.0)), RuntimeError, "at least one axis"),
    (lambda: trine.fft.fftfreq(5, dtype=trine.int64), RuntimeError, "floating point"),
    (lambda: trine.fft.fftshift(x, 3), IndexError, "out of range"),
    (lambda: trine.fft.fftshift(x, ()), RuntimeError, "required"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_wrong_calls_raise_what_pytorch_raises(number):
    call, error, message = REFUSED[number]
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("name", ["fft", "ifft", "irfft", "hfft", "fft2", "ifftn", "irfft2", "irfftn", "hfftn"])
@pytest.mark.parametrize("norm", ["backward", "ortho"])
def test_gradients_and_tangents_of_complex_signals(name, norm):
    signal = trine.randn(3, 4, dtype=trine.complex128, requires_grad=True)
    assert gradcheck(lambda t: getattr(trine.fft, name)(t, norm=norm), signal, check_forward_ad=True)
    assert gradgradcheck(lambda t: getattr(trine.fft, name)(t, norm=norm), signal)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "ihfft", "rfft2", "rfftn", "ihfftn", "fftshift", "ifftshift"])
def test_gradients_and_tangents_of_real_signals(name):
    for shape in ((3, 4), (2, 5)):
        signal = trine.randn(*shape, dtype=trine.float64, requires_grad=True)
        assert gradcheck(getattr(trine.fft, name), signal, check_forward_ad=True)
        assert gradgradcheck(getattr(trine.fft, name), signal)
