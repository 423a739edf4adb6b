"""Padding, pooling, resizing and losses against NumPy."""

import itertools
import math
import warnings

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


@pytest.mark.parametrize(("mode", "numpy_mode"), [("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")])
def test_pad_by_reflection_repetition_and_around_the_circle(mode, numpy_mode):
    x = numbers(2, 3, 5, 6)
    close(F.pad(tensor(x), (1, 2, 3, 4), mode=mode), np.pad(x, ((0, 0), (0, 0), (3, 4), (1, 2)), mode=numpy_mode))
    line = numbers(3, 5)
    close(F.pad(tensor(line), (2, 1), mode=mode), np.pad(line, ((0, 0), (2, 1)), mode=numpy_mode))
    volume = numbers(2, 3, 4, 5)
    close(F.pad(tensor(volume), (1, 1, 0, 2, 2, 0), mode=mode), np.pad(volume, ((0, 0), (2, 0), (0, 2), (1, 1)), numpy_mode))


def test_pad_with_a_constant_grows_and_crops():
    x = numbers(2, 4)
    close(F.pad(tensor(x), (1, -1), value=9.0), np.pad(x, ((0, 0), (1, 0)), constant_values=9)[:, :-1])
    close(nn.ZeroPad2d(1)(tensor(x[None])), np.pad(x[None], ((0, 0), (1, 1), (1, 1))))


def test_pad_gradient_returns_to_every_source():
    x = tensor(numbers(1, 4), grad=True)
    F.pad(x, (2, 1), mode="reflect").sum().backward()
    assert x.grad.tolist() == [[1.0, 2.0, 3.0, 1.0]]


@pytest.mark.parametrize("dtype", [trine.float64, trine.float16, trine.complex64])
@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize(
    ("shape", "widths"), [((2, 5), (-1, 3)), ((1, 2, 4, 5), (2, 1, -1, 2)), ((2, 3, 4, 5), (1, 1, 2, -2, 0, 2)), ((0, 2, 4), (1, 1))]
)
def test_pad_gradient_is_the_transpose_of_the_copy(shape, widths, mode, dtype):
    size = math.prod(shape)
    places = F.pad(trine.arange(size, dtype=trine.float64).reshape(shape), widths, mode=mode).long().reshape(-1).numpy()
    x = trine.arange(size).reshape(shape).to(dtype).requires_grad_()
    padded = F.pad(x, widths, mode=mode)
    weights = np.arange(padded.numel()) % 5
    padded.backward(trine.tensor(weights).reshape(padded.shape).to(dtype))
    assert padded.reshape(-1).real.long().tolist() == places.tolist()
    assert x.grad.reshape(-1).real.tolist() == np.bincount(places, weights, size).tolist()


def test_pad_refuses_what_does_not_fit():
    x = trine.zeros(1, 3)
    with pytest.raises(RuntimeError, match="Padding size should be less than the corresponding input dimension"):
        F.pad(x, (3, 0), mode="reflect")
    with pytest.raises(RuntimeError, match="wrapping around more than once"):
        F.pad(x, (4, 0), mode="circular")
    with pytest.raises(NotImplementedError, match="Unrecognised padding mode mirror"):
        F.pad(x, (1, 0), mode="mirror")
    with pytest.raises(RuntimeError, match="Padding length must be divisible by 2"):
        F.pad(x, (1,))
    for mode in ("reflect", "replicate", "circular"):
        with pytest.raises(RuntimeError, match="only the batch may be empty"):
            F.pad(trine.zeros(2, 0, 4), (1, 1), mode=mode)
    with pytest.raises(RuntimeError, match="leaves nothing of dimension 1"):
        F.pad(trine.zeros(3, 4), (-2, -2), mode="replicate")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("first", "second", "dim"), [((3, 700), (3, 700), 1), ((3, 4), (4,), -1), ((2, 5, 70), (5, 1), 1), ((6,), (6,), 0), ((2, 0), (2, 0), 1)]
)
def test_cosine_similarity_is_the_cosine_of_the_angle(first, second, dim, dtype):
    x, y = numbers(*first).astype(dtype), numbers(*second, seed=1).astype(dtype)
    a, b = np.broadcast_arrays(x.astype(np.float64), y.astype(np.float64))
    length = [np.maximum(np.linalg.norm(v, axis=dim), 1e-8) for v in (a, b)]
    close(F.cosine_similarity(tensor(x), tensor(y), dim=dim), (a * b).sum(dim) / length[0] / length[1])


def test_cosine_similarity_of_huge_and_of_no_vectors():
    huge = trine.tensor([[3e30, 4e30], [0.0, 0.0]])
    assert F.cosine_similarity(huge, trine.tensor([[1.0, 0.0], [1.0, 0.0]])).tolist() == pytest.approx([0.6, 0.0])
    with pytest.raises(RuntimeError, match="expected common dtype to be floating point, yet common dtype is Long"):
        F.cosine_similarity(trine.ones(2, 2, dtype=trine.int64), trine.ones(2, 2, dtype=trine.int64))


def test_cosine_similarity_of_a_vector_shorter_than_eps_has_pytorchs_gradient():
    x = trine.tensor([[1e-9, 2e-9, 3e-9]], dtype=trine.float64, requires_grad=True)
    y = trine.tensor([[3.0, 1.0, -2.5]], dtype=trine.float64, requires_grad=True)
    F.cosine_similarity(x, y).backward()
    close(x.grad, np.array([[76078324.6139, 28121914.6385, -57044915.7136]]), rtol=1e-11)
    close(y.grad, np.array([[0.0363, 0.0534, 0.0649]]), atol=1e-4)


def windows(x, kernel, stride, padding, dilation, ceil_mode):
    """For every output position the window's elements and its size within the padded input, over the last len(kernel) axes."""
    n = len(kernel)
    sizes = x.shape[-n:]
    out = []
    for size, k, s, p, d in zip(sizes, kernel, stride, padding, dilation, strict=True):
        count = (size + 2 * p - d * (k - 1) - 1) / s + 1
        count = math.ceil(count) if ceil_mode else math.floor(count)
        if ceil_mode and (count - 1) * s >= size + p:
            count -= 1
        out.append(count)
    for position in itertools.product(*map(range, out)):
        elements = []
        inside_padded = 0
        for offset in itertools.product(*map(range, kernel)):
            index = [o * s - p + f * d for o, s, p, f, d in zip(position, stride, padding, offset, dilation, strict=True)]
            if all(-p <= i < size + p for i, size, p in zip(index, sizes, padding, strict=True)):
                inside_padded += 1
            if all(0 <= i < size for i, size in zip(index, sizes, strict=True)):
                elements.append(x[(..., *index)])
        yield position, elements, inside_padded


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize(("padding", "dilation", "ceil_mode"), [(0, 1, False), (1, 1, False), (1, 2, False), (1, 1, True)])
def test_max_pool_is_the_largest_element_and_knows_where_it_was(dims, padding, dilation, ceil_mode):
    x = numbers(2, 3, *(8, 7, 6)[:dims])
    pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[dims - 1]
    values, where = pool(tensor(x), 3, 2, padding, dilation, ceil_mode, return_indices=True)
    close(pool(tensor(x), 3, 2, padding, dilation, ceil_mode), array(values))
    each = [[n] * dims for n in (3, 2, padding, dilation)]
    for position, elements, _ in windows(x, *each, ceil_mode):
        np.testing.assert_array_equal(array(values)[(..., *position)], np.max(elements, 0))
    flat = x.reshape(2, 3, -1)
    found = np.take_along_axis(flat, array(where).reshape(2, 3, -1), 2)
    np.testing.assert_array_equal(found, array(values).reshape(2, 3, -1))


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize(("ceil_mode", "include"), [(False, True), (False, False), (True, True), (True, False)])
def test_avg_pool_counts_padding_only_when_asked(dims, ceil_mode, include):
    x = numbers(2, 3, *(8, 7, 6)[:dims])
    pool = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[dims - 1]
    y = array(pool(tensor(x), 3, 2, 1, ceil_mode, include))
    each = [[n] * dims for n in (3, 2, 1, 1)]
    for position, elements, padded in windows(x, *each, ceil_mode):
        expected = np.sum(elements, 0) / (padded if include else len(elements))
        np.testing.assert_allclose(y[(..., *position)], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_adaptive_pools_cover_the_input(dims):
    sizes, out = (8, 7, 6)[:dims], (3, 2, 4)[:dims]
    x = numbers(2, 3, *sizes)
    mean = array((F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)[dims - 1](tensor(x), out))
    top, where = (F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d)[dims - 1](tensor(x), out, return_indices=True)
    for position in itertools.product(*map(range, out)):
        cut = tuple(slice(i * s // o, -(-(i + 1) * s // o)) for i, s, o in zip(position, sizes, out, strict=True))
        window = x[(..., *cut)].reshape(2, 3, -1)
        np.testing.assert_allclose(mean[(..., *position)], window.mean(-1), rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(array(top)[(..., *position)], window.max(-1))
    found = np.take_along_axis(x.reshape(2, 3, -1), array(where).reshape(2, 3, -1), 2)
    np.testing.assert_array_equal(found, array(top).reshape(2, 3, -1))


def test_unfold_lists_blocks_and_fold_is_its_adjoint():
    x = numbers(2, 3, 6, 5)
    columns = F.unfold(tensor(x), (3, 2), padding=(1, 0), stride=2)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 0)))
    blocks = [padded[:, :, i : i + 3, j : j + 2].reshape(2, -1) for i in (0, 2, 4) for j in (0, 2)]
    close(columns, np.stack(blocks, -1))
    y = numbers(*columns.shape, seed=1)
    back = F.fold(tensor(y), (6, 5), (3, 2), padding=(1, 0), stride=2)
    np.testing.assert_allclose((array(columns) * y).sum(), (array(back) * x).sum(), rtol=1e-4)
    with pytest.raises(RuntimeError, match="expected size of input's dimension 2 to match"):
        F.fold(trine.zeros(1, 6, 7), (6, 5), (3, 2))


def test_max_unpool_puts_maxima_back():
    x = trine.arange(16.0).view(1, 1, 4, 4)
    values, where = F.max_pool2d(x, 2, return_indices=True)
    expected = np.zeros((4, 4))
    expected[1::2, 1::2] = [[5, 7], [13, 15]]
    close(F.max_unpool2d(values, where, 2)[0, 0], expected)


def test_lp_pool_is_a_power_sum():
    x = np.abs(numbers(1, 1, 4))
    close(F.lp_pool1d(tensor(x), 2.0, 2), np.sqrt((x.reshape(1, 1, 2, 2) ** 2).sum(-1)))


def test_nearest_interpolation_repeats_pixels():
    x = numbers(1, 2, 3, 4)
    close(F.interpolate(tensor(x), scale_factor=2), x.repeat(2, 2).repeat(2, 3))
    close(F.interpolate(tensor(x[:, :, 0]), size=8), x[:, :, 0].repeat(2, 2))
    volume = numbers(1, 1, 2, 3, 2)
    close(F.interpolate(tensor(volume), scale_factor=2), volume.repeat(2, 2).repeat(2, 3).repeat(2, 4))
    line = np.arange(5, dtype=np.float32).reshape(1, 1, 5)
    close(F.interpolate(tensor(line), size=3, mode="nearest-exact"), [[[0, 2, 4]]])
    close(F.interpolate(tensor(line), size=3, mode="nearest"), [[[0, 1, 3]]])


def linear_matrix(source, target, align):
    """(target, source) weights of linear interpolation along one axis."""
    matrix = np.zeros((target, source))
    for i in range(target):
        if align:
            at = i * (source - 1) / (target - 1) if target > 1 else 0.0
        else:
            at = max((i + 0.5) * source / target - 0.5, 0.0)
        low = min(int(at), source - 1)
        high = min(low + 1, source - 1)
        matrix[i, low] += 1 - (at - low)
        matrix[i, high] += at - low
    return matrix


@pytest.mark.parametrize("align", [False, True])
def test_linear_interpolation_in_one_two_and_three_dimensions(align):
    line, image, volume = numbers(2, 3, 5), numbers(2, 3, 5, 4), numbers(1, 2, 3, 5, 4)
    a, b, c = linear_matrix(5, 7, align), linear_matrix(4, 9, align), linear_matrix(3, 4, align)
    options = {"align_corners": align}
    close(F.interpolate(tensor(line), 7, mode="linear", **options), line @ a.T, atol=1e-5)
    close(F.interpolate(tensor(image), (7, 9), mode="bilinear", **options), np.einsum("ih,jw,nchw->ncij", a, b, image), atol=1e-5)
    close(
        F.interpolate(tensor(volume), (4, 7, 9), mode="trilinear", **options),
        np.einsum("kd,ih,jw,ncdhw->nckij", c, a, b, volume),
        atol=1e-5,
    )


def test_interpolate_area_is_adaptive_mean_and_bad_calls_are_refused():
    x = tensor(numbers(1, 2, 6, 6))
    close(F.interpolate(x, 3, mode="area"), array(F.avg_pool2d(x, 2)))
    with pytest.raises(ValueError, match="only one of size or scale_factor should be defined"):
        F.interpolate(x, 3, 2)
    with pytest.raises(ValueError, match="align_corners option can only be set"):
        F.interpolate(x, 3, align_corners=True)
    with pytest.raises(NotImplementedError, match="linear mode needs 3D input"):
        F.interpolate(x, 3, mode="linear")


A, B = numbers(5, 6), numbers(5, 6, seed=1)
P, Q = 1 / (1 + np.exp(-A)), 1 / (1 + np.exp(-B))
CLASSES = np.array([0, 3, 5, 1, 2])
SIGNS = np.where(B > 0, 1, -1).astype(np.float32)
D = np.abs(A - B)


def log_softmax(x):
    return x - np.log(np.exp(x).sum(1, keepdims=True))


LOSSES = {
    "mse": (lambda r: F.mse_loss(tensor(A), tensor(B), reduction=r), D**2),
    "l1": (lambda r: F.l1_loss(tensor(A), tensor(B), reduction=r), D),
    "smooth_l1": (
        lambda r: F.smooth_l1_loss(tensor(A), tensor(B), reduction=r, beta=0.5),
        np.where(D < 0.5, D**2, D - 0.25),
    ),
    "huber": (
        lambda r: F.huber_loss(tensor(A), tensor(B), reduction=r, delta=0.5),
        np.where(D < 0.5, D**2 / 2, 0.5 * (D - 0.25)),
    ),
    "binary_cross_entropy": (
        lambda r: F.binary_cross_entropy(tensor(P), tensor(Q), reduction=r),
        -(Q * np.log(P) + (1 - Q) * np.log(1 - P)),
    ),
    "binary_cross_entropy_with_logits": (
        lambda r: F.binary_cross_entropy_with_logits(tensor(A), tensor(Q), reduction=r),
        -(Q * np.log(P) + (1 - Q) * np.log(1 - P)),
    ),
    "kl_div": (lambda r: F.kl_div(tensor(A), tensor(Q), reduction=r), Q * (np.log(Q) - A)),
    "kl_div of logarithms": (
        lambda r: F.kl_div(tensor(A), tensor(B), reduction=r, log_target=True),
        np.exp(B) * (B - A),
    ),
    "cross_entropy": (
        lambda r: F.cross_entropy(tensor(A), tensor(CLASSES), reduction=r),
        -log_softmax(A)[np.arange(5), CLASSES],
    ),
    "nll": (
        lambda r: F.nll_loss(tensor(log_softmax(A)), tensor(CLASSES), reduction=r),
        -log_softmax(A)[np.arange(5), CLASSES],
    ),
    "poisson": (lambda r: F.poisson_nll_loss(tensor(A), tensor(Q), reduction=r), np.exp(A) - Q * A),
    "gaussian": (
        lambda r: F.gaussian_nll_loss(tensor(A), tensor(B), tensor(Q), reduction=r),
        0.5 * (np.log(Q) + (A - B) ** 2 / Q),
    ),
    "soft_margin": (lambda r: F.soft_margin_loss(tensor(A), tensor(SIGNS), reduction=r), np.log1p(np.exp(-SIGNS * A))),
    "hinge_embedding": (
        lambda r: F.hinge_embedding_loss(tensor(A), tensor(SIGNS), reduction=r),
        np.where(SIGNS == 1, A, np.maximum(0, 1 - A)),
    ),
    "margin_ranking": (
        lambda r: F.margin_ranking_loss(tensor(A), tensor(B), tensor(SIGNS), 0.3, reduction=r),
        np.maximum(0, -SIGNS * (A - B) + 0.3),
    ),
    "triplet_margin": (
        lambda r: F.triplet_margin_loss(tensor(A), tensor(B), tensor(A[::-1]), reduction=r),
        np.maximum(0, np.linalg.norm(A - B + 1e-6, axis=1) - np.linalg.norm(A - A[::-1] + 1e-6, axis=1) + 1),
    ),
    "multi_margin": (
        lambda r: F.multi_margin_loss(tensor(A), tensor(CLASSES), reduction=r),
        [sum(max(0, 1 - a[c] + a[j]) for j in range(6) if j != c) / 6 for a, c in zip(A, CLASSES, strict=True)],
    ),
    "multilabel_soft_margin": (
        lambda r: F.multilabel_soft_margin_loss(tensor(A), tensor(np.round(Q)), reduction=r),
        -(np.round(Q) * np.log(P) + (1 - np.round(Q)) * np.log(1 - P)).mean(1),
    ),
    "cosine_embedding": (
        lambda r: F.cosine_embedding_loss(tensor(A), tensor(B), tensor(SIGNS[:, 0]), 0.1, reduction=r),
        [
            1 - c if s == 1 else max(0, c - 0.1)
            for c, s in zip((A * B).sum(1) / np.linalg.norm(A, axis=1) / np.linalg.norm(B, axis=1), SIGNS[:, 0], strict=True)
        ],
    ),
}


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("name", LOSSES)
def test_loss_has_its_formula(name, reduction):
    loss, each = LOSSES[name]
    expected = {"none": np.asarray(each), "mean": np.mean(each), "sum": np.sum(each)}[reduction]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        close(loss(reduction), expected, rtol=1e-4, atol=1e-5)


def test_cross_entropy_weights_ignores_and_smooths():
    weight = np.array([1, 2, 0.5, 1, 3, 1], dtype=np.float32)
    kept = [i for i, c in enumerate(CLASSES) if c != 3]
    logs = log_softmax(A)
    smooth = [weight[CLASSES[i]] * -logs[i, CLASSES[i]] * 0.9 + 0.1 / 6 * -(weight * logs[i]).sum() for i in kept]
    expected = np.sum(smooth) / sum(weight[CLASSES[i]] for i in kept)
    actual = F.cross_entropy(tensor(A), tensor(CLASSES), tensor(weight), ignore_index=3, label_smoothing=0.1)
    close(actual, expected, rtol=1e-4)
    probabilities = np.exp(log_softmax(B))
    close(F.cross_entropy(tensor(A), tensor(probabilities)), -(probabilities * logs).sum(1).mean(), rtol=1e-4)


def test_kl_div_batchmean_divides_by_the_batch():
    close(F.kl_div(tensor(A), tensor(Q), reduction="batchmean"), (Q * (np.log(Q) - A)).sum() / 5, rtol=1e-4)
    zeros = F.kl_div(tensor(A), trine.zeros(5, 6), reduction="sum")
    assert zeros.item() == 0


def test_multilabel_margin_counts_labels_up_to_the_first_minus_one():
    x = np.array([[0.1, 0.2, 0.4, 0.8]], dtype=np.float32)
    y = trine.tensor([[3, 0, -1, 1]])
    expected = sum(max(0, 1 - (x[0, a] - x[0, b])) for a in (3, 0) for b in (1, 2)) / 4
    close(F.multilabel_margin_loss(tensor(x), y), expected)


def test_loss_of_different_shapes_warns_and_bad_reduction_is_refused():
    with pytest.warns(UserWarning, match="Using a target size"):
        F.mse_loss(trine.zeros(2, 1), trine.zeros(2))
    with pytest.raises(ValueError, match="median is not a valid value for reduction"):
        F.l1_loss(trine.zeros(2), trine.zeros(2), reduction="median")
    with pytest.warns(UserWarning, match="please use reduction='sum' instead"):
        assert nn.MSELoss(size_average=False).reduction == "sum"


def test_one_hot_and_normalize_and_gumbel():
    assert F.one_hot(trine.tensor([[2, 0]])).tolist() == [[[0, 0, 1], [1, 0, 0]]]
    with pytest.raises(RuntimeError, match="Class values must be smaller than num_classes"):
        F.one_hot(trine.tensor([3]), 3)
    close(F.normalize(tensor(A)), A / np.linalg.norm(A, axis=1, keepdims=True))
    sample = array(F.gumbel_softmax(tensor(A), hard=True))
    assert (sample.max(1) > 0.999).all() and np.allclose(sample.sum(1), 1)
