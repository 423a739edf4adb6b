"""`LRScheduler`: counts steps and writes the learning rates that `get_lr` computes into the optimizer."""

from __future__ import annotations

import warnings
from typing import Any

from trine import Tensor

from ..optimizer import Optimizer, to_number

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed "
    "form is used instead of the new chainable form, where available. Please open an issue if you are unable to "
    "replicate your use case: https://github.com/pytorch/pytorch/issues/new/choose."
)


def values_of(optimizer: Optimizer, key: str) -> list[Any]:
    """`group[key]` of every group; tensors are copied, so that callers cannot change the optimizer's."""
    values = [group[key] for group in optimizer.param_groups]
    return [v.clone() if isinstance(v, Tensor) else v for v in values]


def set_value(group: dict[str, Any], key: str, value: Any) -> None:
    """Write `group[key]`; a tensor there is filled, because others may hold it."""
    if isinstance(group[key], Tensor):
        group[key].fill_(to_number(value))
    else:
        group[key] = value


def one_per_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """A list with one value for each parameter group, from one value or such a list."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        value = [value] * count
    elif len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, param_groups has {count}."
        )
    return [v.clone() if isinstance(v, Tensor) else v for v in value]


class LRScheduler:
    """Base class: subclasses define `get_lr` for the count `last_epoch` (0 after construction).

    `last_epoch=-1` starts anew from the optimizer's rates, kept as "initial_lr" in every group; another number
    resumes. KeyError when resuming an optimizer without "initial_lr".
    """

    _get_lr_called_within_step: bool = False
    _is_initial: bool = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                rate = group["lr"]
                group.setdefault("initial_lr", rate.clone() if isinstance(rate, Tensor) else rate)
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                    "last_epoch >= 0.\nThis typically happens when:\n1. You're trying to resume training from a "
                    "checkpoint but haven't properly loaded the optimizer state\n2. You're using last_epoch >= 0 for "
                    "a fresh training run (not recommended)"
                )
        self.base_lrs: list[Any] = values_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The rates written by the last step, one for each group."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The rates for `last_epoch`, one for each group; called by `step`."""
        raise NotImplementedError

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.", stacklevel=3)

    def step(self, epoch: int | None = None) -> None:
        """Go on by one, or (an older use) to `epoch`, and write the new rates into the optimizer."""
        if self._step_count == 1 and not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you "
                "should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to "
                "do this will result in PyTorch skipping the first value of the learning rate schedule. See more "
                "details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate",
                stacklevel=2,
            )
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                closed = getattr(self, "_get_closed_form_lr", None)
                rates = self.get_lr() if closed is None else closed()
        finally:
            self._get_lr_called_within_step = False
        self._write(rates)

    def _write(self, rates: list[Any]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_value(group, "lr", rate)
        self._last_lr: list[Any] = values_of(self.optimizer, "lr")


class _LRScheduler(LRScheduler):
    """Older name of `LRScheduler`."""
