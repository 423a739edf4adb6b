"""Optimizers follow their formulas (plain NumPy here), keep PyTorch's state format and refuse what PyTorch refuses."""

import copy

import numpy as np
import pytest
import trine
from trine import nn, optim


def grad_of(p, t):
    """Any gradient that depends on the point and on the step."""
    return np.sin(p) + 0.1 * p * (t + 1)


def sgd(p, steps, lr, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, maximize=False):
    buffer = None
    for t in range(steps):
        g = grad_of(p, t)
        g = -g if maximize else g
        g = g + weight_decay * p
        if momentum:
            buffer = g if buffer is None else momentum * buffer + (1 - dampening) * g
            g = g + momentum * buffer if nesterov else buffer
        p = p - lr * g
    return p


def adam(p, steps, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, amsgrad=False, maximize=False, decoupled=False):
    m, v, top = np.zeros_like(p), np.zeros_like(p), np.zeros_like(p)
    for t in range(1, steps + 1):
        g = grad_of(p, t - 1)
        g = -g if maximize else g
        if decoupled:
            p = p - lr * weight_decay * p
        else:
            g = g + weight_decay * p
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g * g
        top = np.maximum(top, v)
        scale = np.sqrt(top if amsgrad else v) / np.sqrt(1 - betas[1] ** t) + eps
        p = p - lr / (1 - betas[0] ** t) * m / scale
    return p


SHAPES = [(4, 3), (5,), ()]
STEPS = 8


def run(make, steps=STEPS):
    rng = np.random.default_rng(0)
    starts = [np.asarray(rng.standard_normal(s)) for s in SHAPES]
    params = [nn.Parameter(trine.tensor(s.tolist(), dtype=trine.float64)) for s in starts]
    optimizer = make(params)
    for t in range(steps):
        for p in params:
            p.grad = p.detach().sin() + 0.1 * p.detach() * (t + 1)
        optimizer.step()
    return starts, params, optimizer


def check(make, formula):
    starts, params, _ = run(make)
    for start, param in zip(starts, params, strict=True):
        np.testing.assert_allclose(param.detach().numpy(), formula(start), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"lr": 0.1},
        {"lr": 0.1, "weight_decay": 0.2},
        {"lr": 0.1, "momentum": 0.9},
        {"lr": 0.1, "momentum": 0.9, "dampening": 0.3},
        {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
        {"lr": 0.1, "momentum": 0.5, "maximize": True},
    ],
    ids=str,
)
def test_sgd_follows_its_formula(options):
    check(lambda ps: optim.SGD(ps, **options), lambda p: sgd(p, STEPS, **options))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lr": 0.1},
        {"lr": 0.1, "betas": (0.8, 0.95), "eps": 1e-3},
        {"lr": 0.1, "weight_decay": 0.2, "amsgrad": True},
        {"maximize": True},
    ],
    ids=str,
)
def test_adam_follows_its_formula(options):
    check(lambda ps: optim.Adam(ps, **options), lambda p: adam(p, STEPS, **options))


@pytest.mark.parametrize("options", [{"lr": 0.1}, {"lr": 0.1, "weight_decay": 0.5, "amsgrad": True}], ids=str)
def test_adamw_shrinks_the_parameters_apart_from_the_gradient(options):
    decay = options.get("weight_decay", 0.01)
    check(
        lambda ps: optim.AdamW(ps, **options),
        lambda p: adam(p, STEPS, **{**options, "weight_decay": decay}, decoupled=True),
    )


def test_a_parameter_that_gets_its_first_gradient_late_starts_its_own_momentum():
    a, b = nn.Parameter(trine.ones(1)), nn.Parameter(trine.ones(1))
    optimizer = optim.SGD([a, b], lr=1.0, momentum=0.5)
    a.grad = trine.ones(1)
    optimizer.step()
    b.grad = trine.ones(1)
    optimizer.step()
    assert a.item() == 1 - 1 - 1.5 and b.item() == 0
    assert optimizer.state[b]["momentum_buffer"].item() == 1


def test_groups_have_their_own_options():
    a, b = nn.Parameter(trine.ones(1)), nn.Parameter(trine.ones(1))
    optimizer = optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.1}], lr=1.0)
    a.grad, b.grad = trine.ones(1), trine.ones(1)
    optimizer.step()
    assert a.item() == 0 and b.item() == pytest.approx(0.9)
    assert [g["lr"] for g in optimizer.param_groups] == [1.0, 0.1]


def test_state_dict_has_pytorchs_layout():
    _, _, optimizer = run(lambda ps: optim.Adam(ps, lr=0.1, amsgrad=True), 2)
    state = optimizer.state_dict()
    assert list(state) == ["state", "param_groups"] and list(state["state"]) == [0, 1, 2]
    assert list(state["state"][0]) == ["step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"]
    step = state["state"][0]["step"]
    assert step.item() == 2 and step.dtype == trine.float32 and step.dim() == 0
    group = state["param_groups"][0]
    assert list(group) == [
        "lr", "betas", "eps", "weight_decay", "amsgrad", "maximize", "foreach", "capturable", "differentiable",
        "fused", "decoupled_weight_decay", "params",
    ]  # fmt: skip
    assert group["params"] == [0, 1, 2]
    sgd_group = optim.SGD([nn.Parameter(trine.ones(1))]).state_dict()["param_groups"][0]
    assert list(sgd_group) == [
        "lr", "momentum", "dampening", "weight_decay", "nesterov", "maximize", "foreach", "differentiable", "fused", "params",
    ]  # fmt: skip


@pytest.mark.parametrize("make", [lambda ps: optim.SGD(ps, 0.1, 0.9), lambda ps: optim.Adam(ps, 0.1), lambda ps: optim.AdamW(ps, 0.1)])
def test_training_goes_on_from_a_state_dict_as_if_never_interrupted(make):
    _, straight, _ = run(make, 6)
    _, params, optimizer = run(make, 3)
    resumed = [nn.Parameter(p.detach().clone()) for p in params]
    other = make(resumed)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for t in range(3, 6):
        for p in resumed:
            p.grad = p.detach().sin() + 0.1 * p.detach() * (t + 1)
        other.step()
    for a, b in zip(straight, resumed, strict=True):
        np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), rtol=1e-12)


def test_loading_casts_state_to_the_parameters_type_but_not_the_step():
    p = nn.Parameter(trine.ones(2))
    first = optim.Adam([p])
    p.grad = trine.ones(2)
    first.step()
    q = nn.Parameter(trine.ones(2, dtype=trine.float64))
    second = optim.Adam([q])
    second.load_state_dict(first.state_dict())
    assert second.state[q]["exp_avg"].dtype == trine.float64
    assert second.state[q]["step"].dtype == trine.float32


def test_loading_a_state_dict_of_other_groups_is_refused():
    p, q = nn.Parameter(trine.ones(1)), nn.Parameter(trine.ones(1))
    one, two = optim.SGD([p]), optim.SGD([p, q])
    with pytest.raises(ValueError, match="doesn't match the size of optimizer's group"):
        one.load_state_dict(two.state_dict())
    with pytest.raises(ValueError, match="different number of parameter groups"):
        one.load_state_dict(optim.SGD([{"params": [p]}, {"params": [q]}]).state_dict())


P = nn.Parameter(trine.ones(2))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: optim.SGD([]), ValueError, "optimizer got an empty parameter list"),
        (lambda: optim.SGD(P), TypeError, "params argument given to the optimizer should be an iterable of Tensors or dicts"),
        (lambda: optim.SGD([5]), TypeError, "optimizer can only optimize Tensors, but one of the params is int"),
        (lambda: optim.SGD([P * 2]), ValueError, "can't optimize a non-leaf Tensor"),
        (lambda: optim.SGD([{"params": {P}}]), TypeError, "need to be organized in ordered collections"),
        (lambda: optim.SGD([{"params": [P]}, {"params": [P]}]), ValueError, "some parameters appear in more than one parameter group"),
        (lambda: optim.SGD([P], lr=-1), ValueError, "Invalid learning rate: -1"),
        (lambda: optim.SGD([P], momentum=-1), ValueError, "Invalid momentum value: -1"),
        (lambda: optim.SGD([P], nesterov=True), ValueError, "Nesterov momentum requires a momentum and zero dampening"),
        (lambda: optim.Adam([P], betas=(1.0, 0.9)), ValueError, "Invalid beta parameter at index 0: 1.0"),
        (lambda: optim.Adam([P], eps=-1.0), ValueError, "Invalid epsilon value: -1.0"),
        (lambda: optim.AdamW([P], weight_decay=-1), ValueError, "Invalid weight_decay value: -1"),
        (lambda: optim.Adam([P], foreach=True, fused=True), RuntimeError, "`fused` and `foreach` cannot be `True` together"),
        (lambda: optim.Adam([P], differentiable=True), NotImplementedError, "differentiable=True is not supported"),
        (lambda: optim.SGD([("a", P), P]), ValueError, "all optimizer params should be with/without names"),
    ],
)
def test_wrong_arguments_are_refused_with_pytorchs_words(make, error, message):
    with pytest.raises(error) as caught:
        make()
    assert message in str(caught.value)


def test_closures_run_with_gradients_and_return_the_loss():
    p = nn.Parameter(trine.tensor([2.0]))
    optimizer = optim.SGD([p], lr=0.25)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with trine.no_grad():
        loss = optimizer.step(closure)
    assert loss.item() == 4 and p.item() == 1


def test_zero_grad_drops_or_fills():
    p = nn.Parameter(trine.ones(1))
    optimizer = optim.SGD([p])
    p.grad = trine.ones(1)
    optimizer.zero_grad(set_to_none=False)
    assert p.grad.tolist() == [0]
    optimizer.zero_grad()
    assert p.grad is None


def test_hooks_run_around_steps_and_state_dicts():
    p, seen = nn.Parameter(trine.ones(1)), []
    optimizer = optim.SGD([p], lr=1.0)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append("pre"))
    handle = optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("post"))
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "note": 1})
    optimizer.register_load_state_dict_pre_hook(lambda o, state: seen.append(sorted(state)))
    p.grad = trine.ones(1)
    optimizer.step()
    handle.remove()
    optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
    assert seen == ["pre", "post", "pre", ["note", "param_groups", "state"]]
    assert p.item() == -1


def test_a_users_own_optimizer_gets_the_same_services():
    class SignSGD(optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        def step(self, closure=None):
            with trine.no_grad():
                for group in self.param_groups:
                    for p in group["params"]:
                        p.add_(p.grad.sign(), alpha=-group["lr"])

    p, seen = nn.Parameter(trine.ones(1)), []
    optimizer = SignSGD([p], lr=0.5)
    optimizer.register_step_post_hook(lambda *a: seen.append(1))
    p.grad = trine.tensor([3.0])
    optimizer.step()
    assert p.item() == 0.5 and seen == [1]
    assert repr(optimizer) == "SignSGD (\nParameter Group 0\n    lr: 0.5\n)"


def test_named_parameters_keep_their_names():
    net = nn.Linear(1, 1)
    optimizer = optim.SGD(net.named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    assert optimizer.param_groups[0]["params"][0] is net.weight


def test_learning_rate_may_be_a_tensor():
    p = nn.Parameter(trine.ones(1))
    p.grad = trine.ones(1)
    rate = trine.tensor(0.5)
    optimizer = optim.SGD([p], lr=rate)
    optimizer.step()
    rate.fill_(0.25)
    optimizer.step()
    assert p.item() == 0.25


def test_bfloat16_parameters_keep_their_type():
    p = nn.Parameter(trine.ones(3, dtype=trine.bfloat16))
    p.grad = trine.ones(3, dtype=trine.bfloat16)
    optim.Adam([p], lr=0.5).step()
    assert p.dtype == trine.bfloat16 and p.float().tolist() == pytest.approx([0.5, 0.5, 0.5], abs=0.01)


def test_a_small_network_learns():
    trine.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    x = trine.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = trine.tensor([[0.0], [1.0], [1.0], [0.0]])
    optimizer = optim.Adam(net.parameters(), lr=0.05)
    for _ in range(200):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.01


COMPLEX = {
    "SGD": {"lr": 0.05, "momentum": 0.9}, "Adam": {"lr": 0.05}, "AdamW": {"lr": 0.05, "amsgrad": True}, "RMSprop": {"lr": 0.01, "momentum": 0.5},
    "Adagrad": {"lr": 0.1}, "Adadelta": {"lr": 1.0}, "Adamax": {"lr": 0.05}, "NAdam": {"lr": 0.05}, "RAdam": {"lr": 0.05}, "Rprop": {"lr": 0.01},
    "ASGD": {"lr": 0.05}, "LBFGS": {"lr": 0.5},
}  # fmt: skip


@pytest.mark.parametrize("name", COMPLEX)
def test_a_complex_parameter_trains_as_its_real_and_imaginary_parts_do(name):
    start = trine.tensor([[1.0, -0.5], [0.3, 2.0], [-1.5, 0.7]], dtype=trine.float64)
    target = trine.tensor([2.0 + 1j, -1.0 - 2j, 0.5 + 0j], dtype=trine.complex128)
    z = trine.view_as_complex(start.clone()).requires_grad_()
    parts = start.clone().requires_grad_()

    def train(parameter, number):
        optimizer = getattr(trine.optim, name)([parameter], **COMPLEX[name])

        def closure():
            optimizer.zero_grad()
            loss = (number(parameter) ** 2 - target).abs().square().sum()
            loss.backward()
            return loss

        first = closure().item()
        for _ in range(30):
            optimizer.step(closure)
        return first, closure().item()

    first, last = train(z, lambda p: p)
    assert last < first and trine.isfinite(trine.tensor(last))
    assert train(parts, trine.view_as_complex)[1] == pytest.approx(last, rel=1e-9)
    trine.testing.assert_close(trine.view_as_real(z.detach()), parts.detach(), rtol=1e-9, atol=1e-12)
