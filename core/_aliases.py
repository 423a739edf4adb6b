"""Second names of operators, NumPy's mostly: ``multiply`` is ``mul``, as a function, a method and in place."""

from __future__ import annotations

from collections.abc import Callable

from trine import _C

__all__ = ["ALIASES", "functions"]

# second name: operator
ALIASES = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctan2": "atan2", "arctanh": "atanh", "clip": "clamp", "divide": "div", "fix": "trunc", "greater": "gt",
    "greater_equal": "ge", "less": "lt", "less_equal": "le", "moveaxis": "movedim", "multiply": "mul", "negative": "neg",
    "not_equal": "ne", "row_stack": "vstack", "subtract": "sub", "swapaxes": "transpose", "swapdims": "transpose", "trapz": "trapezoid", "true_divide": "div",
}  # fmt: skip


def functions() -> dict[str, Callable]:
    """The aliases of operators that exist and have no function of that name themselves, in-place forms included."""
    found = {}
    for alias, name in ALIASES.items():
        for suffix in ("", "_"):
            if name + suffix in _C.ops and alias + suffix not in _C.ops:
                found[alias + suffix] = _C.ops[name + suffix]
    return found


for _alias, _function in functions().items():
    _method = getattr(_C.Tensor, _function.__name__, None)
    if _method is not None and not hasattr(_C.Tensor, _alias):
        setattr(_C.Tensor, _alias, _method)
