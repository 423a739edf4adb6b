"""Optimizers whose step is an expression of one element: one native call updates all parameters of a group."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import trine
from trine import Tensor, _ops

from .optimizer import Optimizer, check_flags, refuse_unsupported, to_number

__all__ = ["ElementwiseOptimizer", "check_range", "check_rate"]


def check_range(name: str, value: float, low: float = 0.0, high: float | None = None) -> None:
    """ValueError unless ``low <= value``, and ``value < high`` where there is a limit."""
    if not low <= value or (high is not None and not value < high):
        raise ValueError(f"Invalid {name}: {value}")


def check_rate(lr: float | Tensor) -> None:
    """ValueError unless `lr` is one number that is not negative."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    check_range("learning rate", to_number(lr))


class ElementwiseOptimizer(Optimizer):
    """Base of these optimizers.

    A subclass says what a parameter's state is (`_new_state`, a dict that starts with `step`), which entries of it are updated with
    the parameter (`_states`), and what numbers the rule needs in a step (`_numbers`).
    """

    # Options that older checkpoints may lack, with what they mean then.
    _OPTIONS: dict[str, Any] = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        refuse_unsupported(type(self).__name__, defaults["differentiable"], defaults.get("capturable", False))
        check_flags(defaults["foreach"], defaults.get("fused"))
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in self._OPTIONS.items():
                if name in self.defaults:
                    group.setdefault(name, value)
            for param in group["params"]:
                own = self.state.get(param, {})
                # Checkpoints of old PyTorch hold the step as a number.
                if own and not isinstance(own["step"], Tensor):
                    own["step"] = trine.tensor(float(own["step"]), dtype=trine.float32)

    def _new_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def _states(self, group: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
        """The rule's name and its states'."""
        raise NotImplementedError

    def _numbers(self, group: dict[str, Any], step: float, state: dict[str, Any]) -> list[float]:
        """The rule's numbers in step number `step` (from 1)."""
        raise NotImplementedError

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters that have a gradient; the closure's loss, if there is one."""
        loss = self._closure_loss(closure)
        with trine.no_grad():
            for group in self.param_groups:
                self._step_group(group)
        return loss

    def _step_group(self, group: dict[str, Any]) -> None:
        rule, names = self._states(group)
        # Parameters that are in the same step, which as a rule is all of them, share a call.
        batches: dict[tuple, tuple[list[Tensor], list[Tensor], list[Tensor]]] = {}
        all_state = self.state
        for param in group["params"]:
            grad = param.grad
            if grad is None:
                continue
            state = all_state[param]
            if not state:
                state.update(self._new_state(param, group))
            step = state["step"]
            step.add_(1)
            key = tuple(self._numbers(group, step.item(), state))
            batch = batches.get(key)
            if batch is None:
                batch = batches[key] = ([], [], [])
            own = [state[name] for name in names]
            if param.is_complex():
                param, grad, *own = (trine.view_as_real(t) for t in (param, grad, *own))
            batch[0].append(param)
            batch[1].append(grad)
            batch[2].extend(own)
        for numbers, (params, grads, states) in batches.items():
            _ops._optimizer_update_(rule, params, grads, states, numbers, group["maximize"])


def zeros(param: Tensor) -> Tensor:
    """A state of `param`'s shape, dtype and layout."""
    return trine.zeros_like(param, memory_format=trine.preserve_format)


def first_step() -> Tensor:
    """The number of steps made, before the first."""
    return trine.zeros((), dtype=trine.float32)
