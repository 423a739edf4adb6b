"""Weight and spectral normalisation by hooks; modules of several processes or devices where there is one."""

from __future__ import annotations

import numpy as np
import pytest
import trine
from trine import nn
from trine.nn.utils import remove_spectral_norm, remove_weight_norm, spectral_norm, weight_norm


@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm_splits_length_and_direction(dim):
    layer = nn.Conv2d(2, 3, 3)
    before = layer.weight.detach().clone()
    weight_norm(layer, dim=dim)
    assert {name for name, _ in layer.named_parameters()} == {"weight_g", "weight_v", "bias"}
    axes = None if dim is None else tuple(d for d in range(4) if d != dim)
    lengths = np.sqrt((before.numpy() ** 2).sum(axis=axes, keepdims=axes is not None))
    np.testing.assert_allclose(layer.weight_g.detach().numpy(), lengths, rtol=1e-6)
    assert trine.allclose(layer.weight, before)
    with trine.no_grad():
        layer.weight_g.mul_(2)
    x = trine.randn(1, 2, 5, 5)
    assert trine.allclose(layer(x), nn.functional.conv2d(x, 2 * before, layer.bias), atol=1e-5)
    layer(x).sum().backward()
    # the length does not change along the direction
    along = (layer.weight_v.grad * layer.weight_v).sum()
    assert layer.weight_g.grad.abs().sum() > 0 and along.abs() < 1e-3
    remove_weight_norm(layer)
    assert isinstance(layer.weight, nn.Parameter) and trine.allclose(layer.weight, 2 * before)
    with pytest.raises(ValueError, match="not found"):
        remove_weight_norm(layer)


def test_weight_norm_twice_is_refused():
    with pytest.raises(RuntimeError, match="two weight_norm hooks"):
        weight_norm(weight_norm(nn.Linear(2, 2)))


@pytest.mark.parametrize("make", [lambda: nn.Linear(5, 4), lambda: nn.ConvTranspose2d(4, 3, 2)], ids=["linear", "transposed"])
def test_spectral_norm_brings_the_largest_singular_value_to_one(make):
    trine.manual_seed(0)
    layer = make()
    before = layer.weight.detach().clone()
    spectral_norm(layer, n_power_iterations=50)
    x = trine.randn(2, 5) if before.dim() == 2 else trine.randn(1, 4, 3, 3)
    layer(x)
    matrix = layer.weight if before.dim() == 2 else layer.weight.transpose(0, 1).reshape(3, -1)
    assert np.linalg.svd(matrix.detach().numpy(), compute_uv=False)[0] == pytest.approx(1.0, abs=1e-4)
    layer.eval()
    u = layer.weight_u.clone()
    layer(x)
    assert trine.equal(u, layer.weight_u)
    layer(x).sum().backward()
    assert layer.weight_orig.grad is not None
    ratio = layer.weight.detach() / before
    remove_spectral_norm(layer)
    assert isinstance(layer.weight, nn.Parameter) and trine.allclose(layer.weight / before, ratio)
    with pytest.raises(ValueError, match="not found"):
        remove_spectral_norm(layer)


def test_spectral_norm_allows_two_calls_before_the_backward_pass():
    layer = spectral_norm(nn.Linear(3, 3))
    x = trine.randn(2, 3)
    (layer(x) + layer(x)).sum().backward()
    with pytest.raises(ValueError, match="n_power_iterations=0"):
        spectral_norm(nn.Linear(2, 2), n_power_iterations=0)


def test_converted_batch_norm_keeps_weights_statistics_and_results():
    net = nn.Sequential(nn.Conv2d(2, 3, 1), nn.BatchNorm2d(3), nn.Sequential(nn.BatchNorm1d(3, affine=False)))
    net[1].running_mean.normal_()
    net.eval()
    x = trine.randn(4, 2, 5, 5)
    wanted = net[1](net[0](x))
    converted = nn.SyncBatchNorm.convert_sync_batchnorm(net)
    assert type(converted[1]) is nn.SyncBatchNorm and type(converted[2][0]) is nn.SyncBatchNorm
    assert converted[1].weight is net[1].weight and not converted[1].training
    assert trine.equal(converted[1](converted[0](x)), wanted)
    with pytest.raises(ValueError, match="at least 2D"):
        converted[1](trine.zeros(3))


def test_data_parallel_without_devices_calls_the_module():
    net = nn.Linear(3, 2)
    wrapped = nn.DataParallel(net)
    x = trine.randn(4, 3)
    assert trine.equal(wrapped(x), net(x))
    assert trine.equal(nn.parallel.data_parallel(net, x), net(x))
    assert list(wrapped.state_dict()) == ["module.weight", "module.bias"]
    with pytest.raises(RuntimeError, match="CUDA devices"):
        nn.DataParallel(net, device_ids=[0])
