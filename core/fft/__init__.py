"""Discrete Fourier transforms."""

from trine import _ops

globals().update(_ops.in_module("fft"))

__all__ = sorted(_ops.in_module("fft"))
