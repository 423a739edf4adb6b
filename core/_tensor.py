"""The methods of Tensor that are written in Python; the operators and the rest come from ``trine._C``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from trine import _C, _ops

from . import _predicates
from . import functional as _functional
from ._hooks import TensorHookHandle
from ._utils import _rebuild_from_type, _rebuild_meta_tensor, _rebuild_tensor
from .autograd._run import backward as _run_backward
from .autograd.grad_mode import no_grad
from .overrides import default_torch_function

__all__ = ["Tensor"]

Tensor = _C.Tensor


def _method(function: Callable) -> Callable:
    """Installs a function as a method of Tensor under its own name."""
    function.__qualname__ = f"Tensor.{function.__name__}"
    setattr(Tensor, function.__name__, function)
    return function


def _overridable_method(function: Callable) -> Callable:
    """The same for a method that subclasses may override by ``__torch_function__``."""

    @functools.wraps(function)
    def call(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        if type(self) is not Tensor and _C._has_torch_function(self):
            return _C._handle_torch_function(call, (self,), (self, *args), kwargs)
        return function(self, *args, **kwargs)

    return _method(call)


# ---- gradients ------------------------------------------------------------------------------------------------------
@_overridable_method
def backward(
    self: Tensor, gradient: Tensor | None = None, retain_graph: bool | None = None, create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:  # fmt: skip
    """Adds the gradient of this tensor to ``.grad`` of the leaves it was computed from.

    ``gradient`` has the tensor's shape and may be left out for a real scalar; see :func:`trine.autograd.backward`.

    >>> import trine
    >>> x = trine.tensor(3.0, requires_grad=True)
    >>> (x * x).backward()
    >>> x.grad
    tensor(6.)
    """
    _run_backward(self, gradient, retain_graph, create_graph, inputs=inputs)


@_overridable_method
def register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> TensorHookHandle:
    """Calls ``hook(gradient)`` whenever the gradient of this tensor has been computed; returns a handle with ``remove()``.

    A tensor that the hook returns takes the gradient's place. RuntimeError for tensors that require no gradient.

    >>> import trine
    >>> x = trine.ones(1, requires_grad=True)
    >>> handle = x.register_hook(lambda g: g * 10)
    >>> x.sum().backward()
    >>> x.grad
    tensor([10.])
    """
    return TensorHookHandle(self, hook, self._register_hook)


@_overridable_method
def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> TensorHookHandle:
    """Calls ``hook(tensor)`` after a backward pass has added to the ``.grad`` of this leaf; returns a handle.

    >>> import trine
    >>> x = trine.ones(1, requires_grad=True)
    >>> handle = x.register_post_accumulate_grad_hook(lambda t: print(t.grad))
    >>> x.sum().backward()
    tensor([1.])
    """
    return TensorHookHandle(self, hook, self._register_post_accumulate_grad_hook)


# ---- text -----------------------------------------------------------------------------------------------------------
@_method
def __repr__(self: Tensor, *, tensor_contents: str | None = None) -> str:
    if _C._has_torch_function(self):
        return _C._handle_torch_function(__repr__, (self,), (self,), {})
    from ._tensor_str import tensor_text

    return tensor_text(self)


@_method
def __format__(self: Tensor, format_spec: str) -> str:
    if self.dim() == 0 and not self.is_meta and type(self) is Tensor:
        return self.item().__format__(format_spec)
    return object.__format__(self, format_spec)


@_method
def __dir__(self: Tensor) -> list[str]:
    return sorted({*dir(type(self)), *vars(self)})


# ---- copies and files -----------------------------------------------------------------------------------------------
def _copy_attributes(source: Tensor, target: Tensor, memo: dict) -> None:
    import copy

    if source.grad is not None:
        target.grad = copy.deepcopy(source.grad, memo)
    for name, value in vars(source).items():
        setattr(target, name, copy.deepcopy(value, memo))


@_overridable_method
def __deepcopy__(self: Tensor, memo: dict) -> Tensor:
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
            f"This one comes from {self.grad_fn.name()}: use .detach() or .clone() to say what is meant."
        )
    if id(self) in memo:
        return memo[id(self)]
    with no_grad():
        if self.is_meta:
            result = _ops.empty_strided(self.size(), self.stride(), dtype=self.dtype, device="meta")
        elif self.is_conj() or self.is_neg():
            result = self.detach().clone()
        else:
            # Tensors that shared a storage share the copied one.
            storage = self.untyped_storage()
            key = ("trine storage", storage._cdata)
            if key not in memo:
                memo[key] = storage.clone()
            result = _ops.empty((0,), dtype=self.dtype, device=self.device)
            result.set_(memo[key], self.storage_offset(), self.size(), self.stride())
    if type(self) is not Tensor:
        result = result.as_subclass(type(self))
    result.requires_grad_(self.requires_grad)
    memo[id(self)] = result
    _copy_attributes(self, result, memo)
    return result


@_method
def __reduce_ex__(self: Tensor, protocol: int) -> tuple:
    state = dict(vars(self))
    if type(self) is Tensor and not state:
        return _reduce(self, protocol)
    function, arguments = _reduce(self, protocol)
    return _rebuild_from_type, (function, type(self), arguments, state)


def _reduce(t: Tensor, protocol: int) -> tuple[Callable, tuple]:
    if t.is_meta:
        return _rebuild_meta_tensor, (t.dtype, tuple(t.shape), t.stride(), t.requires_grad)
    if t.device.type != "cpu":
        function, arguments = _reduce(t.detach().cpu(), protocol)
        return function, (*arguments[:-2], t.requires_grad, str(t.device))
    # Only the stretch of the storage that the tensor sees is kept.
    last = sum((n - 1) * step for n, step in zip(t.shape, t.stride(), strict=True)) + 1 if t.numel() else 0
    start, end = t.storage_offset() * t.itemsize, (t.storage_offset() + last) * t.itemsize
    view = memoryview(t.untyped_storage())[start:end] if last else memoryview(b"")
    data: Any
    if protocol < 5:
        data = bytes(view)
    else:
        from pickle import PickleBuffer

        data = PickleBuffer(view)
    arguments = (data, t.dtype, tuple(t.shape), t.stride(), t.requires_grad, "cpu")
    return _rebuild_tensor, (*arguments, t.is_conj(), t.is_neg()) if t.is_conj() or t.is_neg() else arguments


# ---- other libraries ------------------------------------------------------------------------------------------------
@_overridable_method
def numpy(self: Tensor, *, force: bool = False) -> Any:
    """The tensor as a NumPy array that shares its memory, so that changes show in both.

    Refused for tensors that require gradients or are views of conjugates or negatives (RuntimeError), on other devices
    or of dtypes that NumPy lacks (TypeError); ``force`` detaches, copies to the CPU and resolves such views first.

    >>> import trine
    >>> trine.ones(2).numpy()
    array([1., 1.], dtype=float32)
    """
    import numpy as np

    t = self.detach().cpu().resolve_conj().resolve_neg() if force else self
    if t.requires_grad:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if t.is_conj():
        raise RuntimeError("Can't call numpy() on Tensor that has conjugate bit set. Use tensor.resolve_conj().numpy() instead.")
    if t.is_neg():
        raise RuntimeError("Can't call numpy() on Tensor that has negative bit set. Use tensor.resolve_neg().numpy() instead.")
    if t.device.type != "cpu":
        raise TypeError(f"can't convert {t.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.")
    if t.dtype == _C.bfloat16:
        raise TypeError("Got unsupported ScalarType BFloat16: NumPy has no such type; use tensor.float().numpy()")
    return np.asarray(memoryview(t))


@_overridable_method
def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    array = self.numpy()
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError(f"numpy: an array of {dtype} cannot share the memory of a tensor of {self.dtype}")
        return array.astype(dtype)
    return array.copy() if copy else array


@_overridable_method
def __array_wrap__(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
    return _C.from_numpy(array)


# NumPy lets tensors answer `array + tensor`.
Tensor.__array_priority__ = 1000


@_overridable_method
def __dlpack__(
    self: Tensor, *, stream: Any = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:  # fmt: skip
    """A DLPack capsule of the tensor's memory (of a copy with ``copy=True``), for other libraries' ``from_dlpack``.

    BufferError for tensors that require gradients or live on a device without memory.
    """
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
        raise BufferError(f"__dlpack__: the tensor is on {self.device} and can't be exported to the DLPack device {tuple(dl_device)}")
    return _C._dlpack_export(self.clone() if copy else self)


@_overridable_method
def __dlpack_device__(self: Tensor) -> tuple[int, int]:
    """The DLPack device type and index: ``(1, 0)`` for the CPU."""
    if self.device.type != "cpu":
        raise BufferError(f"__dlpack_device__: tensors on {self.device} have no memory to export")
    return 1, 0


# ---- containers -----------------------------------------------------------------------------------------------------
@_overridable_method
def __contains__(self: Tensor, element: Any) -> bool:
    if isinstance(element, (Tensor, int, float, complex)):
        return bool(_ops.any(_ops.eq(self, element)).item())
    raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")


@_overridable_method
def __iter__(self: Tensor) -> Iterator[Tensor]:
    if self.dim() == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


@_method
def __complex__(self: Tensor) -> complex:
    if self.numel() != 1:
        raise ValueError(f"only one element tensors can be converted to Python scalars, got shape {list(self.shape)}")
    return complex(self.item())


@_overridable_method
def __reversed__(self: Tensor) -> Tensor:
    """The tensor with its first dimension reversed; a 0-dim tensor itself."""
    return self if self.dim() == 0 else self.flip(0)


@_overridable_method
def split(self: Tensor, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Views along ``dim``: of one size each (the last may be smaller), or of the listed sizes."""
    return _ops.split(self, split_size, dim)


@_overridable_method
def norm(self: Tensor, p: float | str | None = "fro", dim: Any = None, keepdim: bool = False, dtype: _C.dtype | None = None) -> Tensor:
    """The p-norm of all elements or along ``dim``; see :func:`trine.norm`."""
    return _functional.norm(self, p, dim, keepdim, dtype=dtype)


@_overridable_method
def nonzero(self: Tensor, *, as_tuple: bool = False) -> Any:
    """Positions of the elements that are not zero; see :func:`trine.nonzero`."""
    return _functional.nonzero(self, as_tuple=as_tuple)


@_overridable_method
def unique(self: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """The distinct elements in rising order; see :func:`trine.unique`."""
    return _functional.unique(self, sorted, return_inverse, return_counts, dim)


@_overridable_method
def unique_consecutive(self: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """The elements that differ from the one before; see :func:`trine.unique_consecutive`."""
    return _functional.unique_consecutive(self, return_inverse, return_counts, dim)


# ---- shapes, in place -----------------------------------------------------------------------------------------------
def _inplace_view(name: str, text: str) -> None:
    view = getattr(Tensor, name)

    def change(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if self.requires_grad and _C.is_grad_enabled():
            raise RuntimeError(f"{name}_: a tensor that requires grad cannot change its shape in place; use {name}() instead")
        self.data = view(self.detach(), *args, **kwargs)
        return self

    change.__name__ = name + "_"
    change.__doc__ = text
    _overridable_method(change)


_inplace_view("squeeze", "Removes dimensions of size 1 from the tensor itself; see ``squeeze``.")
_inplace_view("unsqueeze", "Gives the tensor itself another dimension of size 1; see ``unsqueeze``.")
_inplace_view("transpose", "Swaps two dimensions of the tensor itself; see ``transpose``.")
_inplace_view("t", "Transposes the matrix itself; see ``t``.")


@_overridable_method
def where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """The tensor's elements where ``condition`` holds, those of ``other`` elsewhere."""
    return _ops.where(condition, self, other)


for _function in (_predicates.allclose, _predicates.equal, _predicates.isclose, _predicates.is_nonzero):
    setattr(Tensor, _function.__name__, _function)


# ---- dtypes and devices ---------------------------------------------------------------------------------------------
_CASTS = {
    "double": _C.float64, "float": _C.float32, "half": _C.float16, "bfloat16": _C.bfloat16, "long": _C.int64, "int": _C.int32,
    "short": _C.int16, "char": _C.int8, "byte": _C.uint8, "bool": _C.bool, "cfloat": _C.complex64, "cdouble": _C.complex128,
}  # fmt: skip


def _cast(name: str, dtype: _C.dtype) -> Callable:
    def cast(self: Tensor, memory_format: _C.memory_format = _C.preserve_format) -> Tensor:
        return self.to(dtype=dtype, memory_format=memory_format)

    cast.__name__ = name
    cast.__doc__ = f"The tensor as {dtype}; itself when it is that already."
    return cast


for _name, _dtype in _CASTS.items():
    if not hasattr(Tensor, _name):
        _method(_cast(_name, _dtype))


@_overridable_method
def cpu(self: Tensor, memory_format: _C.memory_format = _C.preserve_format) -> Tensor:
    """The tensor in main memory; itself when it is there already."""
    return self.to("cpu", memory_format=memory_format)


@_overridable_method
def cuda(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: _C.memory_format = _C.preserve_format) -> Tensor:
    """A copy on a CUDA device; RuntimeError where there is none."""
    return self.to("cuda" if device is None else device, non_blocking=non_blocking, memory_format=memory_format)


def _type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of the tensor's type, as ``"torch.FloatTensor"``; with ``dtype`` (or such a name), the tensor converted to it."""
    from ._typed_tensors import dtype_of_type, type_name

    if dtype is None:
        return type_name(self)
    return self.to(dtype=dtype_of_type(dtype), non_blocking=non_blocking)


_type.__name__ = "type"
_overridable_method(_type)


@_overridable_method
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor with the dtype and device of ``other``."""
    return self.to(device=other.device, dtype=other.dtype)


@_overridable_method
def new_tensor(self: Tensor, data: Any, *, dtype: _C.dtype | None = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor that copies ``data``, by default with this tensor's dtype and device.

    >>> import trine
    >>> trine.zeros(1, dtype=trine.int8).new_tensor([1, 2])
    tensor([1, 2], dtype=torch.int8)
    """
    return _C.tensor(data, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad)


@_overridable_method
def get_device(self: Tensor) -> int:
    """The index of the tensor's device; -1 for the CPU."""
    return -1 if self.device.index is None else self.device.index


# ---- memory ---------------------------------------------------------------------------------------------------------
@_overridable_method
def is_shared(self: Tensor) -> bool:
    """Whether child processes see the tensor's memory, rather than a copy of it."""
    from . import _shared_memory

    return _shared_memory.is_shared(self.untyped_storage())


@_overridable_method
def share_memory_(self: Tensor) -> Tensor:
    """Moves the tensor into memory that processes forked from this one share; returns the tensor.

    Other tensors on the same storage keep the old memory: share the tensor before taking views of it.
    """
    from . import _shared_memory

    if not self.is_shared():
        with no_grad():
            self.set_(_shared_memory.share(self.untyped_storage()), self.storage_offset(), self.size(), self.stride())
    return self


@_overridable_method
def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """The tensor in page-locked memory, from where devices copy faster; RuntimeError without such a device."""
    raise RuntimeError("pin_memory: this build of Trine has no CUDA support, and memory is pinned for a CUDA device only")


@_overridable_method
def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Whether the tensor is in page-locked memory."""
    return False


@_overridable_method
def storage(self: Tensor) -> Any:
    """The tensor's storage as elements of its dtype, a :class:`trine.TypedStorage`; ``untyped_storage()`` gives bytes."""
    from .storage import TypedStorage

    return TypedStorage(wrap_storage=self.untyped_storage(), dtype=self.dtype)


# ---- element by element, in Python ----------------------------------------------------------------------------------
def _flat(t: Tensor) -> Iterator[Any]:
    return iter(t.detach().reshape(-1).tolist())


def _store(t: Tensor, values: list) -> Tensor:
    with no_grad():
        return t.copy_(_C.tensor(values, dtype=t.dtype).reshape(t.shape))


@_overridable_method
def apply_(self: Tensor, callable: Callable) -> Tensor:
    """Replaces each element by ``callable(element)``; slow, for small tensors on the CPU."""
    if self.requires_grad:
        raise RuntimeError("Can't call apply_() on Variable that requires grad. Use var.detach().apply_() instead.")
    return _store(self, [callable(v) for v in _flat(self)])


@_overridable_method
def map_(self: Tensor, tensor: Tensor, callable: Callable) -> Tensor:
    """Replaces each element by ``callable(element, element of tensor)``; slow, for small tensors on the CPU."""
    if self.requires_grad:
        raise RuntimeError("Can't call map_() on Variable that requires grad. Use var.detach().map_() instead.")
    return _store(self, [callable(a, b) for a, b in zip(_flat(self), _flat(tensor.expand(self.shape)), strict=True)])


# ---- subclasses -----------------------------------------------------------------------------------------------------
Tensor.__torch_function__ = classmethod(default_torch_function)
