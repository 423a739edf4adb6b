"""Layers against NumPy formulas and loops written from the definitions."""

import math

import numpy as np
import pytest
import trine
from trine import nn

F = nn.functional


def array(t):
    return t.detach().numpy()


def close(actual, expected, rtol=1e-5, atol=1e-6):
    np.testing.assert_allclose(array(actual), expected, rtol=rtol, atol=atol)


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def tensor(a, grad=False):
    return trine.from_numpy(np.ascontiguousarray(a)).requires_grad_(grad)


X = np.array([-30.0, -3.5, -1.0, -0.25, 0.0, 0.25, 1.0, 2.5, 6.5, 30.0], dtype=np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x.astype(np.float64)))


def softplus(x):
    return np.log1p(np.exp(-np.abs(x.astype(np.float64)))) + np.maximum(x, 0)


ACTIVATIONS = {
    "ReLU": (nn.ReLU, lambda x: np.maximum(x, 0)),
    "ReLU6": (nn.ReLU6, lambda x: np.clip(x, 0, 6)),
    "Hardtanh": (lambda: nn.Hardtanh(-0.5, 0.7), lambda x: np.clip(x, -0.5, 0.7)),
    "Hardsigmoid": (nn.Hardsigmoid, lambda x: np.clip(x / 6 + 0.5, 0, 1)),
    "Hardswish": (nn.Hardswish, lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "Sigmoid": (nn.Sigmoid, sigmoid),
    "Tanh": (nn.Tanh, np.tanh),
    "SiLU": (nn.SiLU, lambda x: x * sigmoid(x)),
    "Mish": (nn.Mish, lambda x: x * np.tanh(softplus(x))),
    "GELU": (nn.GELU, lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))),
    "GELU-tanh": (
        lambda: nn.GELU("tanh"),
        lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    ),
    "ELU": (lambda: nn.ELU(0.5), lambda x: np.where(x > 0, x, 0.5 * np.expm1(np.minimum(x, 0)))),
    "CELU": (lambda: nn.CELU(2.0), lambda x: np.where(x > 0, x, 2 * np.expm1(np.minimum(x, 0) / 2))),
    "SELU": (
        nn.SELU,
        lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0))),
    ),
    "LeakyReLU": (lambda: nn.LeakyReLU(0.1), lambda x: np.where(x > 0, x, 0.1 * x)),
    "Softplus": (nn.Softplus, softplus),
    "LogSigmoid": (nn.LogSigmoid, lambda x: -softplus(-x)),
    "Softsign": (nn.Softsign, lambda x: x / (1 + np.abs(x))),
    "Tanhshrink": (nn.Tanhshrink, lambda x: x - np.tanh(x)),
    "Hardshrink": (nn.Hardshrink, lambda x: np.where(np.abs(x) > 0.5, x, 0)),
    "Softshrink": (nn.Softshrink, lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0)),
    "Threshold": (lambda: nn.Threshold(0.3, 9.0), lambda x: np.where(x > 0.3, x, 9)),
    "PReLU": (lambda: nn.PReLU(init=0.3), lambda x: np.where(x > 0, x, 0.3 * x)),
    "RReLU in evaluation": (lambda: nn.RReLU(0.1, 0.3).eval(), lambda x: np.where(x > 0, x, 0.2 * x)),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation_has_its_formula(name):
    layer, formula = ACTIVATIONS[name]
    close(layer()(tensor(X)), formula(X))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation_gradient_is_the_slope_of_its_formula(name):
    layer, formula = ACTIVATIONS[name]
    points = np.array([-2.3, -0.9, -0.2, 0.15, 0.9, 2.2], dtype=np.float64)
    x = tensor(points, grad=True)
    layer().double()(x).sum().backward()
    h = 1e-6
    close(x.grad, (formula(points + h) - formula(points - h)) / (2 * h), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "layer", [nn.ReLU, nn.ReLU6, nn.Hardswish, nn.Hardsigmoid, nn.SiLU, nn.Mish, nn.SELU, nn.ELU, nn.CELU, nn.LeakyReLU]
)
def test_inplace_activation_writes_into_its_input_and_has_the_same_gradient(layer):
    x = tensor(numbers(3, 4), grad=True)
    y = tensor(numbers(3, 4), grad=True)
    expected = layer()(x)
    given = y * 1
    result = layer(inplace=True)(given)
    assert result.data_ptr() == given.data_ptr()
    close(given, array(expected))
    expected.sum().backward()
    result.sum().backward()
    close(y.grad, array(x.grad))


def test_infinite_inputs_give_finite_gradients():
    for layer in (nn.ELU(), nn.CELU(), nn.SELU(), nn.LogSigmoid(), nn.Softplus()):
        x = trine.tensor([1e4, -1e4, 0.0], requires_grad=True)
        layer(x).sum().backward()
        assert np.isfinite(array(x.grad)).all(), layer


def test_softmax_family():
    x = numbers(2, 3, 4)
    e = np.exp(x - x.max(1, keepdims=True))
    close(nn.Softmax(1)(tensor(x)), e / e.sum(1, keepdims=True))
    close(nn.LogSoftmax(1)(tensor(x)), np.log(e / e.sum(1, keepdims=True)))
    close(nn.Softmin(1)(tensor(-x)), e / e.sum(1, keepdims=True))
    image = numbers(2, 3, 4, 5)
    e = np.exp(image)
    close(nn.Softmax2d()(tensor(image)), e / e.sum(1, keepdims=True))
    a, b = numbers(2, 6)[:, :3], numbers(2, 6)[:, 3:]
    close(nn.GLU()(tensor(numbers(2, 6))), a * sigmoid(b))


def test_prelu_has_one_slope_per_channel():
    layer = nn.PReLU(3)
    with trine.no_grad():
        layer.weight.copy_(trine.tensor([0.1, 0.2, 0.3]))
    x = numbers(2, 3, 4)
    slope = np.array([0.1, 0.2, 0.3], dtype=np.float32).reshape(1, 3, 1)
    close(layer(tensor(x)), np.where(x > 0, x, slope * x))
    with pytest.raises(RuntimeError, match="parameter numbers = 3 and channel size = 4"):
        layer(trine.ones(2, 4))


def test_linear_and_bilinear():
    layer, x = nn.Linear(4, 3), numbers(2, 5, 4)
    close(layer(tensor(x)), x @ array(layer.weight).T + array(layer.bias))
    assert nn.Linear(4, 3, bias=False).bias is None
    mixed, a, b = nn.Bilinear(4, 3, 2), numbers(5, 4), numbers(5, 3, seed=1)
    close(mixed(tensor(a), tensor(b)), np.einsum("ni,oij,nj->no", a, array(mixed.weight), b) + array(mixed.bias))


def conv2d_loop(x, w, bias, stride, padding, dilation, groups):
    """Direct sum over the definition; `padding` is ((top, bottom), (left, right))."""
    x = np.pad(x, ((0, 0), (0, 0), *padding))
    n, _, h, width = x.shape
    out, per, kh, kw = w.shape
    oh = (h - dilation * (kh - 1) - 1) // stride + 1
    ow = (width - dilation * (kw - 1) - 1) // stride + 1
    y = np.zeros((n, out, oh, ow))
    for o in range(out):
        first = o // (out // groups) * per
        for i in range(oh):
            for j in range(ow):
                rows = i * stride + dilation * np.arange(kh)
                cols = j * stride + dilation * np.arange(kw)
                window = x[:, first : first + per][:, :, rows][:, :, :, cols]
                y[:, o, i, j] = (window * w[o]).sum((1, 2, 3)) + bias[o]
    return y


@pytest.mark.parametrize(
    ("options", "padding", "stride", "dilation", "groups"),
    [
        ({}, ((0, 0), (0, 0)), 1, 1, 1),
        ({"stride": 2, "padding": 1}, ((1, 1), (1, 1)), 2, 1, 1),
        ({"dilation": 2, "groups": 2, "padding": (2, 1)}, ((2, 2), (1, 1)), 1, 2, 2),
        ({"padding": "same"}, ((1, 1), (0, 1)), 1, 1, 1),
        ({"padding": "valid"}, ((0, 0), (0, 0)), 1, 1, 1),
    ],
)
def test_conv2d_is_the_sum_over_its_window(options, padding, stride, dilation, groups):
    layer, x = nn.Conv2d(4, 6, (3, 2), **options), numbers(2, 4, 7, 6)
    expected = conv2d_loop(x, array(layer.weight), array(layer.bias), stride, padding, dilation, groups)
    close(layer(tensor(x)), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("mode", "numpy_mode"), [("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")])
def test_conv2d_padding_modes(mode, numpy_mode):
    layer, x = nn.Conv2d(2, 3, 3, padding=(1, 2), padding_mode=mode), numbers(1, 2, 5, 6)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (2, 2)), mode=numpy_mode)
    expected = conv2d_loop(padded, array(layer.weight), array(layer.bias), 1, ((0, 0), (0, 0)), 1, 1)
    close(layer(tensor(x)), expected, rtol=1e-4, atol=1e-5)


def test_conv1d_and_conv3d_agree_with_conv2d_along_one_axis():
    x = numbers(2, 3, 9)
    one = nn.Conv1d(3, 4, 3, padding="same")
    flat = conv2d_loop(x[:, :, None], array(one.weight)[:, :, None], array(one.bias), 1, ((0, 0), (1, 1)), 1, 1)
    close(one(tensor(x)), flat[:, :, 0], rtol=1e-4, atol=1e-5)
    volume = numbers(1, 2, 1, 5, 6)
    three = nn.Conv3d(2, 3, (1, 3, 3))
    plane = conv2d_loop(volume[:, :, 0], array(three.weight)[:, :, 0], array(three.bias), 1, ((0, 0), (0, 0)), 1, 1)
    close(three(tensor(volume))[:, :, 0], plane, rtol=1e-4, atol=1e-5)


def test_transposed_convolution_is_the_adjoint_of_the_convolution():
    down = nn.Conv2d(2, 3, 3, stride=2, padding=1, bias=False)
    up = nn.ConvTranspose2d(3, 2, 3, stride=2, padding=1, bias=False)
    with trine.no_grad():
        up.weight.copy_(down.weight)
    x, y = tensor(numbers(1, 2, 8, 8)), tensor(numbers(1, 3, 4, 4, seed=1))
    up_y = up(y, output_size=(8, 8))
    assert tuple(up_y.shape) == (1, 2, 8, 8)
    np.testing.assert_allclose((down(x) * y).sum().item(), (x * up_y).sum().item(), rtol=1e-4)
    with pytest.raises(ValueError, match=r"requested an output size of \[20, 8\], but valid sizes range from"):
        up(y, output_size=(20, 8))


def test_convolution_constructor_refuses_impossible_options():
    with pytest.raises(ValueError, match="in_channels must be divisible by groups"):
        nn.Conv2d(3, 4, 1, groups=2)
    with pytest.raises(ValueError, match="padding='same' is not supported for strided convolutions"):
        nn.Conv2d(3, 4, 3, stride=2, padding="same")
    with pytest.raises(ValueError, match="padding_mode must be one of"):
        nn.Conv2d(3, 4, 3, padding_mode="mirror")
    with pytest.raises(ValueError, match='Only "zeros" padding mode is supported for ConvTranspose2d'):
        nn.ConvTranspose2d(3, 4, 3, padding_mode="reflect")


def test_batch_norm_uses_the_batch_in_training_and_the_running_statistics_in_evaluation():
    layer, x = nn.BatchNorm2d(3), numbers(4, 3, 5, 6) * 2 + 1
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    column = (1, 3, 1, 1)
    normal = (x - mean.reshape(column)) / np.sqrt(var.reshape(column) + 1e-5)
    close(layer(tensor(x)), normal, atol=1e-5)
    count = x.size / 3
    running_mean, running_var = 0.1 * mean, 0.9 + 0.1 * var * count / (count - 1)
    close(layer.running_mean, running_mean)
    close(layer.running_var, running_var)
    assert layer.num_batches_tracked.item() == 1
    expected = (x - running_mean.reshape(column)) / np.sqrt(running_var.reshape(column) + 1e-5)
    close(layer.eval()(tensor(x)), expected, atol=1e-5)
    with pytest.raises(ValueError, match=r"expected 4D input \(got 2D input\)"):
        layer(trine.ones(2, 3))
    with pytest.raises(ValueError, match="Expected more than 1 value per channel when training"):
        nn.BatchNorm1d(3)(trine.ones(1, 3))


def test_batch_norm_without_momentum_averages_all_batches():
    layer, batches = nn.BatchNorm1d(2, momentum=None), [numbers(5, 2, seed=s) for s in range(3)]
    for batch in batches:
        layer(tensor(batch))
    close(layer.running_mean, np.mean([b.mean(0) for b in batches], 0))


def test_instance_group_layer_and_rms_norm():
    x = numbers(2, 4, 3, 5) * 3 + 2

    def normal(a, axes):
        return (a - a.mean(axes, keepdims=True)) / np.sqrt(a.var(axes, keepdims=True) + 1e-5)

    close(nn.InstanceNorm2d(4)(tensor(x)), normal(x, (2, 3)), atol=1e-5)
    close(nn.InstanceNorm2d(4)(tensor(x[0])), normal(x[:1], (2, 3))[0], atol=1e-5)
    close(nn.GroupNorm(2, 4)(tensor(x)), normal(x.reshape(2, 2, 2, 3, 5), (2, 3, 4)).reshape(x.shape), atol=1e-5)
    close(nn.LayerNorm((3, 5))(tensor(x)), normal(x, (2, 3)), atol=1e-5)
    eps = np.finfo(np.float32).eps
    close(nn.RMSNorm(5)(tensor(x)), x / np.sqrt((x * x).mean(-1, keepdims=True) + eps))
    with pytest.raises(ValueError, match=r"num_channels \(5\) must be divisible by num_groups \(2\)"):
        nn.GroupNorm(2, 5)


def test_instance_norm_tracks_statistics_over_samples():
    layer, x = nn.InstanceNorm1d(2, track_running_stats=True), numbers(3, 2, 7)
    layer(tensor(x))
    close(layer.running_mean, 0.1 * x.mean(2).mean(0))
    close(layer.running_var, 0.9 + 0.1 * x.var(2, ddof=1).mean(0))


def test_local_response_norm_divides_by_neighbouring_channels():
    x = numbers(2, 5, 3, 3)
    squares = np.pad(x * x, ((0, 0), (1, 1), (0, 0), (0, 0)))
    mean = (squares[:, :-2] + squares[:, 1:-1] + squares[:, 2:]) / 3
    close(nn.LocalResponseNorm(3, alpha=0.5)(tensor(x)), x / (1 + 0.5 * mean) ** 0.75)


def test_dropout_scales_what_it_keeps_and_rests_in_evaluation():
    x = trine.ones(2000)
    y = array(nn.Dropout(0.25)(x))
    assert set(np.unique(y)) == {np.float32(0), np.float32(1 / 0.75)}
    assert 0.2 < (y == 0).mean() < 0.3
    close(nn.Dropout(0.25).eval()(x), array(x))
    assert nn.Dropout(1.0)(x).abs().sum().item() == 0
    with pytest.raises(ValueError, match=r"dropout probability has to be between 0 and 1, but got 1\.5"):
        nn.Dropout(1.5)


def test_channel_dropout_drops_whole_channels():
    y = array(nn.Dropout2d(0.5)(trine.ones(8, 16, 4, 4)))
    per_channel = y.reshape(8, 16, -1)
    assert (per_channel.min(2) == per_channel.max(2)).all()
    assert set(np.unique(y)) == {np.float32(0), np.float32(2)}
    assert array(nn.Dropout1d(0.5)(trine.ones(16, 4))).shape == (16, 4)


def test_alpha_dropout_keeps_mean_and_variance():
    x = tensor(numbers(200_000))
    y = array(nn.AlphaDropout(0.3)(x))
    assert abs(y.mean()) < 0.02 and abs(y.var() - 1) < 0.02


def test_embedding_looks_up_and_trains_all_rows_but_the_padding():
    layer = nn.Embedding(5, 3, padding_idx=0)
    index = trine.tensor([[0, 2], [2, 4]])
    close(layer(index), array(layer.weight)[[[0, 2], [2, 4]]])
    assert layer.weight[0].abs().sum().item() == 0
    layer(index).sum().backward()
    assert layer.weight.grad.sum(1).tolist() == [0, 0, 6, 0, 3]
    frozen = nn.Embedding.from_pretrained(tensor(numbers(4, 2)))
    assert not frozen.weight.requires_grad and frozen.num_embeddings == 4


def test_embedding_limits_norms_and_can_weigh_gradients_by_frequency():
    limited = nn.Embedding(4, 3, max_norm=1.0)
    with trine.no_grad():
        limited.weight.fill_(3.0)
    norms = np.linalg.norm(array(limited(trine.tensor([1, 1, 3]))), axis=-1)
    np.testing.assert_allclose(norms, 1.0, rtol=1e-5)
    assert limited.weight[0].tolist() == [3, 3, 3]
    counted = nn.Embedding(4, 2, scale_grad_by_freq=True)
    counted(trine.tensor([1, 1, 1, 2])).sum().backward()
    np.testing.assert_allclose(array(counted.weight.grad), [[0, 0], [1, 1], [1, 1], [0, 0]], rtol=1e-6)


def test_flatten_unflatten_and_pixel_shuffles():
    x = numbers(2, 12, 4, 6)
    assert tuple(nn.Flatten(1, 2)(tensor(x)).shape) == (2, 48, 6)
    assert tuple(nn.Unflatten(1, (3, -1))(tensor(x)).shape) == (2, 3, 4, 4, 6)
    shuffled = x.reshape(2, 3, 2, 2, 4, 6).transpose(0, 1, 4, 2, 5, 3).reshape(2, 3, 8, 12)
    close(nn.PixelShuffle(2)(tensor(x)), shuffled)
    close(nn.PixelUnshuffle(2)(tensor(shuffled)), x)
    mixed = x.reshape(2, 3, 4, 4, 6).transpose(0, 2, 1, 3, 4).reshape(x.shape)
    close(nn.ChannelShuffle(3)(tensor(x)), mixed)


def test_distances():
    a, b = numbers(4, 6), numbers(4, 6, seed=1)
    cosine = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    close(nn.CosineSimilarity()(tensor(a), tensor(b)), cosine)
    close(nn.PairwiseDistance()(tensor(a), tensor(b)), np.linalg.norm(a - b + 1e-6, axis=1))
    pairs = [np.linalg.norm(a[i] - a[j]) for i in range(4) for j in range(i + 1, 4)]
    close(F.pdist(tensor(a)), pairs)
