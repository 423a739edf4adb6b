"""Quasi-random numbers: Sobol' sequences with the direction numbers of Joe and Kuo."""

from ._sobol import SobolEngine

__all__ = ["SobolEngine"]
