"""Convolution weights in another memory format."""

from __future__ import annotations

from typing import TypeVar

import trine

from ..modules import conv
from ..modules.module import Module

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]

M = TypeVar("M", bound=Module)


def _convert(module: M, memory_format: trine.memory_format, kinds: tuple[type, ...]) -> M:
    for m in module.modules():
        if isinstance(m, kinds):
            with trine.no_grad():
                m.weight.data = m.weight.detach().clone().contiguous(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module: M, memory_format: trine.memory_format) -> M:
    """Lays out the weights of all 2-d convolutions in the module in ``memory_format``, and gives it back."""
    return _convert(module, memory_format, (conv.Conv2d, conv.ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: M, memory_format: trine.memory_format) -> M:
    """Lays out the weights of all 3-d convolutions in the module in ``memory_format``, and gives it back."""
    return _convert(module, memory_format, (conv.Conv3d, conv.ConvTranspose3d))
