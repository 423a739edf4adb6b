"""Builders of tensors from a storage and geometry taken from a file, every number checked before it is used."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import trine
from trine._utils import _set_lazy

from .errors import CorruptFileError, UnsafeFileError
from .unpickler import Builder, Unpickler

__all__ = ["Geometry", "builders", "check_geometry", "check_ints", "parse", "set_state"]

_MAX_DIMS = 64
_LARGEST = (1 << 63) - 1


def check_ints(what: str, values: Any) -> tuple[int, ...]:
    """``values`` as a tuple of non-negative 63-bit integers."""
    if type(values) not in (tuple, list, trine.Size) or len(values) > _MAX_DIMS:
        raise CorruptFileError(f"load: {what} is not a tuple of at most {_MAX_DIMS} integers")
    for value in values:
        if type(value) is not int or not 0 <= value <= _LARGEST:
            raise CorruptFileError(f"load: {what} holds {value!r:.100}, which is no size")
    return tuple(values)


def check_geometry(offset: Any, size: Any, stride: Any, available: int | None) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Check that a tensor lies inside ``available`` elements (None: there is no storage)."""
    size = check_ints("a tensor's size", size)
    stride = check_ints("a tensor's stride", stride)
    if len(size) != len(stride):
        raise CorruptFileError(f"load: a tensor has size {size} and stride {stride}")
    if type(offset) is not int or not 0 <= offset <= _LARGEST:
        raise CorruptFileError(f"load: a tensor has the storage offset {offset!r:.100}")
    numel = 1
    for extent in size:
        numel *= max(extent, 1)
    last = offset + sum((extent - 1) * step for extent, step in zip(size, stride, strict=True) if extent > 1)
    if numel > _LARGEST or last > _LARGEST:
        raise CorruptFileError(f"load: a tensor of size {size} and stride {stride} is too large to address")
    if available is not None and 0 not in size and last >= available:
        raise CorruptFileError(
            f"load: a tensor of size {size}, stride {stride}, offset {offset} needs {last + 1} elements and its storage has {available}"
        )
    return offset, size, stride


class Geometry:
    """Checked arguments of one tensor; ``storage`` is None for a tensor on the meta device."""

    __slots__ = ("conj", "dtype", "neg", "offset", "requires_grad", "size", "storage", "stride")

    def __init__(self, storage: Any, dtype: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, available: Any) -> None:
        if not isinstance(dtype, trine.dtype):
            raise CorruptFileError(f"load: a tensor has the dtype {dtype!r:.100}")
        if type(requires_grad) is not bool:
            raise CorruptFileError("load: a tensor's requires_grad is neither True nor False")
        if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
            raise CorruptFileError(f"load: a tensor of dtype {dtype} cannot require gradients")
        self.storage = storage
        self.dtype = dtype
        self.offset, self.size, self.stride = check_geometry(offset, size, stride, available)
        self.requires_grad = requires_grad
        self.conj = self.neg = False

    def set_lazy(self, metadata: Any) -> None:
        """What PyTorch notes of lazy views: ``{"conj": True, "neg": True}``, or parts of it."""
        if metadata is None:
            return
        if type(metadata) is not dict or any(name not in ("conj", "neg") or type(value) is not bool for name, value in metadata.items()):
            raise CorruptFileError(f"load: a tensor is saved with the metadata {metadata!r:.100}")
        self.conj, self.neg = metadata.get("conj", False), metadata.get("neg", False)
        if (self.conj and not self.dtype.is_complex) or (self.neg and self.dtype is trine.bool):
            raise CorruptFileError(f"load: a tensor of dtype {self.dtype} is saved with the metadata {metadata!r:.100}")


def parse(kind: str, args: tuple, storages: Any) -> Geometry:
    """Geometry from the arguments of PyTorch's ``_rebuild_tensor`` (``kind`` is "", "_v2", "_v3" or "_meta")."""
    counts = {"": (4, 4), "_v2": (6, 7), "_v3": (7, 8), "_meta": (4, 4)}[kind]
    if not counts[0] <= len(args) <= counts[1]:
        raise CorruptFileError(f"load: a tensor is saved with {len(args)} arguments")
    if kind == "_meta":
        dtype, size, stride, requires_grad = args
        return Geometry(None, dtype, 0, size, stride, requires_grad, None)
    storage, offset, size, stride = args[:4]
    requires_grad = args[4] if len(args) > 4 else False
    nbytes, dtype = storages.describe(storage)
    if kind == "_v3":
        dtype = args[6]
    if dtype is None:
        raise CorruptFileError("load: a tensor is built on an untyped storage without a dtype")
    available = nbytes // dtype.itemsize if isinstance(dtype, trine.dtype) else 0
    geometry = Geometry(storage, dtype, offset, size, stride, requires_grad, available)
    if len(args) == counts[1] and kind:
        geometry.set_lazy(args[-1])
    return geometry


def _make_tensor(geometry: Geometry) -> Any:
    if geometry.storage is None:
        tensor = trine.empty_strided(geometry.size, geometry.stride, dtype=geometry.dtype, device="meta")
    else:
        tensor = trine.empty(0, dtype=geometry.dtype, device=geometry.storage.device)
        tensor.set_(geometry.storage, geometry.offset, geometry.size, geometry.stride)
        _set_lazy(tensor, geometry.conj, geometry.neg)
    return tensor.requires_grad_(True) if geometry.requires_grad else tensor


def _make_parameter(vm: Unpickler, args: tuple) -> Any:
    if not 1 <= len(args) <= 4 or not isinstance(args[0], trine.Tensor) or not all(type(a) is bool for a in args[1:2]):
        raise CorruptFileError("load: a Parameter is not saved as (tensor, requires_grad, hooks)")
    requires_grad = args[1] if len(args) > 1 else True
    if requires_grad and not (args[0].dtype.is_floating_point or args[0].dtype.is_complex):
        raise CorruptFileError(f"load: a Parameter of dtype {args[0].dtype} cannot require gradients")
    parameter = trine.nn.Parameter(args[0].detach(), requires_grad)
    if len(args) == 4:
        set_state(parameter, args[3])
    return parameter


def _uninitialized(class_name: str) -> Callable[[Unpickler, tuple], Any]:
    def make(vm: Unpickler, args: tuple) -> Any:
        flag, device, dtype = (*args, None, None)[:3] if args else (None, None, None)
        if len(args) > 3 or type(flag) is not bool or device is not None or not isinstance(dtype, (trine.dtype, type(None))):
            raise CorruptFileError(f"load: an {class_name} is not saved as (requires_grad, None, dtype)")
        if flag and dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise CorruptFileError(f"load: an {class_name} of dtype {dtype} cannot require gradients")
        return getattr(trine.nn, class_name)(flag, dtype=dtype)

    return make


def _tensor_class(vm: Unpickler, args: tuple) -> Any:
    raise UnsafeFileError("load: the file calls torch.Tensor itself; tensors are rebuilt from storages only")


def _with_attributes(vm: Unpickler, args: tuple) -> Any:
    # PyTorch saves a tensor that has Python attributes as (function, type, its arguments, attributes).
    if len(args) != 4 or type(args[0]) is not Builder or type(args[1]) is not Builder or type(args[2]) is not tuple:
        raise CorruptFileError("load: a tensor with attributes is not saved as PyTorch does")
    function, kind, inner, state = args
    if not function.name.startswith("torch._utils._rebuild_") or kind.name not in _TENSOR_CLASSES:
        raise UnsafeFileError(f"load: a tensor of class {kind.name!r} built by {function.name!r}; refused")
    tensor = function.call(vm, inner)
    if not set_state(tensor, state):
        raise UnsafeFileError("load: a tensor's attributes are not a dict; refused")
    return tensor


_TENSOR_CLASSES = ("torch.Tensor", "torch.nn.parameter.Parameter", "torch.nn.parameter.Buffer")


def set_state(target: Any, state: Any) -> bool:
    """Set a tensor's Python attributes from a dict; False when that is not what is asked."""
    if not isinstance(target, trine.Tensor) or type(state) not in (dict, OrderedDict):
        return False
    for name, value in state.items():
        if type(name) is not str or not name.isidentifier() or hasattr(type(target), name):
            raise UnsafeFileError(f"load: the file sets the attribute {name!r:.100} of a tensor; refused")
        setattr(target, name, value)
    return True


def builders(storages: Any) -> dict[str, Callable[[Unpickler, tuple], Any]]:
    """Table of the functions that PyTorch's checkpoints name to rebuild tensors."""

    def rebuild(kind: str) -> Callable[[Unpickler, tuple], Any]:
        return lambda vm, args: _make_tensor(parse(kind, args, storages))

    return {
        "torch._utils._rebuild_tensor": rebuild(""),
        "torch._utils._rebuild_tensor_v2": rebuild("_v2"),
        "torch._utils._rebuild_tensor_v3": rebuild("_v3"),
        "torch._utils._rebuild_meta_tensor_no_storage": rebuild("_meta"),
        "torch._utils._rebuild_parameter": _make_parameter,
        "torch._utils._rebuild_parameter_with_state": _make_parameter,
        "torch.nn.parameter.Parameter": _make_parameter,
        "torch.nn.parameter.Buffer": _tensor_class,
        "torch.nn.parameter.UninitializedParameter": _uninitialized("UninitializedParameter"),
        "torch.nn.parameter.UninitializedBuffer": _uninitialized("UninitializedBuffer"),
        "torch.Tensor": _tensor_class,
        "torch._tensor._rebuild_from_type_v2": _with_attributes,
    }
