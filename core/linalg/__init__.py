"""Linear algebra: solutions, decompositions and norms of matrices (the last two dimensions) and batches of them."""

from trine import _ops

globals().update(_ops.in_module("linalg"))

__all__ = sorted(_ops.in_module("linalg"))
