"""The safetensors format: an 8-byte length, a JSON header, and the tensors' bytes one after another.

Header: ``{"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, "__metadata__": {str: str}}``, offsets
counted from the end of the header, tensors contiguous, in row-major order, little-endian, without gaps or overlaps.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

import trine

from . import _memory
from .atomic import atomic_file
from .errors import CorruptFileError, UnsafeFileError
from .locations import Placer
from .source import ByteSource, open_source

__all__ = ["Header", "load_safetensors", "read_header", "read_tensors", "save_safetensors"]

_DTYPES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "C64": "complex64", "I64": "int64",
    "I32": "int32", "I16": "int16", "I8": "int8", "U8": "uint8", "BOOL": "bool", "U16": "uint16", "U32": "uint32",
    "U64": "uint64", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2",
}  # fmt: skip
_CODES = {name: code for code, name in _DTYPES.items()}
_SIZES = {"64": 8, "32": 4, "16": 2, "I8": 1, "U8": 1, "BOOL": 1, "F8_E4M3": 1, "F8_E5M2": 1}
_MAX_HEADER = 100_000_000
_MAX_DIMS = 64
_ALIGNMENT = 64


class Record(NamedTuple):
    """One tensor of the header."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


class Header(NamedTuple):
    """Checked header; ``data_start`` is the offset of the tensors' bytes in the file."""

    tensors: dict[str, Record]
    metadata: dict[str, str]
    data_start: int


def _item_size(code: str) -> int:
    return _SIZES.get(code) or _SIZES[code[-2:]]


def _fail(source: ByteSource, what: str) -> CorruptFileError:
    return CorruptFileError(f"load_safetensors: {source.name} is damaged: {what}")


def _parse_json(source: ByteSource, raw: bytes) -> dict[str, Any]:
    import json

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            raise _fail(source, "the header names something twice")
        return result

    def no_constant(name: str) -> Any:
        raise _fail(source, f"the header contains {name}")

    try:
        header = json.loads(raw.decode("utf-8"), object_pairs_hook=unique, parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        raise _fail(source, f"the header is no JSON ({error})") from None
    if type(header) is not dict:
        raise _fail(source, "the header is no JSON object")
    return header


def _parse_record(source: ByteSource, name: str, value: Any, available: int) -> Record:
    if type(value) is not dict or value.keys() != {"dtype", "shape", "data_offsets"}:
        raise _fail(source, f"tensor {name!r:.200} is not described by dtype, shape and data_offsets")
    dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if type(dtype) is not str or dtype not in _DTYPES:
        raise _fail(source, f"tensor {name!r:.200} has the unknown dtype {dtype!r:.40}")
    if type(shape) is not list or len(shape) > _MAX_DIMS or not all(type(n) is int and 0 <= n < 1 << 63 for n in shape):
        raise _fail(source, f"tensor {name!r:.200} has a shape that is no list of sizes")
    if type(offsets) is not list or len(offsets) != 2 or not all(type(n) is int for n in offsets):
        raise _fail(source, f"tensor {name!r:.200} has data_offsets that are no two integers")
    begin, end = offsets
    nbytes = _item_size(dtype)
    for extent in shape:
        nbytes *= extent
    if not 0 <= begin <= end <= available:
        raise _fail(source, f"tensor {name!r:.200} lies at {begin} to {end} of {available} bytes")
    if end - begin != nbytes:
        raise _fail(source, f"tensor {name!r:.200} of shape {shape} and dtype {dtype} needs {nbytes} bytes and has {end - begin}")
    return Record(dtype, tuple(shape), begin, end)


def read_header(source: ByteSource) -> Header:
    """Header of a safetensors file, every field checked; raises ``CorruptFileError``."""
    if source.size < 8:
        raise _fail(source, "it is shorter than 8 bytes")
    length = int.from_bytes(source.view(0, 8), "little")
    if length > _MAX_HEADER:
        raise UnsafeFileError(f"load_safetensors: {source.name} announces a header of {length:,} bytes, the format allows {_MAX_HEADER:,}")
    if length > source.size - 8:
        raise _fail(source, f"the header of {length} bytes is longer than the file")
    raw = bytes(source.view(8, length))
    if raw[:1] != b"{":
        raise _fail(source, "the header does not begin with '{'")
    fields = _parse_json(source, raw)
    metadata = fields.pop("__metadata__", {})
    if type(metadata) is not dict or not all(type(v) is str for v in metadata.values()):
        raise _fail(source, "__metadata__ is no map of strings")
    data_start = 8 + length
    available = source.size - data_start
    tensors = {name: _parse_record(source, name, value, available) for name, value in fields.items()}
    position = 0
    for name, record in sorted(tensors.items(), key=lambda item: (item[1].begin, item[1].end)):
        if record.begin != position:
            kind = "overlaps the one before it" if record.begin < position else "leaves a gap in front of it"
            raise _fail(source, f"tensor {name!r:.200} {kind}")
        position = record.end
    if position != available:
        raise _fail(source, f"the tensors end at byte {position} and the data at {available}")
    return Header(tensors, metadata, data_start)


def _storage(source: ByteSource, offset: int, length: int, item_size: int) -> Any:
    data = source.view(offset, length)
    if length and source.mapped and offset % item_size == 0:
        return trine.UntypedStorage.from_buffer(data)
    return _memory.copy_to_storage(data)


def read_tensors(source: ByteSource, map_location: Any = None) -> dict[str, Any]:
    """Tensors of an open safetensors file, in the order of the header."""
    if sys.byteorder != "little":
        raise NotImplementedError("load_safetensors: the format is little-endian and this machine is not")
    header = read_header(source)
    placer = Placer(map_location)
    result = {}
    for name, record in header.tensors.items():
        dtype = getattr(trine, _DTYPES[record.dtype], None)
        if dtype is None:
            raise UnsafeFileError(f"load_safetensors: tensor {name!r} has the dtype {record.dtype}, which Trine does not have")
        storage = _storage(source, header.data_start + record.begin, record.end - record.begin, dtype.itemsize)
        storage = placer.place(storage, "cpu")
        stride, step = [], 1
        for extent in reversed(record.shape):
            stride.append(step)
            step *= max(extent, 1)
        if step >= 1 << 63:
            raise _fail(source, f"tensor {name!r:.200} of shape {list(record.shape)} is too large to address")
        tensor = trine.empty(0, dtype=dtype, device=storage.device)
        result[name] = tensor.set_(storage, 0, record.shape, tuple(reversed(stride)))
    return result


def load_safetensors(path: str | os.PathLike[str], device: str | Any = "cpu", *, mmap: bool | None = None) -> dict[str, Any]:
    """Tensors of a safetensors file by name.

    Args:
        path: the file (or a binary file object).
        device: where the tensors go. On the CPU they use the file's pages in place, copy-on-write.
        mmap: False copies instead, for a file that another program may rewrite in place.

    Raises:
        CorruptFileError: the header and the data disagree in any way.
        UnsafeFileError: the header is over the format's limit, or a dtype is unknown here.

    >>> import tempfile, trine
    >>> path = tempfile.mkdtemp() + "/two.safetensors"
    >>> trine.serialization.save_safetensors({"w": trine.ones(2, 2)}, path, metadata={"made by": "doc"})
    >>> trine.serialization.load_safetensors(path)["w"].sum().item()
    4.0
    """
    source = open_source(path, mmap)
    try:
        return read_tensors(source, device)
    finally:
        source.close()


def _dtype_code(name: str, tensor: Any) -> str:
    code = _CODES.get(str(tensor.dtype).rpartition(".")[2])
    if code is None:
        raise ValueError(f"save_safetensors: tensor {name!r} has dtype {tensor.dtype}, which the format does not know")
    return code


def save_safetensors(tensors: Mapping[str, Any], path: str | os.PathLike[str], metadata: Mapping[str, str] | None = None) -> None:
    """Write tensors by name to a safetensors file, atomically as ``save`` does.

    Tensors are written contiguous and apart: views and shared storages become separate tensors.

    Args:
        tensors: mapping from names to tensors of any shape; values are detached.
        path: the file to replace.
        metadata: strings to store with them.

    Raises:
        TypeError: a name or value is not of the kind said above.
        ValueError: a dtype that the format does not know, or the reserved name ``__metadata__``.
    """
    import json

    if not isinstance(tensors, Mapping):
        raise TypeError(f"save_safetensors: expected a mapping from names to tensors, got {type(tensors).__name__}")
    header: dict[str, Any] = {}
    if metadata is not None:
        if not all(isinstance(k, str) and isinstance(v, str) for k, v in metadata.items()):
            raise TypeError("save_safetensors: metadata must map strings to strings")
        header["__metadata__"] = dict(metadata)
    for name, tensor in tensors.items():
        if not isinstance(name, str) or not isinstance(tensor, trine.Tensor):
            raise TypeError(f"save_safetensors: expected a str and a Tensor, got {type(name).__name__} and {type(tensor).__name__}")
        if name == "__metadata__":
            raise ValueError("save_safetensors: the name '__metadata__' is reserved by the format")
    codes = {name: _dtype_code(name, tensor) for name, tensor in tensors.items()}
    # Wide elements first, so that every tensor is aligned without padding, which the format forbids.
    order = sorted(tensors, key=lambda name: (-_item_size(codes[name]), name))
    position = 0
    for name in order:
        nbytes = tensors[name].numel() * _item_size(codes[name])
        header[name] = {"dtype": codes[name], "shape": list(tensors[name].shape), "data_offsets": [position, position + nbytes]}
        position += nbytes
    raw = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    raw += b" " * (-(8 + len(raw)) % _ALIGNMENT)
    if len(raw) > _MAX_HEADER:
        raise ValueError(f"save_safetensors: the header would have {len(raw):,} bytes, the format allows {_MAX_HEADER:,}")
    with atomic_file(path) as file:
        file.write(len(raw).to_bytes(8, "little") + raw)
        for name in order:
            file.write(_contiguous_bytes(tensors[name]))


def _contiguous_bytes(tensor: Any) -> memoryview:
    tensor = tensor.detach().cpu().contiguous()
    begin = tensor.storage_offset() * tensor.dtype.itemsize
    return _memory.storage_bytes(tensor.untyped_storage())[begin : begin + tensor.numel() * tensor.dtype.itemsize]
