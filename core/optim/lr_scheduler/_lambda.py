"""The schedule that a user's function gives."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from ..optimizer import Optimizer
from ._base import LRScheduler


class LambdaStates:
    """State dicts of schedulers that hold functions: objects keep their attributes, functions are not stored."""

    optimizer: Optimizer
    lr_lambdas: list[Callable[[int], float]]

    def _set_lambdas(self, optimizer: Optimizer, lr_lambda: Any) -> None:
        self.optimizer = optimizer
        count = len(optimizer.param_groups)
        if not isinstance(lr_lambda, (list, tuple)):
            self.lr_lambdas = [lr_lambda] * count
        elif len(lr_lambda) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(lr_lambda)}")
        else:
            self.lr_lambdas = list(lr_lambda)

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer; the attributes of callable objects, None for plain functions."""
        state = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "lr_lambdas")}
        state["lr_lambdas"] = [None if isinstance(fn, types.FunctionType) else fn.__dict__.copy() for fn in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned; the functions stay those of this scheduler."""
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for fn, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=False):
            if attributes is not None:
                fn.__dict__.update(attributes)


class LambdaLR(LambdaStates, LRScheduler):
    """The initial rate times `lr_lambda(step)`; one function, or one for each group.

    >>> import trine
    >>> optimizer = trine.optim.SGD([trine.nn.Parameter(trine.zeros(1))], lr=1.0)
    >>> scheduler = trine.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.5 ** step)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        self._set_lambdas(optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates for `last_epoch`, one for each group."""
        self._warn_outside_step()
        return [rate * fn(self.last_epoch) for fn, rate in zip(self.lr_lambdas, self.base_lrs, strict=True)]
