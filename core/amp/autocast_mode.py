"""Regions in which matrix products and convolutions are computed in a shorter type, and operators that need the range in float32."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from trine import _C

__all__ = [
    "autocast", "autocast_decorator", "custom_bwd", "custom_fwd", "get_autocast_dtype", "get_autocast_gpu_dtype", "is_autocast_available",
    "is_autocast_enabled", "set_autocast_dtype", "set_autocast_enabled", "set_autocast_gpu_dtype",
]  # fmt: skip

_DEVICES = ("cpu", "cuda", "xpu", "hpu", "mtia", "maia", "xla", "ipu", "mps", "privateuseone", "meta")
# Of devices that this build has no kernels for the switch is remembered, but nothing is cast.
_elsewhere: dict[str, list] = {}


def _other(device_type: str) -> list:
    return _elsewhere.setdefault(device_type, [False, _C.float16])


def _check_device(device_type: Any) -> str:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if device_type not in _DEVICES:
        raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
    return device_type


def is_autocast_available(device_type: str) -> bool:
    """Whether tensors on the device are cast in autocast regions."""
    return device_type == "cpu"


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocast is on for a device in this thread."""
    if not isinstance(device_type, str):
        raise TypeError(f"is_autocast_enabled(): argument 'device_type' must be str, not {type(device_type).__name__}")
    return _C.is_autocast_cpu_enabled() if device_type == "cpu" else _other(_check_device(device_type))[0]


def set_autocast_enabled(*args: Any) -> None:
    """``(device_type, enabled)``, or ``(enabled)`` for CUDA: switches autocast in this thread."""
    device_type, enabled = args if len(args) == 2 else ("cuda", args[0])
    if device_type == "cpu":
        _C.set_autocast_cpu_enabled(enabled)
    else:
        _other(_check_device(device_type))[0] = bool(enabled)


def get_autocast_dtype(device_type: str) -> _C.dtype:
    """The dtype that autocast computes matrix products and convolutions in on a device."""
    return _C.get_autocast_cpu_dtype() if device_type == "cpu" else _other(_check_device(device_type))[1]


def set_autocast_dtype(device_type: str, dtype: _C.dtype) -> None:
    """Sets the dtype that autocast computes matrix products and convolutions in on a device."""
    if device_type == "cpu":
        _C.set_autocast_cpu_dtype(dtype)
    else:
        _other(_check_device(device_type))[1] = dtype


def get_autocast_gpu_dtype() -> _C.dtype:
    """``get_autocast_dtype("cuda")``."""
    return get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype: _C.dtype) -> None:
    """``set_autocast_dtype("cuda", dtype)``."""
    set_autocast_dtype("cuda", dtype)


def autocast_decorator(instance: autocast, function: Callable) -> Callable:
    """The function, always called in the region."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with instance:
            return function(*args, **kwargs)

    return call


class autocast:
    """A region (``with`` block or decorated function) with mixed precision on one kind of device.

    On the CPU ``dtype`` is bfloat16 (default) or float16. Matrix products, convolutions, attention and recurrent layers are computed in
    it; losses, linear algebra, transforms and other operators that need the range in float32; those that join tensors in the widest type
    among them; all others in what they are given. Weights are cast once a region unless ``cache_enabled=False``. Regions nest, also with
    ``enabled=False``. Run the forward pass inside and the backward pass outside.

    >>> import trine
    >>> a = trine.ones(2, 2)
    >>> with trine.autocast("cpu"):
    ...     b = a @ a
    >>> b.dtype
    torch.bfloat16
    """

    def __init__(self, device_type: str, dtype: _C.dtype | None = None, enabled: bool = True, cache_enabled: bool | None = None) -> None:
        self.device = _check_device(device_type)
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self._cache_enabled = _C.is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        if device_type == "cuda" and enabled:
            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling", stacklevel=2)
            enabled = False
        if device_type == "cpu" and enabled and self.fast_dtype not in (_C.bfloat16, _C.float16):
            warnings.warn(
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.\nCPU Autocast only supports dtype of "
                f"torch.bfloat16, torch.float16 currently, got {self.fast_dtype}.",
                stacklevel=2,
            )
            enabled = False
        self._enabled = enabled
        self._saved: list[tuple] = []

    def __enter__(self) -> autocast:
        self._saved.append((is_autocast_enabled(self.device), get_autocast_dtype(self.device), _C.is_autocast_cache_enabled()))
        set_autocast_enabled(self.device, self._enabled)
        set_autocast_dtype(self.device, self.fast_dtype)
        _C.autocast_increment_nesting()
        _C.set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(self, *exc: object) -> None:
        enabled, dtype, cache = self._saved.pop()
        if _C.autocast_decrement_nesting() == 0:
            _C.clear_autocast_cache()
        set_autocast_enabled(self.device, enabled)
        set_autocast_dtype(self.device, dtype)
        _C.set_autocast_cache_enabled(cache)

    def __call__(self, function: Callable) -> Callable:
        return autocast_decorator(self, function)


def _cast(value: Any, device_type: str, dtype: _C.dtype) -> Any:
    if isinstance(value, _C.Tensor):
        eligible = value.is_floating_point() and value.device.type == device_type and value.dtype != _C.float64
        return value.to(dtype) if eligible else value
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, dict):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        parts = [_cast(v, device_type, dtype) for v in value]
        return type(value)(parts)
    return value


def custom_fwd(fwd: Callable | None = None, *, device_type: str = "cuda", cast_inputs: _C.dtype | None = None) -> Callable:
    """Decorates ``forward`` of an ``autograd.Function``: with ``cast_inputs`` its tensors are cast and autocast is off inside.

    Without, ``forward`` and ``backward`` run with autocast as it was when ``forward`` was called.
    """
    _check_device(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def call(*args: Any, **kwargs: Any) -> Any:
        args[0]._dtype = get_autocast_dtype(device_type)
        if cast_inputs is None:
            args[0]._fwd_used_autocast = is_autocast_enabled(device_type)
            return fwd(*args, **kwargs)
        on = is_autocast_enabled(device_type)
        args[0]._fwd_used_autocast = False
        if not on:
            return fwd(*args, **kwargs)
        with autocast(device_type=device_type, enabled=False):
            return fwd(*_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))

    return call


def custom_bwd(bwd: Callable | None = None, *, device_type: str = "cuda") -> Callable:
    """Decorates ``backward`` of an ``autograd.Function``: autocast is as it was in ``forward``."""
    _check_device(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def call(*args: Any, **kwargs: Any) -> Any:
        with autocast(device_type=device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return call
