"""Averages of a model's weights: stochastic weight averaging (Izmailov et al., 2018) and exponential moving averages."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

import trine
from trine import Tensor, nn

from .lr_scheduler import LRScheduler
from .lr_scheduler._one_cycle import _ANNEAL
from .optimizer import Optimizer

__all__ = ["SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn", "update_bn"]


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[[list[Tensor], list[Tensor], Any], None]:
    """For `multi_avg_fn`: the average keeps `decay` of itself and takes the rest of the model's weights. ValueError outside of [0, 1]."""
    _check_decay(decay)

    def update(averages: list[Tensor], current: list[Tensor], count: Any) -> None:
        with trine.no_grad():
            for average, value in zip(averages, current, strict=True):
                if average.is_floating_point() or average.is_complex():
                    average.lerp_(value, 1 - decay)
                else:
                    average.copy_(average * decay + value * (1 - decay))

    return update


def get_swa_multi_avg_fn() -> Callable[[list[Tensor], list[Tensor], Any], None]:
    """For `multi_avg_fn`: the plain average of all models."""

    def update(averages: list[Tensor], current: list[Tensor], count: Any) -> None:
        with trine.no_grad():
            for average, value in zip(averages, current, strict=True):
                if average.is_floating_point() or average.is_complex():
                    average.lerp_(value, float(1 / (count + 1)))
                else:
                    average.add_((value - average) // (int(count) + 1))

    return update


def get_ema_avg_fn(decay: float = 0.999) -> Callable[[Tensor, Tensor, Any], Tensor]:
    """The same as `get_ema_multi_avg_fn`, tensor by tensor: for `avg_fn`."""
    _check_decay(decay)

    def average(averaged: Tensor, current: Tensor, count: Any) -> Tensor:
        with trine.no_grad():
            return decay * averaged + (1 - decay) * current

    return average


def get_swa_avg_fn() -> Callable[[Tensor, Tensor, Any], Tensor]:
    """The same as `get_swa_multi_avg_fn`, tensor by tensor: for `avg_fn`."""

    def average(averaged: Tensor, current: Tensor, count: Any) -> Tensor:
        with trine.no_grad():
            return averaged + (current - averaged) / (count + 1)

    return average


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


class AveragedModel(nn.Module):
    """A copy of `model` that holds the average of its weights at every call of `update_parameters`; calling it uses the average.

    `avg_fn(averaged, current, num_averaged)` gives the new average of one tensor, `multi_avg_fn(averages, currents, num_averaged)` changes
    lists of them in place; by default the plain average. `use_buffers` averages buffers too, otherwise they are copied.

    >>> import trine
    >>> net = trine.nn.Linear(1, 1)
    >>> average = trine.optim.swa_utils.AveragedModel(net)
    >>> average.update_parameters(net)
    >>> int(average.n_averaged)
    1
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: nn.Module,
        device: Any = None,
        avg_fn: Callable[[Tensor, Tensor, Any], Tensor] | None = None,
        multi_avg_fn: Callable[[list[Tensor], list[Tensor], Any], None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", trine.tensor(0, dtype=trine.long, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def _tensors(self, model: nn.Module) -> list[Tensor]:
        return list(itertools.chain(model.parameters(), model.buffers()) if self.use_buffers else model.parameters())

    def update_parameters(self, model: nn.Module) -> None:
        """Take the weights of `model`, of the same architecture, into the average."""
        with trine.no_grad():
            averages, current = self._tensors(self.module), [value.detach() for value in self._tensors(model)]
            if self.n_averaged == 0:
                for average, value in zip(averages, current, strict=True):
                    average.detach().copy_(value)
            elif self.avg_fn is not None:
                for average, value in zip(averages, current, strict=True):
                    average.detach().copy_(self.avg_fn(average.detach(), value, self.n_averaged))
            else:
                update = self.multi_avg_fn or get_swa_multi_avg_fn()
                update([average.detach() for average in averages], current, self.n_averaged)
            if not self.use_buffers:
                for mine, theirs in zip(self.module.buffers(), model.buffers(), strict=True):
                    mine.detach().copy_(theirs.detach())
            self.n_averaged += 1


def update_bn(loader: Iterable[Any], model: nn.Module, device: Any = None) -> None:
    """Compute the running statistics of every batch normalisation anew, from all batches of `loader` (their first entries)."""
    layers = [module for module in model.modules() if isinstance(module, nn.modules.batchnorm._BatchNorm)]
    if not layers:
        return
    momenta = [layer.momentum for layer in layers]
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # the plain average over all batches
    was_training = model.training
    model.train()
    try:
        with trine.no_grad():
            for batch in loader:
                inputs = batch[0] if isinstance(batch, (list, tuple)) else batch
                model(inputs if device is None else inputs.to(device))
    finally:
        for layer, momentum in zip(layers, momenta, strict=True):
            layer.momentum = momentum
        model.train(was_training)


class SWALR(LRScheduler):
    """From each group's rate to `swa_lr` in `anneal_epochs` steps ("cos" or "linear"), and constant from then on.

    >>> import trine
    >>> optimizer = trine.optim.SGD([trine.nn.Parameter(trine.zeros(1))], lr=1.0)
    >>> schedule = trine.optim.swa_utils.SWALR(optimizer, swa_lr=0.5, anneal_epochs=2, anneal_strategy="linear")
    >>> for _ in range(3):
    ...     optimizer.step()
    ...     schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = list(swa_lr) if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(optimizer.param_groups)
        if len(rates) != len(optimizer.param_groups):
            raise ValueError(
                f"swa_lr must have the same length as optimizer.param_groups: swa_lr has {len(rates)}, "
                f"optimizer.param_groups has {len(optimizer.param_groups)}"
            )
        for rate, group in zip(rates, optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in _ANNEAL:
            raise ValueError(f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        """How much of the way to `swa_lr` is done after `step` steps."""
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return _ANNEAL[self._anneal_strategy](0.0, 1.0, t)

    def get_lr(self) -> list[Any]:
        """The rates for `last_epoch`, one for each group."""
        self._warn_outside_step()
        # As in PyTorch, `_step_count` is 1 after construction; `step - 1` steps lead from the initial rate to the present one.
        step = self._step_count - 1
        before, now = (self._share(max(0, step - 1)), self._share(max(0, step))) if self.anneal_epochs else (1.0, 1.0)
        rates = []
        for group in self.optimizer.param_groups:
            # The rate that stands at 0 of the way, recovered from the present one.
            start = group["swa_lr"] if before == 1 else (group["lr"] - before * group["swa_lr"]) / (1 - before)
            rates.append(group["swa_lr"] * now + start * (1 - now))
        return rates
