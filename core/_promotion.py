"""Which dtype two dtypes, tensors or numbers meet in."""

from __future__ import annotations

from typing import Any

from trine import _C

__all__ = ["can_cast", "promote_types", "result_type"]

_INTEGERS = (_C.uint8, _C.int8, _C.int16, _C.int32, _C.int64)
_FLOATS = (_C.float16, _C.bfloat16, _C.float32, _C.float64)


def _kind(dtype: _C.dtype) -> int:
    """0 bool, 1 integer, 2 floating, 3 complex: a higher kind wins."""
    if dtype.is_complex:
        return 3
    return 2 if dtype.is_floating_point else 0 if dtype == _C.bool else 1


def promote_types(type1: _C.dtype, type2: _C.dtype) -> _C.dtype:
    """The smallest dtype of a kind not below either that holds the values of both.

    >>> import trine
    >>> trine.promote_types(trine.int32, trine.float16)
    torch.float16
    """
    a, b = sorted((type1, type2), key=_kind)
    if a == b or _kind(a) == 0:
        return b
    if _kind(a) == _kind(b) == 1:
        if _C.uint8 in (a, b):
            other = b if a == _C.uint8 else a
            return _C.int16 if other == _C.int8 else other
        return max(a, b, key=_INTEGERS.index)
    if _kind(a) == _kind(b) == 2:
        return _C.float32 if {a, b} == {_C.float16, _C.bfloat16} else max(a, b, key=_FLOATS.index)
    if _kind(b) == 3:
        return _C.complex128 if _C.complex128 in (a, b) or a == _C.float64 else _C.complex64
    return b


def result_type(tensor1: Any, tensor2: Any) -> _C.dtype:
    """The dtype of an arithmetic operator's result on two tensors or numbers.

    Numbers, and behind them 0-dim tensors, change the dtype of other tensors only when they are of a higher kind.

    >>> import trine
    >>> trine.result_type(trine.ones(2, dtype=trine.int8), 1.5)
    torch.float32
    """
    ranked: dict[int, _C.dtype] = {}
    for value in (tensor1, tensor2):
        if isinstance(value, _C.Tensor):
            rank, dtype = (2 if value.dim() else 1), value.dtype
        else:
            default = _C.get_default_dtype()
            kinds = {bool: _C.bool, int: _C.int64, float: default, complex: default.to_complex()}
            rank, dtype = 0, next(d for k, d in kinds.items() if isinstance(value, k))
        ranked[rank] = promote_types(ranked[rank], dtype) if rank in ranked else dtype
    result: _C.dtype = ranked[max(ranked)]
    for rank in sorted(ranked, reverse=True):
        dtype = ranked[rank]
        if _kind(dtype) > _kind(result):
            # a complex number takes the width of the floats it meets
            result = result.to_complex() if dtype.is_complex and result.is_floating_point else dtype
    return result


def can_cast(from_: _C.dtype, to: _C.dtype) -> bool:
    """Whether values may go from one dtype to another without leaving their kind (complex, floating, integer, bool).

    >>> import trine
    >>> trine.can_cast(trine.float64, trine.float16), trine.can_cast(trine.float32, trine.int32)
    (True, False)
    """
    return _kind(from_) <= _kind(to)
