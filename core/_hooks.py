"""Handles that take hooks off tensors and graph nodes again."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from trine import _C

__all__ = ["NodeHookHandle", "TensorHookHandle"]


class _Hook:
    """A hook that can be silenced: the tensor it was put on may be gone while the graph that calls it lives on."""

    __slots__ = ("function",)

    def __init__(self, function: Callable) -> None:
        self.function: Callable | None = function

    def __call__(self, *args: Any) -> Any:
        return None if self.function is None else self.function(*args)


class _Handle:
    def remove(self) -> None:
        """Take the hook off; a second call does nothing."""
        raise NotImplementedError

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class TensorHookHandle(_Handle):
    """Returned by ``Tensor.register_hook``: ``remove()``, or a ``with`` block's end, takes the hook off."""

    def __init__(self, tensor: _C.Tensor, function: Callable, register: Callable[[Callable], int]) -> None:
        if not callable(function):
            raise TypeError(f"register_hook: a hook must be callable, got {type(function).__name__}")
        self._hook = _Hook(function)
        self._tensor = weakref.ref(tensor)
        self.id = register(self._hook)

    def remove(self) -> None:
        self._hook.function = None
        tensor = self._tensor()
        if tensor is not None:
            tensor._remove_hook(self.id)


class NodeHookHandle(_Handle):
    """Returned by the ``register_hook`` and ``register_prehook`` of a graph node."""

    def __init__(self, function: Callable, register: Callable[[Callable], int]) -> None:
        self._hook = _Hook(function)
        self.id = register(self._hook)

    def remove(self) -> None:
        self._hook.function = None


def _register_hook(self: Any, fn: Callable) -> NodeHookHandle:
    """Calls ``fn(gradients of the inputs, gradients of the results)`` after the node ran in a backward pass.

    A tuple that it returns takes the place of the inputs' gradients.
    """
    return NodeHookHandle(fn, self._register_hook)


def _register_prehook(self: Any, fn: Callable) -> NodeHookHandle:
    """Calls ``fn(gradients of the results)`` before the node runs; a tuple that it returns takes their place."""
    return NodeHookHandle(fn, self._register_prehook)


for _kind in (_C._NodeBase, _C._FunctionBase):
    setattr(_kind, "register_hook", _register_hook)  # noqa: B010 (the stub of a native class knows no such attribute)
    setattr(_kind, "register_prehook", _register_prehook)  # noqa: B010
