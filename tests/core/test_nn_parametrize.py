"""Parametrised weights: registration, removal, originals, and the parametrisations that come with the library."""

from __future__ import annotations

import copy
import pickle

import pytest
import trine
from trine import nn
from trine.nn.utils import parametrizations, parametrize


@pytest.fixture(autouse=True)
def seeded():
    trine.manual_seed(0)


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).T

    def right_inverse(self, x):
        return x.triu()


class Double(nn.Module):
    def forward(self, x):
        return 2 * x

    def right_inverse(self, x):
        return x / 2


class Difference(nn.Module):
    def forward(self, a, b):
        return a - b

    def right_inverse(self, x):
        return x.clone(), trine.zeros_like(x)


class Wider(nn.Module):
    def forward(self, x):
        return trine.cat([x, x])


def test_registration_chain_and_removal():
    layer = nn.Linear(3, 3)
    weight, optimizer_holds = layer.weight.clone(), layer.weight
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert (
        parametrize.is_parametrized(layer)
        and parametrize.is_parametrized(layer, "weight")
        and not parametrize.is_parametrized(layer, "bias")
    )
    assert list(layer.state_dict()) == ["bias", "parametrizations.weight.original"]
    assert layer.parametrizations.weight.original is optimizer_holds
    assert trine.equal(layer.weight, weight.triu() + weight.triu(1).T)
    parametrize.register_parametrization(layer, "weight", Double())
    assert trine.equal(layer.weight, 2 * (weight.triu() + weight.triu(1).T))
    assert type(layer).__name__ == "ParametrizedLinear" and parametrize.type_before_parametrizations(layer) is nn.Linear
    layer(trine.ones(2, 3)).sum().backward()
    assert layer.parametrizations.weight.original.grad is not None
    layer.weight = trine.eye(3)
    assert trine.equal(layer.weight, trine.eye(3)) and trine.equal(layer.parametrizations.weight.original, trine.eye(3) / 2)
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and layer.weight is optimizer_holds and trine.equal(layer.weight, trine.eye(3))
    assert sorted(layer.state_dict()) == ["bias", "weight"]


def test_leaving_the_original():
    layer = parametrize.register_parametrization(nn.Linear(2, 2, bias=False), "weight", Double())
    original = layer.parametrizations.weight.original.clone()
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    assert trine.equal(layer.weight, original)


def test_several_originals():
    layer = nn.Linear(2, 2)
    weight = layer.weight.clone()
    parametrize.register_parametrization(layer, "weight", Difference())
    assert [n for n, _ in layer.named_parameters()] == ["bias", "parametrizations.weight.original0", "parametrizations.weight.original1"]
    assert trine.equal(layer.weight, weight)
    with pytest.raises(ValueError, match="sequence of tensors"):
        parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    parametrize.remove_parametrizations(layer, "weight")
    assert isinstance(layer.weight, nn.Parameter)


def test_buffers_and_caching():
    calls = []

    class Counted(Double):
        def forward(self, x):
            calls.append(1)
            return 2 * x

    norm = nn.BatchNorm1d(2)
    parametrize.register_parametrization(norm, "running_var", Counted())
    assert "parametrizations.running_var.original" in dict(norm.named_buffers())
    calls.clear()
    with parametrize.cached():
        assert norm.running_var is norm.running_var
        assert len(calls) == 1
    assert norm.running_var is not norm.running_var
    assert len(calls) == 3


def test_checks_and_unsafe():
    with pytest.raises(ValueError, match="change the shape"):
        parametrize.register_parametrization(nn.Linear(2, 2), "weight", Wider())
    layer = nn.Linear(2, 2)
    with pytest.raises(ValueError, match="does not have a parameter"):
        parametrize.register_parametrization(layer, "nothing", Double())
    with pytest.raises(ValueError, match="does not have a parametrization"):
        parametrize.remove_parametrizations(layer, "weight")
    assert not parametrize.is_parametrized(layer) and type(layer) is nn.Linear
    parametrize.register_parametrization(layer, "weight", Wider(), unsafe=True)
    assert layer.weight.shape == (4, 2)
    with pytest.raises(RuntimeError, match="right_inverse"):
        layer.weight = trine.ones(4, 2)


def test_copies_and_pickles():
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Double())
    other = copy.deepcopy(layer)
    with trine.no_grad():
        other.parametrizations.weight.original.zero_()
    assert layer.weight.abs().sum() > 0 and other.weight.abs().sum() == 0
    with pytest.raises(RuntimeError, match="state_dict"):
        pickle.dumps(layer)
    fresh = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Double())
    fresh.load_state_dict(layer.state_dict())
    assert trine.equal(fresh.weight, layer.weight)
    moved = parametrize.transfer_parametrizations_and_params(layer, nn.Linear(2, 2))
    assert trine.equal(moved.weight, layer.weight)


@pytest.mark.parametrize("orthogonal_map", ["matrix_exp", "cayley", "householder", None])
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
@pytest.mark.parametrize("trivial", [True, False])
def test_orthogonal(orthogonal_map, shape, trivial):
    layer = parametrizations.orthogonal(nn.Linear(*reversed(shape), bias=False), orthogonal_map=orthogonal_map, use_trivialization=trivial)
    unit = trine.eye(min(shape))

    def deviation():
        w = layer.weight
        return ((w.T @ w if shape[0] >= shape[1] else w @ w.T) - unit).abs().max().item()

    assert deviation() < 1e-5
    optimizer = trine.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        (layer(trine.ones(2, shape[1])) ** 3).sum().backward()
        optimizer.step()
    assert deviation() < 1e-5
    target = nn.init.orthogonal_(trine.empty(shape))
    if trivial or (orthogonal_map or ("matrix_exp" if shape[0] == shape[1] else "householder")) == "householder":
        layer.weight = target
        assert trine.allclose(layer.weight, target, atol=1e-5)
    else:
        with pytest.raises(NotImplementedError):
            layer.weight = target


def test_orthogonal_refuses():
    with pytest.raises(ValueError, match="dimensions"):
        parametrizations.orthogonal(nn.Linear(2, 2), "bias")
    with pytest.raises(ValueError, match="orthogonal_map"):
        parametrizations.orthogonal(nn.Linear(2, 2), orthogonal_map="x")
    with pytest.raises(ValueError, match="no parameter"):
        parametrizations.orthogonal(nn.Linear(2, 2), "nothing")


def test_spectral_norm():
    layer = parametrizations.spectral_norm(nn.Linear(5, 4), n_power_iterations=20)
    assert abs(trine.linalg.svdvals(layer.weight)[0].item() - 1) < 1e-4
    assert sorted(layer.state_dict()) == [
        "bias",
        "parametrizations.weight.0._u",
        "parametrizations.weight.0._v",
        "parametrizations.weight.original",
    ]
    layer.eval()
    u = layer.parametrizations.weight[0]._u.clone()
    layer(trine.ones(5))
    assert trine.equal(u, layer.parametrizations.weight[0]._u)
    up = parametrizations.spectral_norm(nn.ConvTranspose2d(2, 3, 2))
    assert up.parametrizations.weight[0].dim == 1
    with pytest.raises(ValueError, match="n_power_iterations"):
        parametrizations.spectral_norm(nn.Linear(2, 2), n_power_iterations=0)


def test_weight_norm():
    plain = nn.Linear(3, 2)
    weight = plain.weight.clone()
    layer = parametrizations.weight_norm(plain)
    assert trine.allclose(layer.weight, weight)
    assert trine.allclose(layer.parametrizations.weight.original0, weight.norm(dim=1, keepdim=True))
    old = nn.utils.weight_norm(nn.Linear(3, 2))
    layer.load_state_dict(old.state_dict())
    assert trine.allclose(layer.weight, old.weight)


def test_memory_format_of_weights():
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Linear(2, 2))
    nn.utils.convert_conv2d_weight_memory_format(model, trine.channels_last)
    assert model[0].weight.is_contiguous(memory_format=trine.channels_last)
