"""Modules that hold parameters by position or by name."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any

import trine

from ..parameter import Parameter, is_parameter
from .module import Module, typename


def position_from_front(position: Any, length: int) -> int:
    """A position counted from the front; IndexError when outside."""
    position = operator.index(position)
    if not -length <= position < length:
        raise IndexError(f"index {position} is out of range")
    return position % length


def as_pairs(items: Any, owner: str, element: str) -> list[tuple[str, Any]]:
    if not isinstance(items, Container) or not isinstance(items, Iterable):
        raise TypeError(f"{owner}.update should be called with an iterable of key/value pairs, but got {type(items).__name__}")
    if isinstance(items, (Mapping, Module)):
        return list(items.items())
    result = []
    for i, pair in enumerate(items):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{element} #{i} should be Iterable; is {type(pair).__name__}")
        pair = tuple(pair)
        if len(pair) != 2:
            raise ValueError(f"{element} #{i} has length {len(pair)}; 2 is required")
        result.append(pair)
    return result


def _describe(value: Any, kind_of: Callable[[Any], object]) -> str:
    """One line about an entry; `kind_of` names the type of a tensor."""
    if isinstance(value, trine.Tensor):
        size = "x".join(str(s) for s in value.size())
        device = "" if value.device.type == "cpu" else f" ({value.device})"
        kind = "Parameter" if is_parameter(value) else "Tensor"
        return f"{kind} containing: [{kind_of(value)} of size {size}{device}]"
    return f"Object of type: {type(value).__name__}"


class ParameterList(Module):
    """A list of parameters; tensors put into it become parameters, other values are kept as they are.

    >>> import trine
    >>> weights = trine.nn.ParameterList([trine.zeros(2), trine.zeros(3)])
    >>> [tuple(w.shape) for w in weights]
    [(2,), (3,)]
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            result = type(self)()
            for i in range(*index.indices(len(self))):
                result.append(self[i])
            return result
        return getattr(self, str(position_from_front(index, len(self))))

    def __setitem__(self, index: int, value: Any) -> None:
        name = str(position_from_front(index, len(self)))
        if isinstance(value, trine.Tensor) and not is_parameter(value):
            value = Parameter(value)
        setattr(self, name, value)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter(self[i] for i in range(len(self)))

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: Any) -> ParameterList:
        """Add `value` at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add every value of an iterable at the end."""
        # A tensor is iterable too, but extending by its rows is a mistake.
        if not isinstance(values, Iterable) or isinstance(values, trine.Tensor):
            raise TypeError("ParameterList.extend should be called with an iterable, but got " + type(values).__name__)
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(f"  ({i}): {_describe(value, lambda t: t.dtype)}" for i, value in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Parameters by name; tensors put into it become parameters, other values are kept as they are.

    >>> import trine
    >>> d = trine.nn.ParameterDict({"left": trine.zeros(2)})
    >>> "left" in d, len(d)
    (True, 1)
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    @staticmethod
    def _attribute(key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(
                f"Index given to ParameterDict cannot be used as a key as it is not a string (type is '{type(key).__name__}'). "
                "Open an issue on github if you need non-string keys."
            )
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._attribute(key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        name = self._attribute(key)
        if isinstance(value, trine.Tensor) and not is_parameter(value):
            value = Parameter(value)
        setattr(self, name, value)

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._attribute(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """A new dict with the same parameter objects."""
        return ParameterDict([(key, self[key]) for key in self._keys])

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value at `key`; puts `default` there first when the key is new."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Remove everything."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Remove and return the value at `key`."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove and return the last `(key, value)` pair."""
        key, _ = self._keys.popitem()
        # The key is restored so that `del` finds it.
        self._keys[key] = None
        value = self[key]
        del self[key]
        return key, value

    def get(self, key: str, default: Any = None) -> Any:
        """The value at `key`, or `default`."""
        if key not in self:
            return default
        return self[key]

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A new dict with the given keys, each holding `default`."""
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """`(name, value)` pairs."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """The values."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Add or replace from a mapping or from `(name, value)` pairs."""
        pairs = list(parameters) if isinstance(parameters, Iterator) else parameters
        items = as_pairs(pairs, "ParametersDict", "ParameterDict update sequence element")
        # PyTorch orders the entries of a plain dict by name; ordered kinds keep their own order.
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            items.sort(key=lambda item: item[0])
        for key, value in items:
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(f"  ({key}): {_describe(value, typename)}" for key, value in self.items())

    def __call__(self, input: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other: ParameterDict) -> ParameterDict:
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        result = other.copy()
        result.update(self)
        return result

    def __ior__(self, other: ParameterDict) -> ParameterDict:
        self.update(other)
        return self
