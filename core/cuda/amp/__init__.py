"""Mixed precision under its older names; see :mod:`trine.amp`."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from trine import _C

from ... import amp

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


def _deprecated(old: str, new: str) -> None:
    warnings.warn(f"`torch.cuda.amp.{old}` is deprecated. Please use `torch.amp.{new}` instead.", FutureWarning, stacklevel=3)


class autocast(amp.autocast):
    """``amp.autocast("cuda", ...)``."""

    def __init__(self, enabled: bool = True, dtype: _C.dtype = _C.float16, cache_enabled: bool = True) -> None:
        _deprecated("autocast(args...)", "autocast('cuda', args...)")
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """``amp.GradScaler("cuda", ...)``."""

    def __init__(
        self, init_scale: float = 65536.0, growth_factor: float = 2.0, backoff_factor: float = 0.5, growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:  # fmt: skip
        _deprecated("GradScaler(args...)", "GradScaler('cuda', args...)")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd: Callable | None = None, *, cast_inputs: Any = None) -> Callable:
    """``amp.custom_fwd`` for CUDA."""
    return functools.partial(amp.custom_fwd, device_type="cuda")(fwd=fwd, cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable) -> Callable:
    """``amp.custom_bwd`` for CUDA."""
    return functools.partial(amp.custom_bwd, device_type="cuda")(bwd)
