"""Cyclical learning rates (Smith, 2017)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..optimizer import Optimizer
from ._base import LRScheduler, one_per_group, set_value

__all__ = ["CyclicLR"]


class CyclicLR(LRScheduler):
    """Up from `base_lr` to `max_lr` in `step_size_up` batches and down again in `step_size_down` (default: as many), again and again.

    `mode` scales the height of the cycles: "triangular" not at all, "triangular2" by half each cycle, "exp_range" by `gamma` each batch;
    or `scale_fn`, of the number of the cycle (`scale_mode="cycle"`) or of the batch ("iterations"). Momentum (or Adam's first beta) moves the
    other way between `max_momentum` and `base_momentum` with `cycle_momentum`.

    >>> import trine
    >>> optimizer = trine.optim.SGD([trine.nn.Parameter(trine.zeros(1))], lr=0.1, momentum=0.9)
    >>> schedule = trine.optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.0, max_lr=1.0, step_size_up=2)
    >>> rates = []
    >>> for _ in range(4):
    ...     optimizer.step()
    ...     schedule.step()
    ...     rates += schedule.get_last_lr()
    >>> rates
    [0.5, 1.0, 0.5, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        base_lrs = one_per_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for rate, group in zip(base_lrs, optimizer.param_groups, strict=True):
                set_value(group, "lr", rate)
        self.max_lrs = one_per_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = float(step_size_down) if step_size_down is not None else up
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma = mode, gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
                raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
            self.use_beta1 = "betas" in optimizer.defaults
            self.base_momentums = one_per_group("base_momentum", optimizer, base_momentum)
            self.max_momentums = one_per_group("max_momentum", optimizer, max_momentum)
            if last_epoch == -1:
                for momentum, group in zip(self.max_momentums, optimizer.param_groups, strict=True):
                    self._set_momentum(group, momentum)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _set_momentum(self, group: dict[str, Any], value: float) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value

    def scale_fn(self, x: float) -> float:
        """The height of cycle or batch number `x`, as a share of the whole."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return 1 / 2.0 ** (x - 1) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self) -> list[Any]:
        """The rates for `last_epoch`, one for each group; moves the momentum as well."""
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        share = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        height = share * self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for low, high, group in zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups, strict=True):
                self._set_momentum(group, high - (high - low) * height)
        base_lrs = self.base_lrs if hasattr(self, "base_lrs") else [group["initial_lr"] for group in self.optimizer.param_groups]
        return [base + (high - base) * height for base, high in zip(base_lrs, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer; of a custom `scale_fn` the attributes, when it is an object and not a function."""
        state = super().state_dict()
        scale = state.pop("_scale_fn_custom", None)
        state["_scale_fn_custom"] = scale.__dict__.copy() if scale is not None and not hasattr(scale, "__code__") else None
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state; a custom `scale_fn` stays, and gets its attributes back when it is an object."""
        state = dict(state_dict)
        saved = state.pop("_scale_fn_custom", None)
        for name in ("optimizer", "_scale_fn_ref"):
            state.pop(name, None)
        super().load_state_dict(state)
        if saved is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(saved)
