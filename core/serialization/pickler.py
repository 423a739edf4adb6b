"""Emitter of protocol-2 pickles that hold data, under the global names that PyTorch reads."""

from __future__ import annotations

import struct
import sys
from _pickle import PicklingError
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import trine

from .dtypes import STORAGE_DTYPES

__all__ = ["Pickler"]

_STORAGE_NAMES = {dtype: name for name, dtype in STORAGE_DTYPES.items()}
_BATCH = 1000


def dtype_name(dtype: trine.dtype) -> str:
    """``float32`` for ``trine.float32``."""
    return str(dtype).rpartition(".")[2]


class Pickler:
    """Turns one object into a pickle and collects the storages it refers to.

    ``store(storage)`` is called once per storage and returns the key under which its bytes will be found.
    """

    def __init__(self, store: Callable[[Any], str]) -> None:
        self._out = bytearray(b"\x80\x02")
        self._store = store
        self._memo: dict[int, int] = {}
        self._globals: dict[str, int] = {}
        self._alive: list[Any] = []
        self._storages: dict[tuple[int, int], tuple[str, Any]] = {}
        self._memo_size = 0
        self._dispatch: dict[type, Callable[[Any], None]] = {
            type(None): lambda _: self._out.extend(b"N"),
            bool: lambda v: self._out.extend(b"\x88" if v else b"\x89"),
            int: self._int,
            float: lambda v: self._out.extend(b"G" + struct.pack(">d", v)),
            str: self._str,
            bytes: self._bytes,
            bytearray: self._bytearray,
            complex: lambda v: self._call("__builtin__ complex", v, v.real, v.imag),
            tuple: self._tuple,
            list: self._list,
            dict: self._dict,
            OrderedDict: self._ordered_dict,
            defaultdict: self._default_dict,
            Counter: lambda v: self._call("collections Counter", v, dict(v)),
            set: lambda v: self._call("__builtin__ set", v, list(v)),
            frozenset: lambda v: self._call("__builtin__ frozenset", v, list(v)),
            slice: lambda v: self._call("__builtin__ slice", v, v.start, v.stop, v.step),
            range: lambda v: self._call("__builtin__ xrange", v, v.start, v.stop, v.step),
            trine.Size: lambda v: self._call("torch Size", v, tuple(v)),
            trine.device: self._device,
            trine.dtype: lambda v: self._global(f"torch {dtype_name(v)}"),
            trine.layout: lambda v: self._call("torch.serialization _get_layout", v, str(v).replace("trine.", "torch.")),
        }

    def dump(self, obj: Any) -> bytes:
        """The pickle of ``obj``."""
        try:
            self._save(obj)
        except RecursionError:
            raise PicklingError("save: the object is nested too deeply") from None
        return bytes(self._out + b".")

    def _save(self, obj: Any) -> None:
        known = self._memo.get(id(obj))
        if known is not None:
            self._get(known)
            return
        handler = self._dispatch.get(type(obj))
        if handler is not None:
            handler(obj)
        elif isinstance(obj, trine.Tensor):
            self._tensor(obj)
        elif isinstance(obj, trine.UntypedStorage):
            self._persistent(obj, None)
        else:
            self._other(obj)

    # Memo.

    def _put(self) -> int:
        index = self._memo_size
        self._memo_size += 1
        self._out += b"q" + bytes((index,)) if index < 256 else b"r" + struct.pack("<I", index)
        return index

    def _get(self, index: int) -> None:
        self._out += b"h" + bytes((index,)) if index < 256 else b"j" + struct.pack("<I", index)

    def _remember(self, obj: Any) -> None:
        self._memo[id(obj)] = self._put()
        self._alive.append(obj)  # an object that dies would leave its id to another one

    # Scalars.

    def _int(self, value: int) -> None:
        if 0 <= value < 256:
            self._out += b"K" + bytes((value,))
        elif 0 <= value < 65536:
            self._out += b"M" + struct.pack("<H", value)
        elif -(1 << 31) <= value < 1 << 31:
            self._out += b"J" + struct.pack("<i", value)
        else:
            raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
            if len(raw) > 255:
                raise PicklingError("save: an integer has more than 2040 bits")
            self._out += b"\x8a" + bytes((len(raw),)) + raw

    def _str(self, value: str) -> None:
        raw = value.encode("utf-8", "surrogatepass")
        self._out += b"X" + struct.pack("<I", len(raw)) + raw
        self._remember(value)

    def _bytes(self, value: bytes) -> None:
        self._call("_codecs encode", value, value.decode("latin-1"), "latin1")

    def _bytearray(self, value: bytearray) -> None:
        self._call("__builtin__ bytearray", value, bytes(value).decode("latin-1"), "latin1")

    def _device(self, value: trine.device) -> None:
        self._call("torch device", value, value.type, *(() if value.index is None else (value.index,)))

    # Names and calls.

    def _global(self, name: str) -> None:
        known = self._globals.get(name)
        if known is not None:
            self._get(known)
            return
        self._out += b"c" + name.replace(" ", "\n").encode("ascii") + b"\n"
        self._globals[name] = self._put()

    def _call(self, function: str, result: Any, *args: Any) -> None:
        self._global(function)
        self._plain_tuple(args)
        self._out += b"R"
        self._remember(result)

    # Containers.

    def _plain_tuple(self, items: tuple) -> None:
        if len(items) <= 3:
            for item in items:
                self._save(item)
            self._out += (b")", b"\x85", b"\x86", b"\x87")[len(items)]
        else:
            self._out += b"("
            for item in items:
                self._save(item)
            self._out += b"t"

    def _tuple(self, value: tuple) -> None:
        self._plain_tuple(value)
        if id(value) in self._memo:
            # It contains itself through a list or dict, and was finished on the way: drop this second copy.
            self._out += b"0"
            self._get(self._memo[id(value)])
        elif value:
            self._remember(value)

    def _list(self, value: list) -> None:
        self._out += b"]"
        self._remember(value)
        for start in range(0, len(value), _BATCH):
            self._out += b"("
            for item in value[start : start + _BATCH]:
                self._save(item)
            self._out += b"e"

    def _items(self, value: dict) -> None:
        items = list(value.items())
        for start in range(0, len(items), _BATCH):
            self._out += b"("
            for key, item in items[start : start + _BATCH]:
                self._save(key)
                self._save(item)
            self._out += b"u"

    def _dict(self, value: dict) -> None:
        self._out += b"}"
        self._remember(value)
        self._items(value)

    def _ordered_dict(self, value: OrderedDict) -> None:
        self._call("collections OrderedDict", value)
        self._items(value)
        if value.__dict__:
            self._dict(value.__dict__)
            self._out += b"b"

    def _default_dict(self, value: defaultdict) -> None:
        factory = value.default_factory
        self._global("collections defaultdict")
        if factory is None:
            self._out += b")"
        elif factory in (int, float, list, dict, set, str, bool, tuple):
            self._global(f"__builtin__ {factory.__name__}")  # type: ignore[union-attr]
            self._out += b"\x85"
        else:
            raise PicklingError(f"save: a defaultdict whose factory is {factory!r} is not plain data")
        self._out += b"R"
        self._remember(value)
        self._items(value)

    # Tensors.

    def _persistent(self, storage: Any, dtype: Any) -> None:
        identity = (storage.data_ptr(), storage.nbytes()) if storage.nbytes() else (id(storage), 0)
        key, first_dtype = self._storages.get(identity, (None, None))
        if key is None:
            key = self._store(storage)
            self._storages[identity] = (key, dtype)
            self._alive.append(storage)
        elif dtype != first_dtype:
            dtype = None  # the same bytes under two dtypes: untyped the second time
        self._out += b"("
        self._save("storage")
        if dtype is None:
            self._global("torch.storage UntypedStorage")
        else:
            self._global(f"torch {_STORAGE_NAMES[dtype_name(dtype)]}")
        self._save(key)
        self._save(str(storage.device))
        self._int(storage.nbytes() // (1 if dtype is None else dtype.itemsize))
        self._out += b"tQ"

    def _hooks(self) -> None:
        # PyTorch's readers require an OrderedDict here; it is always empty.
        self._global("collections OrderedDict")
        self._out += b")R"

    def _tensor(self, tensor: Any) -> None:
        if isinstance(tensor, (trine.nn.UninitializedParameter, trine.nn.UninitializedBuffer)):
            self._call(f"torch.nn.parameter {type(tensor).__name__}", tensor, tensor.requires_grad, None, tensor.dtype)
            return
        if isinstance(tensor, trine.nn.Parameter):
            self._global("torch._utils _rebuild_parameter")
            self._tensor_data(tensor.detach(), False)
            self._out += b"\x88" if tensor.requires_grad else b"\x89"
            self._hooks()
            self._out += b"\x87R"
        else:
            self._tensor_data(tensor.detach(), tensor.requires_grad)
        self._remember(tensor)

    def _tensor_data(self, tensor: Any, requires_grad: bool) -> None:
        flag = b"\x88" if requires_grad else b"\x89"
        size, stride = tuple(tensor.shape), tuple(tensor.stride())
        if tensor.device.type == "meta":
            self._global("torch._utils _rebuild_meta_tensor_no_storage")
            self._out += b"("
            self._global(f"torch {dtype_name(tensor.dtype)}")
            self._plain_tuple(size)
            self._plain_tuple(stride)
            self._out += flag + b"tR"
            return
        storage = tensor.untyped_storage()
        typed = self._typed(storage, tensor.dtype)
        self._global("torch._utils " + ("_rebuild_tensor_v2" if typed else "_rebuild_tensor_v3"))
        self._out += b"("
        self._persistent(storage, tensor.dtype if typed else None)
        self._int(tensor.storage_offset())
        self._plain_tuple(size)
        self._plain_tuple(stride)
        self._out += flag
        self._hooks()
        if not typed:
            self._global(f"torch {dtype_name(tensor.dtype)}")
        if tensor.is_conj() or tensor.is_neg():
            self._lazy(tensor)
        self._out += b"tR"

    def _lazy(self, tensor: Any) -> None:
        # What PyTorch notes of views of conjugates and negatives.
        self._out += b"}"
        for name, is_set in ((b"conj", tensor.is_conj()), (b"neg", tensor.is_neg())):
            if is_set:
                self._out += b"X" + struct.pack("<I", len(name)) + name + b"\x88s"

    def _typed(self, storage: Any, dtype: Any) -> bool:
        if dtype_name(dtype) not in _STORAGE_NAMES or storage.nbytes() % dtype.itemsize:
            return False
        identity = (storage.data_ptr(), storage.nbytes())
        return identity not in self._storages or self._storages[identity][1] == dtype

    # NumPy, and what is refused.

    def _other(self, obj: Any) -> None:
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(obj, (numpy.generic, numpy.ndarray)) and obj.dtype.kind in "biufc":
            self._numpy(obj)
            return
        kind = type(obj)
        name = f"{kind.__module__}.{kind.__qualname__}"
        advice = (
            "call .state_dict() on it and save that" if hasattr(obj, "state_dict") else "convert it to dicts, lists, numbers and tensors"
        )
        if isinstance(obj, type) or (callable(obj) and not hasattr(obj, "state_dict")):
            name, advice = f"{name} ({getattr(obj, '__qualname__', obj)})", "classes and functions are code, not data"
        raise PicklingError(
            f"save: an object of type {name} is not plain data; {advice}. Trine's files hold tensors, numbers, strings and "
            "plain containers, so that loading one can never run code"
        )

    def _numpy_dtype(self, dtype: Any) -> None:
        little = dtype.newbyteorder("<")
        self._call("numpy dtype", dtype, little.str[1:], False, True)
        order = "|" if little.itemsize == 1 else "<"
        self._plain_tuple((3, order, None, None, None, -1, -1, 0))
        self._out += b"b"

    def _numpy(self, obj: Any) -> None:
        import numpy

        little = obj.astype(obj.dtype.newbyteorder("<"))
        if isinstance(obj, numpy.generic):
            self._global("numpy._core.multiarray scalar")
            self._numpy_dtype(obj.dtype)
            self._save(little.tobytes())
            self._out += b"\x86R"
        else:
            self._global("numpy._core.multiarray _reconstruct")
            self._global("numpy ndarray")
            self._plain_tuple((0,))
            self._save(b"b")
            self._out += b"\x87R("
            self._int(1)
            self._plain_tuple(obj.shape)
            self._numpy_dtype(obj.dtype)
            self._out += b"\x89"
            self._save(little.tobytes())
            self._out += b"tb"
        self._remember(obj)
