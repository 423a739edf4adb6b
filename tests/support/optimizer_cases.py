"""Optimizers and schedules that run in Trine and in real PyTorch alike: `library` is either."""

from __future__ import annotations

from typing import Any

STEPS = 200

# name: class, options
OPTIMIZERS: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01}),
    "sgd_nesterov": ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True}),
    "adam": ("Adam", {"lr": 0.05, "weight_decay": 0.01}),
    "adam_amsgrad": ("Adam", {"lr": 0.05, "amsgrad": True, "betas": (0.8, 0.95)}),
    "adamw": ("AdamW", {"lr": 0.05, "weight_decay": 0.1}),
    "adadelta": ("Adadelta", {"weight_decay": 0.01}),
    "adagrad": ("Adagrad", {"lr": 0.1, "lr_decay": 0.01, "weight_decay": 0.01, "initial_accumulator_value": 0.1}),
    "adamax": ("Adamax", {"lr": 0.05, "weight_decay": 0.01}),
    "asgd": ("ASGD", {"lr": 0.05, "weight_decay": 0.01, "t0": 100}),
    "nadam": ("NAdam", {"lr": 0.05, "weight_decay": 0.01}),
    "nadam_decoupled": ("NAdam", {"lr": 0.05, "weight_decay": 0.01, "decoupled_weight_decay": True}),
    "radam": ("RAdam", {"lr": 0.05, "weight_decay": 0.01}),
    "radam_decoupled": ("RAdam", {"lr": 0.05, "weight_decay": 0.01, "decoupled_weight_decay": True}),
    "rmsprop": ("RMSprop", {"lr": 0.01, "weight_decay": 0.01}),
    "rmsprop_momentum": ("RMSprop", {"lr": 0.005, "momentum": 0.9}),
    "rmsprop_centered": ("RMSprop", {"lr": 0.005, "centered": True}),
    "rmsprop_all": ("RMSprop", {"lr": 0.002, "centered": True, "momentum": 0.8, "weight_decay": 0.01, "maximize": True}),
    "rprop": ("Rprop", {"lr": 0.01}),
    "lbfgs": ("LBFGS", {"lr": 0.1, "max_iter": 3, "history_size": 5}),
    "lbfgs_wolfe": ("LBFGS", {"max_iter": 4, "line_search_fn": "strong_wolfe"}),
}

# name: class, options; all drive an SGD with momentum 0.9 and lr 0.1
SCHEDULES: dict[str, tuple[str, dict[str, Any]]] = {
    "cyclic": ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 7, "step_size_down": 3}),
    "cyclic_triangular2": ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 5, "mode": "triangular2"}),
    "cyclic_exp_range": ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 5, "mode": "exp_range", "gamma": 0.98}),
    "swa_cos": ("SWALR", {"swa_lr": 0.02, "anneal_epochs": 7}),
    "swa_linear": ("SWALR", {"swa_lr": 0.3, "anneal_epochs": 5, "anneal_strategy": "linear"}),
    "swa_at_once": ("SWALR", {"swa_lr": 0.3, "anneal_epochs": 0}),
}


def start(library: Any, dtype: str) -> list[Any]:
    """Two parameters with fixed values, one a scalar."""
    wanted = getattr(library, dtype)
    values = library.arange(1, 7, dtype=library.float64).reshape(2, 3).sin() * 2
    tensors = [library.complex(values, values.cos()) if dtype == "complex128" else values, values[0, 0] + 1]
    return [library.nn.Parameter(t.to(wanted)) for t in tensors]


def loss_of(library: Any, params: list[Any], t: int) -> Any:
    """Curved differently in every direction, and moving with the step."""
    total = 0
    for k, p in enumerate(params):
        real = library.view_as_real(p) if p.is_complex() else p
        shifted = real - 0.3 * (k + 1)
        total = total + (shifted**4).sum() * 0.05 + (shifted * shifted).sum() * (0.5 + 0.2 * (t % 3)) + shifted.sin().sum()
    return total


def trajectory(library: Any, name: str, dtype: str) -> list[list[float]]:
    """All numbers of all parameters five times in 200 steps (of LBFGS in 20)."""
    kind, options = OPTIMIZERS[name]
    params = start(library, dtype)
    optimizer = getattr(library.optim, kind)(params, **options)
    steps = 20 if kind == "LBFGS" else STEPS
    points = []
    for t in range(steps):

        def closure(t: int = t) -> Any:
            optimizer.zero_grad()
            loss = loss_of(library, params, 0 if kind == "LBFGS" else t)
            loss.backward()
            return loss

        if kind == "LBFGS":
            optimizer.step(closure)
        else:
            closure()
            optimizer.step()
        if (t + 1) % (steps // 5) == 0:
            flat = [(library.view_as_real(p) if p.is_complex() else p).detach().reshape(-1) for p in params]
            points.append([float(x) for part in flat for x in part.tolist()])
    return points


def rates(library: Any, name: str) -> list[list[float]]:
    """Learning rate and momentum at each of 40 steps."""
    kind, options = SCHEDULES[name]
    optimizer = library.optim.SGD([library.nn.Parameter(library.zeros(1))], lr=0.1, momentum=0.9)
    home = library.optim.swa_utils if kind == "SWALR" else library.optim.lr_scheduler
    schedule = getattr(home, kind)(optimizer, **options)
    found = []
    for _ in range(40):
        group = optimizer.param_groups[0]
        found.append([float(group["lr"]), float(group["momentum"])])
        optimizer.step()
        schedule.step()
    return found
