"""Pruning of parameters by masks."""

from __future__ import annotations

import pytest
import trine
from trine import nn
from trine.nn.utils import prune


@pytest.fixture(autouse=True)
def seeded():
    trine.manual_seed(0)


def zeros(t):
    return int((t == 0).sum())


def test_smallest_elements_go():
    layer = nn.Linear(4, 5)
    original = layer.weight
    smallest = set(original.detach().abs().reshape(-1).argsort()[:6].tolist())
    prune.l1_unstructured(layer, "weight", 6)
    assert sorted(layer.state_dict()) == ["bias", "weight_mask", "weight_orig"]
    assert layer.weight_orig is original
    assert set((layer.weight_mask.reshape(-1) == 0).nonzero().reshape(-1).tolist()) == smallest
    layer(trine.ones(4)).sum().backward()
    assert zeros(layer.weight_orig.grad) == 6
    assert prune.is_pruned(layer) and prune.is_pruned(nn.Sequential(layer))
    prune.remove(layer, "weight")
    assert sorted(layer.state_dict()) == ["bias", "weight"] and layer.weight is original and zeros(layer.weight) == 6
    assert not prune.is_pruned(layer)
    with pytest.raises(ValueError, match="has to be pruned"):
        prune.remove(layer, "weight")


def test_pruning_twice_takes_from_what_is_left():
    layer = nn.Linear(10, 10)
    prune.random_unstructured(layer, "weight", 0.5)
    first = layer.weight_mask.clone()
    prune.l1_unstructured(layer, "weight", 0.5)
    assert zeros(layer.weight_mask) == 75 and bool((layer.weight_mask <= first).all())
    assert len(layer._forward_pre_hooks) == 1
    container = next(iter(layer._forward_pre_hooks.values()))
    assert isinstance(container, prune.PruningContainer) and len(container) == 2
    prune.ln_structured(layer, "weight", 0.2, n=2, dim=0)
    assert int((layer.weight_mask.sum(1) == 0).sum()) >= 2


def test_structured():
    layer = nn.Conv2d(2, 8, 3)
    norms = layer.weight.detach().norm(dim=(1, 2, 3))
    prune.ln_structured(layer, "weight", 3, n=2, dim=0)
    gone = (layer.weight_mask.sum((1, 2, 3)) == 0).nonzero().reshape(-1)
    assert sorted(gone.tolist()) == sorted(norms.argsort()[:3].tolist())
    other = nn.Linear(6, 4)
    prune.random_structured(other, "weight", 0.5, dim=1)
    assert int((other.weight_mask.sum(0) == 0).sum()) == 3


def test_global_identity_and_custom():
    a, b = nn.Linear(4, 4), nn.Linear(4, 4)
    with trine.no_grad():
        a.weight.mul_(1e6)
    prune.global_unstructured([(a, "weight"), (b, "weight")], prune.L1Unstructured, amount=16)
    assert zeros(a.weight_mask) == 0 and zeros(b.weight_mask) == 16
    prune.identity(a, "bias")
    assert zeros(a.bias_mask) == 0
    prune.custom_from_mask(b, "bias", trine.tensor([1, 0, 1, 0]))
    assert b.bias_mask.tolist() == [1, 0, 1, 0]
    with pytest.raises(TypeError, match="unstructured"):
        prune.global_unstructured([(a, "weight")], prune.LnStructured, amount=1, n=2)


def test_importance_scores():
    layer = nn.Linear(3, 2)
    scores = trine.tensor([[1.0, 2, 3], [4, 5, 6]])
    prune.l1_unstructured(layer, "weight", 2, importance_scores=scores)
    assert layer.weight_mask.tolist() == [[0, 0, 1], [1, 1, 1]]
    assert prune.L1Unstructured(1).prune(trine.tensor([3.0, 1.0, 2.0])).tolist() == [3, 0, 2]


def test_a_pruned_model_is_saved_and_trained():
    layer = nn.Linear(4, 4)
    prune.l1_unstructured(layer, "weight", 0.5)
    other = prune.custom_from_mask(nn.Linear(4, 4), "weight", layer.weight_mask)
    optimizer = trine.optim.SGD(other.parameters(), lr=0.1)
    other(trine.ones(4)).pow(2).sum().backward()
    optimizer.step()
    other(trine.ones(4))
    assert zeros(other.weight) >= 8
    fresh = prune.identity(nn.Linear(4, 4), "weight")
    fresh.load_state_dict(layer.state_dict())
    fresh(trine.ones(4))
    assert trine.equal(fresh.weight, layer.weight)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda m: prune.l1_unstructured(m, "weight", "x"), TypeError),
        (lambda m: prune.l1_unstructured(m, "weight", 1.5), ValueError),
        (lambda m: prune.l1_unstructured(m, "weight", -1), ValueError),
        (lambda m: prune.l1_unstructured(m, "weight", 100), ValueError),
        (lambda m: prune.random_structured(m, "bias", 1, 0), ValueError),
        (lambda m: prune.random_structured(m, "weight", 1, 5), IndexError),
        (lambda m: prune.l1_unstructured(m, "nothing", 1), AttributeError),
    ],
)
def test_errors_leave_the_module_as_it_was(call, error):
    layer = nn.Linear(3, 3)
    with pytest.raises(error):
        call(layer)
    assert sorted(n for n, _ in layer.named_parameters()) == ["bias", "weight"] and not prune.is_pruned(layer)
