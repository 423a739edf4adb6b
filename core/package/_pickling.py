"""Objects of a package as pickles: code by the name of its module, tensors as PyTorch writes them."""

from __future__ import annotations

import pickle
import pickletools
from collections import OrderedDict
from collections.abc import Callable
from types import FunctionType
from typing import IO, Any

import trine
from trine.nn.modules._hooks import HookDict
from trine.serialization.dtypes import STORAGE_DTYPES, StorageType
from trine.serialization.errors import CorruptFileError
from trine.serialization.storages import StorageTable, parse_pid, swap_bytes
from trine.serialization.tensors import builders
from trine.serialization.unpickler import Builder
from trine.serialization.world import DataWorld

from ._torch_names import find_trine_global, packaged_name
from .importer import Importer

__all__ = ["PackagePickler", "PackageUnpickler", "RecordStorages", "globals_in"]

_STORAGE_NAMES = {dtype: name for name, dtype in STORAGE_DTYPES.items()}


class _Name:
    """A function or class that the pickle names and that does not exist here under that name."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"package: {self.module}.{self.name} is only a name")


class _StorageOf:
    """Stands for a tensor's storage; becomes a persistent id."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor


_REBUILD = {kind: _Name("torch._utils", f"_rebuild_{kind}") for kind in ("tensor_v2", "tensor_v3", "parameter", "meta_tensor_no_storage")}


class PackagePickler(pickle._Pickler):  # type: ignore[name-defined]
    """Names every class and function as ``importer`` finds it; ``store(storage)`` returns a key for a storage's bytes."""

    proto: int
    memoize: Callable[[Any], None]
    save_reduce: Callable[..., None]
    write: Callable[[bytes], Any]

    def __init__(self, file: IO[bytes], importer: Importer, store: Callable[[Any], int], owner: Any, protocol: int = 3) -> None:
        super().__init__(file, protocol=protocol, fix_imports=False)
        self._importer, self._store, self._owner = importer, store, owner

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, _StorageOf):
            storage, dtype = obj.tensor.untyped_storage(), _storage_dtype(obj.tensor)
            kind = _Name("torch.storage", "UntypedStorage") if dtype is None else _Name("torch", _STORAGE_NAMES[dtype])
            count = storage.nbytes() // (1 if dtype is None else obj.tensor.itemsize)
            return ("storage", kind, self._store(storage), str(storage.device), count)
        if hasattr(type(obj), "__reduce_package__"):
            return ("reduce_package", id(obj), *obj.__reduce_package__(self._owner))
        return None

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, _Name):
            return obj.name
        if isinstance(obj, FunctionType):
            return obj.__qualname__  # the pickler's table would pass the overridden save_global by
        if isinstance(obj, trine.dtype):
            return str(obj).rpartition(".")[2]
        if isinstance(obj, trine.nn.Parameter) and type(obj) is trine.nn.Parameter:
            return _REBUILD["parameter"], (obj.detach(), obj.requires_grad, OrderedDict())
        if type(obj) is HookDict:
            return OrderedDict, (), None, None, iter(obj.items())
        if type(obj) is trine.Tensor and not vars(obj):
            return _reduce_tensor(obj)
        return NotImplemented

    def save_global(self, obj: Any, name: str | None = None) -> None:
        if isinstance(obj, (_Name, trine.dtype)):
            module = obj.module if isinstance(obj, _Name) else "torch"
            assert name is not None
        else:
            module, name = self._importer.get_name(obj, name)
            module = packaged_name(module)
        if "." in name and self.proto < 4:
            parent, _, attribute = name.rpartition(".")
            self.save_reduce(getattr, (_Name(module, parent), attribute), obj=obj)
            return
        self.write(b"c" + f"{module}\n{name}\n".encode())
        self.memoize(obj)


def _storage_dtype(tensor: Any) -> str | None:
    name = str(tensor.dtype).rpartition(".")[2]
    return name if name in _STORAGE_NAMES and tensor.untyped_storage().nbytes() % tensor.itemsize == 0 else None


def _reduce_tensor(tensor: Any) -> tuple:
    size, stride = tuple(tensor.shape), tuple(tensor.stride())
    if tensor.device.type == "meta":
        return _REBUILD["meta_tensor_no_storage"], (tensor.dtype, size, stride, tensor.requires_grad)
    values: tuple = (_StorageOf(tensor), tensor.storage_offset(), size, stride, tensor.requires_grad, OrderedDict())
    typed = _storage_dtype(tensor) is not None
    if not typed:
        values += (tensor.dtype,)
    lazy = {name: True for name, is_set in (("conj", tensor.is_conj()), ("neg", tensor.is_neg())) if is_set}
    return _REBUILD["tensor_v2" if typed else "tensor_v3"], (*values, lazy) if lazy else values


def globals_in(data: bytes) -> list[tuple[str, str]]:
    """(module, name) of each class and function that a pickle names. Nothing is run."""
    found: dict[tuple[str, str], None] = {}
    strings: list[str] = []
    memo: dict[int, str] = {}
    try:
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name == "GLOBAL":
                module, _, name = str(argument).partition(" ")
                found[module, name] = None
            elif opcode.name == "STACK_GLOBAL" and len(strings) >= 2:
                found[strings[-2], strings[-1]] = None
            elif opcode.name == "MEMOIZE":
                memo[len(memo)] = strings[-1] if strings else ""
            elif opcode.name in ("BINGET", "LONG_BINGET", "GET"):
                strings.append(memo.get(int(argument or 0), ""))
            elif isinstance(argument, str):
                strings.append(argument)
    except ValueError as error:
        raise CorruptFileError(f"package: a pickle is damaged: {error}") from None
    return list(found)


class RecordStorages(StorageTable):
    """Storages in the records ``.data/<key>.storage`` of a package; ``read(name)`` gives a record's bytes."""

    def __init__(self, read: Callable[[str], memoryview], swap: bool, map_location: Any) -> None:
        super().__init__(map_location)
        self._read, self._swap = read, swap

    def fetch(self, kind: StorageType, key: str, numel: int) -> Any:
        from trine.serialization._memory import copy_to_storage

        data = self._read(f".data/{key}.storage")
        if len(data) != numel * kind.item_size:
            raise CorruptFileError(f"package: storage {key!r} claims {numel} elements of {kind.item_size} bytes and has {len(data)} bytes")
        return copy_to_storage(swap_bytes(data, kind) if self._swap and kind.item_size > 1 else data)


class PackageUnpickler(pickle.Unpickler):
    """Finds names in ``owner``, a ``PackageImporter``, and tensors in its records."""

    def __init__(self, file: IO[bytes], owner: Any, storages: RecordStorages) -> None:
        super().__init__(file)
        self._owner, self._storages = owner, storages
        self._world = DataWorld(storages)
        self._tensor_builders = builders(storages)
        self._reduced: dict[int, Any] = {}

    def find_class(self, module: str, name: str) -> Any:
        if not self._owner.is_external(module):
            return _attribute(self._owner.import_module(module), name)
        full_name = f"{module}.{name}"
        build = self._tensor_builders.get(full_name)
        if build is not None and full_name.startswith("torch._utils."):
            return lambda *args: build(None, args)  # type: ignore[arg-type]
        if module in ("torch", "torch.storage") and name.endswith("Storage"):
            found = self._world.find_global("torch", name)
            return None if isinstance(found, Builder) else found
        if module.partition(".")[0] == "torch":
            return find_trine_global(module, name)
        return _attribute(self._owner.import_module(module), name)

    def persistent_load(self, pid: Any) -> Any:
        if type(pid) is tuple and len(pid) == 4 and pid[0] == "reduce_package":
            _, identity, function, args = pid
            if identity not in self._reduced:
                self._reduced[identity] = function(self._owner, *args)
            return self._reduced[identity]
        if type(pid) is tuple and len(pid) == 5 and type(pid[2]) is int:
            pid = (*pid[:2], str(pid[2]), *pid[3:])
        parse_pid(pid)
        return self._storages.load(pid)


def _attribute(module: Any, name: str) -> Any:
    found = module
    for part in name.split("."):
        found = getattr(found, part)
    return found
