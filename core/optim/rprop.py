"""Resilient propagation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import trine
from trine import Tensor

from ._elementwise import ElementwiseOptimizer, check_rate, first_step, zeros
from .optimizer import to_number

__all__ = ["Rprop"]


class Rprop(ElementwiseOptimizer):
    """Resilient propagation (Riedmiller and Braun, 1993): the sign of the gradient, with a step of its own for each element.

    State: `step`, `prev`, `step_size`.

    >>> import trine
    >>> p = trine.nn.Parameter(trine.tensor([1.0]))
    >>> p.grad = trine.tensor([0.5])
    >>> trine.optim.Rprop([p], lr=0.1).step()
    >>> round(p.item(), 4)
    0.9
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(
            params,
            {
                "lr": lr,
                "etas": etas,
                "step_sizes": step_sizes,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def _new_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        lr = to_number(group["lr"])
        size = trine.full_like(param, complex(lr, lr) if param.is_complex() else lr, memory_format=trine.preserve_format)
        return {"step": first_step(), "prev": zeros(param), "step_size": size}

    def _states(self, group: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
        return "rprop", ("prev", "step_size")

    def _numbers(self, group: dict[str, Any], step: float, state: dict[str, Any]) -> list[float]:
        return [*group["etas"], *group["step_sizes"]]
