"""``inspect``: what a checkpoint contains, without loading a byte of its tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import trine

from . import tensors
from .errors import UnsafeFileError
from .legacy import _PICKLES_AT_MOST, run_pickles
from .reader import Checkpoint, FileLike, recognise
from .source import ByteSource, open_source
from .storages import parse_pid
from .tensors import parse
from .unpickler import Builder, Unpickler
from .world import DataWorld

__all__ = ["FileSummary", "TensorInfo", "inspect"]

_MAX_NODES = 1_000_000


@dataclass(frozen=True)
class TensorInfo:
    """One tensor: where it hangs in the object, and what it is."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    storage: str
    """Key of its storage; tensors with equal keys share memory."""
    requires_grad: bool = False


@dataclass
class FileSummary:
    """What ``inspect`` found.

    ``values`` are the numbers, strings and other scalars beside the tensors, by name; ``refused`` lists the names in the
    file that ``load`` would refuse (empty: it loads).
    """

    format: str
    tensors: list[TensorInfo] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    @property
    def nbytes(self) -> int:
        """Bytes of all tensors, as if none shared memory."""
        return sum(tensor.nbytes for tensor in self.tensors)

    def __str__(self) -> str:
        lines = [f"{self.format} file: {len(self.tensors)} tensors, {self.nbytes:,} bytes, {len(self.values)} other values"]
        lines += [f"  {t.name}  {t.dtype}  {list(t.shape)}  {t.nbytes:,} bytes" for t in self.tensors]
        lines += [f"  {name} = {value!r:.80}" for name, value in self.values.items()]
        lines += [f"  metadata {key!r}: {value!r:.80}" for key, value in self.metadata.items()]
        lines += [f"  refused by load: {name}" for name in self.refused]
        return "\n".join(lines)


class _Storage:
    def __init__(self, key: str, nbytes: int, dtype: Any) -> None:
        self.key, self.nbytes, self.dtype = key, nbytes, dtype


class _Opaque:
    """Stands for an object that ``load`` would refuse to build; ``state`` is what it would be made of."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.state: Any = None

    def __repr__(self) -> str:
        return f"<{self.name}>"


class _StorageNames:
    """Answers persistent ids with descriptions."""

    def load(self, pid: Any) -> _Storage:
        kind, key, _, numel = parse_pid(pid, extra=1)
        return _Storage(key, numel * kind.item_size, kind.dtype)

    def describe(self, storage: Any) -> tuple[int, Any]:
        if type(storage) is not _Storage:
            raise UnsafeFileError(f"inspect: a tensor is built on {type(storage).__name__} instead of a storage")
        return storage.nbytes, storage.dtype


class _Sketch:
    """A tensor that was described instead of built."""

    def __init__(self, dtype: str, shape: tuple[int, ...], nbytes: int, storage: str, requires_grad: bool) -> None:
        self.fields = (dtype, shape, nbytes, storage)
        self.requires_grad = requires_grad


class _SketchWorld(DataWorld):
    """The world of ``load`` with descriptions in the place of tensors, and placeholders for what is refused."""

    def __init__(self) -> None:
        self.refused: list[str] = []
        super().__init__(_StorageNames())

    def tensor_builders(self) -> dict[str, Callable[[Unpickler, tuple], Any]]:
        def sketch(kind: str) -> Callable[[Unpickler, tuple], Any]:
            def build(vm: Unpickler, args: tuple) -> _Sketch:
                g = parse(kind, args, self.storages)
                count = g.dtype.itemsize
                for extent in g.size:
                    count *= extent
                key = "" if g.storage is None else g.storage.key
                return _Sketch(str(g.dtype).rpartition(".")[2], g.size, count, key, g.requires_grad)

            return build

        def parameter(vm: Unpickler, args: tuple) -> Any:
            if args and type(args[0]) is _Sketch:
                return _Sketch(*args[0].fields, requires_grad=bool(len(args) < 2 or args[1]))
            return _Opaque("torch.nn.parameter.Parameter")

        def with_attributes(vm: Unpickler, args: tuple) -> Any:
            if len(args) == 4 and type(args[0]) is Builder and type(args[2]) is tuple:
                return args[0].call(vm, args[2])
            return _Opaque("tensor with attributes")

        return {
            **tensors.builders(self.storages),  # the classes among them build nothing by themselves
            "torch._utils._rebuild_tensor": sketch(""),
            "torch._utils._rebuild_tensor_v2": sketch("_v2"),
            "torch._utils._rebuild_tensor_v3": sketch("_v3"),
            "torch._utils._rebuild_meta_tensor_no_storage": sketch("_meta"),
            "torch._utils._rebuild_parameter": parameter,
            "torch._utils._rebuild_parameter_with_state": parameter,
            "torch.nn.parameter.Parameter": parameter,
            "torch._tensor._rebuild_from_type_v2": with_attributes,
        }

    def refuse(self, full_name: str) -> Builder:
        self.refused.append(full_name)
        return Builder(full_name, lambda vm, args: _Opaque(full_name))

    def set_state(self, vm: Unpickler, target: Any, state: Any) -> None:
        if type(target) is _Opaque:
            target.state = state
        else:
            super().set_state(vm, target, state)


def _children(value: Any) -> list[tuple[Any, Any]] | None:
    """Names and values in a container, None for what is not one."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, trine.Size):
        return None
    if isinstance(value, (list, tuple)):
        return list(enumerate(value))
    if isinstance(value, SimpleNamespace):
        return list(vars(value).items())
    return _children(value.state) if type(value) is _Opaque else None


def _describe(summary: FileSummary, root: Any) -> None:
    """Walk containers (each once, without recursion) and list what hangs in them."""
    pending: list[tuple[str, Any]] = [("", root)]
    seen: set[int] = set()
    for _ in range(_MAX_NODES):
        if not pending:
            return
        name, value = pending.pop()
        children = _children(value)
        if children is not None:
            if id(value) in seen:
                continue
            seen.add(id(value))
            if len(pending) + len(children) > _MAX_NODES:
                break
            pending.extend(reversed([(f"{name}.{key}" if name else str(key), child) for key, child in children]))
        elif type(value) is _Sketch:
            summary.tensors.append(TensorInfo(name, *value.fields, requires_grad=value.requires_grad))
        else:
            summary.values[name] = value
    raise UnsafeFileError(f"inspect: the file holds more than {_MAX_NODES:,} objects; refused")


def _inspect_safetensors(source: ByteSource) -> FileSummary:
    from .safetensors import _DTYPES, read_header

    header = read_header(source)
    found = [TensorInfo(name, _DTYPES[r.dtype], r.shape, r.end - r.begin, name) for name, r in header.tensors.items()]
    return FileSummary("safetensors", found, metadata=header.metadata)


def inspect(f: FileLike) -> FileSummary:
    """List the tensors and values in a checkpoint or safetensors file, without loading the tensors.

    Works on files that ``load`` refuses, too: the names that it would refuse are in ``refused``, and nothing is run.

    >>> import io, trine
    >>> buffer = io.BytesIO()
    >>> trine.save({"epoch": 3, "model": {"weight": trine.ones(2, 3)}}, buffer)
    >>> _ = buffer.seek(0)
    >>> print(trine.serialization.inspect(buffer))
    zip file: 1 tensors, 24 bytes, 1 other values
      model.weight  float32  [2, 3]  24 bytes
      epoch = 3
    """
    source = open_source(f, None)
    try:
        form = recognise(source)
        if form == "safetensors":
            return _inspect_safetensors(source)
        world = _SketchWorld()
        if form == "zip":
            root = Unpickler(Checkpoint(source).pickle(), world).load()
        else:
            root = run_pickles(bytes(source.view(0, min(source.size, _PICKLES_AT_MOST))), world, "utf-8", "replace")[0]
        summary = FileSummary(form, refused=world.refused)
        _describe(summary, root)
        return summary
    finally:
        source.close()
