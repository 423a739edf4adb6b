"""Convolution, normalisation and activation as one operator: the same values as one by one, and only where nobody can tell."""

from __future__ import annotations

import pytest
import trine
from trine import nn
from trine.nn.modules import _fused, conv_norm_activation

# constructor arguments of the convolution, its options, shape of the input
CASES = [
    ((3, 16, 3), {"stride": 2, "padding": 1}, (2, 3, 33, 33)),
    ((16, 40, 1), {}, (2, 16, 7, 7)),
    ((700, 30, 1), {}, (1, 700, 28, 28)),  # several blocks of the sum
    ((32, 32, 3), {"padding": 1, "groups": 32, "stride": 2}, (1, 32, 20, 21)),
    ((8, 12, 3), {"groups": 4, "bias": False}, (3, 8, 9, 9)),
]
ACTIVATIONS = [None, nn.ReLU(), nn.ReLU6(), nn.Hardtanh(-0.5, 0.25), nn.SiLU()]


def block(arguments, options, dtype):
    trine.manual_seed(3)
    conv, norm = nn.Conv2d(*arguments, **options), nn.BatchNorm2d(arguments[1])
    norm.running_mean.normal_()
    norm.running_var.uniform_(0.5, 2)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    return conv.to(dtype).eval(), norm.to(dtype).eval()


def close(a, b, dtype):
    return trine.allclose(a, b, rtol=0, atol={trine.float64: 1e-12, trine.float32: 2e-5, trine.bfloat16: 0.25}[dtype])


@pytest.mark.parametrize("dtype", [trine.float32, trine.float64, trine.bfloat16], ids=str)
@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case[:2]))
def test_fused_block_equals_its_parts(case, dtype):
    conv, norm = block(*case[:2], dtype)
    for layout in (trine.contiguous_format, trine.channels_last):
        x = trine.randn(*case[2]).to(dtype).contiguous(memory_format=layout)
        for activation in ACTIVATIONS:
            layers = [layer for layer in (conv, norm, activation) if layer is not None]
            with trine.no_grad():
                want = x
                for layer in layers:
                    want = layer(want)
                found = nn.Sequential(*layers)(x)
                residual = trine.randn(*want.shape).to(dtype)
                assert close(found, want, dtype)
                assert found.stride() == want.stride()
                summed = norm(conv(x)) + residual
                want = summed if activation is None else activation(summed)
                assert close(conv_norm_activation(conv, norm, activation, x, residual), want, dtype)


def test_nan_passes_the_limits():
    conv, norm = block((2, 4, 1), {}, trine.float32)
    with trine.no_grad():
        y = nn.Sequential(conv, norm, nn.ReLU6())(trine.full((1, 2, 3, 3), float("nan")))
    assert y.isnan().all()


@pytest.fixture
def fused_calls(monkeypatch):
    calls = []
    operator = _fused._ops._conv_batch_norm
    monkeypatch.setattr(_fused._ops, "_conv_batch_norm", lambda *arguments: calls.append(1) or operator(*arguments))
    return calls


def test_single_calls_where_they_can_be_told_apart(fused_calls):
    conv, norm = block((2, 4, 1), {}, trine.float32)
    net, x = nn.Sequential(conv, norm, nn.ReLU()), trine.randn(1, 2, 3, 3)
    assert net(x).requires_grad
    with trine.no_grad():
        net.train()
        before = norm.running_mean.clone()
        net(x)
        assert not trine.equal(before, norm.running_mean)
        net.eval()
        assert not fused_calls
        net(x)
        assert len(fused_calls) == 1
        for layer in net:
            handle = layer.register_forward_hook(lambda module, inputs, output: output)
            net(x)
            handle.remove()
        assert len(fused_calls) == 2  # a hook of the activation leaves the first two together
        net(x)
        assert len(fused_calls) == 3
        norm.running_mean = norm.running_var = None  # statistics of the batch
        net(x)
        assert len(fused_calls) == 3


def test_wrong_input_is_named():
    conv, norm = block((2, 4, 1), {}, trine.float32)
    with trine.no_grad(), pytest.raises(RuntimeError, match=r"convolution: .*channels"):
        nn.Sequential(conv, norm)(trine.randn(1, 3, 3, 3))
    with trine.no_grad(), pytest.raises(RuntimeError, match=r"batch_norm: .*4.*5"):
        nn.Sequential(conv, nn.BatchNorm2d(5).eval())(trine.randn(1, 2, 3, 3))
