"""Padding layers: `padding` is one width for all sides, or (left, right, top, bottom, front, back)."""

from __future__ import annotations

from typing import Any

from trine import Tensor

from .. import functional as F
from .module import Module
from .utils import _ntuple, _pair, _quadruple

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]

_EXPAND = {1: _pair, 2: _quadruple, 3: _ntuple(6)}


class _PadNd(Module):
    __constants__ = ["padding"]
    _spatial: int
    _mode: str

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _EXPAND[self._spatial](padding)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_PadNd):
    __constants__ = ["padding", "value"]
    value: float

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Pads the last dimension with `value`."""

    _spatial = 1


class ConstantPad2d(_ConstantPadNd):
    """Pads the last two dimensions with `value`."""

    _spatial = 2


class ConstantPad3d(_ConstantPadNd):
    """Pads the last three dimensions with `value`."""

    _spatial = 3


class ZeroPad1d(ConstantPad1d):
    """Pads the last dimension with zeros."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Pads the last two dimensions with zeros.

    >>> import trine
    >>> tuple(trine.nn.ZeroPad2d(1)(trine.zeros(1, 1, 2, 3)).shape)
    (1, 1, 4, 5)
    """

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Pads the last three dimensions with zeros."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ReflectionPad1d(_PadNd):
    """Mirrors the last dimension at its ends, without repeating the edge."""

    _spatial, _mode = 1, "reflect"


class ReflectionPad2d(_PadNd):
    """Mirrors the last two dimensions at their ends, without repeating the edge."""

    _spatial, _mode = 2, "reflect"


class ReflectionPad3d(_PadNd):
    """Mirrors the last three dimensions at their ends, without repeating the edge."""

    _spatial, _mode = 3, "reflect"


class ReplicationPad1d(_PadNd):
    """Repeats the edge of the last dimension."""

    _spatial, _mode = 1, "replicate"


class ReplicationPad2d(_PadNd):
    """Repeats the edge of the last two dimensions."""

    _spatial, _mode = 2, "replicate"


class ReplicationPad3d(_PadNd):
    """Repeats the edge of the last three dimensions."""

    _spatial, _mode = 3, "replicate"


class _CircularPadNd(_PadNd):
    _mode = "circular"

    def _check_input_dim(self, input: Tensor) -> None:
        n = self._spatial
        if input.dim() not in (n + 1, n + 2):
            raise ValueError(f"expected {n + 1}D or {n + 2}D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        return F.pad(input, self.padding, "circular")


class CircularPad1d(_CircularPadNd):
    """Continues the last dimension from its other end."""

    _spatial = 1


class CircularPad2d(_CircularPadNd):
    """Continues the last two dimensions from their other ends."""

    _spatial = 2


class CircularPad3d(_CircularPadNd):
    """Continues the last three dimensions from their other ends."""

    _spatial = 3
