"""Less common ways to cut, count and reduce along dimensions, written over operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trine import _C, _ops

from .overrides import overridable

__all__ = [
    "as_strided_", "histogramdd", "narrow_copy", "segment_reduce", "split_with_sizes", "unravel_index", "unsafe_chunk", "unsafe_split",
    "unsafe_split_with_sizes",
]  # fmt: skip

Tensor = _C.Tensor


@overridable
def as_strided_(input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """Gives the tensor another geometry over its storage, in place. RuntimeError when a gradient is recorded."""
    if input.requires_grad and _C.is_grad_enabled():
        raise RuntimeError("as_strided_: a tensor that requires grad cannot change its geometry in place")
    view = _ops.as_strided(input, size, stride, storage_offset)
    return input.set_(view)


@overridable
def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """``narrow`` with memory of its own."""
    return _ops.narrow(input, dim, start, length).clone(memory_format=_C.contiguous_format)


@overridable
def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Views of the given sizes along ``dim``, which add up to its size."""
    return input.split(list(split_sizes), dim)


@overridable
def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """``split`` into tensors of their own, which may be changed in place while a gradient is recorded."""
    return tuple(part.clone() for part in input.split(split_size, dim))


@overridable
def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """``split_with_sizes`` into tensors of their own."""
    return tuple(part.clone() for part in input.split(list(split_sizes), dim))


@overridable
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """``chunk`` into tensors of their own."""
    return tuple(part.clone() for part in input.chunk(chunks, dim))


@overridable
def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Positions in a tensor of ``shape`` of its elements with the given numbers in row-major order: one tensor a dimension.

    >>> import trine
    >>> trine.unravel_index(trine.tensor([4, 1]), (2, 3))
    (tensor([1, 0]), tensor([1, 1]))
    """
    if indices.dtype not in (_C.int8, _C.int16, _C.int32, _C.int64, _C.uint8):
        raise ValueError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    places = []
    for n in reversed(sizes):
        places.append(indices % n)
        indices = indices // n
    return tuple(reversed(places))


def _segment_ids(lengths: Tensor, size: int) -> Tensor:
    """For each row of (rows, segments) lengths the segment that each of ``size`` elements belongs to."""
    ends = lengths.cumsum(-1)
    places = _ops.arange(size, device=lengths.device).expand(*lengths.shape[:-1], size)
    return _ops.searchsorted(ends.contiguous(), places.contiguous(), right=True)


_NAMES = {"sum": "sum", "mean": "mean", "min": "amin", "max": "amax", "prod": "prod"}
_EMPTY = {"sum": 0.0, "mean": float("nan"), "min": float("inf"), "max": float("-inf"), "prod": 1.0}


@overridable
def segment_reduce(
    data: Tensor, reduce: str, *, lengths: Tensor | None = None, indices: Tensor | None = None, offsets: Tensor | None = None,
    axis: int = 0, unsafe: bool = False, initial: float | None = None,
) -> Tensor:  # fmt: skip
    """Sums, means, minima, maxima or products ("sum", "mean", "min", "max", "prod") of segments of ``data`` along ``axis``.

    The segments are given by ``lengths`` or by ``offsets`` (where each begins, and where the last one ends), of shape
    (*data.shape[:axis], segments or segments + 1). ``initial`` starts each reduction and is the value of an empty segment; without it
    these are 0, NaN, inf, -inf and 1. ValueError for another reduction, RuntimeError for lengths that do not fit.
    """
    if reduce not in _NAMES:
        raise ValueError(f"segment_reduce: unsupported reduction {reduce!r}, use one of {', '.join(_NAMES)}")
    if data.numel() == 0 and data.dim() == 0:
        raise RuntimeError("segment_reduce: data must have at least one dimension")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if (lengths is None) == (offsets is None):
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if lengths is None:
        assert offsets is not None
        lengths = offsets.diff(dim=-1)
    axis %= data.dim()
    if lengths.dim() != axis + 1 or lengths.shape[:-1] != data.shape[:axis]:
        raise RuntimeError(
            f"segment_reduce(): Expected lengths of shape {(*data.shape[:axis], '*')} for axis {axis}, got {tuple(lengths.shape)}"
        )
    if not unsafe:
        if lengths.numel() and int(lengths.min()) < 0:
            raise RuntimeError("segment_reduce(): lengths contains negative value!")
        if offsets is None and bool((lengths.sum(-1) != data.shape[axis]).any()):
            raise RuntimeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe."
            )
    size, segments = data.shape[axis], lengths.shape[-1]
    ids = _segment_ids(lengths, size)
    ids = ids.reshape(*ids.shape, *[1] * (data.dim() - axis - 1)).expand(data.shape)
    # Elements beyond the last segment go to one more, which is cut off.
    shape = (*data.shape[:axis], segments + 1, *data.shape[axis + 1 :])
    start = _EMPTY[reduce] if initial is None else initial
    name = _NAMES[reduce]
    if reduce == "mean":
        total = _ops.scatter_reduce(_ops.full(shape, initial or 0.0, dtype=data.dtype), axis, ids, data, "sum").narrow(axis, 0, segments)
        counts = lengths.reshape(*lengths.shape, *[1] * (data.dim() - axis - 1)).to(data.dtype)
        mean = total / counts
        return mean if initial is None else _ops.where(counts == 0, _ops.full_like(mean, initial), mean)
    return _ops.scatter_reduce(_ops.full(shape, start, dtype=data.dtype), axis, ids, data, name).narrow(axis, 0, segments)


@overridable
def histogramdd(
    input: Tensor, bins: Any, *, range: Sequence[float] | None = None, weight: Tensor | None = None, density: bool = False
) -> tuple[Tensor, list[Tensor]]:
    """Numbers (or sums of ``weight`` (n,)) of the points ``input`` (n, d) in the cells of a grid of d dimensions, and its edges.

    ``bins``: how many along each dimension (one int or d), or d tensors of ascending edges. ``range``: lowest and highest edge of each
    dimension, one after another; by default the extremes of the points. ``density`` divides by the total and by the cells' volumes.
    """
    points = input.reshape(-1, input.shape[-1])
    d = points.shape[1]
    if isinstance(bins, int):
        bins = [bins] * d
    if len(bins) != d:
        raise RuntimeError(
            f"histogramdd: expected {d} sequences of bin edges or numbers of bins for a {d}-dimensional histogram but got {len(bins)}"
        )
    if range is not None and len(range) != 2 * d:
        raise RuntimeError(f"histogramdd: for a {d}-dimensional histogram range should have {2 * d} elements, but got {len(range)}")
    edges: list[Tensor] = []
    for axis, spec in enumerate(bins):
        if isinstance(spec, Tensor):
            edges.append(spec.to(points.dtype))
            continue
        if range is not None:
            low, high = range[2 * axis], range[2 * axis + 1]
        else:
            column = points[:, axis]
            low, high = (float(column.min()), float(column.max())) if column.numel() else (0.0, 1.0)
        if low == high:
            low, high = low - 0.5, high + 0.5
        edges.append(_ops.linspace(low, high, spec + 1, dtype=points.dtype))
    counts = [e.numel() - 1 for e in edges]
    flat = _ops.zeros(points.shape[0], dtype=_C.int64)
    inside = _ops.ones(points.shape[0], dtype=_C.bool)
    for axis, edge in enumerate(edges):
        column = points[:, axis].contiguous()
        place = _ops.searchsorted(edge.contiguous(), column, right=True) - 1
        place = _ops.where(column == edge[-1], place - 1, place)  # the last bin has both its edges
        inside &= (place >= 0) & (place < counts[axis])
        flat = flat * counts[axis] + place.clamp(0, max(counts[axis] - 1, 0))
    values = _ops.ones(points.shape[0], dtype=points.dtype) if weight is None else weight.reshape(-1).to(points.dtype)
    total = 1
    for n in counts:
        total *= n
    hist = _ops.zeros(total, dtype=points.dtype).index_add_(0, flat[inside], values[inside]).reshape(counts)
    if density:
        hist = hist / hist.sum()
        for axis, edge in enumerate(edges):
            shape = [1] * d
            shape[axis] = -1
            hist = hist / edge.diff().reshape(shape)
    return hist, edges
