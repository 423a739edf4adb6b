"""Losses against their formulas written in NumPy, with first and second derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest
import trine

F = trine.nn.functional

RNG = np.random.default_rng(8)
LOGITS, TARGET, WEIGHT = RNG.standard_normal((6, 5)), np.array([0, 4, 2, -100, 1, 2]), RNG.uniform(0.5, 2, 5)
PLANES, PLANE_TARGET = RNG.standard_normal((2, 5, 3, 4)), RNG.integers(0, 5, (2, 3, 4))


def reference(logits, target, weight, reduction, smoothing):
    """[N, C] and [N]; class -100 counts nothing."""
    log_p = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    w = np.ones(logits.shape[1]) if weight is None else weight
    counts = target != -100
    safe = np.where(counts, target, 0)
    nll = -log_p[np.arange(len(target)), safe] * w[safe]
    loss = ((1 - smoothing) * nll - smoothing / logits.shape[1] * (log_p * w).sum(1)) * counts
    return {"none": loss, "sum": loss.sum(), "mean": loss.sum() / (w[safe] * counts).sum()}[reduction]


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy_equals_its_formula(reduction, smoothing, weighted):
    weight = WEIGHT if weighted else None
    as_weight = trine.from_numpy(WEIGHT) if weighted else None
    x = trine.from_numpy(LOGITS.copy()).requires_grad_()

    def loss(logits):
        return F.cross_entropy(logits, trine.from_numpy(TARGET), as_weight, reduction=reduction, label_smoothing=smoothing)

    np.testing.assert_allclose(loss(x).detach().numpy(), reference(LOGITS, TARGET, weight, reduction, smoothing), rtol=1e-12)
    assert trine.autograd.gradcheck(loss, (x,)) and trine.autograd.gradgradcheck(loss, (x,))


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_cross_entropy_of_pictures_equals_that_of_their_points(smoothing):
    x = trine.from_numpy(PLANES.copy()).requires_grad_()
    flat = PLANES.transpose(0, 2, 3, 1).reshape(-1, 5)

    def loss(logits):
        return F.cross_entropy(logits, trine.from_numpy(PLANE_TARGET), label_smoothing=smoothing)

    assert loss(x).item() == pytest.approx(reference(flat, PLANE_TARGET.reshape(-1), None, "mean", smoothing))
    assert trine.autograd.gradcheck(loss, (x,))


def test_cross_entropy_of_probabilities_equals_that_of_certain_classes():
    one_hot = F.one_hot(trine.tensor([0, 4, 2]), 5).double()
    logits = trine.from_numpy(LOGITS[:3])
    by_probability = F.cross_entropy(logits, one_hot, label_smoothing=0.1)
    assert by_probability.item() == pytest.approx(F.cross_entropy(logits, trine.tensor([0, 4, 2]), label_smoothing=0.1).item())


def test_large_logits_do_not_overflow():
    loss = F.cross_entropy(trine.tensor([[1000.0, -1000.0], [3e38, 0.0]]), trine.tensor([1, 0]), reduction="none")
    assert loss.tolist() == [2000.0, 0.0]


def test_no_counted_class_gives_nan_as_a_mean_of_nothing():
    assert math.isnan(F.cross_entropy(trine.ones(2, 3), trine.tensor([-100, -100])).item())


@pytest.mark.parametrize(
    ("target", "error", "text"),
    [
        (trine.tensor([0, 9, 1, 1, 1, 1]), IndexError, "Target 9 is out of bounds"),
        (trine.tensor([0, 1]), ValueError, "batch_size"),
        (trine.tensor([0.0] * 6), RuntimeError, "expected scalar type Long"),
    ],
)
def test_wrong_targets_are_named(target, error, text):
    with pytest.raises(error, match=text):
        F.cross_entropy(trine.from_numpy(LOGITS), target)


ELEMENTWISE = {
    "mse_loss": lambda d: d * d,
    "l1_loss": np.abs,
    "smooth_l1_loss": lambda d: np.where(np.abs(d) < 1, d * d / 2, np.abs(d) - 0.5),
    "huber_loss": lambda d: np.where(np.abs(d) <= 1, d * d / 2, np.abs(d) - 0.5),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_regression_losses_equal_their_formula(name, reduction):
    a, b = RNG.standard_normal((4, 7)) * 2, RNG.standard_normal((4, 7))
    expected = ELEMENTWISE[name](a - b)
    expected = {"none": expected, "mean": expected.mean(), "sum": expected.sum()}[reduction]
    x, y = trine.from_numpy(a).requires_grad_(), trine.from_numpy(b).requires_grad_()
    np.testing.assert_allclose(getattr(F, name)(x, y, reduction=reduction).detach().numpy(), expected, rtol=1e-12)
    assert trine.autograd.gradcheck(lambda p, q: getattr(F, name)(p, q, reduction=reduction), (x, y))


def test_binary_cross_entropy_is_finite_at_certainty():
    loss = F.binary_cross_entropy(trine.tensor([0.0, 1.0]), trine.tensor([1.0, 1.0]), reduction="none")
    assert loss.tolist() == [100.0, 0.0]
    with pytest.raises(RuntimeError, match="between 0 and 1"):
        F.binary_cross_entropy(trine.tensor([1.5]), trine.tensor([1.0]))


@pytest.mark.parametrize("weighted", [False, True])
def test_binary_cross_entropy_of_logits_equals_that_of_probabilities(weighted):
    logits, target = RNG.standard_normal((4, 3)), RNG.random((4, 3))
    pos = np.array([0.5, 1.0, 2.0]) if weighted else np.ones(3)
    p = 1 / (1 + np.exp(-logits))
    expected = -(pos * target * np.log(p) + (1 - target) * np.log(1 - p)).mean()
    x = trine.from_numpy(logits).requires_grad_()

    def loss(t):
        return F.binary_cross_entropy_with_logits(t, trine.from_numpy(target), pos_weight=trine.from_numpy(pos) if weighted else None)

    assert loss(x).item() == pytest.approx(expected)
    assert trine.autograd.gradcheck(loss, (x,)) and trine.autograd.gradgradcheck(loss, (x,))


def test_nll_loss_picks_and_weighs():
    log_p = trine.from_numpy(LOGITS).log_softmax(1)
    ours = F.nll_loss(log_p, trine.from_numpy(TARGET), trine.from_numpy(WEIGHT))
    assert ours.item() == pytest.approx(reference(LOGITS, TARGET, WEIGHT, "mean", 0.0))
