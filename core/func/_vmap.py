"""vmap: a function of one element becomes a function of a batch, its loop pushed into the operators."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

from trine import _C, _ops

from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten

__all__ = ["hide", "show", "vmap"]

Tensor = _C.Tensor
_next_level = itertools.count(1)
_RANDOMNESS = {"error": 0, "different": 1, "same": 2}


def hide(t: Tensor, dim: int, level: int) -> Tensor:
    """The tensor with the dimension hidden behind a level."""
    return _ops._add_batch_dim(t, dim, level)


def show(t: Tensor, dim: int, level: int, size: int) -> Tensor:
    """The tensor with the level as a dimension again; repeated ``size`` times where it does not have it."""
    if level in _C._batch_levels(t):
        return _ops._remove_batch_dim(t, level, dim)
    dim = dim + t.dim() + 1 if dim < 0 else dim
    return t.unsqueeze(dim).expand(*t.shape[:dim], size, *t.shape[dim:])


def _name(func: Callable) -> str:
    return getattr(func, "__name__", repr(func))


def _flat_in_dims(func: Callable, in_dims: Any, args: tuple) -> tuple[list, Any, list]:
    """Leaves of the arguments, their structure, and the dimension of each leaf that is mapped over (None: none)."""
    if not isinstance(in_dims, (int, list, tuple)):
        raise ValueError(
            f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) tuple matching "
            f"the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function with "
            "no inputs. The latter is unsupported."
        )
    leaves, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(tuple(in_dims) if isinstance(in_dims, list) else in_dims, spec)
    if dims is None:
        raise ValueError(
            f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of `inputs`. in_dims has "
            f"structure {tree_flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    for i, (leaf, dim) in enumerate(zip(leaves, dims, strict=True)):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise ValueError(
                f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for an input but in_dim must be either an integer "
                "dimension or None."
            )
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for an input but the input is of type "
                f"{type(leaf)}. We cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
            )
        if not -leaf.dim() <= dim < leaf.dim():
            raise ValueError(
                f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for some input, but that input is a Tensor of "
                f"dimensionality {leaf.dim()} so expected in_dim to satisfy -{leaf.dim()} <= in_dim < {leaf.dim()}."
            )
        dims[i] = dim % leaf.dim()
    return leaves, spec, dims


def _batch_size(func: Callable, in_dims: Any, leaves: list, dims: list) -> int:
    sizes = [leaf.shape[dim] for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError(
            f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): at least one Tensor input must be mapped over, or else what would be "
            "the size of the batch?"
        )
    if any(n != sizes[0] for n in sizes):
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped dimension"
        )
    return sizes[0]


def _run(func: Callable, leaves: list, spec: Any, dims: list, size: int, out_dims: Any, randomness: str, kwargs: dict) -> Any:
    level = next(_next_level)
    hidden = [leaf if dim is None else hide(leaf, dim, level) for leaf, dim in zip(leaves, dims, strict=True)]
    _C._enter_vmap(level, size, _RANDOMNESS[randomness])
    try:
        result = func(*tree_unflatten(hidden, spec), **kwargs)
    finally:
        _C._leave_vmap()
    outs, out_spec = tree_flatten(result)
    for out in outs:
        if not isinstance(out, Tensor):
            raise ValueError(
                f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type {type(out)}. Did you mean to set out_dims= "
                "to None for output?"
            )
    places = _broadcast_to_and_flatten(tuple(out_dims) if isinstance(out_dims, list) else out_dims, out_spec)
    if places is None and isinstance(out_dims, tuple) and len(out_dims) == 1 and out_spec.is_leaf():
        places = [out_dims[0]]
    if places is None:
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of `outputs`. out_dims "
            f"has structure {tree_flatten(out_dims)[1]} but outputs has structure {out_spec}."
        )
    shown = []
    for out, dim in zip(outs, places, strict=True):
        if dim is None:
            if level in _C._batch_levels(out):
                raise ValueError(f"vmap({_name(func)}, ...): `{_name(func)}` can not return a BatchedTensor when out_dim is None")
            shown.append(out)
            continue
        if not isinstance(dim, int):
            raise ValueError(f"vmap({_name(func)}, ..., out_dims={out_dims}): out_dims must be ints or None, got {dim}")
        if not -out.dim() - 1 <= dim <= out.dim():
            raise IndexError(f"Dimension out of range (expected to be in range of [{-out.dim() - 1}, {out.dim()}], but got {dim})")
        shown.append(show(out, dim, level, size))
    return tree_unflatten(shown, out_spec)


def vmap(func: Callable, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: int | None = None) -> Callable:
    """The function over batches: ``func`` sees one element, its operators compute all.

    ``in_dims`` says for each argument (or leaf of a nested one) which dimension is the batch, None for those all elements share;
    ``out_dims`` where the batch stands in the results. ``randomness``: "error" refuses random operators, "different" draws for each
    element, "same" once for all. ``chunk_size`` computes that many elements at a time. What each element decides by its values (``if
    x > 0``, ``x.item()``) is not possible inside. ValueError for dimensions that do not fit.

    >>> import trine
    >>> dot = trine.func.vmap(trine.dot)
    >>> dot(trine.ones(3, 4), trine.ones(3, 4))
    tensor([4., 4., 4.])
    """
    if randomness not in _RANDOMNESS:
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        leaves, spec, dims = _flat_in_dims(func, in_dims, args)
        size = _batch_size(func, in_dims, leaves, dims)
        if chunk_size is None or chunk_size >= size:
            return _run(func, leaves, spec, dims, size, out_dims, randomness, kwargs)
        parts = []
        for start in range(0, size, chunk_size):
            length = min(chunk_size, size - start)
            some = [leaf if dim is None else leaf.narrow(dim, start, length) for leaf, dim in zip(leaves, dims, strict=True)]
            parts.append(_run(func, some, spec, dims, length, out_dims, randomness, kwargs))
        flat = [tree_flatten(part)[0] for part in parts]
        out_spec = tree_flatten(parts[0])[1]
        places = _broadcast_to_and_flatten(tuple(out_dims) if isinstance(out_dims, list) else out_dims, out_spec)
        assert places is not None
        joined = [
            chunks[0] if dim is None else _ops.cat(list(chunks), dim) for chunks, dim in zip(zip(*flat, strict=True), places, strict=True)
        ]
        return tree_unflatten(joined, out_spec)

    return call
