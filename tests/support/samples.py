"""Sample arguments for operators, made with NumPy alone so that Trine and real PyTorch are given the same ones.

A sample is written as the argument list of a call, in a table entry or in ``families``:

    f(2, 3, 8, 8), f(4, 3, 3, 3), f(4), stride=2

``f`` and its kin make tensors; everything else is plain Python. ``f`` is of the dtype under test.

| name | values |
|---|---|
| ``f(*shape)`` | normal; whole numbers -9..9 for integer dtypes, 0..9 for uint8, complex normal for complex |
| ``domain(lo, hi, *shape)`` | uniform in (lo, hi) |
| ``pos(*shape)``, ``unit(*shape)`` | ``domain`` of (0.1, 3) and of (-0.95, 0.95) |
| ``perm(*shape)`` | all different, at least 0.5 apart: for sorting and for picking the largest |
| ``square(*shape)``, ``spd(*shape)`` | matrices far from singular; Hermitian positive-definite ones |
| ``tri(*shape)``, ``triu(*shape)`` | ``square`` with zeros above or below a real diagonal |
| ``special()`` | zeros of both signs, infinities, NaN, subnormal and huge numbers |
| ``i(hi, *shape)`` | int64 indices 0..hi-1; ``neg(hi, *shape)`` -hi..hi-1 |
| ``b(*shape)`` | bool |
| ``f32(*shape)``, ``f64``, ``i64``, ``u8``, ``c64``, ``c128`` | a fixed dtype whatever is under test |
| ``const(x)`` | the nested list ``x``, of the dtype under test; ``ints(x)`` as int64, ``i32(x)`` as int32 |
| ``still(tensor)`` | a tensor with respect to which there is no derivative |
| ``dt(name)`` | a dtype; ``fmt(name)`` a memory format |
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

BOOL = ["bool"]
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]
FLOATS = ["float32", "float64"]
SMALL_FLOATS = ["float16", "bfloat16"]
COMPLEX = ["complex64", "complex128"]
ALL_DTYPES = BOOL + INTEGERS + FLOATS + SMALL_FLOATS + COMPLEX

# NumPy has no bfloat16: such values travel as float32 that bfloat16 can hold.
NUMPY_DTYPES = {name: np.dtype(name) for name in ALL_DTYPES if name != "bfloat16"} | {"bfloat16": np.dtype("float32")}


@dataclass(frozen=True)
class T:
    """A tensor argument: its values, and the dtype it has in a library."""

    array: np.ndarray
    dtype: str
    constant: bool = False  # not differentiated with respect to
    hermitian: bool = False  # varied together with its conjugate transpose

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS + SMALL_FLOATS


@dataclass(frozen=True)
class Name:
    """An argument that is an attribute of the library, such as a dtype."""

    name: str


@dataclass
class Sample:
    """Arguments of one call, as ``T``, ``Name``, plain values, and lists of these."""

    text: str
    args: tuple
    kwargs: dict[str, Any] = field(default_factory=dict)

    def tensors(self) -> Iterator[T]:
        for value in [*self.args, *self.kwargs.values()]:
            for leaf in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(leaf, T):
                    yield leaf

    def digest(self) -> str:
        """Names the arguments; stored results of other arguments are not compared with."""
        digest = hashlib.sha256(self.text.encode())
        for tensor in self.tensors():
            digest.update(tensor.dtype.encode() + repr(tensor.array.shape).encode() + tensor.array.tobytes())
        return digest.hexdigest()[:12]


def to_bfloat16(values: np.ndarray) -> np.ndarray:
    """float32 values rounded to the nearest that bfloat16 can hold, ties to even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    return np.where(np.isnan(values), np.float32(np.nan), rounded.reshape(np.shape(values))).astype(np.float32)


def cast(values: np.ndarray, dtype: str) -> T:
    with np.errstate(over="ignore", invalid="ignore"):
        array = to_bfloat16(values) if dtype == "bfloat16" else np.asarray(values).astype(NUMPY_DTYPES[dtype])
    return T(array, dtype)


class Maker:
    """The names a sample is written with; one for each sample, so that its numbers follow from its text alone."""

    def __init__(self, dtype: str, seed: int):
        self.dtype = dtype
        self.random = np.random.default_rng(seed)

    def f(self, *shape: int, dtype: str | None = None) -> T:
        dtype = dtype or self.dtype
        if dtype == "bool":
            return T(self.random.random(shape) < 0.5, dtype)
        if dtype in INTEGERS:
            return cast(self.random.integers(0 if dtype == "uint8" else -9, 10, shape), dtype)
        values = self.random.standard_normal(shape)
        if dtype in COMPLEX:
            values = values + 1j * self.random.standard_normal(shape)
        return cast(values, dtype)

    def domain(self, low: float, high: float, *shape: int) -> T:
        values = self.random.uniform(low, high, shape)
        if self.dtype in COMPLEX:
            values = values + 1j * self.random.uniform(-1, 1, shape)
        if self.dtype in INTEGERS:
            # The open interval keeps out bounds at which an operator is undefined, unless no whole number is inside.
            inner_low, inner_high = np.floor(low) + 1, np.ceil(high) - 1
            values = self.random.integers(int(min(inner_low, inner_high)), int(max(inner_low, inner_high)) + 1, shape)
            if self.dtype == "uint8":
                values = np.abs(values)
        return cast(values, self.dtype)

    def pos(self, *shape: int) -> T:
        return self.domain(0.1, 3, *shape)

    def unit(self, *shape: int) -> T:
        return self.domain(-0.95, 0.95, *shape)

    def perm(self, *shape: int) -> T:
        count = int(np.prod(shape, dtype=np.int64))
        values = self.random.permutation(count).reshape(shape)
        if self.dtype in INTEGERS + BOOL:
            return cast(values, self.dtype)
        return cast((values - count // 2) * 0.5, self.dtype)

    def special(self) -> T:
        tiny, huge = 1e-40, 1e30
        values = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, tiny, -tiny, huge, -huge, 88.0, -88.0, 2.5]
        if self.dtype in FLOATS + SMALL_FLOATS:
            return cast(np.array(values), self.dtype)
        return self.f(len(values))

    def square(self, *shape: int) -> T:
        values = self.random.standard_normal(shape) + 3 * np.eye(shape[-1])
        return cast(values + (1j * self.random.standard_normal(shape) if self.dtype in COMPLEX else 0), self.dtype)

    def spd(self, *shape: int) -> T:
        half = self.random.standard_normal(shape) + (1j * self.random.standard_normal(shape) if self.dtype in COMPLEX else 0)
        return replace(cast(half @ half.conj().swapaxes(-1, -2) + np.eye(shape[-1]), self.dtype), hermitian=True)

    def tri(self, *shape: int) -> T:
        values = np.tril(self.square(*shape).array)
        return cast(values - 1j * np.eye(shape[-1]) * values.imag if self.dtype in COMPLEX else values, self.dtype)

    def triu(self, *shape: int) -> T:
        return cast(self.tri(*shape).array.swapaxes(-1, -2), self.dtype)

    def i32(self, values: Any) -> T:
        return T(np.array(values, np.int32), "int32")

    def i(self, high: int, *shape: int) -> T:
        return T(self.random.integers(0, high, shape), "int64")

    def neg(self, high: int, *shape: int) -> T:
        return T(self.random.integers(-high, high, shape), "int64")

    def b(self, *shape: int) -> T:
        return T(np.asarray(self.random.random(shape) < 0.5), "bool")

    def const(self, values: Any) -> T:
        return cast(np.array(values), self.dtype)

    def ints(self, values: Any) -> T:
        return T(np.array(values, np.int64), "int64")

    def still(self, tensor: T) -> T:
        return replace(tensor, constant=True)

    def namespace(self) -> dict[str, Any]:
        fixed = {
            "f32": "float32",
            "f64": "float64",
            "i64": "int64",
            "u8": "uint8",
            "c64": "complex64",
            "c128": "complex128",
        }
        makers = {
            name: getattr(self, name)
            for name in (
                "f",
                "domain",
                "pos",
                "unit",
                "perm",
                "special",
                "square",
                "spd",
                "tri",
                "triu",
                "i",
                "neg",
                "b",
                "const",
                "ints",
                "i32",
                "still",
            )
        }
        makers |= {name: self.of_dtype(dtype) for name, dtype in fixed.items()}
        return makers | {"dt": Name, "fmt": Name, "inf": float("inf"), "nan": float("nan"), "call": Call, "np": np}

    def of_dtype(self, dtype: str) -> Callable[..., T]:
        return lambda *shape: self.f(*shape, dtype=dtype)


class Call:
    """Keeps the arguments it is called with."""

    def __init__(self, *args: Any, **kwargs: Any):
        self.args, self.kwargs = args, kwargs


def make(text: str, dtype: str, seed: int = 0) -> Sample:
    """The sample that ``text`` describes; the same text, dtype and seed give the same numbers."""
    maker = Maker(dtype, seed + zlib.crc32(f"{text}|{dtype}".encode()))
    try:
        call = eval(f"call({text})", {"__builtins__": {}}, maker.namespace())
    except Exception as error:
        raise ValueError(f"sample {text!r} for {dtype}: {error}") from error
    return Sample(text, call.args, call.kwargs)
