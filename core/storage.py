"""Storages: the memory behind tensors, as elements of one dtype (``FloatStorage`` and its like) or as bytes.

``Tensor.storage()`` gives a :class:`TypedStorage`, ``Tensor.untyped_storage()`` an ``UntypedStorage``. The classes named after a
dtype make typed storages and recognise them in ``isinstance``.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Sequence
from typing import Any

from trine import _C, _shared_memory

from ._later_types import LATER_DTYPES

__all__ = ["TYPES", "TypedStorage", "UntypedStorage"]

UntypedStorage = _C.UntypedStorage

_NAMES = {
    "DoubleStorage": _C.float64, "FloatStorage": _C.float32, "HalfStorage": _C.float16, "BFloat16Storage": _C.bfloat16,
    "LongStorage": _C.int64, "IntStorage": _C.int32, "ShortStorage": _C.int16, "CharStorage": _C.int8, "ByteStorage": _C.uint8,
    "BoolStorage": _C.bool, "ComplexFloatStorage": _C.complex64, "ComplexDoubleStorage": _C.complex128,
    "QInt8Storage": LATER_DTYPES["qint8"], "QUInt8Storage": LATER_DTYPES["quint8"], "QInt32Storage": LATER_DTYPES["qint32"],
    "QUInt4x2Storage": LATER_DTYPES["quint4x2"],
}  # fmt: skip
_BY_DTYPE = {dtype: name for name, dtype in _NAMES.items()}

# Method name of a conversion: dtype.
_CONVERSIONS = {
    "double": _C.float64, "float": _C.float32, "half": _C.float16, "bfloat16": _C.bfloat16, "long": _C.int64, "int": _C.int32,
    "short": _C.int16, "char": _C.int8, "byte": _C.uint8, "bool": _C.bool, "complex_float": _C.complex64, "complex_double": _C.complex128,
}  # fmt: skip


def _map_file(filename: str, shared: bool, nbytes: int) -> UntypedStorage:
    """A storage over a file's memory; a shared one makes the file, long enough, and writes changes back to it."""
    with os.fdopen(os.open(filename, os.O_RDWR | os.O_CREAT, 0o666), "r+b") if shared else open(filename, "rb") as file:
        if shared:
            file.seek(0, 2)
            if file.tell() < nbytes:
                file.truncate(nbytes)
        if nbytes == 0:
            return UntypedStorage(0)
        mapping = mmap.mmap(file.fileno(), nbytes, access=mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY)
    return UntypedStorage.from_buffer(mapping)


class _StorageType(type):
    """Class of ``FloatStorage`` and its like: calling one makes a :class:`TypedStorage` of its dtype."""

    dtype: _C.dtype

    def __instancecheck__(cls, value: object) -> bool:
        if "dtype" not in cls.__dict__ or cls.__dict__["dtype"] is None:
            return type.__instancecheck__(cls, value)
        return isinstance(value, TypedStorage) and value.dtype == cls.dtype and value.device.type == "cpu"


class TypedStorage:
    """Elements of one dtype in one piece of memory, which tensors may share.

    ``TypedStorage(size, dtype=...)`` is uninitialised, ``TypedStorage(sequence, dtype=...)`` copies numbers, and
    ``TypedStorage(wrap_storage=untyped, dtype=...)`` shares an untyped storage. RuntimeError for quantised dtypes.

    >>> import trine
    >>> s = trine.FloatStorage([1.0, 2.0])
    >>> s[1] = 5
    >>> s.tolist(), s.type(), s.nbytes()
    ([1.0, 5.0], 'torch.FloatStorage', 8)
    """

    is_cuda = False
    is_sparse = False

    def __init__(
        self, *args: Any, wrap_storage: UntypedStorage | None = None, dtype: _C.dtype | None = None, device: Any = None
    ) -> None:  # fmt: skip
        self.dtype: _C.dtype = _C.get_default_dtype() if dtype is None else dtype
        if self.dtype in LATER_DTYPES.values():
            raise RuntimeError(f"{_BY_DTYPE.get(self.dtype, 'TypedStorage')}: Trine has no storage of {self.dtype} elements")
        if wrap_storage is not None:
            if args:
                raise RuntimeError("TypedStorage: no positional arguments are accepted beside 'wrap_storage'")
            if not isinstance(wrap_storage, UntypedStorage):
                raise TypeError(f"TypedStorage: wrap_storage must be UntypedStorage, got {type(wrap_storage).__name__}")
            self._untyped_storage = wrap_storage
            return
        if len(args) > 1:
            raise RuntimeError(f"TypedStorage: expected at most one positional argument, got {len(args)}")
        value = args[0] if args else 0
        if isinstance(value, int):
            self._untyped_storage = UntypedStorage(value * self.dtype.itemsize, device=device)
        elif isinstance(value, (Sequence, TypedStorage)):
            self._untyped_storage = _C.tensor(list(value), dtype=self.dtype).untyped_storage()
        else:
            raise TypeError(f"TypedStorage: expected a size or a sequence, got {type(value).__name__}")

    # ---- where and how much -----------------------------------------------------------------------------------------
    @property
    def device(self) -> _C.device:
        """The device of the memory."""
        return self._untyped_storage.device

    @property
    def _cdata(self) -> int:
        return self._untyped_storage._cdata

    @property
    def filename(self) -> None:
        """None: the mapped file's name is not kept."""
        return None

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return self._untyped_storage

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._untyped_storage.nbytes()

    def size(self) -> int:
        """Number of elements."""
        return self.nbytes() // self.dtype.itemsize

    __len__ = size

    def data_ptr(self) -> int:
        """Address of the first element."""
        return self._untyped_storage.data_ptr()

    def get_device(self) -> int:
        """The device's index, -1 for the CPU."""
        return -1 if self.device.index is None else self.device.index

    def resizable(self) -> bool:
        """Whether :meth:`resize_` may change the size."""
        return self._untyped_storage.resizable()

    def pickle_storage_type(self) -> str:
        """The name under which files know the storage: ``"FloatStorage"``."""
        return _BY_DTYPE[self.dtype]

    # ---- elements ---------------------------------------------------------------------------------------------------
    def _tensor(self) -> _C.Tensor:
        """A 1-dim tensor over the memory."""
        return _C.ops["empty"]((0,), dtype=self.dtype).set_(self._untyped_storage, 0, (self.size(),), (1,))

    def _check_index(self, index: Any) -> Any:
        if isinstance(index, slice):
            return index
        if not isinstance(index, int):
            raise TypeError(f"TypedStorage: can't index a {self.type()} with {type(index).__name__}")
        if not -self.size() <= index < self.size():
            raise IndexError(f"TypedStorage: index {index} out of range for storage of size {self.size()}")
        return index

    def __getitem__(self, index: Any) -> Any:
        index = self._check_index(index)
        if isinstance(index, slice):
            return self.tolist()[index]
        return self._tensor()[index].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        index = self._check_index(index)
        if isinstance(value, (list, tuple)):
            value = _C.tensor(value, dtype=self.dtype)
        self._tensor()[index] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def tolist(self) -> list:
        """The elements as Python numbers."""
        return self._tensor().tolist()

    def fill_(self, value: Any) -> TypedStorage:
        """Sets every element."""
        self._tensor().fill_(value)
        return self

    def copy_(self, source: TypedStorage, non_blocking: bool | None = None) -> TypedStorage:
        """Copies the elements of ``source``, converting them; RuntimeError for another number of elements."""
        if source.size() != self.size():
            raise RuntimeError(f"copy_: storages of {self.size()} and {source.size()} elements")
        self._tensor().copy_(source._tensor())
        return self

    # ---- other storages ---------------------------------------------------------------------------------------------
    def _new(self, storage: UntypedStorage) -> TypedStorage:
        return TypedStorage(wrap_storage=storage, dtype=self.dtype)

    def new(self, *args: Any) -> TypedStorage:
        """A storage of the same dtype, made as the class makes one."""
        return TypedStorage(*args, dtype=self.dtype)

    def clone(self) -> TypedStorage:
        """A copy in its own memory."""
        return self._new(self._untyped_storage.clone())

    def cpu(self) -> TypedStorage:
        """The storage itself when it is on the CPU, otherwise a copy there."""
        return self

    def to(self, *, device: Any, non_blocking: bool = False) -> TypedStorage:
        """The storage on ``device``."""
        if _C.device(device).type != "cpu":
            raise RuntimeError(f"to: this build of Trine has no storages on {_C.device(device)}")
        return self

    def cuda(self, device: Any = None, non_blocking: bool = False) -> TypedStorage:
        """A copy on a CUDA device; RuntimeError in a build without CUDA."""
        raise RuntimeError("cuda: this build of Trine has no CUDA support")

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The class's name, or with ``dtype`` (a dtype, a class of storages or its name) the converted storage."""
        if dtype is None:
            return f"torch.{_BY_DTYPE[self.dtype]}"
        if not isinstance(dtype, _C.dtype):
            name = dtype if isinstance(dtype, str) else dtype.__name__
            if name.rpartition(".")[2] not in _NAMES:
                raise ValueError(f"type: invalid type: {name!r}")
            dtype = _NAMES[name.rpartition(".")[2]]
        return self if dtype == self.dtype else self._converted(dtype)

    def _converted(self, dtype: _C.dtype) -> TypedStorage:
        return TypedStorage(wrap_storage=self._tensor().to(dtype).untyped_storage(), dtype=dtype)

    # ---- memory -----------------------------------------------------------------------------------------------------
    def resize_(self, size: int) -> TypedStorage:
        """Changes the number of elements; the first ones keep their values."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)
        return self

    def share_memory_(self) -> TypedStorage:
        """Moves the elements into memory that forked processes share; tensors made before keep the old memory."""
        if not self.is_shared():
            self._untyped_storage = _shared_memory.share(self._untyped_storage)
        return self

    def is_shared(self) -> bool:
        """Whether forked processes share the memory."""
        return _shared_memory.is_shared(self._untyped_storage)

    def is_pinned(self, device: Any = "cuda") -> bool:
        """False: no memory is page-locked in a build without CUDA."""
        return False

    def pin_memory(self, device: Any = "cuda") -> TypedStorage:
        """Page-locks the memory for a CUDA device; RuntimeError in a build without CUDA."""
        raise RuntimeError("pin_memory: this build of Trine has no CUDA support, and memory is pinned for a CUDA device only")

    # ---- text and files ---------------------------------------------------------------------------------------------
    def __repr__(self) -> str:
        head = f"[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {self.size()}]"
        return "\n".join([*(f" {v}" for v in self.tolist()), head])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypedStorage) and self.dtype == other.dtype and self._cdata == other._cdata

    def __hash__(self) -> int:
        return hash((self._cdata, self.dtype))

    def __reduce__(self) -> tuple:
        return _rebuild, (bytes(memoryview(self._untyped_storage)), self.dtype)

    def __copy__(self) -> TypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict) -> TypedStorage:
        return memo.setdefault(id(self), self.clone())

    # ---- other memory -----------------------------------------------------------------------------------------------
    @classmethod
    def from_buffer(
        cls, buffer: Any, byte_order: str | None = None, count: int = -1, offset: int = 0, *, dtype: _C.dtype | None = None
    ) -> TypedStorage:  # fmt: skip
        """A copy of a buffer's elements, which are stored in ``byte_order`` ("native", "little" or "big")."""
        import sys

        dtype = dtype or getattr(cls, "dtype", None) or _C.get_default_dtype()
        if dtype.itemsize > 1 and byte_order not in ("native", "little", "big"):
            raise ValueError(f"from_buffer: invalid byte_order {byte_order!r} (expected big, little, or native)")
        data = memoryview(buffer).cast("B")
        size = dtype.itemsize
        if not 0 <= offset <= len(data):
            raise ValueError(f"from_buffer: offset {offset} is outside of a buffer of {len(data)} bytes")
        if count < 0:
            if (len(data) - offset) % size:
                raise ValueError(f"from_buffer: {len(data) - offset} bytes are no whole number of {dtype} elements")
            count = (len(data) - offset) // size
        if offset + count * size > len(data):
            raise ValueError(f"from_buffer: a buffer of {len(data)} bytes has no {count} {dtype} elements after byte {offset}")
        raw = bytearray(data[offset : offset + count * size])
        if byte_order not in (None, "native", sys.byteorder):
            part = size // 2 if dtype.is_complex else size
            for i in range(0, len(raw), part):
                raw[i : i + part] = raw[i : i + part][::-1]
        return TypedStorage(wrap_storage=UntypedStorage.from_buffer(raw).clone(), dtype=dtype)

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, size: int = 0, *, dtype: _C.dtype | None = None) -> TypedStorage:
        """A file of ``size`` elements as memory; changes reach the file when ``shared``."""
        dtype = dtype or getattr(cls, "dtype", None) or _C.get_default_dtype()
        return TypedStorage(wrap_storage=_map_file(filename, shared, size * dtype.itemsize), dtype=dtype)


def _conversion(name: str, dtype: _C.dtype) -> Any:
    def convert(self: TypedStorage) -> TypedStorage:
        return self.type(dtype)

    convert.__name__, convert.__qualname__ = name, f"TypedStorage.{name}"
    convert.__doc__ = f"The elements as {dtype}; the storage itself when it has that dtype."
    return convert


for _name, _dtype in _CONVERSIONS.items():
    setattr(TypedStorage, _name, _conversion(_name, _dtype))


def _rebuild(data: bytes, dtype: _C.dtype) -> TypedStorage:
    return TypedStorage(wrap_storage=UntypedStorage.from_buffer(bytearray(data)).clone(), dtype=dtype)


def _rebuild_untyped(data: bytes) -> UntypedStorage:
    return UntypedStorage.from_buffer(bytearray(data)).clone()


def _legacy_new(cls: Any, *args: Any, wrap_storage: UntypedStorage | None = None, device: Any = None) -> TypedStorage:
    return TypedStorage(*args, wrap_storage=wrap_storage, dtype=cls.dtype, device=device)


class _LegacyStorageType(_StorageType):
    def __call__(cls, *args: Any, **kwargs: Any) -> TypedStorage:
        return _legacy_new(cls, *args, **kwargs)

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


TYPES = {
    name: _LegacyStorageType(name, (TypedStorage,), {"dtype": dtype, "device": _C.device("cpu"), "__module__": "trine"})
    for name, dtype in _NAMES.items()
}


# ---- what UntypedStorage has beside its native methods ----------------------------------------------------------------
def _bytes_of(storage: UntypedStorage) -> TypedStorage:
    return TypedStorage(wrap_storage=storage, dtype=_C.uint8)


def _install_untyped_methods() -> None:
    native_new = UntypedStorage.__getitem__

    def __getitem__(self: UntypedStorage, index: Any) -> Any:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                raise RuntimeError(f"UntypedStorage: trying to slice with a step of {step}, but only a step of 1 is supported")
            return UntypedStorage.from_buffer(memoryview(self)[start:stop])
        return native_new(self, index)

    def __setitem__(self: UntypedStorage, index: Any, value: Any) -> None:
        _bytes_of(self)[index] = value

    def from_file(filename: str, shared: bool = False, size: int = 0) -> UntypedStorage:
        """A file of ``size`` bytes as memory; changes reach the file when ``shared``."""
        return _map_file(filename, shared, size)

    def fill_(self: UntypedStorage, value: int) -> UntypedStorage:
        """Sets every byte."""
        _bytes_of(self).fill_(value)
        return self

    def __repr__(self: UntypedStorage) -> str:
        head = f"[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"
        return "\n".join([*(f" {v}" for v in memoryview(self)), head])

    def share_memory_(self: UntypedStorage) -> UntypedStorage:
        """The bytes in memory that forked processes share: a new storage unless it is shared already."""
        return self if _shared_memory.is_shared(self) else _shared_memory.share(self)

    methods = {
        "__getitem__": __getitem__, "__setitem__": __setitem__, "__repr__": __repr__, "from_file": staticmethod(from_file),
        "fill_": fill_, "share_memory_": share_memory_,
        "is_shared": _shared_memory.is_shared, "is_pinned": lambda self, device="cuda": False,
        "tolist": lambda self: list(memoryview(self)), "cpu": lambda self: self, "untyped": lambda self: self,
        "element_size": lambda self: 1, "new": lambda self: UntypedStorage(0),
        "get_device": lambda self: -1 if self.device.index is None else self.device.index,
        "type": lambda self, dtype=None, non_blocking=False: (
            "torch.storage.UntypedStorage" if dtype is None else _bytes_of(self).type(dtype)),
        "is_cuda": property(lambda self: self.device.type == "cuda"), "is_sparse": False, "is_sparse_csr": False,
        "__reduce__": lambda self: (_rebuild_untyped, (bytes(memoryview(self)),)),
        "__copy__": lambda self: self.clone(),
        "__deepcopy__": lambda self, memo: memo.setdefault(id(self), self.clone()),
        **{name: lambda self, dtype=dtype: _bytes_of(self)._converted(dtype) for name, dtype in _CONVERSIONS.items()},
    }  # fmt: skip
    for name, method in methods.items():
        setattr(UntypedStorage, name, method)
    del UntypedStorage.__getattr__  # type: ignore[attr-defined]  # which has brought this module in


_install_untyped_methods()
