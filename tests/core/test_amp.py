"""Autocast regions and gradient scaling."""

from __future__ import annotations

import pickle
import threading

import pytest
import trine
from trine import nn
from trine.nn import functional as F

A, B, V = trine.randn(3, 3), trine.randn(3, 3), trine.randn(3)
BATCH = trine.randn(2, 3, 3)
LOWER = {
    "mm": lambda: trine.mm(A, B), "matmul": lambda: A @ B, "bmm": lambda: trine.bmm(BATCH, BATCH), "linear": lambda: F.linear(A, B, V),
    "addmm": lambda: trine.addmm(A, A, B), "baddbmm": lambda: trine.baddbmm(BATCH, BATCH, BATCH), "conv1d": lambda: F.conv1d(BATCH, BATCH),
    "conv_transpose1d": lambda: F.conv_transpose1d(BATCH, trine.randn(3, 3, 2)), "einsum": lambda: trine.einsum("ij,jk", A, B),
    "attention": lambda: F.scaled_dot_product_attention(BATCH, BATCH, BATCH), "lstm": lambda: nn.LSTM(3, 2)(BATCH)[0],
    "conv and norm": lambda: nn.Sequential(nn.Conv1d(3, 2, 2), nn.BatchNorm1d(2)).eval()[0](BATCH),
}  # fmt: skip
FULL = {
    "mse": lambda: F.mse_loss(A.bfloat16(), B), "cross_entropy": lambda: F.cross_entropy(A.bfloat16(), trine.tensor([0, 1, 2])),
    "nll": lambda: F.nll_loss(A.bfloat16(), trine.tensor([0, 1, 2])), "bce": lambda: F.binary_cross_entropy_with_logits(A.bfloat16(), B),
    "inv": lambda: trine.linalg.inv(A.bfloat16()), "svd": lambda: trine.linalg.svd(A.bfloat16())[1], "prod": lambda: A.bfloat16().prod(),
    "fft": lambda: trine.fft.rfft(A.bfloat16()).real, "cdist": lambda: trine.cdist(A.bfloat16(), B.bfloat16()),
    "kl": lambda: F.kl_div(A.bfloat16(), B.bfloat16(), reduction="sum"), "hinge": lambda: F.hinge_embedding_loss(A.bfloat16(), B.sign()),
}  # fmt: skip
SAME = {
    "add": lambda: A + B, "softmax": lambda: A.softmax(-1), "sum": lambda: A.sum(), "exp": lambda: A.exp(), "layer_norm": lambda: F.layer_norm(A, (3,)),
    "mul": lambda: A.bfloat16() * 2,
}  # fmt: skip


@pytest.mark.parametrize("name", LOWER)
@pytest.mark.parametrize("dtype", [trine.bfloat16, trine.float16], ids=str)
def test_products_are_computed_in_the_shorter_type(name, dtype):
    with trine.autocast("cpu", dtype=dtype):
        assert LOWER[name]().dtype == dtype
    assert LOWER[name]().dtype == trine.float32


@pytest.mark.parametrize("name", FULL)
def test_what_needs_range_is_computed_in_float32(name):
    with trine.autocast("cpu"):
        assert FULL[name]().dtype == trine.float32


@pytest.mark.parametrize("name", SAME)
def test_the_rest_keeps_its_type(name):
    with trine.autocast("cpu"):
        assert SAME[name]().dtype == (trine.bfloat16 if name == "mul" else trine.float32)


def test_joins_take_the_widest_type():
    with trine.autocast("cpu"):
        assert trine.cat([A, B.bfloat16()]).dtype == trine.float32
        assert trine.stack([A.bfloat16(), B.bfloat16()]).dtype == trine.bfloat16


def test_regions_nest_and_end():
    assert not trine.is_autocast_cpu_enabled()
    with trine.autocast("cpu"):
        with trine.autocast("cpu", enabled=False):
            assert (A @ B).dtype == trine.float32 and not trine.is_autocast_enabled("cpu")
        with trine.autocast("cpu", dtype=trine.float16):
            assert (A @ B).dtype == trine.float16 and trine.get_autocast_cpu_dtype() == trine.float16
        assert (A @ B).dtype == trine.bfloat16
        with pytest.raises(ZeroDivisionError), trine.autocast("cpu", enabled=False):
            raise ZeroDivisionError
        assert trine.is_autocast_cpu_enabled()
    assert not trine.is_autocast_cpu_enabled() and trine.get_autocast_cpu_dtype() == trine.bfloat16


def test_doubles_and_integers_are_left_alone():
    with trine.autocast("cpu"):
        assert (A.double() @ B.double()).dtype == trine.float64
        assert trine.mm(A.long(), B.long()).dtype == trine.int64


def test_decorator_and_threads():
    @trine.autocast("cpu")
    def product():
        return A @ B

    assert product().dtype == trine.bfloat16
    seen = []
    with trine.autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append((A @ B).dtype))
        thread.start()
        thread.join()
    assert seen == [trine.float32]


def test_a_weight_is_cast_once_and_its_gradient_is_its_own_type():
    layer = nn.Linear(3, 3)
    with trine.autocast("cpu"):
        y = layer(layer(A))
    y.float().pow(2).sum().backward()
    assert layer.weight.grad.dtype == trine.float32
    casts = {n for node in _nodes(y.grad_fn) for n, _ in node.next_functions if n is not None and "Cast" in n.name()}
    assert len(casts) <= 3  # input, weight, bias
    reference = nn.Linear(3, 3)
    reference.load_state_dict(layer.state_dict())
    reference(reference(A)).pow(2).sum().backward()
    assert trine.allclose(layer.weight.grad, reference.weight.grad, rtol=0.1, atol=0.1)


def _nodes(node, seen=None):
    seen = set() if seen is None else seen
    if node is not None and node not in seen:
        seen.add(node)
        for n, _ in node.next_functions:
            _nodes(n, seen)
    return seen


def test_a_weight_cast_without_gradients_gets_them_later():
    weight = trine.ones(2, 2, requires_grad=True)
    with trine.autocast("cpu", dtype=trine.bfloat16):
        with trine.no_grad():
            trine.mm(trine.ones(2, 2), weight)
        trine.mm(trine.ones(2, 2), weight).sum().backward()
    assert trine.equal(weight.grad, trine.full((2, 2), 2.0))


def test_a_gru_keeps_the_type_of_its_state():
    gru, cell = trine.nn.GRU(3, 4), trine.nn.LSTMCell(3, 4)
    with trine.autocast("cpu", dtype=trine.bfloat16):
        output, state = gru(trine.ones(5, 2, 3))
        hidden, memory = cell(trine.ones(2, 3))
    assert {t.dtype for t in (output, state, hidden, memory)} == {trine.float32}
    (output.sum() + hidden.sum()).backward()
    assert gru.weight_ih_l0.grad.isfinite().all() and cell.weight_hh.grad is not None


def test_a_changed_weight_is_cast_anew_in_the_next_region():
    layer = nn.Linear(3, 1, bias=False)
    with trine.autocast("cpu"):
        first = layer(A)
    with trine.no_grad():
        layer.weight.zero_()
    with trine.autocast("cpu"):
        assert layer(A).abs().sum() == 0 and first.abs().sum() > 0


def test_training_step_descends():
    trine.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 3))
    optimizer = trine.optim.SGD(model.parameters(), lr=0.05)
    x, y = trine.randn(8, 1, 8, 8), trine.arange(8) % 3
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        with trine.autocast("cpu"):
            loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert loss.dtype == trine.float32 and losses[-1] < 0.5 * losses[0]


def test_custom_functions():
    class Mm(trine.autograd.Function):
        @staticmethod
        @trine.amp.custom_fwd(device_type="cpu")
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        @trine.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            seen.append((g @ b.T).dtype)
            return (g @ b.T).float(), (a.T @ g).float()

    class Wide(Mm):
        @staticmethod
        @trine.amp.custom_fwd(device_type="cpu", cast_inputs=trine.float32)
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a @ b

    seen = []
    a = A.clone().requires_grad_()
    with trine.autocast("cpu"):
        out, wide = Mm.apply(a, B), Wide.apply(a.bfloat16(), B)
    assert out.dtype == trine.bfloat16 and wide.dtype == trine.float32
    out.sum().backward()
    wide.sum().backward()
    assert seen == [trine.bfloat16, trine.float32]


def test_devices_that_are_not_there():
    with pytest.warns(UserWarning, match="CUDA is not available"), trine.autocast("cuda"):
        assert (A @ B).dtype == trine.float32
    with pytest.warns(UserWarning, match="not supported"), trine.autocast("cpu", dtype=trine.float64):
        assert (A @ B).dtype == trine.float32
    with pytest.raises(RuntimeError, match="unsupported autocast device_type"):
        trine.autocast("x")
    with pytest.warns(FutureWarning), trine.cpu.amp.autocast():
        assert (A @ B).dtype == trine.bfloat16
    assert trine.get_autocast_gpu_dtype() == trine.float16 and not trine.is_autocast_enabled()


class TestGradScaler:
    def test_growth_and_backoff(self):
        parameter = trine.nn.Parameter(trine.ones(2))
        optimizer = trine.optim.SGD([parameter], lr=0.0)
        scaler = trine.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
        seen = []
        for gradient in (1.0, 1.0, 1.0, float("inf"), 1.0, float("nan"), 1.0):
            scaler.scale(trine.ones(()))
            parameter.grad = trine.full((2,), gradient)
            scaler.step(optimizer)
            scaler.update()
            seen.append((scaler.get_scale(), scaler._get_growth_tracker()))
        assert seen == [(8.0, 1), (16.0, 0), (16.0, 1), (8.0, 0), (8.0, 1), (4.0, 0), (4.0, 1)]

    def test_a_step_without_gradients_is_refused(self):
        optimizer = trine.optim.SGD([trine.nn.Parameter(trine.ones(2))], lr=0.1)
        scaler = trine.amp.GradScaler("cpu")
        assert [type(t) for t in scaler.scale(iter([trine.ones(1)]))] == [trine.Tensor]
        with pytest.raises(AssertionError, match="No inf checks"):
            scaler.step(optimizer)

    def make(self, **options):
        self.p = nn.Parameter(trine.tensor([1.0]))
        self.optimizer = trine.optim.SGD([self.p], lr=1.0)
        return trine.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2, **options)

    def step(self, scaler, grad):
        self.optimizer.zero_grad()
        scaler.scale(self.p * grad).sum().backward()
        scaler.step(self.optimizer)
        scaler.update()

    def test_growth_backoff_and_left_out_steps(self):
        scaler = self.make()
        self.step(scaler, 0.5)
        assert self.p.item() == 0.5 and scaler.get_scale() == 8
        self.step(scaler, 0.25)
        assert self.p.item() == 0.25 and scaler.get_scale() == 16
        self.step(scaler, float("inf"))
        assert self.p.item() == 0.25 and scaler.get_scale() == 8
        self.step(scaler, float("nan"))
        assert self.p.item() == 0.25 and scaler.get_scale() == 4

    def test_unscale_and_its_errors(self):
        scaler = self.make()
        with pytest.raises(AssertionError):
            scaler.step(self.optimizer)
        scaler.scale(self.p * 3).sum().backward()
        scaler.unscale_(self.optimizer)
        assert self.p.grad.item() == 3
        with pytest.raises(RuntimeError, match="already been called"):
            scaler.unscale_(self.optimizer)
        scaler.step(self.optimizer)
        with pytest.raises(RuntimeError, match="already been called"):
            scaler.step(self.optimizer)
        scaler.update(32.0)
        assert scaler.get_scale() == 32

    def test_state(self):
        scaler = self.make()
        self.step(scaler, 0.5)
        other = self.make()
        other.load_state_dict(scaler.state_dict())
        assert other.state_dict() == scaler.state_dict() == {
            "scale": 8.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2, "_growth_tracker": 1,
        }  # fmt: skip
        assert pickle.loads(pickle.dumps(scaler)).state_dict() == scaler.state_dict()
        with pytest.raises(RuntimeError, match="empty"):
            other.load_state_dict({})

    def test_disabled(self):
        scaler = trine.amp.GradScaler("cpu", enabled=False)
        p = nn.Parameter(trine.ones(1))
        optimizer = trine.optim.SGD([p], lr=1.0)
        assert scaler.scale(p) is p and scaler.get_scale() == 1 and scaler.state_dict() == {}
        scaler.scale(p).sum().backward()
        scaler.step(optimizer)
        scaler.update()
        assert p.item() == 0
        with pytest.warns(UserWarning, match="CUDA is not available"):
            assert not trine.amp.GradScaler().is_enabled()
