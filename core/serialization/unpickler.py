"""A pickle virtual machine that can build data and nothing else.

It reads the opcodes of protocols 0 to 5 (documented in CPython's ``Lib/pickletools.py``). A global name in the stream is
only ever looked up in a table of builders handed over by the caller; no module is imported, no attribute followed, no
callable outside that table called.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Protocol

from .errors import CorruptFileError, UnsafeFileError
from .limits import MAX_PICKLE_BYTES, Budget

__all__ = ["Builder", "Unpickler", "World"]


class Builder:
    """What a permitted class or function name in the stream stands for. ``call(vm, args)`` builds the object."""

    __slots__ = ("call", "name")

    def __init__(self, name: str, call: Callable[[Unpickler, tuple], Any]) -> None:
        self.name = name
        self.call = call

    def __repr__(self) -> str:
        return f"<global {self.name!r} named by the file>"


class World(Protocol):
    """What the machine may reach: names, storages and the state of finished objects."""

    key_scalars: frozenset[type]
    tuple_types: tuple[type, ...]
    mapping_types: frozenset[type]

    def find_global(self, module: str, name: str) -> Any:
        """Object or ``Builder`` for a name; raises ``UnsafeFileError`` when it is not in the table."""

    def persistent_load(self, pid: Any) -> Any:
        """Object for a persistent id (a storage)."""

    def set_state(self, vm: Unpickler, target: Any, state: Any) -> None:
        """Apply ``state`` to ``target`` in place."""


_MARK = object()
_MAX_INT_BYTES = 1024
_MAX_LINE = 1 << 16
_U16 = struct.Struct("<H").unpack_from
_I32 = struct.Struct("<i").unpack_from
_U32 = struct.Struct("<I").unpack_from
_U64 = struct.Struct("<Q").unpack_from
_F64 = struct.Struct(">d").unpack_from


class Unpickler:
    """Runs one pickle in ``data`` from ``start``; after ``load()`` the position behind it is in ``position``.

    ``encoding`` and ``errors`` decode the 8-bit strings of Python 2 (``encoding="bytes"`` leaves them as bytes).
    """

    def __init__(self, data: bytes | memoryview, world: World, start: int = 0, encoding: str = "utf-8", errors: str = "strict") -> None:
        self.data = data if isinstance(data, bytes) else bytes(data)
        if len(self.data) > MAX_PICKLE_BYTES:
            raise UnsafeFileError(f"load: a pickle of {len(self.data):,} bytes is over the limit of {MAX_PICKLE_BYTES:,}")
        self.position = start
        self.world = world
        self.budget = Budget(len(self.data))
        self._encoding, self._errors = encoding, errors
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._result: Any = _MARK

    def load(self) -> Any:
        """Run to the end of the pickle and return the object it describes."""
        data, table = self.data, _OPCODES
        try:
            while self._result is _MARK:
                opcode = data[self.position]
                self.position += 1
                handler = table[opcode]
                if handler is None:
                    raise CorruptFileError(f"load: byte {opcode:#04x} at offset {self.position - 1} is no pickle opcode that data needs")
                handler(self)
        except (IndexError, struct.error):
            raise CorruptFileError(f"load: the pickle is truncated or damaged near byte {self.position}") from None
        except (ValueError, TypeError, OverflowError, KeyError, AttributeError, RecursionError, AssertionError) as error:
            raise CorruptFileError(f"load: the pickle is damaged near byte {self.position} ({type(error).__name__}: {error})") from error
        return self._result

    # Reading the stream.

    def _take(self, count: int) -> bytes:
        end = self.position + count
        if end > len(self.data):
            raise CorruptFileError(
                f"load: the pickle is truncated: {count} bytes are announced at byte {self.position}, "
                f"{len(self.data) - self.position} are left"
            )
        piece = self.data[self.position : end]
        self.position = end
        return piece

    def _number(self, unpack: Callable, width: int) -> int:
        value = unpack(self.data, self.position)[0]
        self.position += width
        return value

    def _line(self, limit: int = _MAX_LINE) -> bytes:
        end = self.data.find(b"\n", self.position, self.position + limit)
        if end < 0:
            raise CorruptFileError(f"load: a text line in the pickle does not end (byte {self.position})")
        line = self.data[self.position : end]
        self.position = end + 1
        return line

    def _text(self, raw: bytes) -> str | bytes:
        return raw if self._encoding == "bytes" else raw.decode(self._encoding, self._errors)

    # The stack. A mark is an ordinary entry, so that nothing below it can be popped by a count.

    def _pop(self) -> Any:
        value = self._stack.pop()
        if value is _MARK:
            raise CorruptFileError(f"load: the pickle pops a mark at byte {self.position}")
        return value

    def _top(self) -> Any:
        value = self._stack[-1]
        if value is _MARK:
            raise CorruptFileError(f"load: the pickle uses a mark as an object at byte {self.position}")
        return value

    def _pop_mark(self) -> list[Any]:
        stack = self._stack
        at = len(stack) - 1
        while stack[at] is not _MARK:
            at -= 1
            if at < 0:
                raise CorruptFileError(f"load: the pickle lacks a mark at byte {self.position}")
        items = stack[at + 1 :]
        del stack[at:]
        return items

    def _push_container(self, value: Any) -> None:
        self.budget.container()
        self._stack.append(value)

    # Containers.

    def check_key(self, key: Any) -> None:
        """Refuse a dict key or set element whose hashing could run code, recurse or explode."""
        self.budget.key(key, self.world.key_scalars, self.world.tuple_types)

    def fill_dict(self, target: dict, keys_and_values: list[Any]) -> None:
        """Store ``[k, v, k, v, ...]``."""
        if len(keys_and_values) % 2:
            raise CorruptFileError(f"load: a key without a value at byte {self.position}")
        check = self.check_key
        for at in range(0, len(keys_and_values), 2):
            key = keys_and_values[at]
            if type(key) is not str:
                check(key)
            target[key] = keys_and_values[at + 1]

    def _mapping(self) -> dict:
        target = self._top()
        if type(target) not in self.world.mapping_types:
            raise UnsafeFileError(f"load: items are set on an object of type {type(target).__name__}; only dicts are filled")
        return target

    def _list(self) -> list:
        target = self._top()
        if type(target) is not list:
            raise UnsafeFileError(f"load: elements are appended to an object of type {type(target).__name__}; only lists grow")
        return target

    # Opcodes, by family.

    def _op_proto(self) -> None:
        version = self.data[self.position]
        self.position += 1
        if version > 5:
            raise CorruptFileError(f"load: pickle protocol {version} is unknown (0 to 5 are read)")

    def _op_frame(self) -> None:
        length = self._number(_U64, 8)
        if length > len(self.data) - self.position:
            raise CorruptFileError("load: the pickle is truncated: a frame is longer than the stream")

    def _op_stop(self) -> None:
        self._result = self._pop()
        if self._stack:
            raise CorruptFileError("load: the pickle leaves objects behind that belong to nothing")

    def _op_mark(self) -> None:
        self._stack.append(_MARK)

    def _op_pop(self) -> None:
        self._stack.pop()

    def _op_pop_mark(self) -> None:
        self._pop_mark()

    def _op_dup(self) -> None:
        self._stack.append(self._top())

    def _op_put(self) -> None:
        self._memo[int(self._line(32))] = self._top()

    def _op_binput(self) -> None:
        self._memo[self.data[self.position]] = self._top()
        self.position += 1

    def _op_long_binput(self) -> None:
        self._memo[self._number(_U32, 4)] = self._top()

    def _op_memoize(self) -> None:
        self._memo[len(self._memo)] = self._top()

    def _fetch(self, index: int) -> None:
        try:
            self._stack.append(self._memo[index])
        except KeyError:
            raise CorruptFileError(f"load: memo entry {index} is used before it is set (byte {self.position})") from None

    def _op_get(self) -> None:
        self._fetch(int(self._line(32)))

    def _op_binget(self) -> None:
        index = self.data[self.position]
        self.position += 1
        self._fetch(index)

    def _op_long_binget(self) -> None:
        self._fetch(self._number(_U32, 4))

    def _op_int(self) -> None:
        line = self._line(2 * _MAX_INT_BYTES)
        self._stack.append(line == b"01" if line in (b"00", b"01") else int(line))

    def _op_long(self) -> None:
        self._stack.append(int(self._line(2 * _MAX_INT_BYTES).rstrip(b"L")))

    def _op_binint(self) -> None:
        self._stack.append(self._number(_I32, 4))

    def _op_binint1(self) -> None:
        self._stack.append(self.data[self.position])
        self.position += 1

    def _op_binint2(self) -> None:
        self._stack.append(self._number(_U16, 2))

    def _long(self, length: int) -> None:
        if not 0 <= length <= _MAX_INT_BYTES:
            raise UnsafeFileError(f"load: an integer of {length} bytes is over the limit of {_MAX_INT_BYTES}")
        self._stack.append(int.from_bytes(self._take(length), "little", signed=True))

    def _op_long1(self) -> None:
        self._long(self._take(1)[0])

    def _op_long4(self) -> None:
        self._long(self._number(_I32, 4))

    def _op_float(self) -> None:
        self._stack.append(float(self._line(1024)))

    def _op_binfloat(self) -> None:
        self._stack.append(self._number(_F64, 8))  # type: ignore[arg-type]

    def _op_string(self) -> None:
        line = self._line(MAX_PICKLE_BYTES).strip()
        if len(line) < 2 or line[:1] != line[-1:] or line[:1] not in (b"'", b'"'):
            raise CorruptFileError(f"load: a string in the pickle is not quoted (byte {self.position})")
        body = line[1:-1].decode("latin-1").encode("latin-1").decode("unicode_escape").encode("latin-1")
        self._stack.append(self._text(body))

    def _op_unicode(self) -> None:
        self._stack.append(self._line(MAX_PICKLE_BYTES).decode("raw-unicode-escape"))

    def _op_binstring(self) -> None:
        length = self._number(_I32, 4)
        if length < 0:
            raise CorruptFileError(f"load: a string of negative length at byte {self.position}")
        self._stack.append(self._text(self._take(length)))

    def _op_short_binstring(self) -> None:
        self._stack.append(self._text(self._take(self._take(1)[0])))

    def _op_binunicode(self) -> None:
        self._stack.append(self._take(self._number(_U32, 4)).decode("utf-8", "surrogatepass"))

    def _op_short_binunicode(self) -> None:
        self._stack.append(self._take(self._take(1)[0]).decode("utf-8", "surrogatepass"))

    def _op_binunicode8(self) -> None:
        self._stack.append(self._take(self._number(_U64, 8)).decode("utf-8", "surrogatepass"))

    def _op_binbytes(self) -> None:
        self._stack.append(self._take(self._number(_U32, 4)))

    def _op_short_binbytes(self) -> None:
        self._stack.append(self._take(self._take(1)[0]))

    def _op_binbytes8(self) -> None:
        self._stack.append(self._take(self._number(_U64, 8)))

    def _op_bytearray8(self) -> None:
        self._stack.append(bytearray(self._take(self._number(_U64, 8))))

    def _op_none(self) -> None:
        self._stack.append(None)

    def _op_true(self) -> None:
        self._stack.append(True)

    def _op_false(self) -> None:
        self._stack.append(False)

    def _op_empty_tuple(self) -> None:
        self._stack.append(())

    def _op_tuple(self) -> None:
        self._push_container(tuple(self._pop_mark()))

    def _tuple_of(self, count: int) -> None:
        items = [self._pop() for _ in range(count)]
        items.reverse()
        self._push_container(tuple(items))

    def _op_tuple1(self) -> None:
        self._tuple_of(1)

    def _op_tuple2(self) -> None:
        self._tuple_of(2)

    def _op_tuple3(self) -> None:
        self._tuple_of(3)

    def _op_empty_list(self) -> None:
        self._push_container([])

    def _op_list(self) -> None:
        self._push_container(self._pop_mark())

    def _op_append(self) -> None:
        value = self._pop()
        self._list().append(value)

    def _op_appends(self) -> None:
        values = self._pop_mark()
        self._list().extend(values)

    def _op_empty_dict(self) -> None:
        self._push_container({})

    def _op_dict(self) -> None:
        target: dict = {}
        self.fill_dict(target, self._pop_mark())
        self._push_container(target)

    def _op_setitem(self) -> None:
        value = self._pop()
        key = self._pop()
        self.fill_dict(self._mapping(), [key, value])

    def _op_setitems(self) -> None:
        items = self._pop_mark()
        self.fill_dict(self._mapping(), items)

    def _op_empty_set(self) -> None:
        self._push_container(set())

    def _op_additems(self) -> None:
        items = self._pop_mark()
        target = self._top()
        if type(target) is not set:
            raise UnsafeFileError(f"load: elements are added to an object of type {type(target).__name__}; only sets take them")
        for item in items:
            self.check_key(item)
        target.update(items)

    def _op_frozenset(self) -> None:
        items = self._pop_mark()
        for item in items:
            self.check_key(item)
        self._push_container(frozenset(items))

    def _op_global(self) -> None:
        module = self._line().decode("utf-8")
        self._stack.append(self.world.find_global(module, self._line().decode("utf-8")))

    def _op_stack_global(self) -> None:
        name, module = self._pop(), self._pop()
        if type(name) is not str or type(module) is not str:
            raise CorruptFileError(f"load: a global whose name is not a string at byte {self.position}")
        self._stack.append(self.world.find_global(module, name))

    def _call(self, function: Any, args: Any) -> None:
        if type(function) is not Builder:
            raise UnsafeFileError(f"load: the file calls an object of type {type(function).__name__}; refused")
        if type(args) is not tuple:
            raise CorruptFileError(f"load: {function.name} is called with {type(args).__name__} instead of a tuple")
        self._push_container(function.call(self, args))

    def _op_reduce(self) -> None:
        args = self._pop()
        self._call(self._pop(), args)

    def _op_newobj_ex(self) -> None:
        keywords, args = self._pop(), self._pop()
        if type(keywords) is not dict or keywords:
            raise UnsafeFileError("load: the file builds an object with keyword arguments, which no data needs; refused")
        self._call(self._pop(), args)

    def _op_build(self) -> None:
        state = self._pop()
        self.world.set_state(self, self._top(), state)

    def _op_binpersid(self) -> None:
        self._stack.append(self.world.persistent_load(self._pop()))

    def _op_class(self) -> None:
        line = self._line().decode("utf-8", "replace")
        name = self._line().decode("utf-8", "replace")
        raise UnsafeFileError(f"load: the file makes an instance of {line}.{name}, which is not plain data; refused")

    def _op_extension(self) -> None:
        raise UnsafeFileError("load: the file uses copyreg's extension registry, which no data needs; refused")

    def _op_buffer(self) -> None:
        raise CorruptFileError("load: the pickle refers to out-of-band buffers, which a file cannot hold")


def _opcode_table() -> list[Callable[[Unpickler], None] | None]:
    vm = Unpickler
    by_byte = {
        b"\x80": vm._op_proto, b"\x95": vm._op_frame, b".": vm._op_stop, b"(": vm._op_mark, b"0": vm._op_pop,
        b"1": vm._op_pop_mark, b"2": vm._op_dup, b"p": vm._op_put, b"q": vm._op_binput, b"r": vm._op_long_binput,
        b"\x94": vm._op_memoize, b"g": vm._op_get, b"h": vm._op_binget, b"j": vm._op_long_binget, b"I": vm._op_int,
        b"L": vm._op_long, b"J": vm._op_binint, b"K": vm._op_binint1, b"M": vm._op_binint2, b"\x8a": vm._op_long1,
        b"\x8b": vm._op_long4, b"F": vm._op_float, b"G": vm._op_binfloat, b"S": vm._op_string, b"V": vm._op_unicode,
        b"T": vm._op_binstring, b"U": vm._op_short_binstring, b"X": vm._op_binunicode, b"\x8c": vm._op_short_binunicode,
        b"\x8d": vm._op_binunicode8, b"B": vm._op_binbytes, b"C": vm._op_short_binbytes, b"\x8e": vm._op_binbytes8,
        b"\x96": vm._op_bytearray8, b"N": vm._op_none, b"\x88": vm._op_true, b"\x89": vm._op_false,
        b")": vm._op_empty_tuple, b"t": vm._op_tuple, b"\x85": vm._op_tuple1, b"\x86": vm._op_tuple2,
        b"\x87": vm._op_tuple3, b"]": vm._op_empty_list, b"l": vm._op_list, b"a": vm._op_append, b"e": vm._op_appends,
        b"}": vm._op_empty_dict, b"d": vm._op_dict, b"s": vm._op_setitem, b"u": vm._op_setitems,
        b"\x8f": vm._op_empty_set, b"\x90": vm._op_additems, b"\x91": vm._op_frozenset, b"c": vm._op_global,
        b"\x93": vm._op_stack_global, b"R": vm._op_reduce, b"\x81": vm._op_reduce, b"\x92": vm._op_newobj_ex,
        b"b": vm._op_build, b"Q": vm._op_binpersid, b"i": vm._op_class, b"\x82": vm._op_extension,
        b"\x83": vm._op_extension, b"\x84": vm._op_extension, b"\x97": vm._op_buffer, b"\x98": vm._op_buffer,
    }  # fmt: skip
    table: list[Callable[[Unpickler], None] | None] = [None] * 256
    for byte, handler in by_byte.items():
        table[byte[0]] = handler
    return table


_OPCODES = _opcode_table()
