"""Settings that PyTorch programs make. Where Trine has one behaviour only, they are remembered and change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trine import _C

__all__ = [
    "are_deterministic_algorithms_enabled",
    "compile",
    "compiled_with_cxx11_abi",
    "get_default_device",
    "get_deterministic_debug_mode",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_warn_always_enabled",
    "set_default_device",
    "set_default_tensor_type",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_num_interop_threads",
    "set_warn_always",
    "use_deterministic_algorithms",
]  # fmt: skip

_deterministic = False
_warn_only = False
_fill_uninitialized = True
_matmul_precision = "highest"
_interop_threads = 1
_warn_always = False
_DEBUG_MODES = {"default": 0, "warn": 1, "error": 2}


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Asks for operators that give the same result every time.

    Trine's CPU operators always do for one number of threads, so that none of them is refused (PyTorch refuses ``put_`` and
    ``max_unpool2d``). What changes: the weight gradients of convolutions no longer depend on the number of threads, as nothing else
    does, which makes them slower; and memory from ``empty`` and the like is filled with NaN or the largest integer, unless
    ``trine.utils.deterministic.fill_uninitialized_memory`` is false.

    >>> import trine
    >>> trine.use_deterministic_algorithms(True)
    >>> trine.are_deterministic_algorithms_enabled()
    True
    >>> trine.use_deterministic_algorithms(False)
    """
    global _deterministic, _warn_only
    _deterministic, _warn_only = bool(mode), bool(mode and warn_only)
    _C._set_deterministic(_deterministic)
    _C._set_fill_uninitialized(_deterministic and _fill_uninitialized)


def _set_fill_uninitialized(mode: bool) -> None:
    global _fill_uninitialized
    _fill_uninitialized = mode
    _C._set_fill_uninitialized(_deterministic and mode)


def are_deterministic_algorithms_enabled() -> bool:
    """What :func:`use_deterministic_algorithms` was told last."""
    return _deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether it was told to warn instead of refusing."""
    return _warn_only


def set_float32_matmul_precision(precision: str) -> None:
    """Forbids ("highest") or allows ("medium") faster, less exact products of float32 matrices.

    With "medium" large products (``matmul`` and its kin, ``linear``) round their factors to bfloat16, of 8 significant bits, and
    add up in float32, on processors with matrix units for that; the others compute as before. "high" changes nothing on the CPU.
    Convolutions and decompositions are never rounded. ValueError for another word.
    """
    global _matmul_precision
    if precision not in ("highest", "high", "medium"):
        raise ValueError(f"set_float32_matmul_precision: expected 'highest', 'high' or 'medium', got {precision!r}")
    _matmul_precision = precision
    _C._set_bfloat16_products(precision == "medium")


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
    """The device that new tensors of this thread are put on: what :func:`set_default_device` or ``with device:`` says, else the CPU."""
    return _C.get_default_device()


def set_default_device(device: _C.device | str | int | None) -> None:
    """Puts tensors that this thread makes out of nothing (``zeros``, ``rand``, ``tensor``, layers' parameters) on ``device`` from now on.

    None means the CPU again. ``with trine.device(...):`` does the same for a region. Functions that take a tensor
    (``zeros_like``, ``x.new_ones``) keep to its device.

    >>> import trine
    >>> with trine.device("meta"):
    ...     layer = trine.nn.Linear(10_000, 10_000)
    >>> layer.weight.device
    device(type='meta')
    """
    _C.set_default_device(device)


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """:func:`use_deterministic_algorithms` by one number or word: 0 "default", 1 "warn" or 2 "error". RuntimeError for others.

    >>> import trine
    >>> trine.set_deterministic_debug_mode("warn")
    >>> trine.get_deterministic_debug_mode()
    1
    >>> trine.set_deterministic_debug_mode(0)
    """
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"set_deterministic_debug_mode: debug_mode must be str or int, but got {type(debug_mode)}")
    mode = _DEBUG_MODES.get(debug_mode) if isinstance(debug_mode, str) else debug_mode
    if mode not in (0, 1, 2):
        expected = "one of `default`, `warn`, `error`" if isinstance(debug_mode, str) else "0, 1, or 2"
        raise RuntimeError(f"set_deterministic_debug_mode: invalid value of debug_mode, expected {expected}, but got {debug_mode}")
    use_deterministic_algorithms(mode > 0, warn_only=mode == 1)


def get_deterministic_debug_mode() -> int:
    """0 when nothing was asked for, 1 for warnings, 2 for errors."""
    return 0 if not _deterministic else 1 if _warn_only else 2


def set_warn_always(b: bool, /) -> None:
    """Whether PyTorch's once-only warnings come every time. Trine's go through Python's ``warnings`` and its filters in any case."""
    global _warn_always
    if not isinstance(b, bool):
        raise TypeError(f"set_warn_always: expects a bool, but got {type(b).__name__}")
    _warn_always = b


def is_warn_always_enabled() -> bool:
    """What :func:`set_warn_always` was told last; False at first."""
    return _warn_always


def compiled_with_cxx11_abi() -> bool:
    """Whether the library uses the C++11 layout of std::string: always."""
    return True


def set_default_tensor_type(t: Any, /) -> None:
    """Makes the dtype of a typed tensor class, such as ``trine.DoubleTensor`` or its name, the default dtype.

    TypeError for names of other things and for dtypes that are not floating point.

    >>> import trine
    >>> trine.set_default_tensor_type(trine.DoubleTensor)
    >>> trine.tensor(1.0).dtype
    torch.float64
    >>> trine.set_default_tensor_type("torch.FloatTensor")
    """
    from ._typed_tensors import TYPES, dtype_of_type

    if not isinstance(t, str) and t not in TYPES.values():
        raise TypeError(f"set_default_tensor_type: invalid type object: {t!r}")
    try:
        dtype = dtype_of_type(t)
    except ValueError:
        raise TypeError(f"set_default_tensor_type: invalid type: {t!r}") from None
    if not dtype.is_floating_point:
        raise TypeError("set_default_tensor_type: only floating-point types are supported as the default type")
    _C.set_default_dtype(dtype)


def compile(
    model: Callable | None = None, *, fullgraph: bool = False, dynamic: bool | None = None, backend: str | Callable | None = None,
    mode: str | None = None, options: dict[str, Any] | None = None, disable: bool = False,
) -> Callable:  # fmt: skip
    """Gives a function or module back as it is: programs that ask for compilation run operator by operator, with the same values.

    Without ``model`` it is a decorator. RuntimeError when both ``mode`` and ``options`` are given.

    >>> import trine
    >>> @trine.compile(mode="reduce-overhead")
    ... def double(x):
    ...     return x + x
    >>> double(trine.ones(2))
    tensor([2., 2.])
    """
    if mode is not None and options is not None:
        raise RuntimeError("compile: either mode or options can be specified, but both can't be specified at the same time.")
    if model is None:
        return lambda function: function
    if not callable(model):
        raise TypeError(f"compile: expected a function or a module, got {type(model).__name__}")
    return model
