"""Small questions about values."""

from __future__ import annotations

from typing import Any

from trine import _C

__all__ = ["is_complex", "is_floating_point", "is_nonzero", "is_storage", "is_tensor", "numel", "typename"]

Tensor = _C.Tensor


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a Tensor."""
    return isinstance(obj, Tensor)


def is_storage(obj: Any) -> bool:
    """Whether ``obj`` is a storage."""
    return isinstance(obj, _C.UntypedStorage)


def is_floating_point(input: Tensor) -> bool:
    """Whether the tensor's dtype is a real floating one."""
    return input.dtype.is_floating_point


def is_complex(input: Tensor) -> bool:
    """Whether the tensor's dtype is complex."""
    return input.dtype.is_complex


def is_nonzero(input: Tensor) -> bool:
    """Whether the one element of the tensor is not zero; RuntimeError for other sizes.

    >>> import trine
    >>> trine.is_nonzero(trine.tensor([0.0]))
    False
    """
    if input.numel() != 1:
        raise RuntimeError(f"is_nonzero: needs a tensor of one element, got the shape {tuple(input.shape)}")
    return input.item() != 0


def numel(input: Tensor) -> int:
    """Number of elements."""
    return input.numel()


def typename(obj: Any) -> str:
    """A type's name with its module; of a tensor, the name of its kind.

    >>> import trine
    >>> trine.typename(trine.ones(1))
    'torch.FloatTensor'
    """
    if isinstance(obj, Tensor):
        return obj.type()
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    module = named.__module__ or ""
    return named.__qualname__ if module in ("builtins", "__builtin__", "") else f"{module}.{named.__qualname__}"
