"""Tensors that a module owns: `Parameter` (trained) and `Buffer` (kept, not trained)."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable

import trine

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]

_Tensor = trine.Tensor


class Parameter(_Tensor):
    """A tensor that registers itself with the module it is assigned to.

    `data` is a tensor of any shape (default: an empty one) whose storage is shared, not copied.

    >>> import trine
    >>> p = trine.nn.Parameter(trine.zeros(2, 3))
    >>> p.requires_grad, tuple(p.shape)
    (True, (2, 3))
    """

    def __new__(cls, data: trine.Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = trine.empty(0)
        kind = type(data)
        if kind is _Tensor or kind is Parameter:
            return _Tensor._make_subclass(cls, data, requires_grad)
        # A user's own tensor subclass keeps its class; the mark makes a module treat it as a parameter.
        if not isinstance(data, _Tensor):
            raise TypeError(f"Parameter: data must be a Tensor, not {kind.__name__}")
        result = data.detach().requires_grad_(requires_grad)
        if type(result) is not kind:
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {kind.__name__} requires that detach() "
                f"returns an instance of the same type, but return type {type(result).__name__} was found instead."
            )
        result._is_param = True
        return result

    # Operators see a parameter as the plain tensor that it is: results are tensors, no override is looked up.
    __torch_function__ = trine._C._disabled_torch_function_impl

    def __deepcopy__(self, memo: dict) -> Parameter:
        known = memo.get(id(self))
        if known is not None:
            return known
        result = type(self)(self.data.clone(memory_format=trine.preserve_format), self.requires_grad)
        memo[id(self)] = result
        return result

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, protocol: int) -> tuple:
        return _rebuild_parameter, (self.data, self.requires_grad, OrderedDict())


# Operators treat parameters as plain tensors: their results are no parameters.
trine._C._set_parameter_class(Parameter)


def _rebuild_parameter(data: trine.Tensor, requires_grad: bool, backward_hooks: OrderedDict) -> Parameter:
    return Parameter(data, requires_grad)


def is_parameter(value: object) -> bool:
    """True for a `Parameter` and for a tensor subclass that was wrapped by `Parameter(...)`."""
    return isinstance(value, Parameter) or (isinstance(value, _Tensor) and getattr(value, "_is_param", False))


class _BufferMeta(type(_Tensor)):
    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, _Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(_Tensor, metaclass=_BufferMeta):
    """A tensor that a module stores in its `state_dict` (unless `persistent=False`) without training it.

    The result is a plain `Tensor` with a mark, so operators need no extra dispatch for buffers.

    >>> import trine
    >>> class Counter(trine.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.count = trine.nn.Buffer(trine.zeros(1))
    >>> list(Counter().state_dict())
    ['count']
    """

    def __new__(cls, data: trine.Tensor | None = None, *, persistent: bool = True) -> trine.Tensor:
        if data is None:
            data = trine.empty(0)
        result = data.detach().requires_grad_(data.requires_grad)
        result.persistent = persistent
        result._is_buffer = True
        return result


_ALLOWED = frozenset({
    "__hash__", "__get__", "__set__", "__repr__", "__reduce_ex__", "__deepcopy__", "__setstate__", "bool", "char", "copy_", "cpu", "cuda", "detach",
    "double", "float", "get_device", "half", "int", "is_complex", "is_floating_point", "long", "requires_grad_", "short", "size", "to", "type",
})  # fmt: skip


class _UninitializedMixin:
    """A parameter or buffer whose shape is not known yet; :meth:`materialize` gives it one."""

    cls_to_become: type = _Tensor

    def materialize(self, shape: object, device: object = None, dtype: object = None) -> None:
        """Makes it an ordinary tensor of ``shape`` (uninitialised), on its device and of its dtype unless others are given."""
        options = {"device": device or self.data.device, "dtype": dtype or self.data.dtype}  # type: ignore[attr-defined]
        self.data = trine.empty(shape, **options)  # type: ignore[call-overload]
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> object:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when trying to "
            "load an uninitialized parameter into an initialized one. Call `forward` to initialize the parameters before accessing their attributes."
        )

    def share_memory_(self) -> object:
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters before calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol: int) -> tuple:
        return _rebuild_uninitialized, (type(self), self.requires_grad, self.data.device, self.data.dtype)  # type: ignore[attr-defined]

    def __deepcopy__(self, memo: dict) -> object:
        if id(self) not in memo:
            memo[id(self)] = _rebuild_uninitialized(type(self), self.requires_grad, self.data.device, self.data.dtype)  # type: ignore[attr-defined]
        return memo[id(self)]

    @classmethod
    def __torch_function__(cls, func: object, types: object, args: tuple = (), kwargs: dict | None = None) -> object:
        if getattr(func, "__name__", None) in _ALLOWED:
            result = trine._C._disabled_torch_function_impl(func, types, args, kwargs or {})
            # A cast or moved buffer is one without a shape still.
            if issubclass(cls, UninitializedBuffer) and type(result) is _Tensor and func.__name__ != "detach":  # type: ignore[attr-defined]
                return UninitializedBuffer(device=result.device, dtype=result.dtype)
            return result
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. This error happens when you are using a `LazyModule` or explicitly "
            f"manipulating `torch.nn.parameter.{cls.__name__}` objects. When using LazyModules Call `forward` with a dummy batch to "
            "initialize the parameters before calling torch functions"
        )


def _refusing(name: str) -> Callable:
    native = getattr(_Tensor, name)

    @functools.wraps(native)
    def method(self: _UninitializedMixin, *args: object, **kwargs: object) -> object:
        return type(self).__torch_function__(native, (type(self),), (self, *args), kwargs)

    return method


# These ask no __torch_function__.
for _name in (
    "__array__", "__bool__", "__format__", "__iter__", "__len__", "data_ptr", "dim", "element_size", "is_contiguous", "item", "nelement",
    "numel", "numpy", "storage_offset", "stride", "tolist",
):  # fmt: skip
    setattr(_UninitializedMixin, _name, _refusing(_name))


def _rebuild_uninitialized(cls: type, requires_grad: bool, device: object, dtype: object) -> object:
    options = {"device": device, "dtype": dtype}
    return cls(**options) if issubclass(cls, UninitializedBuffer) else cls(requires_grad, **options)  # type: ignore[call-arg]


class UninitializedParameter(_UninitializedMixin, Parameter):
    """A parameter without a shape, which ``materialize`` makes a ``Parameter``. Operators on it are a ValueError."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: object = None, dtype: object = None) -> UninitializedParameter:
        return _Tensor._make_subclass(cls, trine.empty(0, device=device, dtype=dtype), requires_grad)  # type: ignore[call-overload]


class UninitializedBuffer(_UninitializedMixin, _Tensor):
    """A buffer without a shape, which ``materialize`` makes a ``Tensor``. Operators on it are a ValueError."""

    cls_to_become = _Tensor

    def __new__(cls, requires_grad: bool = False, device: object = None, dtype: object = None) -> UninitializedBuffer:
        return _Tensor._make_subclass(cls, trine.empty(0, device=device, dtype=dtype), requires_grad)  # type: ignore[call-overload]


def is_lazy(value: object) -> bool:
    """True for parameters and buffers that have no shape yet."""
    return isinstance(value, _UninitializedMixin)
