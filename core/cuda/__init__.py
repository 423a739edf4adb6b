"""CUDA devices. This build has none: questions are answered, and work for a device is refused with the way out.

>>> import trine
>>> trine.cuda.is_available()
False
"""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = [
    "current_device", "default_generators", "device_count", "empty_cache", "get_arch_list", "is_available", "is_bf16_supported", "is_initialized",
    "manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved",
    "synchronize",
]  # fmt: skip

# One generator a device.
default_generators: tuple = ()

# What else programs call: each of these refuses by name.
_NEED_A_DEVICE = frozenset({
    "CUDAGraph", "Event", "Stream", "StreamContext", "can_device_access_peer", "current_stream", "default_stream", "device", "device_of",
    "get_device_capability", "get_device_name", "get_device_properties", "get_rng_state", "graph", "init", "initial_seed", "ipc_collect",
    "mem_get_info", "memory_snapshot", "memory_stats", "memory_summary", "reset_peak_memory_stats", "set_device",
    "set_per_process_memory_fraction", "set_rng_state", "set_stream", "stream", "utilization",
})  # fmt: skip


def _refuse(name: str) -> NoReturn:
    raise RuntimeError(
        f"cuda.{name}: this build of Trine has no CUDA support. Write programs as "
        "device = 'cuda' if trine.cuda.is_available() else 'cpu'. CUDA kernels are not part of Trine yet; a CUDA build of a "
        "later version will need nvcc 13. docs/devices.md says what exists."
    )


def is_available() -> bool:
    """Whether tensors can be put on a CUDA device."""
    return False


def is_initialized() -> bool:
    """Whether the CUDA driver has been started."""
    return False


def device_count() -> int:
    """Number of CUDA devices."""
    return 0


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the present device computes in bfloat16."""
    return False


def get_arch_list() -> list[str]:
    """Device architectures that this build has code for."""
    return []


def current_device() -> int:
    """Index of the present device; RuntimeError where there is none."""
    _refuse("current_device")


def synchronize(device: Any = None) -> None:
    """Waits for a device's work; RuntimeError where there is none."""
    _refuse("synchronize")


def empty_cache() -> None:
    """Gives cached device memory back; there is none."""


def manual_seed(seed: int) -> None:
    """Seeds the present device's generator; without a device there is nothing to seed."""


def manual_seed_all(seed: int) -> None:
    """Seeds every device's generator; without a device there is nothing to seed."""


def memory_allocated(device: Any = None) -> int:
    """Bytes of device memory in tensors."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """The most that :func:`memory_allocated` has been."""
    return 0


def memory_reserved(device: Any = None) -> int:
    """Bytes of device memory that the allocator holds."""
    return 0


def max_memory_reserved(device: Any = None) -> int:
    """The most that :func:`memory_reserved` has been."""
    return 0


def __getattr__(name: str) -> Any:
    if name == "amp":
        import importlib

        return importlib.import_module("trine.cuda.amp")
    if name in _NEED_A_DEVICE:
        return lambda *args, **kwargs: _refuse(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
