"""Initial values equal PyTorch's for the same seed, so that an experiment starts from the same weights.

The stored numbers are the first six elements and the sum that PyTorch 2.13 gives for the same lines after
`torch.manual_seed(0)`.
"""

import math

import numpy as np
import pytest
import trine
from trine import nn

init = nn.init

LAYERS = {
    "linear": (lambda: nn.Linear(3, 2), "weight", [-0.00432252, 0.30971584, -0.47518533, -0.4248946, -0.22236897, 0.15482073], -0.662235),
    "linear bias": (lambda: nn.Linear(3, 2), "bias", [-0.01143914, 0.45777494], 0.446336),
    "large linear": (
        lambda: nn.Linear(40, 30),
        "weight",
        [-0.00118377, 0.08481918, -0.13013487, -0.11636218, -0.06089825, 0.0423994],
        -2.545337,
    ),
    "convolution": (
        lambda: nn.Conv2d(2, 3, 3),
        "weight",
        [-0.00176466, 0.12644097, -0.1939936, -0.1734625, -0.09078176, 0.06320529],
        -0.625548,
    ),
    "convolution bias": (lambda: nn.Conv2d(2, 3, 3), "bias", [0.15803514, -0.13878204, 0.04392171], 0.063175),
    "embedding": (
        lambda: nn.Embedding(4, 3),
        "weight",
        [1.54099607, -0.2934289, -2.17878938, 0.56843126, -1.08452237, -1.39859545],
        -3.141736,
    ),
    "bilinear": (
        lambda: nn.Bilinear(2, 3, 2),
        "weight",
        [-0.00529398, 0.37932289, -0.58198076, -0.52038747, -0.27234524, 0.18961589],
        -0.492753,
    ),
    "attention": (
        lambda: nn.MultiheadAttention(4, 2),
        "in_proj_weight",
        [0.22242416, 0.50850672, -0.12602636, 0.45824552, -0.09870425, 0.06479764],
        -0.187496,
    ),
}

FUNCTIONS = {
    "xavier_uniform_": (
        lambda t: init.xavier_uniform_(t, 2.0),
        [-0.0138629, 0.99330056, -1.52398348, -1.36269426, -0.71316731, 0.49653095],
        -1.29033,
    ),
    "xavier_normal_": (
        init.xavier_normal_,
        [0.82369709, -0.15684435, -1.16461194, 0.3038393, -0.5797016, -0.74758071],
        -1.679328,
    ),
    "kaiming_uniform_": (
        init.kaiming_uniform_,
        [-0.01058796, 0.75864577, -1.16396153, -1.04077494, -0.54469049, 0.37923178],
        -0.985506,
    ),
    "kaiming_normal_": (
        lambda t: init.kaiming_normal_(t, mode="fan_out", nonlinearity="relu"),
        [1.08964884, -0.20748557, -1.54063678, 0.4019416, -0.76687312, -0.98895627],
        -2.221542,
    ),
    "trunc_normal_": (
        init.trunc_normal_,
        [1.54099607, -0.2934289, -1.07118738, 0.56843126, -1.08452237, -1.39859545],
        -2.034134,
    ),
    "orthogonal_": (
        init.orthogonal_,
        [0.8862803, -0.02916987, 0.2586619, 0.32692456, -0.66290218, -0.44125575],
        -0.658899,
    ),
    "normal_": (
        lambda t: init.normal_(t, 1.0, 2.0),
        [4.08199215, 0.41314217, -3.35757875, 2.13686252, -1.16904473, -1.79719079],
        5.716529,
    ),
    "uniform_": (
        lambda t: init.uniform_(t, -1.0, 1.0),
        [-0.00748682, 0.53644359, -0.82304513, -0.73593903, -0.38515437, 0.26815736],
        -0.696858,
    ),
}


def check(tensor, first, total):
    values = tensor.detach().numpy().astype(np.float64).ravel()
    np.testing.assert_allclose(values[: len(first)], first, rtol=2e-6, atol=2e-7)
    np.testing.assert_allclose(values.sum(), total, atol=2e-6)


@pytest.mark.parametrize("name", LAYERS)
def test_layer_starts_from_pytorchs_weights(name):
    make, which, first, total = LAYERS[name]
    trine.manual_seed(0)
    check(getattr(make(), which), first, total)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_init_function_draws_pytorchs_values(name):
    fill, first, total = FUNCTIONS[name]
    trine.manual_seed(0)
    tensor = trine.empty(4, 3)
    assert fill(tensor) is tensor
    check(tensor, first, total)


def test_init_accepts_a_generator_of_its_own():
    a = init.uniform_(trine.empty(5), generator=trine.Generator().manual_seed(3))
    b = init.uniform_(trine.empty(5), generator=trine.Generator().manual_seed(3))
    assert a.tolist() == b.tolist()


def test_constant_eye_and_dirac():
    assert init.constant_(trine.empty(2), 0.3).tolist() == pytest.approx([0.3, 0.3])
    assert init.ones_(trine.empty(2)).tolist() == [1, 1]
    assert init.zeros_(trine.ones(2)).tolist() == [0, 0]
    np.testing.assert_array_equal(init.eye_(trine.empty(2, 3)).numpy(), np.eye(2, 3))
    conv = nn.Conv2d(3, 3, 3, padding=1, bias=False)
    init.dirac_(conv.weight)
    x = trine.rand(1, 3, 4, 4)
    np.testing.assert_allclose(conv(x).detach().numpy(), x.numpy(), rtol=1e-6)
    with pytest.raises(ValueError, match="Only tensors with 2 dimensions are supported"):
        init.eye_(trine.empty(2))
    with pytest.raises(ValueError, match="dim 0 must be divisible by groups"):
        init.dirac_(trine.empty(3, 1, 1), groups=2)


def test_truncated_normal_stays_inside_its_limits():
    values = init.trunc_normal_(trine.empty(5000), mean=1.0, std=2.0, a=-1.0, b=3.0).numpy()
    assert values.min() >= -1 and values.max() <= 3
    assert abs(values.mean() - 1) < 0.1
    narrow = init.trunc_normal_(trine.empty(5000), std=1.0, a=0.0, b=0.1).numpy()
    assert narrow.min() >= 0 and narrow.max() <= 0.1 and abs(narrow.mean() - 0.05) < 0.005


def test_orthogonal_rows_are_orthonormal():
    q = init.orthogonal_(trine.empty(3, 2, 4), gain=2.0).view(3, 8).numpy()
    np.testing.assert_allclose(q @ q.T, 4 * np.eye(3), atol=1e-5)


def test_sparse_zeroes_a_share_of_every_column():
    zeros = (init.sparse_(trine.empty(10, 4), 0.3).numpy() == 0).sum(0)
    assert zeros.tolist() == [3, 3, 3, 3]


def test_gains_and_fans():
    assert init.calculate_gain("relu") == math.sqrt(2)
    assert init.calculate_gain("tanh") == 5 / 3
    assert init.calculate_gain("leaky_relu", 0.2) == math.sqrt(2 / 1.04)
    assert init._calculate_fan_in_and_fan_out(trine.empty(4, 3, 5, 5)) == (75, 100)
    with pytest.raises(ValueError, match="Unsupported nonlinearity swish"):
        init.calculate_gain("swish")
    with pytest.raises(ValueError, match="Mode fan_avg not supported"):
        init.kaiming_normal_(trine.empty(2, 2), mode="fan_avg")
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        init.xavier_uniform_(trine.empty(3))
    with pytest.warns(UserWarning, match="zero-element tensors is a no-op"):
        init.kaiming_uniform_(trine.empty(0, 3))


def test_init_records_no_history():
    weight = nn.Parameter(trine.empty(2, 2))
    init.ones_(weight)
    assert weight.is_leaf and weight.grad_fn is None
