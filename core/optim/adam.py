"""Adam."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import trine
from trine import Tensor, _ops

from .optimizer import Optimizer, as_real, check_flags, refuse_unsupported, to_number

__all__ = ["Adam"]


class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015), with AMSGrad's maximum (Reddi et al., 2018) on request.

    `weight_decay` is added to the gradient, or shrinks the parameter directly with `decoupled_weight_decay`
    (AdamW). State per parameter: `step` (float32, 0-dim), `exp_avg`, `exp_avg_sq`, with `amsgrad` also
    `max_exp_avg_sq`. `foreach` and `fused` are accepted: every step is one native call over a group.

    >>> import trine
    >>> p = trine.nn.Parameter(trine.tensor([1.0]))
    >>> p.grad = trine.tensor([0.5])
    >>> trine.optim.Adam([p], lr=0.1).step()
    >>> round(p.item(), 4)
    0.9
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        if isinstance(lr, Tensor):
            if foreach and not capturable:
                raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
            if lr.numel() != 1:
                raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps >= 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for i in (0, 1):
            if not 0.0 <= betas[i] < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")
        if not weight_decay >= 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        refuse_unsupported(type(self).__name__, differentiable, capturable)
        check_flags(foreach, fused)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in (
                ("amsgrad", False),
                ("maximize", False),
                ("foreach", None),
                ("capturable", False),
                ("differentiable", False),
                ("decoupled_weight_decay", False),
                ("fused", None),
            ):
                group.setdefault(name, value)
            for param in group["params"]:
                own = self.state.get(param, {})
                # Checkpoints of old PyTorch hold the step as a number.
                if own and not isinstance(own["step"], Tensor):
                    own["step"] = trine.tensor(float(own["step"]), dtype=trine.float32)

    def _new_state(self, param: Tensor, amsgrad: bool) -> dict[str, Tensor]:
        state = {
            "step": trine.zeros((), dtype=trine.float32),
            "exp_avg": trine.zeros_like(param, memory_format=trine.preserve_format),
            "exp_avg_sq": trine.zeros_like(param, memory_format=trine.preserve_format),
        }
        if amsgrad:
            state["max_exp_avg_sq"] = trine.zeros_like(param, memory_format=trine.preserve_format)
        return state

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters that have a gradient; the closure's loss, if there is one."""
        loss = self._closure_loss(closure)
        with trine.no_grad():
            for group in self.param_groups:
                self._step_group(group)
        return loss

    def _step_group(self, group: dict[str, Any]) -> None:
        amsgrad = group["amsgrad"]
        params: list[Tensor] = []
        grads: list[Tensor] = []
        averages: list[Tensor] = []
        squares: list[Tensor] = []
        maxima: list[Tensor] = []
        steps: list[Tensor] = []
        all_state = self.state
        for param in group["params"]:
            grad = param.grad
            if grad is None:
                continue
            state = all_state[param]
            if not state:
                state.update(self._new_state(param, amsgrad))
            params.append(param)
            grads.append(grad)
            averages.append(state["exp_avg"])
            squares.append(state["exp_avg_sq"])
            if amsgrad:
                maxima.append(state["max_exp_avg_sq"])
            step = state["step"]
            step.add_(1)
            steps.append(step)
        if not params:
            return
        beta1, beta2 = group["betas"]
        update = _ops._fused_adamw_ if group["decoupled_weight_decay"] else _ops._fused_adam_
        update(
            *as_real(params, grads, averages, squares, maxima),
            steps,
            lr=to_number(group["lr"]),
            beta1=to_number(beta1),
            beta2=to_number(beta2),
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            amsgrad=amsgrad,
            maximize=group["maximize"],
        )
