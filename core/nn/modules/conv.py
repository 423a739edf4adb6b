"""Convolutions and transposed convolutions of one, two and three dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import trine
from trine import Tensor, _ops

from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module, weight_and_bias
from .utils import _pair, _reverse_repeat_tuple, _single, _triple

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


class _ConvNd(Module):
    __constants__ = [
        "stride",
        "padding",
        "dilation",
        "groups",
        "padding_mode",
        "output_padding",
        "in_channels",
        "out_channels",
        "kernel_size",
    ]

    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: str | tuple[int, ...]
    dilation: tuple[int, ...]
    transposed: bool
    output_padding: tuple[int, ...]
    groups: int
    padding_mode: str
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        modes = {"zeros", "reflect", "replicate", "circular"}
        if padding_mode not in modes:
            raise ValueError(f"padding_mode must be one of {modes}, but got padding_mode='{padding_mode}'")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        # Widths in the order of F.pad, used by the modes other than zeros.
        if isinstance(padding, str):
            widths = [0] * (2 * len(kernel_size))
            if padding == "same":
                for i, (d, k) in enumerate(zip(dilation, kernel_size, strict=False)):
                    total = d * (k - 1)
                    last = 2 * (len(kernel_size) - 1 - i)
                    widths[last] = total // 2
                    widths[last + 1] = total - total // 2
            self._reversed_padding_repeated_twice = widths
        else:
            self._reversed_padding_repeated_twice = _reverse_repeat_tuple(padding, 2)

        channels = (in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(trine.empty((*channels, *kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(trine.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias uniformly from `[-1 / sqrt(fan_in), 1 / sqrt(fan_in)]`."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        n = len(self.kernel_size)
        if self.padding != (0,) * n:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * n:
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * n:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")

    def _run(self, op: Any, functional: Any, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        own = self.__dict__
        padding = own["padding"]
        if own["padding_mode"] != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * len(self.kernel_size)
        elif isinstance(padding, str):
            return functional(input, weight, bias, self.stride, padding, self.dilation, self.groups)
        return op(input, weight, bias, own["stride"], padding, own["dilation"], own["groups"])


def _padding_of(padding: Any, expand: Any) -> Any:
    return padding if isinstance(padding, str) else expand(padding)


class Conv1d(_ConvNd):
    """Cross-correlation of `(N, in, L)` -> `(N, out, L')`; arguments as in `Conv2d`."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int],
        stride: int | tuple[int] = 1,
        padding: str | int | tuple[int] = 0,
        dilation: int | tuple[int] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            _single(kernel_size),
            _single(stride),
            _padding_of(padding, _single),
            _single(dilation),
            False,
            _single(0),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return self._run(_ops.conv1d, F.conv1d, input, weight, bias)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, *weight_and_bias(self))


class Conv2d(_ConvNd):
    """Cross-correlation of `(N, in, H, W)` -> `(N, out, H', W')`.

    `weight` is `(out, in / groups, kh, kw)`. `padding` is a number, a pair, "same" or "valid"; `padding_mode` is
    "zeros", "reflect", "replicate" or "circular".

    >>> import trine
    >>> conv = trine.nn.Conv2d(3, 8, 3, padding=1)
    >>> conv
    Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
    >>> tuple(conv(trine.zeros(2, 3, 16, 16)).shape)
    (2, 8, 16, 16)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, int],
        stride: int | tuple[int, int] = 1,
        padding: str | int | tuple[int, int] = 0,
        dilation: int | tuple[int, int] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            _pair(kernel_size),
            _pair(stride),
            _padding_of(padding, _pair),
            _pair(dilation),
            False,
            _pair(0),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return self._run(_ops.conv2d, F.conv2d, input, weight, bias)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, *weight_and_bias(self))


class Conv3d(_ConvNd):
    """Cross-correlation of `(N, in, D, H, W)` -> `(N, out, D', H', W')`; arguments as in `Conv2d`."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, int, int],
        stride: int | tuple[int, int, int] = 1,
        padding: str | int | tuple[int, int, int] = 0,
        dilation: int | tuple[int, int, int] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            _triple(kernel_size),
            _triple(stride),
            _padding_of(padding, _triple),
            _triple(dilation),
            False,
            _triple(0),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return self._run(_ops.conv3d, F.conv3d, input, weight, bias)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, *weight_and_bias(self))


class _ConvTransposeNd(_ConvNd):
    _expand: Any
    _op: str

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        output_padding: int | Sequence[int] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | Sequence[int] = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        expand = type(self)._expand
        super().__init__(
            in_channels,
            out_channels,
            expand(kernel_size),
            expand(stride),
            expand(padding),
            expand(dilation),
            True,
            expand(output_padding),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _output_padding(self, input: Tensor, output_size: Sequence[int] | None) -> tuple[int, ...]:
        """What has to be added on one side so that the result has `output_size`."""
        if output_size is None:
            return self.output_padding
        n = len(self.kernel_size)
        wanted = list(output_size)
        if input.dim() not in (n + 1, n + 2):
            raise RuntimeError(f"ConvTranspose{n}D: for {n + 1}D or {n + 2}D input expected, but got input of size {tuple(input.shape)}")
        spatial = input.dim() - n
        if len(wanted) == n + spatial:
            wanted = wanted[spatial:]
        if len(wanted) != n:
            raise ValueError(
                f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or {n + spatial} elements (got {len(wanted)})"
            )
        result = []
        smallest, largest = [], []
        for i in range(n):
            low = (input.shape[spatial + i] - 1) * self.stride[i] - 2 * self.padding[i] + self.dilation[i] * (self.kernel_size[i] - 1) + 1
            smallest.append(low)
            largest.append(low + self.stride[i] - 1)
            result.append(wanted[i] - low)
        if any(not low <= w <= high for low, w, high in zip(smallest, wanted, largest, strict=False)):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {smallest} to {largest} "
                f"(for an input of {input.size()[2:]})"
            )
        return tuple(result)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        extra = self.output_padding if output_size is None else self._output_padding(input, output_size)
        op = getattr(_ops, self._op)
        weight, bias = weight_and_bias(self)
        return op(input, weight, bias, self.stride, self.padding, extra, self.groups, self.dilation)


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed convolution of `(N, in, L)` -> `(N, out, L')`; arguments as in `ConvTranspose2d`."""

    _expand = staticmethod(_single)
    _op = "conv_transpose1d"


class ConvTranspose2d(_ConvTransposeNd):
    """Transposed convolution of `(N, in, H, W)` -> `(N, out, H', W')`.

    `weight` is `(in, out / groups, kh, kw)`. Several input sizes of a strided convolution give one output size:
    `output_padding`, or `output_size` of the call, says which one is meant.

    >>> import trine
    >>> up = trine.nn.ConvTranspose2d(8, 3, 3, stride=2, padding=1)
    >>> tuple(up(trine.zeros(1, 8, 5, 5), output_size=(10, 10)).shape)
    (1, 3, 10, 10)
    """

    _expand = staticmethod(_pair)
    _op = "conv_transpose2d"


class ConvTranspose3d(_ConvTransposeNd):
    """Transposed convolution of `(N, in, D, H, W)` -> `(N, out, D', H', W')`; arguments as in `ConvTranspose2d`."""

    _expand = staticmethod(_triple)
    _op = "conv_transpose3d"
