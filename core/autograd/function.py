"""Operations whose backward pass the user writes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from trine import _C

from .grad_mode import enable_grad, no_grad

__all__ = ["Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]

Tensor = _C.Tensor


class Function(_C._FunctionBase):
    """Base class of operations with a hand-written gradient; call them by ``MyFunction.apply(...)``.

    ``forward(ctx, *args)`` computes; ``backward(ctx, *grads)`` takes one gradient per result (each of the result's shape)
    and gives one per argument of ``forward``, None for those that take none. What ``backward`` needs is kept by
    ``ctx.save_for_backward(tensors...)`` and comes back as ``ctx.saved_tensors``. Instead, ``forward(*args)`` and
    ``setup_context(ctx, inputs, output)`` may be two functions. ``jvp(ctx, *tangents)`` is the forward-mode rule.

    >>> import trine
    >>> class Double(trine.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         return grad * 2
    >>> x = trine.ones(2, requires_grad=True)
    >>> Double.apply(x).sum().backward()
    >>> x.grad
    tensor([2., 2.])
    """

    _backward_cls: type  # of the `ctx` objects, which are the graph's nodes and carry its name

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._backward_cls = type(f"{cls.__name__}Backward", (_C._FunctionBase,), {"__module__": cls.__module__, "_forward_cls": cls})
        if "vjp" in vars(cls) and "backward" not in vars(cls):
            setattr(cls, "backward", staticmethod(cls.vjp))  # noqa: B010 (a method, to type checkers)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            f"{type(self).__name__}: an autograd Function is not instantiated; call {type(self).__name__}.apply(...) and write "
            "forward and backward as static methods"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Computes the results; to be written by the subclass."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
        """Keeps in ``ctx`` what the backward pass needs, when ``forward`` takes no ``ctx`` itself."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Gives one gradient per argument of ``forward``; to be written by the subclass."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Gives one tangent per result from one per argument of ``forward``; to be written by the subclass."""
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function to use it with forward mode AD.")


# `apply` asks for it to tell the two forms of `forward` apart.
setattr(Function.setup_context, "_is_default", True)  # noqa: B010 (a function, to type checkers)
FunctionCtx = _C._FunctionBase


class _OnlyOnce(Function):
    """Passes tensors on and refuses to be differentiated."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> tuple:
        return tuple(t.detach() for t in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


def once_differentiable(backward: Callable) -> Callable:
    """Decorates a ``backward`` whose own gradient would be wrong: differentiating it is an error instead.

    >>> import trine
    >>> from trine.autograd.function import once_differentiable
    >>> class Exp(trine.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         y = x.exp()
    ...         ctx.save_for_backward(y)
    ...         return y
    ...
    ...     @staticmethod
    ...     @once_differentiable
    ...     def backward(ctx, grad):
    ...         return grad * ctx.saved_tensors[0]
    >>> x = trine.zeros(1, requires_grad=True)
    >>> trine.autograd.grad(Exp.apply(x), x)
    (tensor([1.]),)
    """

    @functools.wraps(backward)
    def call(ctx: Any, *grads: Any) -> Any:
        with no_grad():
            outputs = backward(ctx, *grads)
        recording = _C.is_grad_enabled() and any(isinstance(g, Tensor) and g.requires_grad for g in grads)
        if not recording:
            return outputs
        single = not isinstance(outputs, tuple)
        parts = (outputs,) if single else outputs
        with enable_grad():
            tensors = [p.detach().requires_grad_() for p in parts if p is not None]
            guarded = _OnlyOnce.apply(*tensors)
        rest = iter(guarded if isinstance(guarded, tuple) else (guarded,))
        result = tuple(None if p is None else next(rest) for p in parts)
        return result[0] if single else result

    return call


class InplaceFunction(Function):
    """A function that may work in place: subclasses read ``inplace``. Kept for older programs; ``mark_dirty`` does the work."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
