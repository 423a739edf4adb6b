"""Results do not depend on the number of threads, to the last bit; what deterministic mode changes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import trine
from trine.nn import functional as F


def f(*shape):
    return trine.randn(shape, generator=GENERATOR)


def i(high, *shape):
    return trine.randint(high, shape, generator=GENERATOR)


GENERATOR = trine.Generator()
N = 1 << 18  # far beyond the size from which work is shared out


# Each makes its inputs and gives the function of them; results and gradients of the floating ones are compared.
CASES = {
    "sum": lambda: (trine.sum, f(N)),
    "sum of rows": lambda: (lambda x: x.sum(1), f(300, 1111)),
    "sum of columns": lambda: (lambda x: x.sum(0), f(1111, 300)),
    "mean, var, norm": lambda: (lambda x: trine.stack([x.mean(), x.var(), x.norm(), x.norm(p=3)]), f(N)),
    "prod": lambda: (lambda x: (1 + x * 1e-3).prod(), f(N)),
    "logsumexp": lambda: (lambda x: x.logsumexp((0, 1)), f(500, 500)),
    "cumsum": lambda: (lambda x: x.cumsum(0), f(N)),
    "cumprod": lambda: (lambda x: (1 + x * 1e-3).cumprod(1), f(64, 4096)),
    "softmax": lambda: (lambda x: x.softmax(0), f(700, 400)),
    "matmul": lambda: (trine.matmul, f(257, 1500), f(1500, 33)),
    "matmul of a long inner dimension": lambda: (trine.matmul, f(4, N), f(N, 4)),
    "dot": lambda: (trine.dot, f(N), f(N)),
    "bmm": lambda: (trine.bmm, f(37, 20, 80), f(37, 80, 9)),
    "linear": lambda: (F.linear, f(999, 257), f(65, 257), f(65)),
    "layer_norm": lambda: (lambda x, w, b: F.layer_norm(x, (300,), w, b), f(1000, 300), f(300), f(300)),
    "batch_norm": lambda: (lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), f(33, 16, 30, 30), f(16), f(16)),
    "group_norm": lambda: (lambda x, w, b: F.group_norm(x, 4, w, b), f(33, 16, 30, 30), f(16), f(16)),
    "conv1d": lambda: (lambda x, w, b: F.conv1d(x, w, b, padding=2), f(9, 16, 1000), f(24, 16, 5), f(24)),
    "conv2d": lambda: (lambda x, w, b: F.conv2d(x, w, b, padding=1), f(5, 16, 40, 40), f(24, 16, 3, 3), f(24)),
    "conv2d of groups": lambda: (lambda x, w: F.conv2d(x, w, groups=16), f(5, 16, 40, 40), f(16, 1, 3, 3)),
    "conv3d": lambda: (F.conv3d, f(2, 4, 14, 14, 14), f(6, 4, 3, 3, 3)),
    "conv_transpose2d": lambda: (lambda x, w: F.conv_transpose2d(x, w, stride=2), f(3, 16, 20, 20), f(16, 8, 3, 3)),
    "max_pool2d": lambda: (lambda x: F.max_pool2d(x, 3, 2), f(9, 16, 50, 50)),
    "avg_pool2d": lambda: (lambda x: F.avg_pool2d(x, 3, 2), f(9, 16, 50, 50)),
    "adaptive_avg_pool2d": lambda: (lambda x: F.adaptive_avg_pool2d(x, 7), f(9, 16, 50, 50)),
    "interpolate": lambda: (lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear"), f(9, 8, 50, 50)),
    "bicubic": lambda: (lambda x: F.interpolate(x, scale_factor=1.7, mode="bicubic"), f(9, 8, 50, 50)),
    "grid_sample": lambda: (lambda x, g: F.grid_sample(x, g.clamp(-1, 1), align_corners=False), f(4, 8, 30, 30), f(4, 60, 60, 2)),
    "reflection pad": lambda: (lambda x: F.pad(x, (3, 3, 3, 3), mode="reflect"), f(9, 16, 50, 50)),
    "embedding": lambda: (lambda k, w: F.embedding(k, w), i(50, 5000), f(50, 64)),
    "embedding_bag": lambda: (lambda k, w: F.embedding_bag(k, w, mode="mean"), i(50, 1000, 8), f(50, 64)),
    "index_add": lambda: (lambda k, x: trine.zeros(50, 64).index_add(0, k, x), i(50, 5000), f(5000, 64)),
    "scatter_add": lambda: (lambda k, x: trine.zeros(50, 64).scatter_add(0, k, x), i(50, 5000, 64), f(5000, 64)),
    "scatter of repeated indices": lambda: (lambda k, x: trine.zeros(50, 64).scatter(0, k, x), i(50, 5000, 64), f(5000, 64)),
    "index_put of repeated indices": lambda: (lambda k, x: trine.zeros(50, 64).index_put((k,), x), i(50, 5000), f(5000, 64)),
    "index_put that accumulates": lambda: (lambda k, x: trine.zeros(50, 64).index_put((k,), x, accumulate=True), i(50, 5000), f(5000, 64)),
    "put_": lambda: (lambda k, x: trine.zeros(500).put(k, x), i(500, N), f(N)),
    "index_reduce": lambda: (lambda k, x: trine.ones(50, 64).index_reduce(0, k, x, "mean"), i(50, 5000), f(5000, 64)),
    "gather": lambda: (lambda k, x: x.gather(0, k), i(700, 700, 300), f(700, 300)),
    "take": lambda: (lambda k, x: x.take(k), i(1000, N), f(1000)),
    "bincount": lambda: (lambda k, x: trine.bincount(k, x.detach()), i(50, N), f(N)),
    "histc": lambda: (lambda x: x.detach().histc(50, -2, 2), f(N)),
    "sort": lambda: (lambda x: x.sort(0)[0], f(N)),
    "argsort of ties": lambda: (lambda k: k.argsort(), i(9, N)),
    "median": lambda: (lambda x: x.median(1)[0], f(999, 333)),
    "mode": lambda: (lambda k: k.mode(1)[1], i(9, 999, 333)),
    "unique": lambda: (lambda k: k.unique(), i(999, N)),
    "cross_entropy": lambda: (lambda k, x: F.cross_entropy(x, k), i(400, 700), f(700, 400)),
    "ctc_loss": lambda: (
        lambda k, x: F.ctc_loss(x.log_softmax(-1), k + 1, trine.full((16,), 50), trine.full((16,), 12)), i(20, 16, 12), f(50, 16, 21)
    ),
    "attention": lambda: (F.scaled_dot_product_attention, f(4, 4, 200, 32), f(4, 4, 200, 32), f(4, 4, 200, 32)),
    "fft": lambda: (lambda x: trine.view_as_real(trine.fft.fft2(x)), f(9, 120, 130)),
    "cdist": lambda: (trine.cdist, f(300, 40), f(400, 40)),
    "cumulative log": lambda: (lambda x: x.logcumsumexp(0), f(N)),
    "solve": lambda: (lambda a, b: trine.linalg.solve(a @ a.mT + 100 * trine.eye(90), b), f(8, 90, 90), f(8, 90, 3)),
    "svd": lambda: (lambda a: trine.linalg.svdvals(a.detach()), f(8, 60, 50)),
}  # fmt: skip


def run(build):
    GENERATOR.manual_seed(7)
    function, *inputs = build()
    inputs = [x.requires_grad_() if x.is_floating_point() else x for x in inputs]
    out = function(*inputs)
    results = [out]
    if out.requires_grad:
        results += trine.autograd.grad(out, [x for x in inputs if x.requires_grad], trine.linspace(-1, 1, out.numel()).reshape(out.shape))
    return [r.detach().flatten().clone().numpy().view(np.uint8) for r in results]


@pytest.fixture
def threads():
    before = trine.get_num_threads()
    yield trine.set_num_threads
    trine.set_num_threads(before)


@pytest.fixture
def deterministic():
    trine.use_deterministic_algorithms(True)
    yield
    trine.use_deterministic_algorithms(False)
    trine.utils.deterministic.fill_uninitialized_memory = True


@pytest.mark.parametrize("case", CASES)
def test_results_and_gradients_do_not_depend_on_the_number_of_threads(case, threads, deterministic):
    if not case.startswith("conv"):  # nor out of deterministic mode
        trine.use_deterministic_algorithms(False)
    threads(1)
    expected = run(CASES[case])
    for n in (2, 3, 4):
        threads(n)
        for a, b in itertools.zip_longest(run(CASES[case]), expected):
            np.testing.assert_array_equal(a, b, err_msg=f"{n} threads")


@pytest.mark.parametrize(
    "make",
    [
        lambda t: trine.empty(3, dtype=t),
        lambda t: trine.empty_like(trine.zeros(3), dtype=t),
        lambda t: trine.empty_strided((3,), (2,), dtype=t),
        lambda t: trine.zeros(1).new_empty(3, dtype=t),
        lambda t: trine.empty(0, dtype=t).resize_(3),
    ],
)
def test_deterministic_mode_fills_new_memory(make, deterministic):
    for dtype in (trine.float32, trine.bfloat16, trine.complex64):
        assert bool(make(dtype).isnan().all())
    for dtype, value in ((trine.bool, True), (trine.uint8, 255), (trine.int16, 2**15 - 1), (trine.int64, 2**63 - 1)):
        assert make(dtype).tolist() == [value] * 3


def test_filling_can_be_switched_off_and_ends_with_the_mode(deterministic):
    module = trine.utils.deterministic
    assert module.fill_uninitialized_memory is True
    assert trine.zeros(2).resize_(4).isnan().tolist() == [False, False, True, True]
    with pytest.raises(RuntimeError, match="expected a bool"):
        module.fill_uninitialized_memory = 1
    module.fill_uninitialized_memory = False
    trine.full((1000,), 5.0)  # its memory is what the next tensor of this size gets
    assert 5.0 in trine.empty(1000).tolist()


def test_medium_precision_rounds_large_products_only_and_the_mode_ends():
    a, b = (trine.randn(300, 300, generator=trine.Generator().manual_seed(n)) for n in (1, 2))
    exact = (a.double() @ b.double()).float()

    def error(product):
        return float((product - exact).norm() / exact.norm())

    plain, solved = a @ b, trine.linalg.solve(a, b)
    try:
        trine.set_float32_matmul_precision("medium")
        assert error(a @ b) < 4e-3 and error(F.linear(a, b.t())) < 4e-3
        assert trine.equal(trine.linalg.solve(a, b), solved)
        assert trine.equal(a.double() @ b.double(), a.double() @ b.double())
        trine.set_float32_matmul_precision("high")
        assert trine.equal(a @ b, plain)
    finally:
        trine.set_float32_matmul_precision("highest")
    assert trine.equal(a @ b, plain) and error(plain) < 1e-6
