"""Convolution, normalisation and activation as one block."""

from __future__ import annotations

from collections.abc import Callable

from trine import nn


class ConvNormActivation(nn.Sequential):
    """Convolution, then normalisation, then activation; entries 0, 1 and 2 of the state dict's names.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: of the convolution.
        stride: of the convolution.
        padding: of the convolution; by default what keeps the size at stride 1.
        groups: of the convolution.
        norm_layer: makes the normalisation of ``out_channels``; ``None`` for none.
        activation_layer: makes the activation; ``None`` for none.
        dilation: of the convolution.
        inplace: passed to the activation; ``None`` passes nothing.
        bias: of the convolution; by default only without normalisation.
        conv_layer: makes the convolution.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...] = 3,
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] | str | None = None,
        groups: int = 1,
        norm_layer: Callable[..., nn.Module] | None = nn.BatchNorm2d,
        activation_layer: Callable[..., nn.Module] | None = nn.ReLU,
        dilation: int | tuple[int, ...] = 1,
        inplace: bool | None = True,
        bias: bool | None = None,
        conv_layer: Callable[..., nn.Module] = nn.Conv2d,
    ) -> None:
        if padding is None:
            padding = _same_padding(kernel_size, dilation)
        layers = [
            conv_layer(
                in_channels,
                out_channels,
                kernel_size,
                stride,
                padding,
                dilation=dilation,
                groups=groups,
                bias=norm_layer is None if bias is None else bias,
            )
        ]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer() if inplace is None else activation_layer(inplace=inplace))
        super().__init__(*layers)
        self.out_channels = out_channels


def _same_padding(kernel_size: int | tuple[int, ...], dilation: int | tuple[int, ...]) -> int | tuple[int, ...]:
    if isinstance(kernel_size, int):
        if isinstance(dilation, int):
            return (kernel_size - 1) // 2 * dilation
        kernel_size = (kernel_size,) * len(dilation)
    if isinstance(dilation, int):
        dilation = (dilation,) * len(kernel_size)
    return tuple((k - 1) // 2 * d for k, d in zip(kernel_size, dilation, strict=True))


class Conv2dNormActivation(ConvNormActivation):
    """:class:`ConvNormActivation` of pictures.

    >>> import trine
    >>> from trine.vision.ops import Conv2dNormActivation
    >>> Conv2dNormActivation(3, 8, stride=2)(trine.zeros(1, 3, 16, 16)).shape
    torch.Size([1, 8, 8, 8])
    """
