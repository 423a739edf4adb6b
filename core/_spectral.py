"""Short-time Fourier transform and its inverse."""

from __future__ import annotations

import warnings

import trine
from trine import _C, _ops

from .overrides import overridable

__all__ = ["istft", "stft"]

Tensor = _C.Tensor


def _centred_window(name: str, window: Tensor | None, win_length: int, n_fft: int, like: Tensor) -> Tensor:
    """The window (ones by default) in the middle of `n_fft` samples."""
    if not 0 < win_length <= n_fft:
        raise RuntimeError(f"{name}: expected 0 < win_length <= n_fft, but got win_length={win_length}")
    if window is None:
        window = _ops.ones(win_length, dtype=like.real.dtype if like.is_complex() else like.dtype, device=like.device)
    elif window.dim() != 1 or window.shape[0] != win_length:
        raise RuntimeError(
            f"{name}: expected a 1D window tensor of size equal to win_length={win_length}, but got window with size {list(window.shape)}"
        )
    left = (n_fft - win_length) // 2
    return trine.nn.functional.pad(window, (left, n_fft - win_length - left)) if win_length < n_fft else window


@overridable
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
) -> Tensor:
    """Fourier transforms of overlapping windowed frames of a signal `(time,)` or `(batch, time)`.

    Frames of `n_fft` samples begin every `hop_length` (default a quarter) samples; with `center` frame t is centred at sample
    `t * hop_length` of the signal, padded by `pad_mode`. Gives `(batch, frequencies, frames)`, complex; `onesided` (default for real
    input and window) leaves out the negative frequencies; `return_complex=False`, which is deprecated, gives real and imaginary part
    as a last dimension. RuntimeError for wrong sizes.

    >>> import trine
    >>> trine.stft(trine.ones(16), 8, return_complex=True).shape
    torch.Size([5, 9])
    """
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    if return_complex is None:
        if not input.is_complex() and not (window is not None and window.is_complex()):
            raise RuntimeError("stft requires the return_complex parameter be given for real inputs.")
        return_complex = True
    if not return_complex:
        warnings.warn(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex tensors for all inputs.",
            stacklevel=2,
        )
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(f"stft: expected a tensor of floating point or complex values, got {input.dtype}")
    if input.dim() not in (1, 2):
        raise RuntimeError(f"stft: expected a 1D or 2D tensor, but got {input.dim()}D")
    if hop <= 0:
        raise RuntimeError(f"stft: expected hop_length > 0, but got hop_length={hop}")
    single = input.dim() == 1
    signal = input.unsqueeze(0) if single else input
    if center:
        half = n_fft // 2
        signal = trine.nn.functional.pad(signal.unsqueeze(1), (half, half), pad_mode).squeeze(1)
    if not 0 < n_fft <= signal.shape[1]:
        raise RuntimeError(f"stft: expected 0 < n_fft <= {signal.shape[1]}, but got n_fft={n_fft}")
    frames = signal.unfold(1, n_fft, hop)
    if window is not None or length != n_fft:
        frames = frames * _centred_window("stft", window, length, n_fft, input)
    norm = "ortho" if normalized else None
    if frames.is_complex():
        if onesided:
            raise RuntimeError("Cannot have onesided output if window or input is complex")
        spectrum = _ops.fft_fft(frames, norm=norm)
    elif onesided or onesided is None:
        spectrum = _ops.fft_rfft(frames, norm=norm)
    else:
        spectrum = _ops.fft_fft(frames, norm=norm)
    result = spectrum.transpose(1, 2)
    result = result.squeeze(0) if single else result
    return result if return_complex else _ops.view_as_real(result.contiguous())


@overridable
def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal of least squared distance to spectra `(batch, frequencies, frames)` made by `stft` with the same arguments.

    Gives `(batch, time)`, of `length` samples where that is given. RuntimeError where the squared windows do not add up to more than
    nothing everywhere, or for wrong sizes.

    >>> import trine
    >>> x = trine.arange(16.0)
    >>> window = trine.hann_window(8)
    >>> trine.allclose(trine.istft(trine.stft(x, 8, window=window, return_complex=True), 8, window=window), x, atol=1e-5)
    True
    """
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if not input.is_complex():
        raise RuntimeError("istft requires a complex-valued input tensor matching the output from stft with return_complex=True.")
    if input.dim() not in (2, 3):
        raise RuntimeError(f"istft: expected a tensor with 2 or 3 dimensions, but got {input.dim()}")
    if input.numel() == 0:
        raise RuntimeError("istft: input tensor cannot be empty")
    if not 0 < hop <= width:
        raise RuntimeError(f"istft: expected 0 < hop_length <= win_length, but got hop_length={hop}, win_length={width}")
    single = input.dim() == 2
    spectrum = (input.unsqueeze(0) if single else input).transpose(1, 2)
    half = spectrum.shape[2] != n_fft if onesided is None else onesided
    wanted = n_fft // 2 + 1 if half else n_fft
    if spectrum.shape[2] != wanted:
        raise RuntimeError(
            f"istft: expected the frequency dimension (3rd to the last) of the input tensor to match n_fft: {wanted}, but got {spectrum.shape[2]}"
        )
    weights = _centred_window("istft", window, width, n_fft, input)
    norm = "ortho" if normalized else None
    if return_complex:
        if half:
            raise RuntimeError("Cannot have onesided output if window or input is complex")
        frames = _ops.fft_ifft(spectrum, norm=norm)
    else:
        if weights.is_complex():
            raise RuntimeError("Complex windows are incompatible with return_complex=False")
        frames = _ops.fft_irfft(spectrum if half else spectrum[..., : n_fft // 2 + 1], n=n_fft, norm=norm)
    count = frames.shape[1]
    total = n_fft + hop * (count - 1)
    signal = _overlapped(frames * weights, hop, total)
    envelope = _overlapped((weights * weights).expand(1, count, n_fft), hop, total)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - n_fft // 2 if center else total
    signal, envelope = signal[:, start:end], envelope[:, start:end]
    if float(envelope.abs().min()) <= 1e-11:
        raise RuntimeError(f"istft: window overlap add min: {float(envelope.abs().min())} is too small to divide by")
    signal = signal / envelope
    if length is not None and signal.shape[1] < length:
        warnings.warn(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail.", stacklevel=2
        )
        signal = trine.nn.functional.pad(signal, (0, length - signal.shape[1]))
    return signal.squeeze(0) if single else signal


def _overlapped(frames: Tensor, hop: int, total: int) -> Tensor:
    """Frames (batch, count, n) added at distances of `hop`: (batch, total)."""
    batch, count, n = frames.shape
    place = (_ops.arange(count, device=frames.device).unsqueeze(1) * hop + _ops.arange(n, device=frames.device)).reshape(-1)
    return frames.new_zeros(batch, total).index_add(1, place, frames.reshape(batch, -1))


Tensor.stft = stft  # type: ignore[attr-defined]
Tensor.istft = istft  # type: ignore[attr-defined]
