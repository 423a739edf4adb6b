"""CTC, bags of embeddings, fractional pooling and grid sampling: what their tables cannot say."""

from __future__ import annotations

import itertools
import math

import pytest
import trine
from trine import nn
from trine.nn import functional as F


@pytest.fixture(autouse=True)
def seeded():
    trine.manual_seed(0)


def t(*shape):
    return trine.randn(*shape, dtype=trine.float64)


class TestCTC:
    def by_enumeration(self, log_probs, target, blank=0):
        """The loss as the definition says it: the sum over all alignments."""
        total = 0.0
        steps, classes = log_probs.shape
        for path in itertools.product(range(classes), repeat=steps):
            merged = [c for c, _ in itertools.groupby(path)]
            if [c for c in merged if c != blank] == target:
                total += math.exp(sum(log_probs[i, c].item() for i, c in enumerate(path)))
        return math.inf if total == 0 else -math.log(total)

    @pytest.mark.parametrize("target", [[], [1], [1, 2], [1, 1], [2, 1, 2], [1, 1, 1, 1]])
    @pytest.mark.parametrize("blank", [0, 2])
    def test_equals_the_sum_over_alignments(self, target, blank):
        target = [(c + blank) % 3 if (c + blank) % 3 != blank else c for c in target]
        log_probs = t(4, 3).log_softmax(-1)
        loss = F.ctc_loss(log_probs, trine.tensor(target, dtype=trine.int64), (4,), (len(target),), blank, reduction="none")
        expected = self.by_enumeration(log_probs, target, blank)
        assert loss.item() == pytest.approx(expected, rel=1e-9)

    @pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
    def test_gradient(self, reduction):
        logits = t(6, 3, 4).requires_grad_()
        targets = trine.tensor([[1, 2, 2], [3, 1, 0], [0, 0, 0]])

        def loss(x):
            return F.ctc_loss(x.log_softmax(-1), targets, (6, 5, 4), (3, 2, 0), 0, reduction)

        assert trine.autograd.gradcheck(loss, logits)

    def test_impossible_targets(self):
        logits = t(2, 2, 3).requires_grad_()
        targets = trine.tensor([[1, 1, 1], [1, 2, 0]])
        loss = F.ctc_loss(logits.log_softmax(-1), targets, (2, 2), (3, 2), reduction="none")
        assert math.isinf(loss[0]) and math.isfinite(loss[1])
        loss = F.ctc_loss(logits.log_softmax(-1), targets, (2, 2), (3, 2), reduction="sum", zero_infinity=True)
        loss.backward()
        assert logits.grad[:, 0].abs().sum() == 0 and logits.grad[:, 1].abs().sum() > 0

    def test_forms(self):
        log_probs = t(5, 2, 4).log_softmax(-1)
        padded, joined = trine.tensor([[1, 2], [3, 0]]), trine.tensor([1, 2, 3])
        expected = F.ctc_loss(log_probs, padded, (5, 4), (2, 1))
        assert trine.equal(F.ctc_loss(log_probs, joined, trine.tensor([5, 4]), trine.tensor([2, 1])), expected)
        assert trine.equal(F.ctc_loss(log_probs, joined.int(), [5, 4], trine.tensor([2, 1])), expected)
        assert trine.equal(nn.CTCLoss()(log_probs, padded, (5, 4), (2, 1)), expected)
        single = F.ctc_loss(log_probs[:, 0], padded[0], (5,), (2,), reduction="none")
        assert single.shape == () and trine.allclose(single, F.ctc_loss(log_probs, padded, (5, 4), (2, 1), reduction="none")[0])

    @pytest.mark.parametrize(
        ("targets", "steps", "labels", "message"),
        [
            ([[1, 2], [1, 4]], (6, 6), (2, 2), "classes between"),
            ([[1, 2], [1, 3]], (7, 6), (2, 2), "at most 6"),
            ([[1, 2], [1, 3]], (-1, 6), (2, 2), "at least 0"),
            ([[1, 2], [1, 3]], (6, 6), (3, 2), "at least 3 at dimension 1"),
            ([[1, 2], [1, 3]], (6,), (2, 2), "batch_size"),
            ([1, 2, 1, 3], (6, 6), (2, 1), "size 3 at dimension 0"),
        ],
    )
    def test_errors(self, targets, steps, labels, message):
        with pytest.raises(RuntimeError, match=message):
            F.ctc_loss(t(6, 2, 4), trine.tensor(targets), steps, labels)


class TestEmbeddingBag:
    weight = trine.randn(7, 3, dtype=trine.float64)
    indices, offsets = trine.tensor([1, 2, 2, 4, 0, 6, 2]), trine.tensor([0, 3, 3, 5])

    def bags(self):
        ends = [*self.offsets.tolist()[1:], len(self.indices)]
        return [self.indices[a:b] for a, b in zip(self.offsets.tolist(), ends, strict=True)]

    @pytest.mark.parametrize("mode", ["sum", "mean", "max"])
    @pytest.mark.parametrize("padding_idx", [None, 2, -5])
    def test_equals_single_bags(self, mode, padding_idx):
        out = F.embedding_bag(self.indices, self.weight, self.offsets, mode=mode, padding_idx=padding_idx)
        for bag, row in zip(self.bags(), out, strict=True):
            rows = self.weight[bag if padding_idx is None else bag[bag != padding_idx % 7]]
            expected = {"sum": rows.sum(0), "mean": rows.mean(0), "max": rows.max(0).values if len(rows) else None}[mode]
            assert trine.allclose(row, expected if len(rows) else trine.zeros(3, dtype=trine.float64))

    @pytest.mark.parametrize("mode", ["sum", "mean", "max"])
    @pytest.mark.parametrize("padding_idx", [None, 2])
    def test_derivatives(self, mode, padding_idx):
        w = self.weight.clone().requires_grad_()
        scales = trine.rand(7, dtype=trine.float64).requires_grad_() if mode == "sum" else None

        def f(w, *s):
            return F.embedding_bag(
                self.indices, w, self.offsets, mode=mode, padding_idx=padding_idx, per_sample_weights=s[0] if s else None
            )

        given = (w, scales) if scales is not None else (w,)
        assert trine.autograd.gradcheck(f, given)
        assert trine.autograd.gradgradcheck(lambda *a: f(*a) ** 2, given)

    def test_forms(self):
        rows = self.indices[:6].view(2, 3)
        a = F.embedding_bag(rows, self.weight, mode="sum")
        b = F.embedding_bag(rows.reshape(-1), self.weight, trine.tensor([0, 3]), mode="sum")
        c = F.embedding_bag(rows.reshape(-1).int(), self.weight, trine.tensor([0, 3, 6]).int(), mode="sum", include_last_offset=True)
        assert trine.equal(a, b) and trine.equal(a, c)
        bag = nn.EmbeddingBag(7, 3, mode="max", padding_idx=1)
        assert bag.weight[1].abs().sum() == 0 and repr(bag) == "EmbeddingBag(7, 3, mode='max', padding_idx=1)"
        kept = nn.EmbeddingBag.from_pretrained(self.weight, mode="sum")
        assert not kept.weight.requires_grad and trine.equal(kept(rows), a)

    def test_frequencies_and_norms(self):
        w = self.weight.clone().requires_grad_()
        F.embedding_bag(self.indices, w, self.offsets, mode="sum", scale_grad_by_freq=True).sum().backward()
        assert trine.allclose(w.grad[2], trine.ones(3, dtype=trine.float64))
        table = self.weight.clone() * 10
        F.embedding_bag(trine.tensor([[0, 1]]), table, max_norm=1.0)
        assert table[:2].norm(dim=1).max() <= 1 + 1e-6 and trine.equal(table[2:], self.weight[2:] * 10)
        table = self.weight.clone() * 10
        F.embedding(trine.tensor([0, 0]), table, max_norm=1.0)
        assert table[0].norm() <= 1 + 1e-6

    @pytest.mark.parametrize(
        ("options", "error"),
        [
            ({"input": trine.tensor([[1]]), "offsets": trine.tensor([0])}, ValueError), ({"input": trine.tensor([1])}, ValueError),
            ({"input": trine.tensor([[1]]), "mode": "x"}, ValueError), ({"input": trine.tensor([[9]])}, RuntimeError),
            ({"input": trine.tensor([[-1]])}, RuntimeError), ({"input": trine.tensor([1, 2]), "offsets": trine.tensor([1])}, RuntimeError),
            ({"input": trine.tensor([1, 2]), "offsets": trine.tensor([0, 3])}, RuntimeError),
            ({"input": trine.tensor([1, 2]), "offsets": trine.tensor([0, 2, 1])}, RuntimeError),
            ({"input": trine.tensor([[1.0]])}, RuntimeError), ({"input": trine.tensor([[1]]), "padding_idx": 7}, AssertionError),
            ({"input": trine.tensor([[1]]), "per_sample_weights": trine.ones(1, 1)}, NotImplementedError),
        ],
    )  # fmt: skip
    def test_errors(self, options, error):
        with pytest.raises(error):
            F.embedding_bag(weight=self.weight.float(), **options)


class TestGridSample:
    @pytest.mark.parametrize("align", [True, False])
    @pytest.mark.parametrize("shape", [(2, 3, 5, 6), (1, 2, 3, 4, 5)])
    def test_the_identity_map_gives_the_image(self, align, shape):
        x, dims = t(*shape), len(shape) - 2
        theta = trine.eye(dims, dims + 1, dtype=trine.float64).expand(shape[0], -1, -1)
        grid = F.affine_grid(theta, shape, align_corners=align)
        for padding in ("zeros", "border", "reflection"):
            assert trine.allclose(F.grid_sample(x, grid, padding_mode=padding, align_corners=align), x)
        assert trine.allclose(F.grid_sample(x, grid, mode="nearest", align_corners=align), x)

    def test_defaults_and_errors(self):
        x, grid = trine.ones(1, 1, 2, 2), trine.zeros(1, 1, 1, 2)
        with pytest.warns(UserWarning, match="align_corners"):
            F.grid_sample(x, grid)
        for call, error in [
            (lambda: F.grid_sample(x, grid, mode="x", align_corners=True), ValueError),
            (lambda: F.grid_sample(x, grid, padding_mode="x", align_corners=True), ValueError),
            (lambda: F.grid_sample(x, grid.double(), align_corners=True), RuntimeError),
            (lambda: F.grid_sample(x, trine.zeros(2, 1, 1, 2), align_corners=True), RuntimeError),
            (lambda: F.grid_sample(x, trine.zeros(1, 1, 1, 3), align_corners=True), RuntimeError),
            (lambda: F.grid_sample(x[0], grid, align_corners=True), RuntimeError),
            (
                lambda: F.grid_sample(trine.ones(1, 1, 1, 2, 2), trine.zeros(1, 1, 1, 1, 3), mode="bicubic", align_corners=True),
                RuntimeError,
            ),
            (lambda: F.affine_grid(trine.ones(1, 2, 2), (1, 1, 2, 2), align_corners=True), ValueError),
            (lambda: F.affine_grid(trine.ones(1, 2, 3), (1, 1, 2), align_corners=True), NotImplementedError),
        ]:
            with pytest.raises(error):
                call()

    def test_places_that_are_no_numbers(self):
        x = trine.ones(1, 1, 3, 3)
        grid = trine.full((1, 2, 2, 2), float("nan"))
        for mode in ("bilinear", "nearest", "bicubic"):
            for padding in ("zeros", "border", "reflection"):
                assert F.grid_sample(x, grid, mode, padding, align_corners=False).shape == (1, 1, 2, 2)
        grid = trine.full((1, 2, 2, 2), 1e30)
        assert F.grid_sample(x, grid, padding_mode="border", align_corners=False).min() == 1


class TestFractionalPooling:
    def test_maxima_and_sizes(self):
        x = t(2, 3, 9, 10)
        y, at = nn.FractionalMaxPool2d(2, output_ratio=(0.5, 0.6), return_indices=True)(x)
        assert y.shape == (2, 3, 4, 6)
        assert trine.equal(x.flatten(2).gather(2, at.flatten(2)).view_as(y), y)
        assert nn.FractionalMaxPool3d((1, 2, 3), output_size=(2, 3, 4))(t(3, 4, 8, 9)).shape == (3, 2, 3, 4)

    def test_errors(self):
        for make in (
            lambda: nn.FractionalMaxPool2d(2),
            lambda: nn.FractionalMaxPool2d(2, 3, 0.5),
            lambda: nn.FractionalMaxPool2d(2, output_ratio=2.0),
        ):
            with pytest.raises(ValueError, match="output"):
                make()
        with pytest.raises(RuntimeError, match="too large"):
            F.fractional_max_pool2d(t(1, 1, 4, 4), 3, 3)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_an_infinite_pixel_does_not_reach_places_outside_of_the_image(mode):
    image = trine.ones(1, 1, 4, 4)
    image[0, 0, 0, 0] = math.inf
    image.requires_grad_()
    grid = trine.tensor([[[[5.0, 5.0], [-5.0, 0.0], [0.25, 0.25], [math.nan, 0.0]]]], requires_grad=True)
    out = F.grid_sample(image, grid, mode=mode, align_corners=False)
    assert out[0, 0, 0, :2].tolist() == [0, 0] and out[0, 0, 0, 2].item() == pytest.approx(1) and out[0, 0, 0, 3].item() == 0
    out.sum().backward()
    assert image.grad.isfinite().all() and grid.grad[..., :3, :].isfinite().all()


@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("align_corners", [False, True])
def test_gradients_of_many_places(mode, padding_mode, align_corners):
    """More places than a block holds, some far outside: the gradient sum is what differences say."""
    image = t(1, 2, 5, 6).requires_grad_()
    grid = (trine.rand(1, 30, 23, 2, dtype=trine.float64) * 6 - 3).requires_grad_()
    weight = t(1, 2, 30, 23)

    def loss(x, g):
        return (F.grid_sample(x, g, mode=mode, padding_mode=padding_mode, align_corners=align_corners) * weight).sum()

    loss(image, grid).backward()
    for tensor, arguments in [(image, lambda step: (image + step, grid)), (grid, lambda step: (image, grid + step))]:
        direction = trine.randn_like(tensor) * 1e-7
        with trine.no_grad():
            change = (loss(*arguments(direction)) - loss(*arguments(-direction))).item() / 2
        assert change == pytest.approx((tensor.grad * direction).sum().item(), rel=1e-4)


@pytest.mark.parametrize("in_place", [False, True])
def test_native_rrelu_draws_from_the_generator_it_is_given(in_place):
    x = trine.linspace(-1, 1, 20)
    call = trine.rrelu_ if in_place else trine.rrelu
    results = []
    for _ in range(2):
        trine.rand(3)  # the default generator goes on and has no part in it
        results.append(call(x.clone(), training=True, generator=trine.Generator().manual_seed(3)))
    trine.manual_seed(3)
    results.append(call(x.clone(), training=True))
    assert trine.equal(results[0], results[1]) and trine.equal(results[0], results[2])


def test_sparse_gradients_are_refused_by_every_way_to_a_table():
    table, indices = trine.ones(3, 2, requires_grad=True), trine.tensor([0, 2])
    for call in (
        lambda: trine.embedding(table, indices, sparse=True),
        lambda: nn.functional.embedding(indices, table, sparse=True),
        lambda: nn.functional.embedding_bag(indices[None], table, sparse=True),
    ):
        with pytest.raises(NotImplementedError, match="sparse"):
            call()
