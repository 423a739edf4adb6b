"""Mixed precision on the CPU under its older names; see :mod:`trine.amp`."""

from __future__ import annotations

import warnings

from trine import _C

from ... import amp

__all__ = ["GradScaler", "autocast"]


class autocast(amp.autocast):
    """``amp.autocast("cpu", ...)``."""

    def __init__(self, enabled: bool = True, dtype: _C.dtype = _C.bfloat16, cache_enabled: bool = True) -> None:
        warnings.warn(
            "`torch.cpu.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cpu', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """``amp.GradScaler("cpu", ...)``."""

    def __init__(
        self, init_scale: float = 65536.0, growth_factor: float = 2.0, backoff_factor: float = 0.5, growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:  # fmt: skip
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
