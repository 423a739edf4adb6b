"""NumPy scalars and arrays of numbers in a checkpoint, rebuilt from their bytes. NumPy is imported when one turns up."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from .errors import CorruptFileError, UnsafeFileError

if TYPE_CHECKING:
    from .unpickler import Unpickler

__all__ = ["BUILDERS", "set_state"]

_NUMERIC = re.compile(r"[<|=]?(b1|[iu][1248]|f[248]|c(8|16)|[SU][0-9]{1,6})")


def _dtype(vm: Unpickler, args: tuple) -> Any:
    import numpy

    if not args or type(args[0]) is not str or not _NUMERIC.fullmatch(args[0]):
        raise UnsafeFileError(f"load: the NumPy dtype {args[:1]!r} holds more than numbers or text; refused")
    return numpy.dtype(args[0])


def _checked_dtype(value: Any) -> Any:
    import numpy

    if not isinstance(value, numpy.dtype):
        raise CorruptFileError("load: a NumPy value has no dtype")
    return value


def _scalar(vm: Unpickler, args: tuple) -> Any:
    import numpy

    if len(args) != 2 or type(args[1]) is not bytes:
        raise CorruptFileError("load: a NumPy scalar is not saved as a dtype and bytes")
    dtype = _checked_dtype(args[0])
    if len(args[1]) != dtype.itemsize:
        raise CorruptFileError(f"load: a NumPy scalar of dtype {dtype} has {len(args[1])} bytes")
    return numpy.frombuffer(args[1], dtype)[0]


def _ndarray_class(vm: Unpickler, args: tuple) -> Any:
    raise UnsafeFileError("load: the file calls numpy.ndarray itself, which no data needs; refused")


def _reconstruct(vm: Unpickler, args: tuple) -> Any:
    import numpy

    if len(args) != 3 or getattr(args[0], "name", None) != "numpy.ndarray":
        raise UnsafeFileError("load: a NumPy array of a class other than numpy.ndarray; refused")
    return numpy.ndarray((0,), numpy.int8)


def _from_bytes(vm: Unpickler, args: tuple) -> Any:
    import numpy

    # How protocol 5 holds an array: (bytes, dtype, shape, order) and, since NumPy 2.3, the order of the axes.
    if not 4 <= len(args) <= 5 or type(args[0]) not in (bytes, bytearray) or args[3] not in ("C", "F", None):
        raise CorruptFileError("load: a NumPy array is not saved as bytes, dtype, shape and order")
    if len(args) == 5 and args[4] is not None:
        raise UnsafeFileError("load: a NumPy array saved with permuted axes; save a copy of it")
    array = numpy.ndarray((0,), numpy.int8)
    _set_array_state(vm, array, (1, args[2], args[1], args[3] == "F", bytes(args[0])))
    return array


BUILDERS = {
    "numpy.dtype": _dtype,
    "numpy.ndarray": _ndarray_class,
    "numpy._core.multiarray.scalar": _scalar,
    "numpy._core.multiarray._reconstruct": _reconstruct,
    "numpy._core.numeric._frombuffer": _from_bytes,
}


def _set_array_state(vm: Unpickler, array: Any, state: Any) -> None:
    if type(state) is not tuple or len(state) != 5:
        raise CorruptFileError("load: a NumPy array's state is not (version, shape, dtype, order, bytes)")
    _, shape, dtype, fortran, data = state
    dtype = _checked_dtype(dtype)
    count = 1
    if type(shape) is not tuple or len(shape) > 32 or type(data) is not bytes:
        raise CorruptFileError("load: a NumPy array's state is damaged")
    for extent in shape:
        if type(extent) is not int or extent < 0:
            raise CorruptFileError(f"load: a NumPy array has the shape {shape}")
        count *= extent
    if count * dtype.itemsize != len(data):
        raise CorruptFileError(f"load: a NumPy array of shape {shape} and dtype {dtype} has {len(data)} bytes")
    vm.budget.copy(len(data))
    array.__setstate__((1, shape, dtype, bool(fortran), data))


def set_state(vm: Unpickler, target: Any, state: Any) -> bool:
    """Apply a NumPy object's saved state; False when ``target`` is none."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return False
    if type(target) is numpy.ndarray:
        _set_array_state(vm, target, state)
        return True
    if isinstance(target, numpy.dtype):
        # The dtype was made from its name; its state repeats that and adds the byte order.
        if type(state) is not tuple or len(state) < 2 or state[1] not in ("<", "|", "="):
            raise UnsafeFileError("load: a NumPy dtype with big-endian or structured contents; refused")
        return True
    return False
