"""Samples into batches."""

from __future__ import annotations

import collections.abc
import copy
import re
from collections.abc import Callable
from typing import Any

import trine

__all__ = ["collate", "default_collate", "default_collate_fn_map", "default_convert"]

CollateMap = "dict[Union[type, tuple[type, ...]], Callable[..., Any]]"

_TEXT_OR_OBJECTS = re.compile(r"[SaUO]")


def _is_numpy(value: Any) -> bool:
    return type(value).__module__ == "numpy" and type(value).__name__ not in ("str_", "string_", "bytes_")


def _is_namedtuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _unsupported(kind: Any) -> TypeError:
    return TypeError(f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {kind}")


def default_convert(data: Any) -> Any:
    """NumPy arrays and scalars inside ``data`` as tensors; the rest as it is. The default without batching.

    >>> import trine
    >>> trine.utils.data.default_convert([1, "a"])
    [1, 'a']
    """
    if isinstance(data, trine.Tensor):
        return data
    if _is_numpy(data):
        if type(data).__name__ == "ndarray" and _TEXT_OR_OBJECTS.search(data.dtype.str):
            return data
        return trine.as_tensor(data)
    if isinstance(data, collections.abc.Mapping):
        converted = {key: default_convert(data[key]) for key in data}
        return _like_mapping(data, converted)
    if _is_namedtuple(data):
        return type(data)(*(default_convert(item) for item in data))
    if isinstance(data, tuple):
        return [default_convert(item) for item in data]
    if isinstance(data, collections.abc.Sequence) and not isinstance(data, (str, bytes)):
        return _like_sequence(data, [default_convert(item) for item in data])
    return data


def _like_mapping(template: Any, items: dict) -> Any:
    try:
        if isinstance(template, collections.abc.MutableMapping):
            # A copy keeps what a subclass carries besides its items, a default factory for example.
            result = copy.copy(template)
            result.update(items)
            return result
        return type(template)(items)
    except TypeError:
        return items


def _like_sequence(template: Any, items: list) -> Any:
    try:
        if isinstance(template, collections.abc.MutableSequence):
            result = copy.copy(template)
            for at, item in enumerate(items):
                result[at] = item
            return result
        return type(template)(items)
    except TypeError:
        return items


def _collate_tensors(batch: list, *, collate_fn_map: Any = None) -> Any:
    return trine.stack(batch, 0)


def _collate_arrays(batch: list, *, collate_fn_map: Any = None) -> Any:
    if _TEXT_OR_OBJECTS.search(batch[0].dtype.str):
        raise _unsupported(batch[0].dtype)
    return collate([trine.as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def _collate_numpy_scalars(batch: list, *, collate_fn_map: Any = None) -> Any:
    import numpy

    return trine.as_tensor(numpy.array(batch))


def _collate_floats(batch: list, *, collate_fn_map: Any = None) -> Any:
    return trine.tensor(batch, dtype=trine.float64)


def _collate_ints(batch: list, *, collate_fn_map: Any = None) -> Any:
    return trine.tensor(batch)


def _collate_text(batch: list, *, collate_fn_map: Any = None) -> Any:
    return batch


default_collate_fn_map: dict[Any, Callable[..., Any]] = {
    trine.Tensor: _collate_tensors,
    float: _collate_floats,
    int: _collate_ints,
    str: _collate_text,
    bytes: _collate_text,
}
"""Function for each type of sample; the first entry that the sample is an instance of is used."""


def _numpy_function(sample: Any) -> Callable[..., Any] | None:
    if not _is_numpy(sample):
        return None
    if type(sample).__name__ in ("ndarray", "memmap"):
        return _collate_arrays
    return _collate_numpy_scalars if hasattr(sample, "dtype") and sample.shape == () else None


def _find_function(sample: Any, table: Any) -> Callable[..., Any] | None:
    if table is None:
        return None
    if type(sample) in table:
        return table[type(sample)]
    if table is default_collate_fn_map:
        found = _numpy_function(sample)
        if found is not None:
            return found
    for kind, function in table.items():
        if isinstance(sample, kind):
            return function
    return None


def collate(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Combine samples with the functions of ``collate_fn_map``; mappings and sequences are combined item by item."""
    sample = batch[0]
    kind = type(sample)
    function = _find_function(sample, collate_fn_map)
    if function is not None:
        return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(sample, collections.abc.Mapping):
        combined = {key: collate([d[key] for d in batch], collate_fn_map=collate_fn_map) for key in sample}
        return _like_mapping(sample, combined)
    if _is_namedtuple(sample):
        return kind(*(collate(items, collate_fn_map=collate_fn_map) for items in zip(*batch, strict=False)))
    if isinstance(sample, collections.abc.Sequence):
        length = len(sample)
        if any(len(other) != length for other in batch):
            raise RuntimeError("default_collate: each element in list of batch should be of equal size")
        columns = [collate(items, collate_fn_map=collate_fn_map) for items in zip(*batch, strict=False)]
        return columns if isinstance(sample, tuple) else _like_sequence(sample, columns)
    raise _unsupported(kind)


def default_collate(batch: Any) -> Any:
    """Samples as one batch with a new first dimension.

    Tensors are stacked; NumPy arrays and numbers become tensors (floats as float64, ints as int64); strings stay a list;
    dicts, named tuples, tuples and lists are combined item by item.

    Raises:
        TypeError: a sample of another type.
        RuntimeError: samples whose sizes differ.

    >>> import trine
    >>> batch = trine.utils.data.default_collate([{"x": 1, "name": "a"}, {"x": 2, "name": "b"}])
    >>> batch["x"].tolist(), batch["name"]
    ([1, 2], ['a', 'b'])
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
