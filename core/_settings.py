"""Settings that PyTorch programs make. Where Trine has one behaviour only, they are remembered and change nothing."""

from __future__ import annotations

from trine import _C

__all__ = [
    "are_deterministic_algorithms_enabled", "get_default_device", "get_float32_matmul_precision", "get_num_interop_threads",
    "is_deterministic_algorithms_warn_only_enabled", "set_float32_matmul_precision", "set_num_interop_threads",
    "use_deterministic_algorithms",
]  # fmt: skip

_deterministic = False
_warn_only = False
_matmul_precision = "highest"
_interop_threads = 1


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Asks for operators that give the same result every time: Trine's CPU operators always do, whatever the threads.

    >>> import trine
    >>> trine.use_deterministic_algorithms(True)
    >>> trine.are_deterministic_algorithms_enabled()
    True
    >>> trine.use_deterministic_algorithms(False)
    """
    global _deterministic, _warn_only
    _deterministic, _warn_only = bool(mode), bool(mode and warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """What :func:`use_deterministic_algorithms` was told last."""
    return _deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether it was told to warn instead of refusing."""
    return _warn_only


def set_float32_matmul_precision(precision: str) -> None:
    """Allows ("high", "medium") or forbids ("highest") faster, less exact products of float32 matrices.

    On the CPU they are exact in any case. ValueError for another word.
    """
    global _matmul_precision
    if precision not in ("highest", "high", "medium"):
        raise ValueError(f"set_float32_matmul_precision: expected 'highest', 'high' or 'medium', got {precision!r}")
    _matmul_precision = precision


def get_float32_matmul_precision() -> str:
    """What :func:`set_float32_matmul_precision` was told last; "highest" at first."""
    return _matmul_precision


def set_num_interop_threads(num: int) -> None:
    """Sets how many operators may run at once in a graph executor; eager programs run one per Python thread."""
    global _interop_threads
    if num < 1:
        raise RuntimeError(f"set_num_interop_threads: expects a positive integer, got {num}")
    _interop_threads = num


def get_num_interop_threads() -> int:
    """What :func:`set_num_interop_threads` was told last; 1 at first."""
    return _interop_threads


def get_default_device() -> _C.device:
    """The device that new tensors are put on: the CPU."""
    return _C.device("cpu")
