"""Averaged models and the statistics of their batch normalisation."""

from __future__ import annotations

import pytest
import trine
from trine import nn
from trine.optim import swa_utils


def models(count):
    trine.manual_seed(1)
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    for _ in range(count):
        with trine.no_grad():
            for p in net.parameters():
                p.add_(trine.randn_like(p))
        net[1].num_batches_tracked += 1
        yield net


def averaged(use_buffers=False, **options):
    found, seen = None, []
    for net in models(4):
        found = found or swa_utils.AveragedModel(net, use_buffers=use_buffers, **options)
        found.update_parameters(net)
        seen.append([p.detach().clone() for p in net.parameters()])
    return found, seen


PLAIN = [{}, {"avg_fn": swa_utils.get_swa_avg_fn()}, {"multi_avg_fn": swa_utils.get_swa_multi_avg_fn()}]
FADING = [{"avg_fn": swa_utils.get_ema_avg_fn(0.8)}, {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.8)}]


@pytest.mark.parametrize("options", PLAIN, ids=["default", "one", "many"])
def test_plain_average(options):
    model, seen = averaged(**options)
    assert model.n_averaged == 4
    for k, p in enumerate(model.module.parameters()):
        assert trine.allclose(p, trine.stack([values[k] for values in seen]).mean(0), atol=1e-6)
    assert model.module[1].num_batches_tracked == 4  # buffers are copied


@pytest.mark.parametrize("options", FADING, ids=["one", "many"])
def test_exponential_average(options):
    model, seen = averaged(**options)
    for k, p in enumerate(model.module.parameters()):
        want = seen[0][k]
        for values in seen[1:]:
            want = 0.8 * want + 0.2 * values[k]
        assert trine.allclose(p, want, atol=1e-6)
    with pytest.raises(ValueError, match="decay"):
        swa_utils.get_ema_avg_fn(1.5)


def test_state_dict_and_call():
    model, _ = averaged()
    other = swa_utils.AveragedModel(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)))
    assert set(model.state_dict()) >= {"n_averaged", "module.0.weight"}
    other.load_state_dict(model.state_dict())
    x = trine.randn(5, 3)
    assert trine.equal(model.eval()(x), other.eval()(x))
    with pytest.raises(AssertionError, match="Only one"):
        swa_utils.AveragedModel(nn.Linear(1, 1), avg_fn=lambda *a: a[0], multi_avg_fn=lambda *a: None)


def test_update_bn_computes_statistics_of_all_batches():
    net = nn.Sequential(nn.BatchNorm1d(3, momentum=0.5))
    net.eval()
    data = [trine.randn(8, 3) * 2 + 1 for _ in range(5)]
    swa_utils.update_bn(((x, None) for x in data), net)
    assert trine.allclose(net[0].running_mean, trine.stack([x.mean(0) for x in data]).mean(0), atol=1e-6)
    assert trine.allclose(net[0].running_var, trine.stack([x.var(0) for x in data]).mean(0), atol=1e-5)
    assert net[0].momentum == 0.5 and not net.training
