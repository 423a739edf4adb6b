"""Forward-mode differentiation: tensors that carry a tangent beside their value."""

from __future__ import annotations

from _thread import _local
from typing import NamedTuple

from trine import _C

from .grad_mode import _Mode

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class _Levels(_local):
    """The level of this thread; -1 outside of a forward-mode computation."""

    current = -1


_levels = _Levels()


class UnpackedDualTensor(NamedTuple):
    """A value and its tangent (None where it has none), as :func:`unpack_dual` gives them."""

    primal: _C.Tensor
    tangent: _C.Tensor | None


def enter_dual_level() -> int:
    """Starts a forward-mode computation; gives its level, which is 0: they do not nest."""
    if _levels.current >= 0:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _C._set_forward_level(1)
    _levels.current = 0
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Ends the computation; the tangents made in it are gone."""
    if level not in (None, _levels.current) or _levels.current < 0:
        raise RuntimeError(f"exit_dual_level: level {level} is not the one that was entered last ({_levels.current})")
    _C._set_forward_level(-1)
    _levels.current = -1


def make_dual(tensor: _C.Tensor, tangent: _C.Tensor, *, level: int | None = None) -> _C.Tensor:
    """A view of ``tensor`` (any shape, floating or complex) that carries ``tangent`` (same shape and dtype).

    Raises RuntimeError outside of :class:`dual_level`, ValueError for other dtypes.

    >>> import trine
    >>> import trine.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     x = fwAD.make_dual(trine.tensor(3.0), trine.tensor(1.0))
    ...     fwAD.unpack_dual(x * x).tangent
    tensor(6.)
    """
    if (_levels.current if level is None else level) < 0:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
    for name, t in (("primal", tensor), ("tangent", tangent)):
        if not (t.dtype.is_floating_point or t.dtype.is_complex):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {t.dtype}")
    return _C._make_dual(tensor, tangent)


def unpack_dual(tensor: _C.Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Value and tangent of a tensor; outside of :class:`dual_level` nothing has a tangent."""
    if (_levels.current if level is None else level) < 0:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(*_C._unpack_dual(tensor))


class dual_level(_Mode):
    """The ``with`` block (or decorator) inside which tangents exist."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: object) -> None:
        exit_dual_level()
