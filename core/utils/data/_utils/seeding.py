"""Seeds of worker processes, the same that PyTorch's workers get."""

from __future__ import annotations

import random
import sys

import trine

__all__ = ["seed_worker"]

_MASK = 0xFFFFFFFF
# Constants of the seed sequence of M. E. O'Neill ("Developing a seed_seq alternative", 2015), which NumPy uses as well.
_INIT_A, _MULT_A = 0x43B0D7E5, 0x931E8875
_INIT_B, _MULT_B = 0x8B51F9DD, 0x58F38DED
_MIX_L, _MIX_R = 0xCA01F9DD, 0x4973F715


def _hash(value: int, constant: int, multiplier: int) -> tuple[int, int]:
    value ^= constant
    constant = constant * multiplier & _MASK
    value = value * constant & _MASK
    return value ^ value >> 16, constant


def numpy_state(base_seed: int, worker_id: int) -> list[int]:
    """Four 32-bit words that depend on every bit of both numbers."""
    pool, constant = [], _INIT_A
    for word in (worker_id, base_seed & _MASK, base_seed >> 32, 0):
        mixed, constant = _hash(word, constant, _MULT_A)
        pool.append(mixed)
    for source in range(4):
        for target in range(4):
            if source != target:
                mixed, constant = _hash(pool[source], constant, _MULT_A)
                joined = (pool[target] * _MIX_L - mixed * _MIX_R) & _MASK
                pool[target] = joined ^ joined >> 16
    state, constant = [], _INIT_B
    for word in pool:
        mixed, constant = _hash(word, constant, _MULT_B)
        state.append(mixed)
    return state


def seed_worker(base_seed: int, worker_id: int) -> int:
    """Seed Python's, Trine's and (when loaded or installed) NumPy's global generators; returns the worker's seed."""
    seed = base_seed + worker_id
    random.seed(seed)
    trine.manual_seed(seed)
    if "numpy" not in sys.modules:
        try:
            import numpy  # noqa: F401  the dataset may import it later, and must find it seeded
        except ImportError:
            return seed
    sys.modules["numpy"].random.seed(numpy_state(base_seed, worker_id))
    return seed
