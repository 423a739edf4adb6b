"""Transforms of whole vectors and matrices (simplices, Cholesky factors), of shapes, and of parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import trine
from trine import Size, Tensor, _ops

from . import constraints
from .transforms import Transform
from .utils import _sum_rightmost, tril_matrix_to_vec, vec_to_tril_matrix

__all__ = [
    "CatTransform", "CorrCholeskyTransform", "LowerCholeskyTransform", "PositiveDefiniteTransform", "ReshapeTransform",
    "SoftmaxTransform", "StackTransform", "StickBreakingTransform",
]  # fmt: skip


def _at_least(shape: Sequence[int], dims: int, name: str) -> None:
    if len(shape) < dims:
        raise ValueError(f"{name}: expected at least {dims} dimensions, got shape {tuple(shape)}")


class ReshapeTransform(Transform):
    """Values of shape ``in_shape`` seen in shape ``out_shape``; raises ``ValueError`` where their sizes differ."""

    bijective = True

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0) -> None:
        self.in_shape = Size(in_shape)
        self.out_shape = Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError(f"ReshapeTransform: {tuple(in_shape)} and {tuple(out_shape)} have different numbers of elements")
        super().__init__(cache_size=cache_size)

    @constraints.dependent_property
    def domain(self) -> Any:  # type: ignore[override]
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Any:  # type: ignore[override]
        return constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size: int = 1) -> ReshapeTransform:
        return self if self._cache_size == cache_size else ReshapeTransform(self.in_shape, self.out_shape, cache_size=cache_size)

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    @staticmethod
    def _replaced(shape: Sequence[int], old: Size, new: Size) -> Size:
        _at_least(shape, len(old), "ReshapeTransform")
        kept = len(shape) - len(old)
        if tuple(shape[kept:]) != tuple(old):
            raise ValueError(f"ReshapeTransform: expected a shape that ends with {tuple(old)}, got {tuple(shape)}")
        return Size((*shape[:kept], *new))

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return self._replaced(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        return self._replaced(shape, self.out_shape, self.in_shape)


class SoftmaxTransform(Transform):
    """Real vectors to points of the simplex, by the softmax. Not a bijection: vectors that differ by a number are the same point."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SoftmaxTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        weights = (x - x.max(-1, True)[0]).exp()
        return weights / weights.sum(-1, True)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Sequence[int]) -> Any:
        _at_least(shape, 1, "SoftmaxTransform")
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(Transform):
    """Real vectors of n - 1 elements to points of the simplex of n: each breaks off a share of what is left of a stick.

    A bijection; zero is the middle of the simplex (Stan reference manual, Unit simplex).
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StickBreakingTransform)

    __hash__ = Transform.__hash__

    @staticmethod
    def _shift(x: Tensor) -> Tensor:
        """log of the number of parts that are still to come after each."""
        n = x.shape[-1]
        return trine.arange(n, 0, -1, dtype=x.dtype, device=x.device).log()

    def _call(self, x: Tensor) -> Tensor:
        limits = trine.finfo(x.dtype)
        share = trine.sigmoid(x - self._shift(x)).clamp(min=limits.tiny, max=1.0 - limits.eps)
        left = (1 - share).cumprod(-1)
        return trine.nn.functional.pad(share, [0, 1], value=1) * trine.nn.functional.pad(left, [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        parts = y[..., :-1]
        left = (1 - parts.cumsum(-1)).clamp(min=trine.finfo(y.dtype).tiny)
        return parts.log() - left.log() + self._shift(parts)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - self._shift(x)
        return (-x + trine.nn.functional.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        _at_least(shape, 1, "StickBreakingTransform")
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        _at_least(shape, 1, "StickBreakingTransform")
        return Size((*shape[:-1], shape[-1] - 1))


class CorrCholeskyTransform(Transform):
    """Real vectors of n (n - 1) / 2 elements to Cholesky factors of n x n correlation matrices.

    tanh makes canonical partial correlations of them; each row is a stick of length 1 whose squares are broken off (Stan
    reference manual, Cholesky factors of correlation matrices).
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        x = trine.tanh(x)
        eps = trine.finfo(x.dtype).eps
        partial = vec_to_tril_matrix(x.clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - partial**2).sqrt().cumprod(-1)
        partial = partial + trine.eye(partial.shape[-1], dtype=partial.dtype, device=partial.device)
        return partial * trine.nn.functional.pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        # what is left of each row's stick before each element
        left = trine.nn.functional.pad((1 - (y * y).cumsum(-1))[..., :-1], [1, 0], value=1)
        partial = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (partial.log1p() - (-partial).log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor, intermediates: Any = None) -> Tensor:
        # d(row) / d(partial correlations) is the product of the square roots of what is left; log(1 - tanh(x)^2) the rest
        left = 1 - (y * y).cumsum(-1)
        stick = 0.5 * tril_matrix_to_vec(left, diag=-2).log().sum(-1)
        return stick - 2.0 * (x + trine.nn.functional.softplus(-2.0 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        _at_least(shape, 1, "CorrCholeskyTransform")
        n = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != shape[-1]:
            raise ValueError(f"CorrCholeskyTransform: {shape[-1]} is not n (n - 1) / 2 of any n")
        return Size((*shape[:-1], n, n))

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        _at_least(shape, 2, "CorrCholeskyTransform")
        if shape[-2] != shape[-1]:
            raise ValueError(f"CorrCholeskyTransform: expected square matrices, got shape {tuple(shape)}")
        return Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))


class LowerCholeskyTransform(Transform):
    """Matrices to lower triangular ones with positive diagonals: exp on the diagonal, nothing above it."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LowerCholeskyTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """Matrices to positive definite ones: L L^T of what ``LowerCholeskyTransform`` makes."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(_ops.linalg_cholesky(y))


class CatTransform(Transform):
    """Transforms for the parts that lie one after the other along ``dim``, ``lengths`` elements each (1 each by default)."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("CatTransform: expected a sequence of transforms")
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"CatTransform: {len(self.lengths)} lengths for {len(self.transforms)} transforms")
        self.dim = dim

    @property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        """How many elements the parts have together."""
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> CatTransform:
        return self if self._cache_size == cache_size else CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, value: Tensor) -> list[Tensor]:
        if not -value.dim() <= self.dim < value.dim() or value.shape[self.dim] != self.length:
            raise AssertionError(
                f"CatTransform: expected {self.length} elements along dimension {self.dim}, got shape {tuple(value.shape)}"
            )
        starts = [sum(self.lengths[:i]) for i in range(len(self.lengths))]
        return [value.narrow(self.dim, start, length) for start, length in zip(starts, self.lengths, strict=True)]

    def _call(self, x: Tensor) -> Tensor:
        return trine.cat([t(part) for t, part in zip(self.transforms, self._parts(x), strict=True)], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return trine.cat([t.inv(part) for t, part in zip(self.transforms, self._parts(y), strict=True)], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        terms = []
        for t, before, after in zip(self.transforms, self._parts(x), self._parts(y), strict=True):
            terms.append(_sum_rightmost(t.log_abs_det_jacobian(before, after), self.event_dim - t.event_dim))
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        if dim < 0:
            return trine.cat(terms, dim)  # the parts are batches
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(t.bijective for t in self.transforms)

    @constraints.dependent_property
    def domain(self) -> Any:  # type: ignore[override]
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:  # type: ignore[override]
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(Transform):
    """Transforms for the slices along ``dim``."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("StackTransform: expected a sequence of transforms")
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    def with_cache(self, cache_size: int = 1) -> StackTransform:
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _slices(self, value: Tensor) -> list[Tensor]:
        if not -value.dim() <= self.dim < value.dim() or value.shape[self.dim] != len(self.transforms):
            raise AssertionError(
                f"StackTransform: expected {len(self.transforms)} slices along dimension {self.dim}, got shape {tuple(value.shape)}"
            )
        return [value.select(self.dim, i) for i in range(value.shape[self.dim])]

    def _call(self, x: Tensor) -> Tensor:
        return trine.stack([t(part) for t, part in zip(self.transforms, self._slices(x), strict=True)], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return trine.stack([t.inv(part) for t, part in zip(self.transforms, self._slices(y), strict=True)], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        parts = zip(self.transforms, self._slices(x), self._slices(y), strict=True)
        return trine.stack([t.log_abs_det_jacobian(before, after) for t, before, after in parts], self.dim)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(t.bijective for t in self.transforms)

    @constraints.dependent_property
    def domain(self) -> Any:  # type: ignore[override]
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:  # type: ignore[override]
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
