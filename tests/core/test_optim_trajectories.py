"""Where optimizers and schedules lead in 200 steps equals what real PyTorch's led to (tests/data/optimizers.json)."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pytest
import trine
from optimizer_cases import OPTIMIZERS, SCHEDULES, loss_of, rates, start, trajectory
from trine import optim

STORED = json.loads((Path(__file__).resolve().parent.parent / "data" / "optimizers.json").read_text())
ELEMENTWISE = [name for name, (kind, _) in OPTIMIZERS.items() if kind != "LBFGS"]
TOLERANCE = {"float64": 1e-11, "complex128": 1e-11, "float32": 2e-5}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_trajectory_equals_pytorch(name, dtype):
    found, wanted = np.array(trajectory(trine, name, dtype)), np.array(STORED["trajectories"][f"{name}|{dtype}"])
    # A step that is the sign of a gradient, or over a nearly zero variance, turns a last bit into a large one.
    loose = dtype == "float32" and name in ("lbfgs_wolfe", "rmsprop_centered", "rmsprop_all", "rprop", "radam", "radam_decoupled")
    np.testing.assert_allclose(found, wanted, rtol=2e-3 if loose else TOLERANCE[dtype], atol=2e-3 if loose else TOLERANCE[dtype])


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule_equals_pytorch(name):
    np.testing.assert_allclose(rates(trine, name), STORED["rates"][name], rtol=1e-12, atol=1e-15)


def steps(optimizer, params, first, count):
    for t in range(first, first + count):
        optimizer.zero_grad()
        loss_of(trine, params, t).backward()
        optimizer.step()


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_state_dict_resumes(name):
    kind, options = OPTIMIZERS[name]
    params = start(trine, "float64")
    optimizer = getattr(optim, kind)(params, **options)
    steps(optimizer, params, 0, 3)
    saved, values = copy.deepcopy(optimizer.state_dict()), [p.detach().clone() for p in params]
    steps(optimizer, params, 3, 4)
    others = [trine.nn.Parameter(v) for v in values]
    resumed = getattr(optim, kind)(others, **options)
    resumed.load_state_dict(saved)
    steps(resumed, others, 3, 4)
    for a, b in zip(params, others, strict=True):
        # a state takes the dtype of its parameter, which rounds NAdam's float32 product in another place
        assert trine.allclose(a, b, rtol=1e-6) if kind == "NAdam" else trine.equal(a, b)


def test_parameters_in_different_steps_and_layouts():
    a, b = (trine.nn.Parameter(trine.randn(2, 3, 4, 4)) for _ in range(2))
    c = trine.nn.Parameter(a.detach().clone().contiguous(memory_format=trine.channels_last))
    optimizer = optim.RMSprop([a, b, c], lr=0.1)
    for t in range(3):
        grad = trine.full((2, 3, 4, 4), float(t + 1))
        a.grad, c.grad = grad, grad.clone()
        b.grad = None if t < 2 else grad
        optimizer.step()
    assert optimizer.state[b]["step"] == 1 and optimizer.state[a]["step"] == 3
    assert trine.allclose(a, c) and c.is_contiguous(memory_format=trine.channels_last)


def test_half_precision_parameters_move():
    for name in ELEMENTWISE:
        kind, options = OPTIMIZERS[name]
        p = trine.nn.Parameter(trine.ones(4, dtype=trine.bfloat16))
        p.grad = trine.full((4,), 2.0, dtype=trine.bfloat16)
        optimizer = getattr(optim, kind)([p], **{**options, "lr": 100.0 if kind == "Adadelta" else 0.1})
        optimizer.step()
        assert p.dtype is trine.bfloat16 and p.isfinite().all() and (p != 1).all(), name


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("Adadelta", {"rho": 1.5}, "Invalid rho value: 1.5"),
        ("Adagrad", {"lr_decay": -1.0}, "Invalid lr_decay value: -1.0"),
        ("Adamax", {"betas": (1.0, 0.9)}, "Invalid beta parameter at index 0: 1.0"),
        ("NAdam", {"momentum_decay": -1}, "Invalid momentum_decay value: -1"),
        ("RAdam", {"lr": -1}, "Invalid learning rate: -1"),
        ("RMSprop", {"alpha": -1}, "Invalid alpha value: -1"),
        ("Rprop", {"etas": (1.5, 2.0)}, "Invalid eta values: 1.5, 2.0"),
        ("ASGD", {"weight_decay": -1}, "Invalid weight_decay value: -1"),
        ("SparseAdam", {"eps": 0.0}, "Invalid epsilon value: 0.0"),
    ],
)
def test_wrong_options_are_named(kind, options, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        getattr(optim, kind)([trine.nn.Parameter(trine.ones(1))], **options)


def test_sparse_adam_refuses_dense_gradients():
    p = trine.nn.Parameter(trine.ones(2))
    optimizer = optim.SparseAdam([p])
    optimizer.step()
    p.grad = trine.ones(2)
    with pytest.raises(RuntimeError, match="dense gradients"):
        optimizer.step()


def test_lbfgs_takes_one_group_and_known_searches():
    p, q = (trine.nn.Parameter(trine.ones(2)) for _ in range(2))
    with pytest.raises(ValueError, match="parameter groups"):
        optim.LBFGS([{"params": [p]}, {"params": [q]}])
    optimizer = optim.LBFGS([p], line_search_fn="other")
    with pytest.raises(RuntimeError, match="strong_wolfe"):
        optimizer.step(lambda: (p * p).sum())
