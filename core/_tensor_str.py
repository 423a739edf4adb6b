"""How tensors print: the layout of numbers, summaries of large tensors, and what follows them in the parentheses."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import trine

__all__ = ["get_printoptions", "printoptions", "set_printoptions", "tensor_text"]


@dataclass
class _Options:
    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES: dict[str, dict[str, float]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}
_options = _Options()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print from now on.

    ``precision`` digits after the point (4); tensors of more than ``threshold`` elements (1000) show only
    ``edgeitems`` (3) at each end of every dimension; lines break at ``linewidth`` characters (80). ``sci_mode`` forces
    scientific notation on or off, None chooses by the numbers. ``profile`` is "default", "short" or "full" and
    is applied before the other arguments. Raises ValueError for another profile.

    >>> import trine
    >>> trine.set_printoptions(precision=2)
    >>> trine.tensor([1.12345])
    tensor([1.12])
    >>> trine.set_printoptions(profile="default")
    """
    if profile is not None:
        try:
            settings = _PROFILES[profile]
        except KeyError:
            raise ValueError(f"set_printoptions: profile {profile!r} is none of {', '.join(_PROFILES)}") from None
        for name, value in settings.items():
            setattr(_options, name, value)
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, setting in given.items():
        if setting is not None:
            setattr(_options, name, setting)
    _options.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The present settings, as keyword arguments of :func:`set_printoptions`."""
    return dict(vars(_options))


@contextlib.contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """:func:`set_printoptions` for the time of a ``with`` block.

    >>> import trine
    >>> with trine.printoptions(precision=1):
    ...     print(trine.tensor([0.25]))
    tensor([0.2])
    """
    saved = get_printoptions()
    try:
        set_printoptions(**kwargs)
        yield
    finally:
        set_printoptions(**saved)


# ---- numbers --------------------------------------------------------------------------------------------------------
class _Plain:
    """Integers and bools, right-aligned."""

    def __init__(self, values: list) -> None:
        self.width = max([1, *(len(str(v)) for v in values)])

    def __call__(self, value: Any) -> str:
        return str(value).rjust(self.width)


class _Real:
    """Floats in the one notation that suits all of ``values``: whole numbers, fixed point or scientific."""

    def __init__(self, values: list[float]) -> None:
        self.whole, self.scientific, self.width = True, False, 1
        shown = [v for v in values if v and math.isfinite(v)]
        if shown:
            sizes = [abs(v) for v in shown]
            low, high = min(sizes), max(sizes)
            self.whole = all(v == math.ceil(v) for v in shown)
            self.scientific = high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4
            if _options.sci_mode is not None:
                self.scientific = _options.sci_mode
            extra = 1 if self.whole and not self.scientific else 0  # the point after a whole number
            self.width = max([1, *(len(self._digits(v)) + extra for v in shown)])

    def _digits(self, value: float) -> str:
        if self.scientific:
            return f"{value:.{_options.precision}e}"
        return f"{value:.0f}" if self.whole else f"{value:.{_options.precision}f}"

    def __call__(self, value: float) -> str:
        text = self._digits(value)
        if self.whole and not self.scientific and math.isfinite(value):
            text += "."
        return text.rjust(self.width)


class _Complex:
    """Two floats and a ``j``."""

    def __init__(self, values: list[complex]) -> None:
        self.real = _Real([v.real for v in values])
        self.imag = _Real([v.imag for v in values])
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, value: complex) -> str:
        imag = (self.imag(value.imag) + "j").lstrip()
        sign = "" if imag[0] in "+-" else "+"
        return self.real(value.real) + sign + imag


# ---- layout ---------------------------------------------------------------------------------------------------------
_GAP = object()  # stands for the elements that a summary leaves out


def _nested(t: Any, summarize: bool) -> Any:
    """Values as nested lists; a summary has a ``_GAP`` where elements are left out."""
    edge = _options.edgeitems
    if t.dim() == 0:
        return t.item()
    n = t.size(0)
    if not summarize:
        return t.tolist()
    if n <= 2 * edge:
        return [_nested(t[i], True) for i in range(n)]
    head = [_nested(t[i], True) for i in range(edge)]
    return head + [_GAP] + [_nested(t[i], True) for i in range(n - edge, n)]


def _leaves(nested: Any) -> Iterator[Any]:
    if isinstance(nested, list):
        for part in nested:
            yield from _leaves(part)
    elif nested is not _GAP:
        yield nested


def _row(values: list, show: Callable[[Any], str], cell: int, indent: int) -> str:
    gap = " ..." if _options.edgeitems else "..."
    per_line = max(1, (_options.linewidth - indent) // cell)
    cells = [gap if v is _GAP else show(v) for v in values]
    lines = [", ".join(cells[i : i + per_line]) for i in range(0, len(cells), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _block(nested: Any, dim: int, show: Callable[[Any], str], cell: int, indent: int) -> str:
    if dim == 0:
        return show(nested)
    if dim == 1:
        return _row(nested, show, cell, indent)
    parts = ["..." if part is _GAP else _block(part, dim - 1, show, cell, indent + 1) for part in nested]
    return "[" + ("," + "\n" * (dim - 1) + " " * (indent + 1)).join(parts) + "]"


def _contents(t: Any, indent: int) -> str:
    if t.numel() == 0:
        return "[]"
    nested = _nested(t, t.numel() > _options.threshold)
    kind = _Complex if t.dtype.is_complex else _Real if t.dtype.is_floating_point else _Plain
    show = kind(list(_leaves(nested)))
    return _block(nested, t.dim(), show, show.width + 2, indent)


def _with_suffixes(text: str, suffixes: list[str], indent: int) -> str:
    parts = [text]
    used = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if used + len(suffix) + 2 > _options.linewidth:
            parts.append(",\n" + " " * indent + suffix)
            used = indent + len(suffix)
        else:
            parts.append(", " + suffix)
            used += len(suffix) + 2
    return "".join(parts) + ")"


def _history(t: Any) -> str | None:
    if t.grad_fn is not None:
        return f"grad_fn=<{t.grad_fn.name()}>"
    return "requires_grad=True" if t.requires_grad else None


@trine.no_grad()
def tensor_text(t: Any) -> str:
    """What ``repr`` of a tensor says."""
    kind = type(t)
    plain = kind is trine.Tensor or kind.__name__ in ("Tensor", "Parameter")
    prefix = "tensor(" if plain else f"{kind.__name__}("
    default = trine.get_default_dtype()
    usual = t.dtype in (default, default.to_complex(), trine.int64, trine.bool)
    suffixes = []
    if t.device.type != "cpu":
        suffixes.append(f"device='{t.device}'")
    if t.is_meta:
        suffixes.append(f"size={tuple(t.shape)}")
        if t.dtype != default:
            suffixes.append(f"dtype={t.dtype}")
        text = "..."
    elif t.numel() == 0:
        if t.dim() != 1:
            suffixes.append(f"size={tuple(t.shape)}")
        if t.dtype != default:
            suffixes.append(f"dtype={t.dtype}")
        text = "[]"
    else:
        if not _options.edgeitems:  # the numbers say nothing of the shape then
            suffixes.append(f"size={tuple(t.shape)}")
        if not usual:
            suffixes.append(f"dtype={t.dtype}")
        text = _contents(t.detach(), len(prefix))
    history = _history(t)
    if history:
        suffixes.append(history)
    tangent = trine._C._unpack_dual(t)[1]
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    return _with_suffixes(prefix + text, suffixes, len(prefix))
