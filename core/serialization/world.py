"""The allow-list: which names in a checkpoint mean something, and what they build.

Everything here makes plain containers, numbers, bytes, NumPy arrays of numbers, and tensors. A name that is absent is
refused with an ``UnsafeFileError`` that says it.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import trine

from . import numpy_values, tensors
from .dtypes import DTYPE_NAMES, STORAGE_DTYPES, StorageType, dtype_named
from .errors import CorruptFileError, UnsafeFileError
from .unpickler import Builder, Unpickler

__all__ = ["DataWorld"]


def _arguments(name: str, args: tuple, *kinds: type | tuple[type, ...], least: int | None = None) -> None:
    least = len(kinds) if least is None else least
    if not least <= len(args) <= len(kinds) or not all(isinstance(a, k) for a, k in zip(args, kinds, strict=False)):
        got = ", ".join(type(a).__name__ for a in args)
        raise CorruptFileError(f"load: {name} is given ({got}), which is not how it is saved")


def _fill_pairs(vm: Unpickler, target: dict, pairs: Any) -> None:
    vm.budget.visit(len(pairs))
    for pair in pairs:
        if type(pair) not in (tuple, list) or len(pair) != 2:
            raise CorruptFileError("load: a mapping is built from something that is not pairs")
        vm.fill_dict(target, [pair[0], pair[1]])


def _ordered_dict(vm: Unpickler, args: tuple) -> OrderedDict:
    _arguments("collections.OrderedDict", args, (list, tuple, dict), least=0)
    result: OrderedDict = OrderedDict()
    if args:
        _fill_pairs(vm, result, list(args[0].items()) if isinstance(args[0], dict) else args[0])
    return result


def _plain_dict(vm: Unpickler, args: tuple) -> dict:
    return dict(_ordered_dict(vm, args))


def _default_dict(vm: Unpickler, args: tuple) -> defaultdict:
    if len(args) > 1 or not all(a is None or (type(a) is Builder and a.name in _FACTORIES) for a in args):
        raise UnsafeFileError(f"load: collections.defaultdict with a factory other than {', '.join(_FACTORIES)}; refused")
    return defaultdict(_FACTORIES[args[0].name] if args and args[0] is not None else None)


def _counter(vm: Unpickler, args: tuple) -> Counter:
    _arguments("collections.Counter", args, dict, least=0)
    result: Counter = Counter()
    if args:
        vm.budget.copy(len(args[0]))
        dict.update(result, args[0])
    return result


def _elements(vm: Unpickler, name: str, args: tuple) -> Any:
    _arguments(name, args, (list, tuple, set, frozenset), least=0)
    if not args:
        return ()
    vm.budget.visit(len(args[0]))
    for element in args[0]:
        vm.check_key(element)
    return args[0]


def _sequence(vm: Unpickler, name: str, args: tuple) -> Any:
    _arguments(name, args, (list, tuple, set, frozenset), least=0)
    vm.budget.copy(len(args[0]) if args else 0)
    return args[0] if args else ()


def _complex(vm: Unpickler, args: tuple) -> complex:
    _arguments("complex", args, (int, float), (int, float))
    return complex(*args)


def _encode(vm: Unpickler, args: tuple) -> bytes:
    _arguments("_codecs.encode", args, str, str, least=1)
    encoding = args[1] if len(args) == 2 else "utf-8"
    if encoding not in ("latin1", "latin-1", "utf-8", "utf8", "ascii"):
        raise UnsafeFileError(f"load: _codecs.encode with the codec {encoding!r}; only latin1 is how bytes are saved")
    vm.budget.copy(len(args[0]))
    return args[0].encode(encoding)


def _bytearray(vm: Unpickler, args: tuple) -> bytearray:
    if len(args) == 2:
        return bytearray(_encode(vm, args))
    _arguments("bytearray", args, (bytes, bytearray), least=0)
    vm.budget.copy(len(args[0]) if args else 0)
    return bytearray(*args)


def _bytes(vm: Unpickler, args: tuple) -> bytes:
    _arguments("bytes", args, (bytes, bytearray, list), least=0)
    vm.budget.copy(len(args[0]) if args else 0)
    return bytes(*args)


def _slice(vm: Unpickler, args: tuple) -> slice:
    _arguments("slice", args, *[(int, type(None))] * 3)
    return slice(*args)


def _range(vm: Unpickler, args: tuple) -> range:
    _arguments("range", args, int, int, int, least=1)
    return range(*args)


class _Namespace(SimpleNamespace):
    """Stands for ``argparse.Namespace``: old training scripts keep their options in one."""


def _namespace(vm: Unpickler, args: tuple) -> _Namespace:
    _arguments("argparse.Namespace", args)
    return _Namespace()


def _size(vm: Unpickler, args: tuple) -> Any:
    _arguments("torch.Size", args, (tuple, list))
    vm.budget.copy(len(args[0]))
    return trine.Size(tensors.check_ints("torch.Size", args[0]))


def _device(vm: Unpickler, args: tuple) -> Any:
    _arguments("torch.device", args, str, int, least=1)
    try:
        return trine.device(*args)
    except RuntimeError as error:
        raise CorruptFileError(f"load: the file names a device that does not exist here: {error}") from None


def _layout(vm: Unpickler, args: tuple) -> Any:
    _arguments("torch.serialization._get_layout", args, str)
    name = args[0].removeprefix("torch.")
    if name not in ("strided", "sparse_coo") or not hasattr(trine, name):
        raise UnsafeFileError(f"load: the layout {args[0]!r} does not exist here; refused")
    return getattr(trine, name)


_FACTORIES = {"builtins.int": int, "builtins.float": float, "builtins.list": list, "builtins.dict": dict,
              "builtins.set": set, "builtins.str": str, "builtins.bool": bool, "builtins.tuple": tuple}  # fmt: skip


def _scalar(name: str) -> Callable[[Unpickler, tuple], Any]:
    kind = _FACTORIES[name]

    def build(vm: Unpickler, args: tuple) -> Any:
        _arguments(name, args, (bool, int, float), least=0)
        return kind(*args)

    return build


_BUILDERS: dict[str, Callable[[Unpickler, tuple], Any]] = {
    "collections.OrderedDict": _ordered_dict,
    "collections.defaultdict": _default_dict,
    "collections.Counter": _counter,
    "builtins.dict": _plain_dict,
    "builtins.list": lambda vm, args: list(_sequence(vm, "list", args)),
    "builtins.tuple": lambda vm, args: tuple(_sequence(vm, "tuple", args)),
    "builtins.set": lambda vm, args: set(_elements(vm, "set", args)),
    "builtins.frozenset": lambda vm, args: frozenset(_elements(vm, "frozenset", args)),
    "builtins.complex": _complex,
    "builtins.bytearray": _bytearray,
    "builtins.bytes": _bytes,
    "builtins.slice": _slice,
    "builtins.range": _range,
    "builtins.int": _scalar("builtins.int"),
    "builtins.float": _scalar("builtins.float"),
    "builtins.bool": _scalar("builtins.bool"),
    "builtins.str": lambda vm, args: _refuse_call("builtins.str"),
    "_codecs.encode": _encode,
    "argparse.Namespace": _namespace,
    "torch.Size": _size,
    "torch.device": _device,
    "torch.serialization._get_layout": _layout,
    **numpy_values.BUILDERS,
}

_MODULE_ALIASES = {
    "__builtin__": "builtins",
    "numpy.core.multiarray": "numpy._core.multiarray",
    "numpy.core.numeric": "numpy._core.numeric",
    "torch.cuda": "torch",
    "torch.storage": "torch",
}


def _refuse_call(name: str) -> Any:
    raise UnsafeFileError(f"load: the file calls {name}, which no data needs; refused")


class DataWorld:
    """What a pickle may reach while it is loaded for real.

    ``storages`` answers persistent ids (see ``storages.StorageTable``).
    """

    mapping_types: frozenset[type] = frozenset((dict, OrderedDict, defaultdict, Counter))

    def __init__(self, storages: Any) -> None:
        self.storages = storages
        self.key_scalars: frozenset[type] = frozenset((float, complex, trine.dtype, trine.device))
        self.tuple_types: tuple[type, ...] = (tuple, frozenset, trine.Size)
        self._found: dict[tuple[str, str], Any] = {}
        self._tensors = self.tensor_builders()

    def tensor_builders(self) -> dict[str, Callable[[Unpickler, tuple], Any]]:
        """Builders of tensors by full name."""
        return tensors.builders(self.storages)

    def refuse(self, full_name: str) -> Any:
        """Raise for a name that is not in the table."""
        raise UnsafeFileError(
            f"load: the file asks for {full_name!r}, which is not plain data. Trine builds tensors, numbers, strings and "
            "plain containers only and never runs what a file names; save a state_dict() instead of the object itself"
        )

    def find_global(self, module: str, name: str) -> Any:
        key = (module, name)
        try:
            return self._found[key]
        except KeyError:
            found = self._found[key] = self._resolve(_MODULE_ALIASES.get(module, module), name)
            return found

    def _resolve(self, module: str, name: str) -> Any:
        full_name = f"{module}.{name}"
        build = _BUILDERS.get(full_name) or self._tensors.get(full_name)
        if build is not None:
            return Builder(full_name, build)
        if module == "torch":
            if name in STORAGE_DTYPES:
                return StorageType(name, dtype_named(STORAGE_DTYPES[name]))
            if name == "UntypedStorage":
                return StorageType(name, None)
            if name in DTYPE_NAMES:
                dtype = dtype_named(name)
                if dtype is None:
                    raise UnsafeFileError(f"load: the file uses the dtype torch.{name}, which Trine does not have")
                return dtype
        return self.refuse(full_name)

    def persistent_load(self, pid: Any) -> Any:
        return self.storages.load(pid)

    def set_state(self, vm: Unpickler, target: Any, state: Any) -> None:
        kind = type(target)
        if kind in (OrderedDict, _Namespace) and type(state) is dict:
            vm.budget.visit(len(state))
            for name, value in state.items():
                if type(name) is not str or (hasattr(kind, name)):
                    raise UnsafeFileError(f"load: the file sets the attribute {name!r} of a {kind.__name__.lstrip('_')}; refused")
                target.__dict__[name] = value
        elif not (numpy_values.set_state(vm, target, state) or tensors.set_state(target, state)):
            raise UnsafeFileError(f"load: the file sets the state of an object of type {kind.__name__}; refused")
