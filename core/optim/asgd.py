"""Averaged stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import trine
from trine import Tensor

from ._elementwise import ElementwiseOptimizer, check_range, check_rate, first_step, zeros
from .optimizer import to_number

__all__ = ["ASGD"]


class ASGD(ElementwiseOptimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky, 1992).

    State: `step`, `eta` (the rate of the next step), `mu` (the weight of the next point), `ax` (the average).

    >>> import trine
    >>> p = trine.nn.Parameter(trine.tensor([1.0]))
    >>> p.grad = trine.tensor([0.5])
    >>> trine.optim.ASGD([p], lr=0.1).step()
    >>> round(p.item(), 4)
    0.95
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_rate(lr)
        check_range("weight_decay value", weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "lambd": lambd,
                "alpha": alpha,
                "t0": t0,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def _new_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        eta = trine.tensor(to_number(group["lr"]), dtype=trine.float32)
        return {"step": first_step(), "eta": eta, "mu": trine.ones((), dtype=trine.float32), "ax": zeros(param)}

    def _states(self, group: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
        return "asgd", ("ax",)

    def _numbers(self, group: dict[str, Any], step: float, state: dict[str, Any]) -> list[float]:
        lr, lambd = to_number(group["lr"]), group["lambd"]
        eta, mu = state["eta"].item(), state["mu"].item()
        state["eta"] = trine.tensor(lr / (1 + lambd * lr * step) ** group["alpha"], dtype=trine.float32)
        state["mu"] = trine.tensor(1 / max(1, step - group["t0"]), dtype=trine.float32)
        return [eta, 1 - lambd * eta, mu, group["weight_decay"]]
