"""The ``__torch_function__`` protocol: classes that answer for themselves when they are passed to Trine's functions.

A class with a method ``__torch_function__(cls, func, types, args, kwargs)`` is asked instead of the function that it was
passed to; NotImplemented hands the question to the next class. Subclasses of Tensor inherit one that calls the function and
gives results the subclass.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from trine import _C

__all__ = [
    "BaseTorchFunctionMode", "TorchFunctionMode", "get_default_nowrap_functions", "get_ignored_functions", "get_overridable_functions", "get_testing_overrides",
    "handle_torch_function", "has_torch_function", "is_tensor_like", "is_tensor_method_or_property", "resolve_name", "wrap_torch_function",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])
Tensor = _C.Tensor
_has = _C._has_torch_function
_mode_active = _C._torch_function_mode_active


def has_torch_function(relevant_args: Iterable) -> bool:
    """Whether the type of any of the arguments overrides ``__torch_function__``."""
    return _mode_active() or any(_has(a) for a in relevant_args)


def handle_torch_function(public_api: Callable, relevant_args: Iterable, *args: Any, **kwargs: Any) -> Any:
    """Asks the overriding types among ``relevant_args`` to do the work of ``public_api(*args, **kwargs)``.

    Subclasses are asked before their base classes, otherwise from left to right. TypeError when every one returns
    NotImplemented.
    """
    return _C._handle_torch_function(public_api, tuple(relevant_args), args, kwargs)


def _parts(args: Iterable) -> Iterable:
    for a in args:
        if isinstance(a, (list, tuple)):
            yield from a
        else:
            yield a


def overridable(function: F) -> F:
    """Decorates a function written in Python whose tensor arguments, also those in lists, may override it."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if _mode_active():
            return _C._handle_torch_function(call, tuple(_parts((*args, *kwargs.values()))), args, kwargs)
        relevant = [a for a in _parts((*args, *kwargs.values())) if type(a) is not Tensor and _has(a)]
        if relevant:
            return _C._handle_torch_function(call, tuple(relevant), args, kwargs)
        return function(*args, **kwargs)

    return call  # type: ignore[return-value]


def wrap_torch_function(dispatcher: Callable) -> Callable[[F], F]:
    """Makes a user's function overridable; ``dispatcher`` takes its arguments and gives those that may override it.

    >>> import trine
    >>> @trine.overrides.wrap_torch_function(lambda a: (a,))
    ... def double(a):
    ...     return a + a
    >>> double(trine.ones(1))
    tensor([2.])
    """

    def wrap(function: F) -> F:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(call, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return call  # type: ignore[return-value]

    return wrap


class TorchFunctionMode:
    """A region in which :meth:`__torch_function__` is asked about every function of Trine that the thread calls, tensors or none.

    Subclasses define ``__torch_function__(self, func, types, args=(), kwargs=None)``. What that calls goes to the mode around
    this one. Properties of tensors (``x.shape``) are read without asking.

    >>> import trine
    >>> class Log(trine.overrides.TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(func.__name__)
    ...         return func(*args, **(kwargs or {}))
    >>> with Log():
    ...     x = trine.ones(2) + 1
    ones
    add
    """

    def __torch_function__(self, func: Callable, types: Iterable[type], args: tuple = (), kwargs: dict | None = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not define __torch_function__")

    def __enter__(self) -> TorchFunctionMode:
        _C._push_torch_function_mode(self)
        return self

    def __exit__(self, *failure: object) -> None:
        _C._pop_torch_function_mode()


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing, to be derived from."""

    def __torch_function__(self, func: Callable, types: Iterable[type], args: tuple = (), kwargs: dict | None = None) -> Any:
        return func(*args, **(kwargs or {}))


def is_tensor_like(value: Any) -> bool:
    """True for tensors and for objects whose type has a ``__torch_function__``."""
    return isinstance(value, Tensor) or hasattr(type(value), "__torch_function__")


@functools.cache
def get_default_nowrap_functions() -> frozenset:
    """Properties whose result stays a plain tensor when a subclass's is read."""
    return frozenset(vars(Tensor)[name].__get__ for name in ("grad", "_base") if name in vars(Tensor))


def _as_subclass(result: Any, cls: type) -> Any:
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else result.as_subclass(cls)
    if isinstance(result, (list, tuple)):
        parts = [_as_subclass(r, cls) for r in result]
        # result tuples with names are made from one sequence, as plain tuples are
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result


def default_torch_function(cls: type, func: Callable, types: Iterable[type], args: tuple = (), kwargs: dict | None = None) -> Any:
    """What subclasses of Tensor inherit: runs ``func`` on the tensors and gives its results the subclass.

    NotImplemented when an argument's type is no base class of ``cls``.
    """
    if not all(issubclass(cls, t) for t in types):
        return NotImplemented
    enabled = _C._set_torch_function_enabled(False)
    try:
        result = func(*args, **(kwargs or {}))
    finally:
        _C._set_torch_function_enabled(enabled)
    return result if func in get_default_nowrap_functions() else _as_subclass(result, cls)


# ---- what can be overridden -------------------------------------------------------------------------------------------
def get_overridable_functions() -> dict[Any, list[Callable]]:
    """Functions that ask ``__torch_function__``, by the module or class that users reach them from.

    >>> import trine
    >>> trine.add in trine.overrides.get_overridable_functions()[trine]
    True
    """
    import trine

    owners = [trine, trine.functional, trine.nn.functional, trine.linalg, trine.fft, trine.special, Tensor]
    operators = (type(_C.ops["add"]), type(Tensor.add))
    found = {}
    for owner in owners:
        values = (v for n, v in vars(owner).items() if not n.startswith("_"))
        found[owner] = [v for v in values if isinstance(v, operators) or hasattr(v, "__wrapped__")]
    return found


_IGNORED = (
    "arange", "as_tensor", "asarray", "can_cast", "empty", "empty_strided", "eye", "from_file", "from_numpy", "frombuffer", "full",
    "get_default_dtype", "get_num_threads", "get_rng_state", "initial_seed", "is_grad_enabled", "is_storage", "is_tensor", "linspace",
    "load", "logspace", "manual_seed", "ones", "promote_types", "rand", "randint", "randn", "randperm", "range", "save", "seed",
    "set_default_dtype", "set_default_tensor_type", "set_num_threads", "set_rng_state", "tensor", "tril_indices", "triu_indices",
    "typename", "zeros",
)  # fmt: skip


@functools.cache
def get_ignored_functions() -> set[Callable]:
    """Functions that make tensors or set things, and so have no argument that could answer for them.

    >>> import trine
    >>> trine.zeros in trine.overrides.get_ignored_functions()
    True
    """
    import trine

    return {function for function in (getattr(trine, name, None) for name in _IGNORED) if callable(function)}


@functools.cache
def get_testing_overrides() -> dict[Callable, Callable]:
    """For each overridable function one that takes the same arguments and returns -1: a class can answer with these in tests.

    >>> import trine
    >>> trine.overrides.get_testing_overrides()[trine.add](trine.ones(1), 2)
    -1
    """
    import contextlib
    import inspect

    found = {}
    for functions in get_overridable_functions().values():
        for function in functions:
            if function in get_ignored_functions():
                continue

            def dummy(*args: Any, **kwargs: Any) -> int:
                return -1

            dummy.__name__ = function.__name__
            with contextlib.suppress(TypeError, ValueError):  # native methods of several forms have no one signature
                dummy.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
            found[function] = dummy
    return found


def resolve_name(function: Callable) -> str | None:
    """``"torch.add"`` for ``trine.add``; None for what is not overridable."""

    for owner, functions in get_overridable_functions().items():
        if any(f is function for f in functions):
            prefix = "Tensor" if owner is Tensor else owner.__name__.removeprefix("trine").lstrip(".")
            return ".".join(p for p in ("torch", prefix, function.__name__) if p)
    return None


def is_tensor_method_or_property(function: Callable) -> bool:
    """Whether ``function`` is a method of Tensor or the getter of one of its properties.

    >>> import trine
    >>> trine.overrides.is_tensor_method_or_property(trine.Tensor.add)
    True
    """
    if getattr(function, "__name__", None) == "__get__":
        return True
    return any(v is function for v in vars(Tensor).values())
