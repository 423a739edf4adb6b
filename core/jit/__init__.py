"""Marks that programs put on their Python for a compiler to read, and the questions that they ask it.

Trine runs programs as the Python they are; there is no compiler yet, so ``script``, ``trace``, ``load`` and what belongs to them are
missing (AttributeError), and :func:`is_scripting` is always false. The marks are here so that marked programs run.
"""

from __future__ import annotations

import builtins
import functools
import typing
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar, overload

__all__ = [
    "Attribute",
    "Final",
    "annotate",
    "export",
    "ignore",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "script_if_tracing",
    "set_module",
    "unused",
]

F = TypeVar("F", bound=Callable)

# Containers that do not say of what.
_EXAMPLES = {
    list: ("list", "list[int]"), dict: ("dict", "dict[int, int]"), tuple: ("tuple", "tuple[int]"),
    typing.List: ("List", "List[int]"), typing.Dict: ("Dict", "Dict[int, int]"), typing.Tuple: ("Tuple", "Tuple[int]"),  # noqa: UP006
}  # fmt: skip

# How a compiler would treat a marked function.
_COPY, _UNUSED, _IGNORE, _EXPORT = "copy", "unused", "ignore", "export"


class Attribute(NamedTuple):
    """A value with the type that a compiler should take it to have: in Python the pair of both."""

    value: Any
    type: Any


def annotate(the_type: Any, the_value: Any) -> Any:
    """``the_value`` itself; ``the_type`` is for a compiler.

    >>> import trine
    >>> trine.jit.annotate(list[int], [])
    []
    """
    return the_value


def _mark(function: F, how: str) -> F:
    function._torchscript_modifier = how  # type: ignore[attr-defined]
    return function


def export(fn: F) -> F:
    """Marks a method that a compiler should compile although ``forward`` does not call it."""
    return _mark(fn, _EXPORT)


def unused(fn: F) -> F:
    """Marks a function, or the getter and setter of a property, that a compiler should replace by an exception."""
    if builtins.isinstance(fn, property):
        for part in (fn.fget, fn.fset):
            if part is not None:
                _mark(part, _UNUSED)
        return fn
    return _mark(fn, _UNUSED)


@overload
def ignore(drop: F) -> F: ...
@overload
def ignore(drop: bool = False, **kwargs: Any) -> Callable[[F], F]: ...
def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Marks a function that a compiler should leave to Python; with ``drop=True`` it should be replaced by an exception.

    Used bare (``@ignore``) or with arguments (``@ignore(drop=True)``). RuntimeError for a ``drop`` that is neither a function nor a bool.
    """
    if callable(drop):
        return _mark(drop, _IGNORE)
    if not builtins.isinstance(drop, bool):
        raise RuntimeError(f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}")
    return lambda fn: _mark(fn, _UNUSED if drop else _IGNORE)


def is_scripting() -> bool:
    """Whether the call comes from a compiled program: never.

    >>> import trine
    >>> trine.jit.is_scripting()
    False
    """
    return False


def is_tracing() -> bool:
    """Whether the call comes from a tracer: never."""
    return False


def script_if_tracing(fn: F) -> F:
    """``fn`` itself, as far as Python goes: a tracer would compile it."""

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    call.__script_if_tracing_wrapper = True  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


def set_module(obj: Any, mod: str) -> None:
    """Sets ``obj.__module__``, where ``mod`` is a string."""
    if not builtins.isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


def isinstance(obj: Any, target_type: Any) -> bool:
    """``isinstance`` that also understands ``list[int]``, ``dict[str, Tensor]``, ``tuple[...]``, ``Optional`` and ``Union``.

    Containers are looked into: every element has to fit. An empty container fits any element type.

    >>> import trine
    >>> trine.jit.isinstance([1, 2], list[int]), trine.jit.isinstance([1, "a"], list[int])
    (True, False)
    """
    if builtins.isinstance(target_type, tuple):
        return any(isinstance(obj, one) for one in target_type)
    if target_type in _EXAMPLES:
        name, example = _EXAMPLES[target_type]
        raise RuntimeError(f"Attempted to use {name} without a contained type. Please add a contained type, e.g. {example}")
    origin, parts = typing.get_origin(target_type), typing.get_args(target_type)
    if origin is None:
        return target_type is Any or builtins.isinstance(obj, target_type)
    if origin is list:
        return builtins.isinstance(obj, list) and all(isinstance(x, parts[0]) for x in obj)
    if origin is dict:
        return builtins.isinstance(obj, dict) and all(isinstance(k, parts[0]) and isinstance(v, parts[1]) for k, v in obj.items())
    if origin is tuple:
        if len(parts) == 2 and parts[1] is Ellipsis:
            return builtins.isinstance(obj, tuple) and all(isinstance(x, parts[0]) for x in obj)
        return builtins.isinstance(obj, tuple) and len(obj) == len(parts) and all(isinstance(x, p) for x, p in zip(obj, parts, strict=True))
    if origin is typing.Union or origin.__name__ == "UnionType":
        return any(obj is None if p is type(None) else isinstance(obj, p) for p in parts)
    return builtins.isinstance(obj, origin)


def __getattr__(name: str) -> Any:
    raise AttributeError(f"trine.jit.{name}: Trine has no compiler for Python programs yet; they run as they are")
