"""The `reduction` argument of losses: names, the numbers native operators take, and the two older flags."""

from __future__ import annotations

import warnings

_NUMBERS = {"none": 0, "mean": 1, "sum": 2}


def get_enum(reduction: str) -> int:
    """0, 1, 2 for "none", "mean", "sum"; ValueError for anything else."""
    number = _NUMBERS.get(reduction)
    if number is None:
        if reduction != "elementwise_mean":
            raise ValueError(f"{reduction} is not a valid value for reduction")
        warnings.warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=2)
        number = 1
    return number


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """Name of the reduction that the flags `size_average` and `reduce` of old programs mean."""
    if reduce is False:
        name = "none"
    else:
        name = "sum" if size_average is False else "mean"
    if emit_warning:
        warnings.warn(f"size_average and reduce args will be deprecated, please use reduction='{name}' instead.", stacklevel=2)
    return name


def choose(reduction: str, size_average: bool | None, reduce: bool | None) -> str:
    """The reduction meant by a call that may use the old flags."""
    if size_average is None and reduce is None:
        return reduction
    return legacy_get_string(size_average, reduce)
