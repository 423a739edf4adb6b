"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import trine
from trine import Tensor, _ops

from .optimizer import Optimizer, as_real, check_flags, refuse_unsupported, to_number

__all__ = ["SGD"]


class SGD(Optimizer):
    """`p -= lr * (g + weight_decay * p)`, with momentum if wanted (Nesterov's with `nesterov`).

    The momentum buffer starts as the first gradient and then is `momentum * b + (1 - dampening) * g`.
    `foreach` and `fused` are accepted: every step is one native call over all parameters of a group.

    >>> import trine
    >>> p = trine.nn.Parameter(trine.tensor([1.0]))
    >>> p.grad = trine.tensor([0.5])
    >>> trine.optim.SGD([p], lr=1.0).step()
    >>> p.tolist()
    [0.5]
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        refuse_unsupported("SGD", differentiable)
        check_flags(foreach, fused)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in (
                ("nesterov", False),
                ("maximize", False),
                ("foreach", None),
                ("differentiable", False),
                ("fused", False),
            ):
                group.setdefault(name, value)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters that have a gradient; the closure's loss, if there is one."""
        loss = self._closure_loss(closure)
        with trine.no_grad():
            for group in self.param_groups:
                self._step_group(group)
        return loss

    def _step_group(self, group: dict[str, Any]) -> None:
        momentum = group["momentum"]
        # Parameters that meet their first gradient have no momentum yet: they make a call of their own.
        batches: tuple[list, list] = ([], [])
        for param in group["params"]:
            if param.grad is None:
                continue
            first = momentum != 0 and self.state[param].get("momentum_buffer") is None
            batches[first].append(param)
        for first, params in enumerate(batches):
            if not params:
                continue
            buffers: list[Tensor] = []
            if momentum != 0:
                for param in params:
                    state = self.state[param]
                    if first:
                        state["momentum_buffer"] = trine.empty_like(param)
                    buffers.append(state["momentum_buffer"])
            _ops._fused_sgd_(
                *as_real(params, [param.grad for param in params], buffers),
                weight_decay=to_number(group["weight_decay"]),
                momentum=momentum,
                lr=to_number(group["lr"]),
                dampening=group["dampening"],
                nesterov=group["nesterov"],
                maximize=group["maximize"],
                is_first_step=bool(first),
            )
