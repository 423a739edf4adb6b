"""Methods of Tensor that older programs call, and those about storages, streams and layouts."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from trine import _C, _ops

from . import _utilities
from ._tensor import _overridable_method, _store
from .autograd.grad_mode import no_grad

__all__: list[str] = []

Tensor = _C.Tensor


@_overridable_method
def new(self: Tensor, *args: Any, device: Any = None) -> Tensor:
    """A tensor of this one's dtype from sizes (uninitialised), a sequence, a tensor or nothing."""
    if len(args) == 1 and isinstance(args[0], Tensor):
        return args[0].to(self.dtype).detach()
    if len(args) == 1 and isinstance(args[0], (list, tuple)) and not isinstance(args[0], _C.Size):
        return _C.tensor(args[0], dtype=self.dtype, device=self.device)
    sizes = args[0] if len(args) == 1 and isinstance(args[0], _C.Size) else args or (0,)
    return _ops.empty(sizes, dtype=self.dtype, device=self.device)


@_overridable_method
def new_empty_strided(
    self: Tensor, size: Sequence[int], stride: Sequence[int], dtype: _C.dtype | None = None, device: Any = None,
    requires_grad: bool = False, layout: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """An uninitialised tensor of these sizes and strides, with this one's dtype and device unless others are given."""
    t = _ops.empty_strided(size, stride, dtype=dtype or self.dtype, device=device or self.device)
    return t.requires_grad_() if requires_grad else t


@_overridable_method
def storage_type(self: Tensor) -> type:
    """The class of the tensor's storage, such as ``FloatStorage``."""
    from .storage import TYPES

    return TYPES[self.storage().pickle_storage_type()]


@_overridable_method
def resize(self: Tensor, *sizes: Any) -> Tensor:
    """Deprecated: the tensor with other sizes and as many elements; RuntimeError for another number of elements."""
    warnings.warn("non-inplace resize is deprecated", UserWarning, stacklevel=3)
    return self.reshape(*sizes)


@_overridable_method
def resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """Deprecated: the tensor with the sizes of another."""
    warnings.warn("non-inplace resize_as is deprecated", UserWarning, stacklevel=3)
    return self.reshape(tensor.shape)


@_overridable_method
def has_names(self: Tensor) -> bool:
    """Whether any dimension has a name."""
    return any(n is not None for n in getattr(self, "names", ()))


@_overridable_method
def record_stream(self: Tensor, stream: Any) -> None:
    """Marks the tensor as used by a device's stream. Refused on the CPU (RuntimeError), which has no streams."""
    raise RuntimeError(f"record_stream: the tensor is on {self.device}, which has no streams")


@_overridable_method
def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether both tensors have one shape."""
    return _utilities.is_same_size(self, other)


@_overridable_method
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether both tensors show the same elements of one storage in the same order."""
    return (
        self.untyped_storage()._cdata == tensor.untyped_storage()._cdata
        and self.storage_offset() == tensor.storage_offset()
        and self.shape == tensor.shape
        and self.stride() == tensor.stride()
    )


@_overridable_method
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable) -> Tensor:
    """Replaces each element by ``callable(element, element of x, element of y)``; slow, for small tensors on the CPU."""
    if self.requires_grad:
        raise RuntimeError("Can't call map2_() on Variable that requires grad. Use var.detach().map2_() instead.")
    rows = (t.detach().expand(self.shape).reshape(-1).tolist() for t in (self, x, y))
    return _store(self, [callable(*v) for v in zip(*rows, strict=True)])


@_overridable_method
def __setstate__(self: Tensor, state: Any) -> None:
    """Takes what pickles of old versions hold: storage, offset, sizes, strides and whether gradients are required."""
    if not self.is_leaf:
        raise RuntimeError("__setstate__() can be only called on leaf Tensors")
    if len(state) == 4:
        self.set_(*state)
        return
    if len(state) == 5:
        with no_grad():
            self.set_(state[0], state[3], state[1], state[2])
        state = (state[4], None, None)
    self.requires_grad_(state[0])


@_overridable_method
def __ilshift__(self: Tensor, other: Any) -> Tensor:
    return self.copy_(self << other)


@_overridable_method
def __irshift__(self: Tensor, other: Any) -> Tensor:
    return self.copy_(self >> other)


def _unsupported(name: str, error: type[Exception], needs: str) -> None:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        raise error(f"{name}: needs {needs}, got a {str(self.layout).rpartition('.')[2]} tensor of {self.dtype}")

    method.__name__ = name
    method.__doc__ = f"Needs {needs}; {error.__name__} for other tensors."
    _overridable_method(method)


for _name in ("q_scale", "q_zero_point", "q_per_channel_scales", "q_per_channel_zero_points", "q_per_channel_axis", "qscheme", "int_repr"):
    if not hasattr(Tensor, _name):
        _unsupported(_name, NotImplementedError, "a quantised tensor")
for _name in ("indices", "values"):
    if not hasattr(Tensor, _name):
        _unsupported(_name, RuntimeError, "a sparse tensor")


def _cuda_array_interface(self: Tensor) -> Any:
    raise AttributeError(
        f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {self.type()}. Use tensor.cuda() to copy it to a device."
    )


Tensor.__cuda_array_interface__ = property(_cuda_array_interface, doc="AttributeError: the tensor is in no CUDA device's memory.")
Tensor.__div__, Tensor.__rdiv__, Tensor.__idiv__ = Tensor.__truediv__, Tensor.__rtruediv__, Tensor.__itruediv__
Tensor.__long__, Tensor.__nonzero__ = Tensor.__int__, Tensor.__bool__
if not hasattr(Tensor, "is_sparse_csr"):
    Tensor.is_sparse_csr = property(lambda self: False, doc="False: the tensor is not in compressed rows.")


def __array_namespace__(self: Tensor, *, api_version: str | None = None) -> Any:
    """The array API standard's namespace for tensors; ValueError for a version that it does not follow."""
    if api_version not in (None, "2021.12", "2022.12", "2023.12"):
        raise ValueError(f"__array_namespace__: version {api_version!r} of the array API is not supported")
    from . import _array_api

    return _array_api


Tensor.__array_namespace__ = __array_namespace__
if not hasattr(Tensor, "to_device"):

    def to_device(self: Tensor, device: Any, /, *, stream: Any = None) -> Tensor:
        """The tensor on ``device``, by the array API standard's name."""
        return self.to(device)

    Tensor.to_device = to_device


@_overridable_method
def polygamma(self: Tensor, n: int) -> Tensor:
    """The n-th derivative of the digamma function of each element."""
    return _ops.polygamma(n, self)


@_overridable_method
def polygamma_(self: Tensor, n: int) -> Tensor:
    """``polygamma`` in place."""
    return self.copy_(_ops.polygamma(n, self))


def _lazy_method(module: str, name: str) -> Callable:
    """A method whose function loads with its first call."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return getattr(importlib.import_module(f"trine.{module}"), name)(self, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = f"See ``trine.{name}``."
    return method


for _module, _names in {
    "_linear_algebra": ("eig", "lstsq", "lu", "solve", "symeig"),
    "_shapes": ("as_strided_", "narrow_copy", "split_with_sizes", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes"),
    "nn.functional": ("prelu",),
}.items():
    for _name in _names:
        _overridable_method(_lazy_method(_module, _name))

for _name in ("swapaxes_", "swapdims_"):
    setattr(Tensor, _name, Tensor.transpose_)
