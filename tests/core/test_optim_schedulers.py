"""Schedules against closed forms written here; state, resumption and PyTorch's warnings."""

import math
import warnings

import pytest
import trine
from trine import nn, optim

S = optim.lr_scheduler


def make(rates=(0.1, 0.02), **options):
    groups = [{"params": [nn.Parameter(trine.zeros(1))], "lr": rate} for rate in rates]
    return optim.SGD(groups, lr=1.0, **options)


def rates_over(scheduler, steps):
    seen = [scheduler.get_last_lr()]
    for _ in range(steps):
        scheduler.optimizer.step()
        scheduler.step()
        seen.append(scheduler.get_last_lr())
    return seen


CLOSED = {
    "StepLR": (lambda o: S.StepLR(o, 3, 0.5), lambda t: 0.5 ** (t // 3)),
    "MultiStepLR": (lambda o: S.MultiStepLR(o, [2, 5, 5]), lambda t: 0.1 ** sum(t >= m for m in (2, 5, 5))),
    "ConstantLR": (lambda o: S.ConstantLR(o, 0.25, 4), lambda t: 0.25 if t < 4 else 1.0),
    "LinearLR": (lambda o: S.LinearLR(o, 0.2, 0.8, 6), lambda t: 0.2 + 0.6 * min(t, 6) / 6),
    "ExponentialLR": (lambda o: S.ExponentialLR(o, 0.9), lambda t: 0.9**t),
    "PolynomialLR": (lambda o: S.PolynomialLR(o, 8, 2.0), lambda t: (1 - min(t, 8) / 8) ** 2),
    "CosineAnnealingLR": (lambda o: S.CosineAnnealingLR(o, 10), lambda t: (1 + math.cos(math.pi * t / 10)) / 2),
    "CosineAnnealingWarmRestarts": (
        lambda o: S.CosineAnnealingWarmRestarts(o, 4),
        lambda t: (1 + math.cos(math.pi * (t % 4) / 4)) / 2,
    ),
    "LambdaLR": (lambda o: S.LambdaLR(o, lambda t: 1 / (1 + t)), lambda t: 1 / (1 + t)),
    "MultiplicativeLR": (lambda o: S.MultiplicativeLR(o, lambda t: 0.95), lambda t: 0.95**t),
    "ChainedScheduler": (
        lambda o: S.ChainedScheduler([S.ConstantLR(o, 0.5, 3), S.ExponentialLR(o, 0.9)]),
        lambda t: (0.5 if t < 3 else 1.0) * 0.9**t,
    ),
    "SequentialLR": (
        lambda o: S.SequentialLR(o, [S.ConstantLR(o, 0.1, 9), S.ExponentialLR(o, 0.9)], [4]),
        lambda t: 0.1 if t < 4 else 0.9 ** (t - 4),
    ),
}


@pytest.mark.parametrize("name", CLOSED)
def test_schedule_follows_its_closed_form_in_every_group(name):
    build, factor = CLOSED[name]
    optimizer = make()
    for t, rates in enumerate(rates_over(build(optimizer), 20)):
        assert rates == pytest.approx([0.1 * factor(t), 0.02 * factor(t)], rel=1e-9, abs=1e-12), t
    assert [g["lr"] for g in optimizer.param_groups] == rates


def test_cosine_ends_at_eta_min_and_rises_again():
    rates = [r[0] for r in rates_over(S.CosineAnnealingLR(make((1.0,)), 5, eta_min=0.1), 10)]
    assert rates[5] == pytest.approx(0.1) and rates[10] == pytest.approx(1.0)


def test_warm_restarts_lengthen_their_period():
    scheduler = S.CosineAnnealingWarmRestarts(make((1.0,)), 2, 2)
    rates = [r[0] for r in rates_over(scheduler, 14)]
    assert [t for t, rate in enumerate(rates) if rate == 1.0] == [0, 2, 6, 14]
    scheduler.step(3.5)
    assert scheduler.get_last_lr()[0] == pytest.approx((1 + math.cos(math.pi * 1.5 / 4)) / 2)


def test_one_cycle_rises_falls_and_moves_momentum_the_other_way():
    optimizer = make((0.1,), momentum=0.9)
    scheduler = S.OneCycleLR(optimizer, 1.0, total_steps=11, pct_start=0.5)
    momenta = [optimizer.param_groups[0]["momentum"]]
    rates = [scheduler.get_last_lr()[0]]
    for _ in range(10):
        optimizer.step()
        scheduler.step()
        rates.append(scheduler.get_last_lr()[0])
        momenta.append(optimizer.param_groups[0]["momentum"])
    assert rates[0] == pytest.approx(1 / 25) and rates[-1] == pytest.approx(1 / 25 / 1e4)
    top = rates.index(max(rates))
    assert rates[:top] == sorted(rates[:top]) and rates[top:] == sorted(rates[top:], reverse=True)
    assert momenta[0] == 0.95 and min(momenta) < 0.86
    optimizer.step(), scheduler.step()
    with pytest.raises(ValueError, match=r"Tried to step 12 times\. The specified number of total steps is 11"):
        optimizer.step(), scheduler.step()


def test_plateau_reduces_after_patience_and_respects_cooldown_and_floor():
    scheduler = S.ReduceLROnPlateau(make((1.0,)), factor=0.1, patience=1, cooldown=1, min_lr=0.05)
    seen = []
    for value in (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5):
        scheduler.step(trine.tensor(value))
        seen.append(scheduler.get_last_lr()[0])
    assert seen == pytest.approx([1.0, 1.0, 0.1, 0.1, 0.1, 0.05, 0.05])
    with pytest.raises(ValueError, match="mode median is unknown"):
        S.ReduceLROnPlateau(make(), mode="median")


def test_schedule_resumes_from_its_state():
    straight = rates_over(S.CosineAnnealingLR(make(), 10), 9)
    optimizer = make()
    scheduler = S.CosineAnnealingLR(optimizer, 10)
    rates_over(scheduler, 4)
    other_optimizer = make()
    other = S.CosineAnnealingLR(other_optimizer, 10)
    other_optimizer.load_state_dict(optimizer.state_dict())
    other.load_state_dict(scheduler.state_dict())
    for expected, rates in zip(straight[4:], rates_over(other, 5), strict=True):
        assert rates == pytest.approx(expected, rel=1e-12)


def test_state_dict_has_pytorchs_keys():
    assert S.StepLR(make(), 3).state_dict() == {
        "step_size": 3,
        "gamma": 0.1,
        "base_lrs": [0.1, 0.02],
        "last_epoch": 0,
        "_step_count": 1,
        "_is_initial": False,
        "_get_lr_called_within_step": False,
        "_last_lr": [0.1, 0.02],
    }


def test_wrong_order_of_steps_warns_and_the_right_one_does_not():
    with pytest.warns(UserWarning, match=r"Detected call of `lr_scheduler.step\(\)` before `optimizer.step\(\)`"):
        S.StepLR(make(), 1).step()
    optimizer = make()
    scheduler = S.StepLR(optimizer, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.step()
        scheduler.step()


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="int is not an Optimizer"):
        S.StepLR(5, 1)
    with pytest.raises(KeyError, match="param 'initial_lr' is not specified in param_groups"):
        S.StepLR(make(), 1, last_epoch=3)
    with pytest.raises(ValueError, match="Expected 2 lr_lambdas, but got 1"):
        S.LambdaLR(make(), [lambda t: 1.0])
    with pytest.raises(ValueError, match="expects number of schedulers provided to be one more"):
        optimizer = make()
        S.SequentialLR(optimizer, [S.StepLR(optimizer, 1)], [3])
    with pytest.raises(ValueError, match=r"You must define either total_steps OR \(epochs AND steps_per_epoch\)"):
        S.OneCycleLR(make(), 1.0)


def test_a_tensor_rate_is_changed_in_place():
    rate = trine.tensor(1.0)
    optimizer = optim.SGD([nn.Parameter(trine.zeros(1))], lr=rate)
    scheduler = S.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    scheduler.step()
    assert rate.item() == 0.5 and optimizer.param_groups[0]["lr"] is rate
