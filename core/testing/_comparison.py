"""``assert_close``: equality within the rounding of the dtype, and a message that says what differs where."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import trine

__all__ = ["assert_close"]

Tensor = trine.Tensor
# dtype name: (rtol, atol); every other dtype is compared exactly
_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
_NUMBERS = (bool, int, float, complex)


class _Mismatch(Exception):
    """A difference, and the keys and indices that lead to it."""

    def __init__(self, text: str, kind: type[Exception] = AssertionError) -> None:
        super().__init__(text)
        self.text, self.kind = text, kind
        self.path: list[Any] = []  # grows from the inside out


class _Settings:
    def __init__(self, rtol: float | None, atol: float | None, equal_nan: bool, checks: dict[str, bool], subclasses: bool) -> None:
        if (rtol is None) != (atol is None):
            one, other = ("rtol", "atol") if atol is None else ("atol", "rtol")
            raise ValueError(f"assert_close: rtol and atol must both be given or both be left out, but {one} is given and {other} is not")
        self.rtol, self.atol, self.equal_nan, self.checks, self.subclasses = rtol, atol, equal_nan, checks, subclasses

    def tolerances(self, *dtypes: Any) -> tuple[float, float]:
        if self.rtol is not None:
            return self.rtol, self.atol or 0.0
        pairs = [_TOLERANCES.get(str(d).rpartition(".")[2], (0.0, 0.0)) for d in dtypes]
        return max(p[0] for p in pairs), max(p[1] for p in pairs)


def _attribute(name: str, a: object, b: object) -> None:
    if a != b:
        raise _Mismatch(f"The values for attribute '{name}' do not match: {a} != {b}.")


def _bound(difference: str, value: float, index: tuple | None, allowed: float) -> str:
    place = f" at index {index}" if index is not None else ""
    limit = f" (up to {allowed} allowed)" if allowed else ""
    return f"{difference} difference: {value}{place}{limit}"


def _headline(what: str, rtol: float, atol: float) -> str:
    return f"{what} are not {'equal' if rtol == atol == 0 else 'close'}!"


def _scalars(a: Any, b: Any, difference: float, relative: float, rtol: float, atol: float) -> str:
    text = f"{_headline('Scalars', rtol, atol)}\n\nExpected {b} but got {a}.\n"
    return text + _bound("Absolute", difference, None, atol) + "\n" + _bound("Relative", relative, None, rtol)


def _wide(t: Tensor, exact: bool) -> Tensor:
    """In the type that differences are taken in, which holds every value of ``t`` (of an int64: when ``exact``)."""
    if t.dtype.is_complex:
        return t.to(trine.complex128)
    return t.to(trine.int64 if exact and not t.dtype.is_floating_point else trine.float64)


def _index(flat: int, shape: Sequence[int]) -> tuple[int, ...]:
    index = []
    for size in reversed(shape):
        flat, rest = divmod(flat, size)
        index.append(rest)
    return tuple(reversed(index))


def _compare_values(a: Tensor, b: Tensor, rtol: float, atol: float, equal_nan: bool) -> None:
    exact = not rtol and not atol and not (a.dtype.is_floating_point or b.dtype.is_floating_point)
    a, b = _wide(a, exact), _wide(b, exact)
    if a.dtype != b.dtype:
        common = trine.promote_types(a.dtype, b.dtype)
        a, b = a.to(common), b.to(common)
    close = a == b
    if equal_nan:
        close = close | ((a != a) & (b != b))
    distance = abs(a - b)
    if rtol or atol:
        close = close | (trine.isfinite(distance) & (distance <= atol + rtol * abs(b)))
    matching = int(close.sum())
    total = close.numel()
    if matching == total:
        return
    shape, wrong = tuple(close.shape), total - matching
    distance = trine.where(close, trine.zeros_like(distance), distance).reshape(-1)
    relative = distance.to(trine.float64) / abs(b).to(trine.float64).reshape(-1)
    relative = trine.where(close.reshape(-1), trine.zeros_like(relative), relative)
    if close.dim() == 0:
        raise _Mismatch(_scalars(a.item(), b.item(), distance.item(), relative.item(), rtol, atol))
    worst, worst_relative = int(distance.argmax()), int(relative.argmax())
    raise _Mismatch(
        f"{_headline('Tensor-likes', rtol, atol)}\n\n"
        f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})\n"
        + _bound("Greatest absolute", distance[worst].item(), _index(worst, shape), atol) + "\n"
        + _bound("Greatest relative", relative[worst_relative].item(), _index(worst_relative, shape), rtol)
    )  # fmt: skip


def _compare_tensors(a: Tensor, b: Tensor, settings: _Settings) -> None:
    _attribute("shape", a.shape, b.shape)
    checks = settings.checks
    if checks["layout"]:
        _attribute("layout", a.layout, b.layout)
    if checks["device"]:
        _attribute("device", a.device, b.device)
    if checks["dtype"]:
        _attribute("dtype", a.dtype, b.dtype)
    if checks["stride"]:
        _attribute("stride()", a.stride(), b.stride())
    if a.is_meta or b.is_meta:
        return
    rtol, atol = settings.tolerances(a.dtype, b.dtype)
    with trine.no_grad():
        _compare_values(a.detach().cpu(), b.detach().cpu(), rtol, atol, settings.equal_nan)


def _compare_numbers(a: Any, b: Any, settings: _Settings) -> None:
    kinds = {bool: trine.bool, int: trine.int64, float: trine.float64, complex: trine.complex128}
    if settings.checks["dtype"] and type(a) is not type(b):
        raise _Mismatch(f"The (d)types do not match: {type(a)} != {type(b)}.")
    rtol, atol = settings.tolerances(kinds[type(a)], kinds[type(b)])
    if a == b or (settings.equal_nan and cmath.isnan(a) and cmath.isnan(b)):
        return
    difference, size = abs(a - b), abs(b)
    if math.isfinite(difference) and difference <= atol + rtol * size:
        return
    relative = difference / size if size else math.inf
    raise _Mismatch(_scalars(a, b, difference, relative, rtol, atol))


def _is_sequence(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _compare_parts(a: Any, b: Any, keys: Any, settings: _Settings) -> None:
    for key in keys:
        try:
            _compare(a[key], b[key], settings)
        except _Mismatch as mismatch:
            mismatch.path.append(key)
            raise


def _same_kind(a: object, b: object, settings: _Settings) -> bool:
    """Whether the two may be compared as tensors though their types differ."""
    return settings.subclasses or type(a) is type(b)


def _compare(a: Any, b: Any, settings: _Settings) -> None:
    if isinstance(a, Tensor) and isinstance(b, Tensor) and _same_kind(a, b, settings):
        _compare_tensors(a, b, settings)
    elif isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS):
        _compare_numbers(a, b, settings)
    elif a is None or b is None:
        if a is not b:
            raise _Mismatch(f"None mismatch: {a} is not {b}")
    elif isinstance(a, Mapping) and isinstance(b, Mapping):
        missing, additional = sorted(b.keys() - a.keys(), key=str), sorted(a.keys() - b.keys(), key=str)
        if missing or additional:
            raise _Mismatch(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {missing}\nAdditional keys in the actual mapping: {additional}"
            )
        _compare_parts(a, b, a, settings)
    elif _is_sequence(a) and _is_sequence(b):
        if len(a) != len(b):
            raise _Mismatch(f"The length of the sequences mismatch: {len(a)} != {len(b)}")
        _compare_parts(a, b, range(len(a)), settings)
    elif hasattr(a, "__array__") and hasattr(b, "__array__") and not isinstance(a, Tensor) and not isinstance(b, Tensor):
        _compare_tensors(trine.as_tensor(a), trine.as_tensor(b), settings)
    else:
        raise _Mismatch(f"No comparison pair was able to handle inputs of type {type(a)} and {type(b)}.", TypeError)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raises AssertionError unless ``actual`` and ``expected`` agree within ``atol + rtol * |expected|``.

    Both are tensors, NumPy arrays, numbers, or sequences and mappings of these. Without ``rtol`` and ``atol`` the
    tolerances follow the dtype (float32: 1.3e-6 and 1e-5; integers: exact). Shapes must be equal, and dtype, device, layout and
    strides as the ``check_`` arguments say. ``msg`` replaces the message, or makes one from it.

    >>> import trine
    >>> trine.testing.assert_close(trine.tensor([1.0]), trine.tensor([1.0 + 1e-7]))
    >>> trine.testing.assert_close(trine.tensor([1, 2]), trine.tensor([1, 3]))
    Traceback (most recent call last):
    AssertionError: Tensor-likes are not equal!
    """
    __tracebackhide__ = True
    checks = {"device": check_device, "dtype": check_dtype, "layout": check_layout, "stride": check_stride}
    settings = _Settings(rtol, atol, equal_nan, checks, allow_subclasses)
    try:
        _compare(actual, expected, settings)
    except _Mismatch as mismatch:
        text = mismatch.text
        if mismatch.path:
            text += "\n\nThe failure occurred for item " + "".join(f"[{key!r}]" for key in reversed(mismatch.path))
        if msg is not None:
            text = msg(text) if callable(msg) else msg
        raise mismatch.kind(text) from None
