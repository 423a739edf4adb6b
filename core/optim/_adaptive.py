"""Optimizers that scale each element's step by the gradients it has seen: Adadelta, Adagrad, Adamax, NAdam, RAdam, RMSprop."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import trine
from trine import Tensor

from ._elementwise import ElementwiseOptimizer, check_range, check_rate, first_step, zeros
from .optimizer import to_number

__all__ = ["Adadelta", "Adagrad", "Adamax", "NAdam", "RAdam", "RMSprop"]


def _check_betas(betas: tuple[float, float]) -> None:
    for i in (0, 1):
        check_range(f"beta parameter at index {i}", betas[i], 0.0, 1.0)


class Adadelta(ElementwiseOptimizer):
    """Adadelta (Zeiler, 2012): steps in units of the root mean square of past steps over that of past gradients.

    State: `step`, `square_avg`, `acc_delta`.

    >>> import trine
    >>> p = trine.nn.Parameter(trine.tensor([1.0]))
    >>> p.grad = trine.tensor([0.5])
    >>> trine.optim.Adadelta([p]).step()
    >>> round(p.item(), 4)
    0.9968
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_range("epsilon value", eps)
        check_range("weight_decay value", weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "rho": rho,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "capturable": capturable,
                "foreach": foreach,
                "differentiable": differentiable,
            },
        )

    def _new_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"step": first_step(), "square_avg": zeros(param), "acc_delta": zeros(param)}

    def _states(self, group: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
        return "adadelta", ("square_avg", "acc_delta")

    def _numbers(self, group: dict[str, Any], step: float, state: dict[str, Any]) -> list[float]:
        return [group["rho"], 1 - group["rho"], group["eps"], to_number(group["lr"]), group["weight_decay"]]


class Adagrad(ElementwiseOptimizer):
    """Adagrad (Duchi, Hazan and Singer, 2011): steps over the root of the sum of all squared gradients.

    State, there from the beginning: `step`, `sum` (filled with `initial_accumulator_value`).

    >>> import trine
    >>> p = trine.nn.Parameter(trine.tensor([1.0]))
    >>> p.grad = trine.tensor([0.5])
    >>> trine.optim.Adagrad([p], lr=0.1).step()
    >>> round(p.item(), 4)
    0.9
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_rate(lr)
        check_range("lr_decay value", lr_decay)
        check_range("weight_decay value", weight_decay)
        check_range("initial_accumulator_value value", initial_accumulator_value)
        check_range("epsilon value", eps)
        super().__init__(
            params,
            {
                "lr": lr,
                "lr_decay": lr_decay,
                "eps": eps,
                "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "fused": fused,
            },
        )
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param] = self._new_state(param, group)

    def _new_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        start = group["initial_accumulator_value"]
        start = complex(start, start) if param.is_complex() else start
        return {"step": first_step(), "sum": trine.full_like(param, start, memory_format=trine.preserve_format)}

    def share_memory(self) -> None:
        """Move the sums into shared memory, for training in several processes."""
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param]["sum"].share_memory_()

    def _states(self, group: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
        return "adagrad", ("sum",)

    def _numbers(self, group: dict[str, Any], step: float, state: dict[str, Any]) -> list[float]:
        return [to_number(group["lr"]) / (1 + (step - 1) * group["lr_decay"]), group["eps"], group["weight_decay"]]


class Adamax(ElementwiseOptimizer):
    """Adam's variant on the infinity norm (Kingma and Ba, 2015). State: `step`, `exp_avg`, `exp_inf`.

    >>> import trine
    >>> p = trine.nn.Parameter(trine.tensor([1.0]))
    >>> p.grad = trine.tensor([0.5])
    >>> trine.optim.Adamax([p], lr=0.1).step()
    >>> round(p.item(), 4)
    0.9
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_rate(lr)
        check_range("epsilon value", eps)
        _check_betas(betas)
        check_range("weight_decay value", weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def _new_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"step": first_step(), "exp_avg": zeros(param), "exp_inf": zeros(param)}

    def _states(self, group: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
        return "adamax", ("exp_avg", "exp_inf")

    def _numbers(self, group: dict[str, Any], step: float, state: dict[str, Any]) -> list[float]:
        beta1, beta2 = group["betas"]
        return [1 - beta1, beta2, group["eps"], to_number(group["lr"]) / (1 - beta1**step), group["weight_decay"]]


class NAdam(ElementwiseOptimizer):
    """Adam with Nesterov's momentum (Dozat, 2016), whose weight moves with the step by `momentum_decay`.

    State: `step`, `mu_product`, `exp_avg`, `exp_avg_sq`.

    >>> import trine
    >>> p = trine.nn.Parameter(trine.tensor([1.0]))
    >>> p.grad = trine.tensor([0.5])
    >>> trine.optim.NAdam([p], lr=0.1).step()
    >>> round(p.item(), 3)
    0.894
    """

    _OPTIONS = {**ElementwiseOptimizer._OPTIONS, "decoupled_weight_decay": False}

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        check_range("epsilon value", eps)
        _check_betas(betas)
        check_range("weight_decay value", weight_decay)
        check_range("momentum_decay value", momentum_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "momentum_decay": momentum_decay,
                "decoupled_weight_decay": decoupled_weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
            },
        )

    def _new_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": first_step(),
            "mu_product": trine.ones((), dtype=trine.float32),
            "exp_avg": zeros(param),
            "exp_avg_sq": zeros(param),
        }

    def _states(self, group: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
        return "nadam_decoupled" if group["decoupled_weight_decay"] else "nadam", ("exp_avg", "exp_avg_sq")

    def _numbers(self, group: dict[str, Any], step: float, state: dict[str, Any]) -> list[float]:
        beta1, beta2 = group["betas"]
        lr, decay = to_number(group["lr"]), group["momentum_decay"]
        now = beta1 * (1.0 - 0.5 * 0.96 ** (step * decay))
        following = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * decay))
        product = state["mu_product"]
        product.mul_(now)
        value = product.item()
        of_grad, of_mean = lr * (1.0 - now) / (1.0 - value), lr * following / (1.0 - value * following)
        weight_decay = 1 - lr * group["weight_decay"] if group["decoupled_weight_decay"] else group["weight_decay"]
        return [1 - beta1, beta2, 1 - beta2, 1 - beta2**step, group["eps"], of_grad, of_mean, weight_decay]


class RAdam(ElementwiseOptimizer):
    """Rectified Adam (Liu et al., 2020): plain momentum until the variance of the squares' mean is known well enough.

    State: `step`, `exp_avg`, `exp_avg_sq`.

    >>> import trine
    >>> p = trine.nn.Parameter(trine.tensor([1.0]))
    >>> p.grad = trine.tensor([0.5])
    >>> trine.optim.RAdam([p], lr=0.1).step()
    >>> round(p.item(), 4)
    0.95
    """

    _OPTIONS = {**ElementwiseOptimizer._OPTIONS, "decoupled_weight_decay": False}

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        check_range("epsilon value", eps)
        _check_betas(betas)
        check_range("weight_decay value", weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "decoupled_weight_decay": decoupled_weight_decay,
                "differentiable": differentiable,
            },
        )

    def _new_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"step": first_step(), "exp_avg": zeros(param), "exp_avg_sq": zeros(param)}

    def _states(self, group: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
        return "radam", ("exp_avg", "exp_avg_sq")

    def _numbers(self, group: dict[str, Any], step: float, state: dict[str, Any]) -> list[float]:
        beta1, beta2 = group["betas"]
        lr, left = to_number(group["lr"]), 1 - beta2**step
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / left
        rectified = 0.0
        if length > 5.0:
            variance = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
            rectified = math.sqrt(variance) * math.sqrt(left)
        decoupled = group["decoupled_weight_decay"]
        decay, shrink = (0.0, 1 - lr * group["weight_decay"]) if decoupled else (group["weight_decay"], 1.0)
        return [1 - beta1, beta2, 1 - beta2, group["eps"], lr / (1 - beta1**step), rectified, decay, shrink]


class RMSprop(ElementwiseOptimizer):
    """RMSprop (Hinton, 2012): steps over the root of the mean square, of the variance with `centered` (Graves, 2013).

    State: `step`, `square_avg`, with `momentum` also `momentum_buffer`, with `centered` also `grad_avg`.

    >>> import trine
    >>> p = trine.nn.Parameter(trine.tensor([1.0]))
    >>> p.grad = trine.tensor([0.5])
    >>> trine.optim.RMSprop([p], lr=0.1).step()
    >>> round(p.item(), 4)
    0.0
    """

    _OPTIONS = {**ElementwiseOptimizer._OPTIONS, "momentum": 0, "centered": False}

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        check_range("epsilon value", eps)
        check_range("momentum value", momentum)
        check_range("weight_decay value", weight_decay)
        check_range("alpha value", alpha)
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "alpha": alpha,
                "eps": eps,
                "centered": centered,
                "weight_decay": weight_decay,
                "capturable": capturable,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
            },
        )

    def _new_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        state = {"step": first_step(), "square_avg": zeros(param)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros(param)
        if group["centered"]:
            state["grad_avg"] = zeros(param)
        return state

    def _states(self, group: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
        rule, names = "rmsprop", ["square_avg"]
        if group["centered"]:
            rule += "_centered"
            names.append("grad_avg")
        if group["momentum"] > 0:
            rule += "_momentum"
            names.append("momentum_buffer")
        return rule, tuple(names)

    def _numbers(self, group: dict[str, Any], step: float, state: dict[str, Any]) -> list[float]:
        alpha = group["alpha"]
        numbers = [alpha, 1 - alpha, group["eps"], to_number(group["lr"]), group["weight_decay"]]
        return [*numbers, group["momentum"]] if group["momentum"] > 0 else numbers
