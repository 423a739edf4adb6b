"""Windows against SciPy, short-time Fourier transforms against NumPy's transforms of the frames."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.signal.windows as windows
import trine

MAKERS = {
    "bartlett": windows.bartlett,
    "blackman": windows.blackman,
    "hamming": windows.hamming,
    "hann": windows.hann,
    "kaiser": lambda n, sym: windows.kaiser(n, 12.0, sym),
}


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("name", MAKERS)
def test_window_equals_scipy(name, periodic):
    for length in (1, 2, 5, 16, 33):
        found = getattr(trine, f"{name}_window")(length, periodic, dtype=trine.float64)
        np.testing.assert_allclose(found.numpy(), MAKERS[name](length, sym=not periodic), rtol=1e-9, atol=1e-12)
    single = getattr(trine, f"{name}_window")(7)
    assert single.dtype is trine.float32 and not single.requires_grad
    assert getattr(trine, f"{name}_window")(0).shape == (0,)
    with pytest.raises(RuntimeError, match=f"{name}_window requires non-negative"):
        getattr(trine, f"{name}_window")(-1)
    with pytest.raises(RuntimeError, match="floating point"):
        getattr(trine, f"{name}_window")(3, dtype=trine.int64)


SIGNAL = np.random.default_rng(0).normal(size=(2, 50))


def frames(signal, n_fft, hop):
    count = (signal.shape[1] - n_fft) // hop + 1
    return np.stack([signal[:, t * hop : t * hop + n_fft] for t in range(count)], 1)


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("onesided", [True, False])
def test_stft_is_the_transform_of_windowed_frames(centred, normalized, onesided):
    window = np.pad(windows.hann(10, sym=False), 3)
    signal = np.pad(SIGNAL, ((0, 0), (8, 8)), mode="reflect") if centred else SIGNAL
    transform = np.fft.rfft if onesided else np.fft.fft
    wanted = transform(frames(signal, 16, 5) * window, norm="ortho" if normalized else None).transpose(0, 2, 1)
    found = trine.stft(
        trine.tensor(SIGNAL), 16, 5, 10, trine.hann_window(10, dtype=trine.float64), centred, "reflect", normalized, onesided, True
    )
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-10, atol=1e-10)
    with pytest.warns(UserWarning, match="return_complex=False"):
        parts = trine.tensor(SIGNAL)[0].stft(16, 5, onesided=onesided, return_complex=False)
    assert parts.shape == (9 if onesided else 16, 11, 2)


@pytest.mark.parametrize("options", [{}, {"hop_length": 3}, {"normalized": True}, {"onesided": False}, {"win_length": 12}], ids=str)
def test_istft_gives_the_signal_back(options):
    x = trine.tensor(SIGNAL)
    window = trine.hamming_window(options.get("win_length", 16), dtype=trine.float64)
    spectrum = trine.stft(x, 16, window=window, return_complex=True, **options)
    np.testing.assert_allclose(trine.istft(spectrum, 16, window=window, length=50, **options).numpy(), SIGNAL, rtol=1e-9, atol=1e-9)
    assert trine.istft(spectrum[0], 16, window=window, **options).dim() == 1


def test_complex_signals_and_derivatives():
    x = trine.complex(trine.tensor(SIGNAL), trine.tensor(SIGNAL).flip(0))
    spectrum = trine.stft(x, 16, return_complex=True)
    assert spectrum.shape == (2, 16, 13)
    assert trine.allclose(trine.istft(spectrum, 16, return_complex=True, length=48), x[:, :48])
    short = trine.tensor(SIGNAL[:1, :12], requires_grad=True)
    assert trine.autograd.gradcheck(lambda t: trine.istft(trine.stft(t, 8, return_complex=True), 8), (short,))


def test_wrong_arguments_are_named():
    x = trine.tensor(SIGNAL)
    spectrum = trine.stft(x, 16, return_complex=True)
    for call, message in [
        (lambda: trine.stft(x, 16), "return_complex"),
        (lambda: trine.stft(x, 60, center=False, return_complex=True), "n_fft <= 50"),
        (lambda: trine.stft(x, 16, 0, return_complex=True), "hop_length=0"),
        (lambda: trine.stft(x, 16, win_length=17, return_complex=True), "win_length=17"),
        (lambda: trine.stft(x, 16, window=trine.ones(3), return_complex=True), "win_length=16"),
        (lambda: trine.stft(x.reshape(1, 2, 50), 16, return_complex=True), "1D or 2D"),
        (lambda: trine.stft(x.long(), 16, return_complex=True), "floating point or complex"),
        (lambda: trine.istft(x, 16), "complex-valued"),
        (lambda: trine.istft(spectrum, 20), "match n_fft"),
        (lambda: trine.istft(spectrum, 16, 17), "hop_length=17"),
        (lambda: trine.istft(spectrum, 16, window=trine.zeros(16, dtype=trine.float64)), "too small"),
    ]:
        with pytest.raises(RuntimeError, match=message):
            call()
