"""Functions of the main namespace about tensors and programs rather than numbers."""

from __future__ import annotations

from typing import Any

from trine import _C

from .overrides import overridable

__all__ = ["Stream", "_assert", "from_file", "get_device", "is_inference", "is_same_size", "is_signed", "set_flush_denormal"]

Tensor = _C.Tensor


def _assert(condition: Any, message: str) -> None:
    """An ``assert`` that tracing sees: AssertionError with ``message`` when ``condition`` is false."""
    if type(condition) is not Tensor and _C._has_torch_function(condition):
        _C._handle_torch_function(_assert, (condition,), (condition, message), {})
        return
    assert condition, message


@overridable
def get_device(input: Tensor) -> int:
    """The index of the tensor's device; -1 for the CPU."""
    return input.get_device()


@overridable
def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    return input.is_inference()


@overridable
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether both tensors have one shape.

    >>> import trine
    >>> trine.is_same_size(trine.ones(2), trine.ones(2, 1))
    False
    """
    return input.shape == other.shape


@overridable
def is_signed(input: Tensor) -> bool:
    """Whether the tensor's dtype has negative numbers."""
    return input.dtype.is_signed


def from_file(
    filename: str, shared: bool | None = None, size: int | None = 0, *, dtype: _C.dtype | None = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A file as a 1-dim CPU tensor of ``size`` elements, mapped into memory; changes reach the file when ``shared``.

    RuntimeError when the file is missing or, unless ``shared``, too short.
    """
    from .storage import _map_file

    dtype = dtype or _C.get_default_dtype()
    try:
        storage = _map_file(filename, bool(shared), (size or 0) * dtype.itemsize)
    except (OSError, ValueError) as error:
        raise RuntimeError(f"from_file: unable to map {size} elements of {filename!r}: {error}") from None
    t = _C.ops["empty"]((0,), dtype=dtype).set_(storage, 0, (size or 0,), (1,))
    return t.requires_grad_() if requires_grad else t


def set_flush_denormal(mode: bool) -> bool:
    """Makes floating point results below the smallest normal number zero, in all threads that compute; True: it is supported.

    >>> import trine
    >>> trine.set_flush_denormal(True)
    True
    >>> (trine.tensor([1e-20]) * 1e-20).item()
    0.0
    >>> trine.set_flush_denormal(False)
    True
    """
    if not isinstance(mode, bool):
        raise TypeError(f"set_flush_denormal: expects a bool, but got {type(mode).__name__}")
    return _C._set_flush_denormal(mode)


class Stream:
    """A queue of work for a device. The CPU has none: RuntimeError when one is made."""

    def __init__(self, device: Any = None, *, priority: int = 0) -> None:
        raise RuntimeError("Stream: this build of Trine has no device with streams")
