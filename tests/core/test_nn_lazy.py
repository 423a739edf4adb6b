"""Lazy modules and parameters without a shape; adaptive softmax."""

from __future__ import annotations

import copy
import pickle

import pytest
import trine
from trine import nn

pytestmark = pytest.mark.filterwarnings("ignore:Lazy modules")
LAZY = [
    (lambda: nn.LazyLinear(5), (2, 3), nn.Linear, [(5, 3), (5,)]),
    (lambda: nn.LazyLinear(5, bias=False), (4, 2, 3), nn.Linear, [(5, 3)]),
    (lambda: nn.LazyConv1d(4, 3), (2, 6, 8), nn.Conv1d, [(4, 6, 3), (4,)]),
    (lambda: nn.LazyConv2d(4, 3, groups=2), (2, 6, 8, 8), nn.Conv2d, [(4, 3, 3, 3), (4,)]),
    (lambda: nn.LazyConv2d(4, 3), (6, 8, 8), nn.Conv2d, [(4, 6, 3, 3), (4,)]),
    (lambda: nn.LazyConv3d(4, 3, bias=False), (1, 2, 5, 5, 5), nn.Conv3d, [(4, 2, 3, 3, 3)]),
    (lambda: nn.LazyConvTranspose1d(4, 3), (2, 6, 8), nn.ConvTranspose1d, [(6, 4, 3), (4,)]),
    (lambda: nn.LazyConvTranspose2d(4, 3, stride=2, output_padding=1), (2, 6, 5, 5), nn.ConvTranspose2d, [(6, 4, 3, 3), (4,)]),
    (lambda: nn.LazyConvTranspose3d(4, 2), (1, 2, 3, 3, 3), nn.ConvTranspose3d, [(2, 4, 2, 2, 2), (4,)]),
    (lambda: nn.LazyBatchNorm1d(), (4, 3), nn.BatchNorm1d, [(3,), (3,)]),
    (lambda: nn.LazyBatchNorm2d(affine=False), (4, 3, 2, 2), nn.BatchNorm2d, []),
    (lambda: nn.LazyBatchNorm3d(track_running_stats=False), (4, 3, 2, 2, 2), nn.BatchNorm3d, [(3,), (3,)]),
    (lambda: nn.LazyInstanceNorm1d(), (4, 3, 5), nn.InstanceNorm1d, [(3,), (3,)]),
    (lambda: nn.LazyInstanceNorm2d(), (3, 5, 5), nn.InstanceNorm2d, [(3,), (3,)]),
    (lambda: nn.LazyInstanceNorm3d(), (2, 3, 4, 4, 4), nn.InstanceNorm3d, [(3,), (3,)]),
]


@pytest.mark.parametrize(("make", "shape", "cls", "shapes"), LAZY)
def test_first_input_tells_the_sizes(make, shape, cls, shapes):
    lazy = make()
    assert lazy.has_uninitialized_params()
    state = make().state_dict()
    copies = [copy.deepcopy(lazy), pickle.loads(pickle.dumps(lazy))]
    lazy.double().float()
    x = trine.randn(shape)
    y = lazy(x)
    assert type(lazy) is cls and [tuple(p.shape) for p in lazy.parameters()] == shapes
    assert all(type(p) is nn.Parameter for p in lazy.parameters())
    assert not lazy._forward_pre_hooks and not lazy._load_state_dict_pre_hooks
    for other in copies:
        assert other.has_uninitialized_params()
        other.load_state_dict(lazy.state_dict())
        other.eval()
        lazy.eval()
        assert trine.allclose(other(x), lazy(x))
        assert type(other) is cls
    unmade = make()
    unmade.load_state_dict(state)
    assert unmade.has_uninitialized_params()
    assert y.isfinite().all()


def test_dtype_and_gradient():
    lazy = nn.LazyLinear(2, dtype=trine.float64)
    lazy(trine.ones(3, 4, dtype=trine.float64)).sum().backward()
    assert lazy.weight.grad.dtype == trine.float64 and lazy.in_features == 4


def test_what_has_no_shape_is_refused():
    p = nn.parameter.UninitializedParameter()
    for call in (lambda: p + 1, lambda: trine.sin(p), lambda: p.sum()):
        with pytest.raises(ValueError, match="uninitialized parameter"):
            call()
    with pytest.raises(RuntimeError, match="shape"):
        assert p.shape
    with pytest.raises(RuntimeError, match="share memory"):
        p.share_memory_()
    assert p.requires_grad and p.dtype == trine.float32 and repr(p) == "<UninitializedParameter>"
    p.materialize((2, 3))
    assert type(p) is nn.Parameter and p.shape == (2, 3)
    b = nn.parameter.UninitializedBuffer(dtype=trine.float64)
    assert nn.parameter.is_lazy(b) and not b.requires_grad
    b.materialize((1,))
    assert type(b) is trine.Tensor and b.dtype == trine.float64
    with pytest.raises(RuntimeError, match="uninitialized"):
        nn.Linear(2, 2).load_state_dict(nn.LazyLinear(2).state_dict())
    with pytest.raises(RuntimeError, match="Expected 3D"):
        nn.LazyConv2d(2, 3)(trine.ones(2, 2))


class TestAdaptiveSoftmax:
    def make(self, **options):
        trine.manual_seed(0)
        return nn.AdaptiveLogSoftmaxWithLoss(16, 20, [5, 10, 15], div_value=2.0, **options)

    @pytest.mark.parametrize("head_bias", [False, True])
    def test_loss_is_that_of_all_log_probabilities(self, head_bias):
        layer, x, y = self.make(head_bias=head_bias), trine.randn(40, 16), trine.arange(40) % 20
        output, loss = layer(x, y)
        everything = layer.log_prob(x)
        assert trine.allclose(everything.exp().sum(1), trine.ones(40), atol=1e-5)
        assert trine.allclose(output, everything.gather(1, y[:, None]).squeeze(1), atol=1e-5)
        assert trine.allclose(loss, -output.mean())
        assert trine.equal(layer.predict(x), everything.argmax(1))
        single = layer(x[0], y[0])
        assert single.output.shape == () and trine.allclose(single.output, output[0])

    def test_gradient(self):
        layer = self.make().double()
        x = trine.randn(4, 16, dtype=trine.float64, requires_grad=True)
        y = trine.tensor([0, 7, 12, 19])
        assert trine.autograd.gradcheck(lambda x: layer(x, y).loss, x)

    @pytest.mark.parametrize("cutoffs", [[], [5, 5], [5, 3], [0, 5], [20], [1.5]])
    def test_bad_cutoffs(self, cutoffs):
        with pytest.raises(ValueError, match="cutoffs"):
            nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs)

    def test_bad_targets(self):
        layer = self.make()
        for x, y in [((3, 16), [0, 1]), ((3, 16), [0, 1, 20]), ((16,), [0])]:
            with pytest.raises(RuntimeError):
                layer(trine.ones(x), trine.tensor(y))


def test_files_keep_what_has_no_shape_yet(tmp_path):
    layer = nn.LazyBatchNorm1d(dtype=trine.float64)
    trine.save(layer.state_dict(), tmp_path / "lazy.pt")
    state = trine.load(tmp_path / "lazy.pt")
    assert type(state["weight"]) is nn.UninitializedParameter and type(state["running_mean"]) is nn.UninitializedBuffer
    assert state["weight"].dtype == trine.float64 and state["weight"].requires_grad
    other = nn.LazyBatchNorm1d()
    other.load_state_dict(state)
    assert other.has_uninitialized_params()


@pytest.mark.parametrize(
    "method", ["numel", "dim", "stride", "item", "tolist", "__len__", "__bool__", "data_ptr", "is_contiguous", "numpy"]
)
def test_what_has_no_shape_yet_answers_nothing(method):
    for unmade in (nn.UninitializedParameter(), nn.UninitializedBuffer()):
        with pytest.raises(ValueError, match="uninitialized parameter"):
            getattr(unmade, method)()
