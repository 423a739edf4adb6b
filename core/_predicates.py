"""Small questions about values."""

from __future__ import annotations

from typing import Any

from trine import _C, _ops

from .overrides import overridable

__all__ = [
    "allclose", "equal", "is_complex", "is_floating_point", "is_nonzero", "is_storage", "is_tensor", "isclose", "numel", "typename",
]  # fmt: skip

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
    """Number of elements. TypeError for what is not a tensor."""
    if not isinstance(input, Tensor):
        raise TypeError(f"numel(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    return input.numel()


@overridable
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Whether elements agree within ``atol + rtol * |other|``: a bool tensor of the common shape.

    Infinities agree with themselves, NaN with NaN only if ``equal_nan``. RuntimeError for two dtypes or negative tolerances.

    >>> import trine
    >>> trine.isclose(trine.tensor([1.0, 2.0]), trine.tensor([1.0, 2.1]))
    tensor([ True, False])
    """
    if input.dtype != other.dtype:
        raise RuntimeError(f"isclose: the dtypes differ: {input.dtype} and {other.dtype}")
    if rtol < 0 or atol < 0:
        raise RuntimeError(f"isclose: rtol and atol must not be negative, got {rtol} and {atol}")
    close = _ops.eq(input, other)
    if equal_nan and (input.dtype.is_floating_point or input.dtype.is_complex):
        close = close | (_ops.isnan(input) & _ops.isnan(other))
    if rtol == 0 and atol == 0:
        return close
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        input, other = input.to(_C.float64), other.to(_C.float64)
    distance = _ops.abs(input - other)
    return close | (_ops.isfinite(distance) & _ops.le(distance, atol + _ops.abs(rtol * other)))


@overridable
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements agree as :func:`isclose` says."""
    return bool(_ops.all(isclose(input, other, rtol, atol, equal_nan)).item())


@overridable
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and the same elements.

    >>> import trine
    >>> trine.equal(trine.tensor([1, 2]), trine.tensor([1, 2]))
    True
    """
    return input.shape == other.shape and bool(_ops.all(_ops.eq(input, other)).item())


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
