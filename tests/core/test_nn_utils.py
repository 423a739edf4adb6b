"""Gradient limits, parameters as a vector, folded normalisation."""

import numpy as np
import pytest
import trine
from trine import nn

utils = nn.utils


def with_grads():
    a, b = nn.Parameter(trine.zeros(2)), nn.Parameter(trine.zeros(1))
    a.grad, b.grad = trine.tensor([3.0, 0.0]), trine.tensor([4.0])
    return [a, b, nn.Parameter(trine.zeros(1))]


def test_clip_grad_norm_scales_all_gradients_together():
    params = with_grads()
    assert utils.clip_grad_norm_(params, 1.0).item() == 5
    np.testing.assert_allclose(params[0].grad.tolist() + params[1].grad.tolist(), [0.6, 0, 0.8], rtol=1e-5)
    assert utils.clip_grad_norm_(params, 10.0).item() == pytest.approx(1, rel=1e-5)
    np.testing.assert_allclose(params[1].grad.tolist(), [0.8], rtol=1e-5)


def test_clip_grad_norm_of_infinite_order_and_of_nothing():
    params = with_grads()
    assert utils.clip_grad_norm_(params, 2.0, float("inf")).item() == 4
    assert params[1].grad.item() == pytest.approx(2)
    assert utils.clip_grad_norm_([nn.Parameter(trine.zeros(1))], 1.0).item() == 0


def test_clip_grad_norm_reports_non_finite_gradients_when_asked():
    params = with_grads()
    params[0].grad[0] = float("nan")
    with pytest.raises(RuntimeError, match=r"The total norm of order 2.0 for gradients from `parameters` is non-finite"):
        utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=True)


def test_clip_grad_value_limits_every_element():
    params = with_grads()
    utils.clip_grad_value_(params, 2.5)
    assert params[0].grad.tolist() == [2.5, 0] and params[1].grad.tolist() == [2.5]


def test_parameters_travel_as_one_vector():
    net = nn.Linear(2, 3)
    vector = utils.parameters_to_vector(net.parameters())
    assert vector.numel() == 9
    utils.vector_to_parameters(trine.arange(9.0), net.parameters())
    assert net.weight.tolist() == [[0, 1], [2, 3], [4, 5]] and net.bias.tolist() == [6, 7, 8]
    with pytest.raises(TypeError, match=r"expected torch.Tensor, but got: list"):
        utils.vector_to_parameters([1.0], net.parameters())


@pytest.mark.parametrize("bias", [False, True])
def test_folded_batch_norm_gives_the_same_result(bias):
    conv, bn = nn.Conv2d(2, 3, 3, bias=bias), nn.BatchNorm2d(3)
    x = trine.rand(4, 2, 6, 6)
    for _ in range(3):
        bn(conv(x))
    conv.eval(), bn.eval()
    fused = utils.fuse_conv_bn_eval(conv, bn)
    np.testing.assert_allclose(fused(x).detach().numpy(), bn(conv(x)).detach().numpy(), rtol=1e-4, atol=1e-5)
    with pytest.raises(AssertionError, match="Fusion only for eval"):
        utils.fuse_conv_bn_eval(conv.train(), bn)


def test_skip_init_leaves_the_generator_alone():
    trine.manual_seed(1)
    expected = trine.rand(1).item()
    trine.manual_seed(1)
    layer = utils.skip_init(nn.Linear, 3, 2)
    assert trine.rand(1).item() == expected and tuple(layer.weight.shape) == (2, 3)
