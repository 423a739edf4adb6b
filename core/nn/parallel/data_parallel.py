"""Batches split over CUDA devices; on a machine without them the module is simply called, as in PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trine

from ..modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """Holds `module` (state-dict names begin with `module.`) and calls it.

    `device_ids`, `output_device` and `dim` say how a batch would be split over CUDA devices; there are none in this build, so they are kept
    and have no effect. RuntimeError when devices are named all the same.

    >>> import trine
    >>> net = trine.nn.DataParallel(trine.nn.Linear(2, 1))
    >>> sorted(net.state_dict())
    ['module.bias', 'module.weight']
    """

    def __init__(self, module: Module, device_ids: Sequence[Any] | None = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        if device_ids and not trine.cuda.is_available():
            raise RuntimeError(f"DataParallel: device_ids={list(device_ids)} name CUDA devices, and this build has none")
        self.module = module
        self.device_ids: list[Any] = []
        self.output_device = output_device
        self.dim = dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """``module(*inputs, **module_kwargs)``; `inputs` may be a single one. See `DataParallel` for the rest."""
    arguments = inputs if isinstance(inputs, tuple) else () if inputs is None else (inputs,)
    return DataParallel(module, device_ids, output_device, dim)(*arguments, **(module_kwargs or {}))
