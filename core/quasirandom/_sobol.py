"""The Sobol' sequence in Gray code order, scrambled by random lower triangular matrices and digital shifts.

S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better two-dimensional projections" (2008), gives the numbers;
J. Matousek, "On the L2-discrepancy for anchored boxes" (1998), the scrambling.
"""

from __future__ import annotations

import functools
import lzma
from importlib import resources
from typing import Any

import trine
from trine import _C

__all__ = ["SobolEngine"]

_BITS = 30
_MAX_DIM = 21201


@functools.cache
def _table() -> Any:
    """Columns of the table: the polynomials, then 18 columns of direction numbers; int64 of shape (19, 21201)."""
    import numpy as np

    planes = np.frombuffer(lzma.decompress(resources.files(__package__).joinpath("joe_kuo.xz").read_bytes()), np.uint8)
    return np.ascontiguousarray(planes.reshape(4, -1).T).view("<u4").reshape(19, _MAX_DIM).astype(np.int64)


def _directions(dimension: int) -> Any:
    """Direction numbers, int64 of shape (dimension, 30): row d's bit j is worth ``v[d, j] / 2**30``."""
    import numpy as np

    table = _table()
    polynomial, v = table[0, :dimension], np.zeros((dimension, _BITS), np.int64)
    v[:, :18] = table[1:, :dimension].T
    degree = np.array([int(p).bit_length() - 1 for p in polynomial])
    for m in np.unique(degree):
        rows = np.flatnonzero(degree == m)
        if m == 0:
            v[rows] = 1
            continue
        p = polynomial[rows]
        for j in range(m, _BITS):
            new = v[rows, j - m].copy()
            for k in range(m):
                new ^= (((p >> (m - 1 - k)) & 1) * v[rows, j - k - 1]) << (k + 1)
            v[rows, j] = new
    return v << np.arange(_BITS - 1, -1, -1)


def _scrambled(v: Any, matrices: Any) -> Any:
    """Each row's numbers times its lower triangular bit matrix, over GF(2)."""
    import numpy as np

    bits = (v[:, :, None] >> np.arange(_BITS - 1, -1, -1)) & 1  # (dimension, number, bit)
    matrices[:, np.arange(_BITS), np.arange(_BITS)] = 1
    product = np.einsum("djk,dpk->djp", bits, matrices) & 1
    return (product << np.arange(_BITS - 1, -1, -1)).sum(-1)


class SobolEngine:
    """Points of a Sobol' sequence in ``[0, 1)**dimension``, the same as PyTorch's.

    Args: ``dimension`` from 1 to 21201 (ValueError outside); ``scramble`` randomises them, by ``seed`` or the default generator.

    >>> import trine
    >>> trine.quasirandom.SobolEngine(dimension=2).draw(3)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.5000],
            [0.7500, 0.2500]])
    """

    MAXBIT = _BITS
    MAXDIM = _MAX_DIM

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= _MAX_DIM:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {_MAX_DIM}]")
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        v = _directions(dimension)
        if scramble:
            generator = None
            if seed is not None:
                generator = _C.Generator()
                generator.manual_seed(seed)
            shift = trine.randint(2, (dimension, _BITS), generator=generator)
            self.shift = (shift * (2 ** trine.arange(_BITS))).sum(-1)
            matrices = trine.randint(2, (dimension, _BITS, _BITS), generator=generator).tril()
            v = _scrambled(v, matrices.numpy().copy())
        else:
            self.shift = trine.zeros(dimension, dtype=trine.int64)
        self.sobolstate = trine.from_numpy(v)
        self.reset()

    def reset(self) -> SobolEngine:
        """Goes back to the first point."""
        self.quasi = self.shift.clone()
        self.num_generated = 0
        return self

    def _advance(self, n: int) -> Any:
        """The integers of the next n points after ``quasi``, shape (n, dimension)."""
        import numpy as np

        counts = np.arange(self.num_generated, self.num_generated + n)
        lowest_zero = np.log2(~counts & (counts + 1)).astype(np.int64)
        steps = self.sobolstate.numpy()[:, lowest_zero].T
        points = np.bitwise_xor.accumulate(np.concatenate([self.quasi.numpy()[None], steps]), axis=0)[1:]
        if n:
            self.quasi = trine.from_numpy(points[-1].copy())
        self.num_generated += n
        return points

    def draw(self, n: int = 1, out: _C.Tensor | None = None, dtype: _C.dtype | None = None) -> _C.Tensor:
        """The next ``n`` points, shape ``(n, dimension)``, of ``dtype`` (the default dtype)."""
        import numpy as np

        dtype = dtype or _C.get_default_dtype()
        points = np.concatenate([self.quasi.numpy()[None], self._advance(n)[:-1]]) if n else self._advance(0)
        result = trine.from_numpy(points.astype(np.float64) * 2.0**-_BITS).to(dtype)
        if out is None:
            return result
        out.resize_(result.shape).copy_(result)
        return out

    def draw_base2(self, m: int, out: _C.Tensor | None = None, dtype: _C.dtype | None = None) -> _C.Tensor:
        """The next ``2**m`` points; ValueError when the number drawn in all would not be a power of two."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                f"draw_base2: Sobol' points are balanced in powers of 2; {self.num_generated} points drawn before and {n} now make {total}. "
                "Use SobolEngine.draw() to draw them all the same."
            )
        return self.draw(n, out=out, dtype=dtype)

    def fast_forward(self, n: int) -> SobolEngine:
        """Leaves out the next ``n`` points."""
        self._advance(n)
        return self

    def __repr__(self) -> str:
        parts = [f"dimension={self.dimension}"]
        if self.scramble:
            parts.append("scramble=True")
        if self.seed is not None:
            parts.append(f"seed={self.seed}")
        return f"SobolEngine({', '.join(parts)})"
