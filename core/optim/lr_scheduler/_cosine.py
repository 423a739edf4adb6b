"""Cosine schedules (Loshchilov and Hutter, 2017)."""

from __future__ import annotations

import math
from typing import Any

from ..optimizer import Optimizer
from ._base import LRScheduler, values_of


class CosineAnnealingLR(LRScheduler):
    """Half a cosine wave from the initial rate to `eta_min` in `T_max` steps, and back.

    >>> import trine
    >>> optimizer = trine.optim.SGD([trine.nn.Parameter(trine.zeros(1))], lr=1.0)
    >>> scheduler = trine.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> round(scheduler.get_last_lr()[0], 6)
    0.5
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates for `last_epoch`, one for each group.

        From step to step the distance to `eta_min` changes by the ratio of two values of the wave, so that other
        schedulers may act on the rate as well; where the wave was at its bottom the ratio does not exist.
        """
        self._warn_outside_step()
        t, period, low = self.last_epoch, self.T_max, self.eta_min
        if self._is_initial:
            return values_of(self.optimizer, "lr")
        if self._step_count == 1 and t > 0:
            return self._get_closed_form_lr()
        groups = self.optimizer.param_groups
        if (t - 1 - period) % (2 * period) == 0:
            rise = 1 - math.cos(math.pi / period)
            return [g["lr"] + (base - low) * rise / 2 for base, g in zip(self.base_lrs, groups, strict=True)]
        ratio = (1 + math.cos(math.pi * t / period)) / (1 + math.cos(math.pi * (t - 1) / period))
        return [ratio * (g["lr"] - low) + low for g in groups]

    def _get_closed_form_lr(self) -> list[Any]:
        wave = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        return [self.eta_min + (base - self.eta_min) * wave / 2 for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine wave to `eta_min` in `T_0` steps, then a restart with a period `T_mult` times as long.

    `step(epoch)` takes fractions too, to move within an epoch.
    """

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates for the position `T_cur` in the period `T_i`."""
        self._warn_outside_step()
        wave = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * wave / 2 for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go on by one, or to `epoch` (0 or more, not necessarily whole)."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        else:
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        self._get_lr_called_within_step = True
        try:
            rates = self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        self._write(rates)

    def _go_to(self, epoch: float) -> None:
        first, mult = self.T_0, self.T_mult
        if epoch < first:
            self.T_cur, self.T_i = epoch, first
        elif mult == 1:
            self.T_cur = epoch % first
        else:
            # The sum of n periods is T_0 (mult^n - 1) / (mult - 1).
            n = int(math.log(epoch / first * (mult - 1) + 1, mult))
            self.T_cur = epoch - first * (mult**n - 1) / (mult - 1)
            self.T_i = first * mult**n
