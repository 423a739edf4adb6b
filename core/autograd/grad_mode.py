"""Switches of gradient recording: context managers that are decorators too."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from trine import _C

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]

F = TypeVar("F", bound=Callable[..., Any])
_GENERATOR = 0x20  # flags of a code object, as the inspect module documents them
_COROUTINES = 0x80 | 0x200


class _Mode:
    """A ``with`` block that also decorates functions; each call enters a fresh copy of it."""

    def copy(self) -> _Mode:
        return type(self)()

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *exc: object) -> None:
        raise NotImplementedError

    def __call__(self, function: F) -> F:
        code = getattr(function, "__code__", None)
        flags = code.co_flags if code is not None else 0
        if flags & _COROUTINES:
            raise TypeError(
                f"{type(self).__name__}: cannot decorate the coroutine {function.__qualname__}: other tasks would run in its "
                "mode; use a with block between its awaits"
            )
        if flags & _GENERATOR:
            return self._wrap_generator(function)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with self.copy():
                return function(*args, **kwargs)

        return call  # type: ignore[return-value]

    def _wrap_generator(self, function: F) -> F:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Generator:
            with self.copy():
                body = function(*args, **kwargs)
            return _drive(self, body)

        return call  # type: ignore[return-value]


def _drive(mode: _Mode, body: Generator) -> Generator:
    """Runs ``body`` in the mode, and its consumer outside of it."""
    step: Callable[[], Any] = functools.partial(next, body)
    try:
        while True:
            with mode.copy():
                value = step()
            try:
                received = yield value
            except GeneratorExit:
                with mode.copy():
                    body.close()
                raise
            except BaseException as error:
                step = functools.partial(body.throw, error)
            else:
                step = functools.partial(body.send, received)
    except StopIteration as end:
        return end.value


class _GradMode(_Mode):
    enabled: bool

    # `@no_grad` without parentheses is as good as `@no_grad()`.
    def __new__(cls, function: Callable | None = None) -> Any:
        self = super().__new__(cls)
        return self if function is None else self(function)

    def __enter__(self) -> None:
        self._previous = _C._set_grad_enabled(self.enabled)

    def __exit__(self, *exc: object) -> None:
        _C._set_grad_enabled(self._previous)


class no_grad(_GradMode):
    """Results made inside need no gradient.

    A context manager and, for functions and generators, a decorator.

    >>> import trine
    >>> x = trine.ones(1, requires_grad=True)
    >>> with trine.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    enabled = False


class enable_grad(_GradMode):
    """Records gradients again inside a :class:`no_grad` block; a context manager and decorator.

    >>> import trine
    >>> x = trine.ones(1, requires_grad=True)
    >>> with trine.no_grad(), trine.enable_grad():
    ...     y = x * 2
    >>> y.requires_grad
    True
    """

    enabled = True


class set_grad_enabled(_Mode):
    """Switches gradient recording to ``mode``: at once, for a ``with`` block, or for calls of a decorated function.

    >>> import trine
    >>> with trine.set_grad_enabled(False):
    ...     trine.is_grad_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)
        self._previous = _C._set_grad_enabled(self.mode)

    def copy(self) -> set_grad_enabled:
        return type(self)(self.mode)

    def __call__(self, function: F) -> F:
        _C._set_grad_enabled(self._previous)
        return super().__call__(function)

    def __enter__(self) -> None:
        _C._set_grad_enabled(self.mode)

    def __exit__(self, *exc: object) -> None:
        _C._set_grad_enabled(self._previous)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(mode={self.mode})"


class inference_mode(_Mode):
    """Like :class:`no_grad`, and results keep no version counter: they can never enter a recorded computation.

    ``inference_mode(False)`` leaves the mode for the time of the block. A context manager and decorator.

    >>> import trine
    >>> with trine.inference_mode():
    ...     y = trine.ones(2) * 2
    >>> y.is_inference()
    True
    """

    def __new__(cls, mode: bool | Callable = True) -> Any:
        if isinstance(mode, bool):
            return super().__new__(cls)
        return cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def copy(self) -> inference_mode:
        return type(self)(self.mode)

    def __enter__(self) -> None:
        self._token = _C._inference_mode_enter(self.mode)

    def __exit__(self, *exc: object) -> None:
        _C._inference_mode_exit(self._token)
