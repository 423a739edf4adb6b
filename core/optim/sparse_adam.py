"""Adam for sparse gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from trine import Tensor

from ._elementwise import check_range, check_rate
from .optimizer import Optimizer

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam for sparse gradients, which touches the state of the rows that have a gradient only.

    RuntimeError for a dense gradient, as in PyTorch; Trine has no sparse tensors yet, so that is every gradient.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        check_rate(lr)
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for i in (0, 1):
            check_range(f"beta parameter at index {i}", betas[i], 0.0, 1.0)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters that have a gradient; the closure's loss, if there is one."""
        loss = self._closure_loss(closure)
        if any(param.grad is not None for group in self.param_groups for param in group["params"]):
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        return loss
