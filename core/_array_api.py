"""The array API standard's namespace over tensors: what ``Tensor.__array_namespace__()`` gives.

https://data-apis.org/array-api/2023.12/ . Names that the standard and PyTorch share are Trine's own functions; the others are
written here, with the standard's parameter names (``axis``, ``keepdims``, ``correction``).
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import trine
from trine import _C
from trine import linalg as _linalg

__array_api_version__ = "2023.12"
Tensor = trine.Tensor
Axis = int | Sequence[int] | None

e, inf, nan, pi, newaxis = trine.e, trine.inf, trine.nan, trine.pi, None
uint8, int8, int16, int32, int64 = trine.uint8, trine.int8, trine.int16, trine.int32, trine.int64
float32, float64, complex64, complex128 = trine.float32, trine.float64, trine.complex64, trine.complex128
bool = trine.bool

_SAME = (
    "abs", "acos", "acosh", "add", "arange", "asarray", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_or",
    "bitwise_xor", "can_cast", "ceil", "copysign", "cos", "cosh", "empty_like", "exp", "expm1", "finfo", "floor", "from_dlpack", "full_like",
    "hypot", "iinfo", "imag", "isfinite", "isinf", "isnan", "linspace", "log", "log10", "log1p", "log2", "logaddexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "maximum", "meshgrid", "minimum", "moveaxis", "multiply", "negative", "ones_like", "positive",
    "real", "reciprocal", "remainder", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh",
    "tensordot", "tril", "triu", "trunc", "where", "zeros_like",
)  # fmt: skip
globals().update({name: getattr(trine, name) for name in _SAME if hasattr(trine, name)})
_RENAMED = {
    "bitwise_invert": "bitwise_not", "bitwise_left_shift": "bitwise_left_shift", "bitwise_right_shift": "bitwise_right_shift",
    "conj": "conj", "divide": "true_divide", "equal": "eq", "floor_divide": "floor_divide", "greater": "gt", "greater_equal": "ge",
    "less": "lt", "less_equal": "le", "not_equal": "ne", "pow": "pow",
}  # fmt: skip
globals().update({name: getattr(trine, ours) for name, ours in _RENAMED.items() if hasattr(trine, ours)})

_KINDS = {
    "bool": ("bool",), "signed integer": ("int8", "int16", "int32", "int64"), "unsigned integer": ("uint8",),
    "real floating": ("float32", "float64"), "complex floating": ("complex64", "complex128"),
}  # fmt: skip
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]


# ---- dtypes and devices ---------------------------------------------------------------------------------------------
def astype(x: Tensor, dtype: _C.dtype, /, *, copy: Any = True, device: Any = None) -> Tensor:
    """``x`` with another dtype; a copy even when the dtype is the same, unless ``copy`` is false."""
    return x.to(device or x.device, dtype, copy=copy)


def isdtype(dtype: _C.dtype, kind: Any) -> Any:
    """Whether ``dtype`` is, or is of a kind such as "real floating" or of a tuple of them."""
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(f"isdtype: unknown kind of dtypes: {kind!r}")
        return str(dtype).removeprefix("torch.") in _KINDS[kind]
    return dtype == kind


def result_type(*arrays_and_dtypes: Any) -> _C.dtype:
    """The dtype that arrays, dtypes and Python numbers promote to together."""
    strong = [a if isinstance(a, _C.dtype) else a.dtype for a in arrays_and_dtypes if isinstance(a, (Tensor, _C.dtype))]
    if not strong:
        raise ValueError("result_type: at least one array or dtype is required")
    result = strong[0]
    for d in strong[1:]:
        result = trine.promote_types(result, d)
    for number in arrays_and_dtypes:
        if not isinstance(number, (Tensor, _C.dtype)):
            result = trine.result_type(trine.ones(1, dtype=result), number)
    return result


class _Info:
    """Devices and dtypes that the namespace has."""

    def capabilities(self) -> dict[str, Any]:
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        return trine.get_default_device()

    def devices(self) -> list:
        return [_C.device("cpu")]

    def default_dtypes(self, *, device: Any = None) -> dict[str, _C.dtype]:
        real = trine.get_default_dtype()
        return {"real floating": real, "complex floating": real.to_complex(), "integral": int64, "indexing": int64}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, _C.dtype]:
        names = ("bool", *_KINDS["numeric"])
        return {n: globals()[n] for n in names if kind is None or isdtype(globals()[n], kind)}


def __array_namespace_info__() -> _Info:
    """Devices and dtypes that the namespace has."""
    return _Info()


# ---- making arrays --------------------------------------------------------------------------------------------------
def _shape(shape: Any) -> tuple:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """An array of any values."""
    return trine.empty(_shape(shape), dtype=dtype, device=device)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """An array of zeros."""
    return trine.zeros(_shape(shape), dtype=dtype, device=device)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """An array of ones."""
    return trine.ones(_shape(shape), dtype=dtype, device=device)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """An array of one value."""
    return trine.full(_shape(shape), fill_value, dtype=dtype, device=device)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Tensor:
    """Ones on the ``k``-th diagonal."""
    n_cols = n_rows if n_cols is None else n_cols
    result = trine.zeros(n_rows, n_cols, dtype=dtype, device=device)
    if -n_rows <= k <= n_cols:
        result.diagonal(k).fill_(1)
    return result


# ---- reductions -----------------------------------------------------------------------------------------------------
def _axes(x: Tensor, axis: Axis) -> tuple[int, ...]:
    return tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)


def sum(x: Tensor, /, *, axis: Axis = None, dtype: Any = None, keepdims: Any = False) -> Tensor:
    """The sum over ``axis``, over everything without one; over none for an empty tuple."""
    if axis == ():
        return x.to(dtype or (int64 if isdtype(x.dtype, ("integral", "bool")) else x.dtype))
    return trine.sum(x, _axes(x, axis), keepdim=keepdims, dtype=dtype)


def prod(x: Tensor, /, *, axis: Axis = None, dtype: Any = None, keepdims: Any = False) -> Tensor:
    """The product over ``axis``."""
    result = x.to(dtype or (int64 if isdtype(x.dtype, ("integral", "bool")) else x.dtype))
    axes = sorted((a % x.ndim for a in _axes(x, axis)), reverse=True)
    for a in axes:
        result = trine.prod(result, a, keepdim=keepdims)
    return result


def _reduce(name: str) -> Any:
    ours = getattr(trine, name)

    def reduce(x: Tensor, /, *, axis: Axis = None, keepdims: Any = False) -> Tensor:
        axes = _axes(x, axis)
        if not axes:
            return x.bool() if name in ("any", "all") else x
        if name in ("any", "all"):
            for a in sorted((a % x.ndim for a in axes), reverse=True):
                x = ours(x.bool(), a, keepdim=keepdims)
            return x
        return ours(x, axes, keepdim=keepdims)

    reduce.__name__, reduce.__doc__ = name, f"``{name}`` over ``axis``, over everything without one."
    return reduce


any, all, mean = _reduce("any"), _reduce("all"), _reduce("mean")
max, min = _reduce("amax"), _reduce("amin")


def var(x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: Any = False) -> Tensor:
    """The variance over ``axis``, with ``n - correction`` as divisor."""
    return trine.var(x, _axes(x, axis), correction=correction, keepdim=keepdims)


def std(x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: Any = False) -> Tensor:
    """The standard deviation over ``axis``, with ``n - correction`` as divisor."""
    return trine.std(x, _axes(x, axis), correction=correction, keepdim=keepdims)


def cumulative_sum(x: Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: Any = False) -> Tensor:
    """Running sums along ``axis``, starting with zero when ``include_initial``."""
    axis = 0 if axis is None else axis
    result = trine.cumsum(x, axis, dtype=dtype)
    if include_initial:
        shape = list(x.shape)
        shape[axis] = 1
        result = trine.cat([trine.zeros(shape, dtype=result.dtype), result], axis)
    return result


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: Any = False) -> Tensor:
    """Position of the largest element."""
    return trine.argmax(x, axis, keepdim=keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: Any = False) -> Tensor:
    """Position of the smallest element."""
    return trine.argmin(x, axis, keepdim=keepdims)


def count_nonzero(x: Tensor, /, *, axis: Axis = None, keepdims: Any = False) -> Tensor:
    """Number of elements that are not zero."""
    return sum((x != 0), axis=axis, keepdims=keepdims)


# ---- order and sets -------------------------------------------------------------------------------------------------
def sort(x: Tensor, /, *, axis: int = -1, descending: Any = False, stable: Any = True) -> Tensor:
    """The elements in order along ``axis``."""
    return trine.sort(x, dim=axis, descending=descending, stable=stable).values


def argsort(x: Tensor, /, *, axis: int = -1, descending: Any = False, stable: Any = True) -> Tensor:
    """Positions that put the elements in order."""
    return trine.sort(x, dim=axis, descending=descending, stable=stable).indices


def searchsorted(x1: Tensor, x2: Tensor, /, *, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Positions in ``x1`` where the elements of ``x2`` keep it in order."""
    return trine.searchsorted(x1 if sorter is None else x1[sorter], x2, right=side == "right")


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """Positions of the elements that are not zero, a tensor for each axis."""
    return trine.nonzero(x, as_tuple=True)


def unique_values(x: Tensor, /) -> Tensor:
    """The distinct elements."""
    return trine.unique(x)


def unique_counts(x: Tensor, /) -> Any:
    """The distinct elements and how often each comes."""
    return trine.unique(x, return_counts=True)


def unique_inverse(x: Tensor, /) -> Any:
    """The distinct elements and for each of ``x`` its position among them."""
    return trine.unique(x, return_inverse=True)


# ---- shapes ---------------------------------------------------------------------------------------------------------
def reshape(x: Tensor, /, shape: Any, *, copy: Any = None) -> Tensor:
    """``x`` in another shape."""
    if copy is False:
        return x.view(_shape(shape))
    return trine.reshape(x.clone() if copy else x, _shape(shape))


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Arrays joined along ``axis``; flattened first without one."""
    dtype = result_type(*arrays)
    parts = [a.to(dtype) for a in arrays]
    return trine.cat([p.flatten() for p in parts] if axis is None else parts, 0 if axis is None else axis)


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """Arrays joined along a new axis."""
    dtype = result_type(*arrays)
    return trine.stack([a.to(dtype) for a in arrays], axis)


def squeeze(x: Tensor, /, axis: Axis) -> Tensor:
    """``x`` without the axes given, which must have length 1 (ValueError)."""
    axes = _axes(x, axis)
    for a in axes:
        if x.shape[a] != 1:
            raise ValueError(f"squeeze: axis {a} of shape {tuple(x.shape)} has not length 1")
    for a in sorted((a % x.ndim for a in axes), reverse=True):
        x = x.squeeze(a)
    return x


def expand_dims(x: Tensor, /, *, axis: int = 0) -> Tensor:
    """``x`` with a new axis of length 1."""
    return x.unsqueeze(axis)


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """``x`` with its axes in another order."""
    return x.permute(axes)


def matrix_transpose(x: Tensor, /) -> Tensor:
    """``x`` with its last two axes exchanged."""
    return x.transpose(-1, -2)


def flip(x: Tensor, /, *, axis: Axis = None) -> Tensor:
    """``x`` reversed along ``axis``."""
    return trine.flip(x, _axes(x, axis))


def roll(x: Tensor, /, shift: Any, *, axis: Any = None) -> Tensor:
    """``x`` moved round along ``axis``."""
    return trine.roll(x, shift, axis) if axis is not None else trine.roll(x, shift)


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """Copies of ``x`` side by side."""
    return trine.tile(x, repetitions)


def repeat(x: Tensor, repeats: Any, /, *, axis: int | None = None) -> Tensor:
    """Each element several times."""
    return trine.repeat_interleave(x, repeats, dim=axis)


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """Views along ``axis``."""
    return trine.unbind(x, axis)


def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """``x`` repeated to a shape."""
    return x.expand(shape)


def broadcast_arrays(*arrays: Tensor) -> list[Tensor]:
    """Arrays repeated to their common shape."""
    return list(trine.broadcast_tensors(*arrays))


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """Elements along ``axis`` by position."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError("take: axis must be given when x has more than one axis")
        axis = 0
    return trine.index_select(x, axis, indices)


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """Elements along ``axis`` by a position for each line."""
    return trine.take_along_dim(x, indices, dim=axis)


def clip(x: Tensor, /, min: Any = None, max: Any = None) -> Tensor:
    """Elements within bounds."""
    return x.clone() if min is None and max is None else trine.clamp(x, min, max).to(x.dtype)


# ---- linear algebra -------------------------------------------------------------------------------------------------
def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Matrix products, with promoted dtypes."""
    dtype = result_type(x1, x2)
    return trine.matmul(x1.to(dtype), x2.to(dtype))


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Inner products along ``axis``, of the conjugate of the first."""
    return trine.sum((trine.conj(x1) if x1.dtype.is_complex else x1) * x2, axis)


class linalg:
    """The standard's ``linalg`` extension."""

    matmul, vecdot, matrix_transpose = staticmethod(matmul), staticmethod(vecdot), staticmethod(matrix_transpose)
    tensordot = staticmethod(trine.tensordot)


for _name in (
    "cholesky", "cross", "det", "eigh", "eigvalsh", "inv", "matrix_norm", "matrix_power", "matrix_rank", "pinv", "qr", "slogdet", "solve",
    "svd", "svdvals", "vector_norm",
):  # fmt: skip
    if hasattr(_linalg, _name):
        setattr(linalg, _name, staticmethod(getattr(_linalg, _name)))

from trine import fft  # noqa: E402, F401 (the standard's extension)
