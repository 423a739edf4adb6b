"""Linear algebra: solutions, decompositions and norms of matrices (the last two dimensions) and batches of them."""

from trine import _C, _ops

globals().update(_ops.in_module("linalg"))

LinAlgError = _C._LinAlgError

__all__ = sorted([*_ops.in_module("linalg"), "LinAlgError"])
