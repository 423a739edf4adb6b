"""Parameters and buffers of several models of one kind, stacked: for an ensemble under vmap."""

from __future__ import annotations

from collections.abc import Sequence

import trine
from trine import Tensor, nn

__all__ = ["stack_module_state"]


def stack_module_state(models: Sequence[nn.Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Parameters and buffers by name, each stacked over the models in a new first dimension.

    The stacked parameters are new leaves that require grad as those of the models do. RuntimeError for no models, for models of
    different classes and for a mixture of training and evaluation mode.
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(m.training != models[0].training for m in models):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    params: list[dict[str, Tensor]] = [dict(m.named_parameters()) for m in models]
    buffers = [dict(m.named_buffers()) for m in models]

    def stacked(states: list[dict[str, Tensor]], name: str) -> Tensor:
        tensors = [s[name] for s in states]
        grads = {t.requires_grad for t in tensors}
        if len(grads) > 1:
            raise RuntimeError(f"Expected {name!r} of each model to have the same .requires_grad")
        return trine.stack([t.detach() for t in tensors]).requires_grad_(grads.pop())

    return {n: stacked(params, n) for n in params[0]}, {n: stacked(buffers, n) for n in buffers[0]}
