"""Windows that weigh the samples of a signal: Bartlett, Blackman, Hamming, Hann, Kaiser."""

from __future__ import annotations

import math
from typing import Any

from trine import _C, _ops

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]

Tensor = _C.Tensor


def _places(name: str, length: int, periodic: bool, dtype: Any, device: Any) -> tuple[Tensor, int] | Tensor:
    """Numbers 0, 1, ... of the samples and that of the last one of a symmetric window; or the window itself where there is nothing to weigh."""
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    if not dtype.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    if length < 2:
        return _ops.ones(length, dtype=dtype, device=device)
    count = length + 1 if periodic else length
    return _ops.arange(length, dtype=_C.float64 if dtype is _C.float64 else _C.float32, device=device), count - 1


def _window(name: str, length: int, periodic: bool, shape: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    dtype = dtype or _C.get_default_dtype()
    places = _places(name, length, periodic, dtype, device)
    window = places if isinstance(places, Tensor) else shape(*places).to(dtype)
    return window.requires_grad_() if requires_grad else window


def _cosines(*weights: float) -> Any:
    """The window that is a sum of cosines with these weights."""

    def shape(n: Tensor, last: int) -> Tensor:
        total = _ops.full_like(n, weights[0])
        for k, weight in enumerate(weights[1:], 1):
            total += weight * (n * (2 * math.pi * k / last)).cos()
        return total

    return shape


def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A triangle from 0 over 1: shape `(window_length,)`. A `periodic` window is one sample of the next period short of symmetric.

    >>> import trine
    >>> trine.bartlett_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """

    def shape(n: Tensor, last: int) -> Tensor:
        return 1 - (2 * n / last - 1).abs()

    return _window("bartlett_window", window_length, periodic, shape, dtype, device, requires_grad)


def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """0.42 - 0.5 cos + 0.08 cos of twice the angle: shape `(window_length,)`.

    >>> import trine
    >>> trine.blackman_window(5, periodic=False).round(decimals=2).abs()
    tensor([0.0000, 0.3400, 1.0000, 0.3400, 0.0000])
    """
    return _window("blackman_window", window_length, periodic, _cosines(0.42, -0.5, 0.08), dtype, device, requires_grad)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`alpha - beta` cos: shape `(window_length,)`.

    >>> import trine
    >>> trine.hamming_window(4)
    tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """
    return _window("hamming_window", window_length, periodic, _cosines(alpha, -beta), dtype, device, requires_grad)


def hann_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """0.5 - 0.5 cos: shape `(window_length,)`.

    >>> import trine
    >>> trine.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _window("hann_window", window_length, periodic, _cosines(0.5, -0.5), dtype, device, requires_grad)


def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A ratio of Bessel functions, steeper with `beta`: shape `(window_length,)`.

    >>> import trine
    >>> trine.kaiser_window(3, periodic=False, beta=0.0)
    tensor([1., 1., 1.])
    """

    def shape(n: Tensor, last: int) -> Tensor:
        wide = n.double()
        inside = (1 - (2 * wide / last - 1) ** 2).clamp(min=0)
        return _ops.i0(beta * inside.sqrt()) / _ops.i0(_C.tensor(beta, dtype=_C.float64, device=n.device))

    return _window("kaiser_window", window_length, periodic, shape, dtype, device, requires_grad)
