"""Indexing against NumPy, which has the same rules; repeated positions, bounds, shared memory, gradients."""

from __future__ import annotations

import numpy as np
import pytest
import trine

RNG = np.random.default_rng(7)
ARRAY = RNG.standard_normal((4, 5, 6))
I, J, K = RNG.integers(0, 4, 3), RNG.integers(0, 5, (2, 3)), RNG.integers(0, 6, (1, 3))
MASK0, MASK01 = np.array([True, False, True, False]), RNG.random((4, 5)) < 0.5
INDICES = {
    "first": (I,), "second": (slice(None), J), "first two": (I, J), "first and last": (I, slice(None), K),
    "last two": (slice(None), J, K), "all": (I, J, K), "negative": (I - 4,), "mask": (MASK0,), "wide mask": (MASK01,),
    "mask and number": (MASK01, 2), "number and tensor": (1, J),
    "ellipsis": (Ellipsis, K), "new axis": (I, None), "mask and slice": (MASK0, slice(1, 4, 2)), "list": ([0, 2],),
    "nothing": (np.zeros(0, np.int64),), "0-dim": (np.array(2),),
}  # fmt: skip


def to_trine(index: tuple) -> tuple:
    return tuple(trine.from_numpy(np.asarray(i)) if isinstance(i, np.ndarray) else i for i in index)


@pytest.mark.parametrize("name", INDICES)
def test_reading_follows_numpy(name):
    index = INDICES[name]
    for array in (ARRAY, ARRAY.astype(np.float32), ARRAY.swapaxes(0, 2).copy().swapaxes(0, 2)):
        ours = trine.from_numpy(array)[to_trine(index)]
        np.testing.assert_array_equal(ours.numpy(), array[index])


@pytest.mark.parametrize("name", INDICES)
def test_writing_follows_numpy(name):
    index = INDICES[name]
    for value in (7.0, ARRAY[index] * 2):
        array, tensor = ARRAY.copy(), trine.from_numpy(ARRAY.copy())
        array[index] = value
        tensor[to_trine(index)] = value if isinstance(value, float) else trine.from_numpy(np.asarray(value))
        np.testing.assert_array_equal(tensor.numpy(), array)


@pytest.mark.parametrize("name", ["first", "second", "first and last", "all", "wide mask", "negative"])
def test_reading_has_first_and_second_derivatives(name):
    x = trine.from_numpy(ARRAY.copy()).requires_grad_()
    index = to_trine(INDICES[name])
    assert trine.autograd.gradcheck(lambda t: t[index], (x,))
    assert trine.autograd.gradgradcheck(lambda t: t[index] ** 2, (x,))


def test_repeated_positions_add_up_or_the_last_one_stays():
    places = (trine.tensor([1, 1, 3]),)
    numbers = trine.tensor([1.0, 2.0, 3.0])
    assert trine.zeros(4).index_put(places, numbers, accumulate=True).tolist() == [0, 3, 0, 3]
    assert trine.zeros(4).index_put(places, numbers).tolist() == [0, 2, 0, 3]


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        ((trine.tensor([0, 5]),), IndexError, "index 5 is out of bounds for dimension 0 with size 4"),
        ((trine.tensor([-5]),), IndexError, "index -5 is out of bounds"),
        ((trine.tensor([True, False]),), IndexError, "does not match the shape of the indexed tensor"),
        ((0, 0, 0, 0), IndexError, "too many indices"),
        ((trine.tensor([0, 1]), trine.tensor([0, 1, 2])), IndexError, "could not be broadcast together"),
        ((trine.tensor([0.5]),), IndexError, "tensors used as indices must be"),
    ],
)
def test_wrong_indices_are_named(index, error, text):
    with pytest.raises(error, match=text):
        trine.from_numpy(ARRAY)[index]


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 70, 3), (1, 3, 200)], ids=str)
def test_gather_and_scatter_add_walk_every_dimension(dim, shape):
    array = RNG.standard_normal(shape)
    index = RNG.integers(0, shape[dim], [max(1, n - 1) if d != dim else 6 for d, n in enumerate(shape)])
    corner = array[tuple(slice(None) if d == dim else slice(index.shape[d]) for d in range(3))]
    tensor, places = trine.from_numpy(array), trine.from_numpy(index)
    np.testing.assert_array_equal(tensor.gather(dim, places).numpy(), np.take_along_axis(corner, index, dim))
    source = RNG.standard_normal(index.shape)
    expected = array.copy()
    for at in np.ndindex(*index.shape):
        expected[tuple(index[at] if d == dim else at[d] for d in range(3))] += source[at]
    np.testing.assert_allclose(tensor.scatter_add(dim, places, trine.from_numpy(source)).numpy(), expected)


def test_gather_refuses_positions_outside():
    for bad in (5, -1):
        with pytest.raises(RuntimeError, match="out of bounds for dimension 0 with size 3"):
            trine.ones(3).gather(0, trine.tensor([bad]))


def test_an_update_refuses_a_source_in_its_own_memory():
    x = trine.arange(6.0)
    with pytest.raises(RuntimeError, match="single memory location"):
        x[:3].scatter_(0, trine.tensor([0, 1, 2]), x[1:4])
    with pytest.raises(RuntimeError, match="single memory location"):
        trine.ones(1).expand(3).index_fill_(0, trine.tensor([0]), 2.0)


def test_updates_write_through_strided_views():
    x = trine.zeros(4, 6)
    x.t().index_add_(0, trine.tensor([1, 1]), trine.ones(2, 4))
    assert x.sum(0).tolist() == [0, 8, 0, 0, 0, 0]
    x[:, ::2].masked_fill_(trine.tensor([True, False, True]), 5.0)
    assert x[0].tolist() == [5, 2, 0, 0, 5, 0]


def test_masks_select_scatter_and_count():
    x, mask = trine.from_numpy(ARRAY), trine.from_numpy(MASK01)
    np.testing.assert_array_equal(trine.nonzero(mask).numpy(), np.argwhere(MASK01))
    for ours, theirs in zip(trine.where(mask), np.nonzero(MASK01), strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs)
    wide = mask.unsqueeze(-1)
    np.testing.assert_array_equal(x.masked_select(wide).numpy(), ARRAY[MASK01].reshape(-1))
    filled = trine.zeros(4, 5).masked_scatter(mask, trine.arange(20.0))
    np.testing.assert_array_equal(filled.numpy()[MASK01], np.arange(MASK01.sum()))
    with pytest.raises(RuntimeError, match="number of ones in mask"):
        trine.zeros(4, 5).masked_scatter(mask, trine.zeros(1))


def test_a_large_mask_gives_the_same_positions_with_any_number_of_threads():
    array = RNG.random(200_003) < 0.3
    before = trine.get_num_threads()
    try:
        for threads in (1, 2):
            trine.set_num_threads(threads)
            np.testing.assert_array_equal(trine.from_numpy(array).nonzero().numpy()[:, 0], np.flatnonzero(array))
    finally:
        trine.set_num_threads(before)


def test_writing_a_differentiable_value_to_a_plain_tensor_is_recorded():
    w = trine.ones(2, requires_grad=True)
    x = trine.zeros(3, 2)
    x[1] = w * 3
    x[:, trine.tensor([0])] = w[:1] * 5
    x.sum().backward()
    assert w.grad.tolist() == [15.0, 3.0]


def test_embedding_leaves_the_padding_row_alone():
    weight = trine.ones(4, 2, requires_grad=True)
    trine.nn.functional.embedding(trine.tensor([1, 1, 3]), weight, padding_idx=3).sum().backward()
    assert weight.grad.tolist() == [[0, 0], [2, 2], [0, 0], [0, 0]]


@pytest.mark.parametrize("name", ["index_reduce", "scatter_reduce"])
def test_gradients_of_reductions_into_positions_with_ties_and_zeros(name):
    """Values of PyTorch 2.13: equal extremes share a gradient, a lone zero factor gets the product of the others."""
    wanted = {
        ("prod", True): ([1, 0, 0, 1], [0, 1, 4, 0]),
        ("mean", True): ([1, 1 / 3, 1 / 3, 1], [1 / 3] * 4),
        ("amax", True): ([1, 0.5, 0.5, 1], [0.5, 0, 0, 0.5]),
        ("amin", True): ([1, 0, 0, 1], [0, 1, 1, 0]),
        ("prod", False): ([1, 0, 0, 1], [0, 1, 2, 0]),
        ("mean", False): ([1, 0, 0, 1], [0.5] * 4),
        ("amax", False): ([1, 0, 0, 1], [0.5, 0, 0, 0.5]),
        ("amin", False): ([1, 0, 0, 1], [0, 1, 1, 0]),
    }
    index = trine.tensor([1, 1, 2, 2])
    for (reduce, include_self), (to_self, to_source) in wanted.items():
        x, source = trine.tensor([0.0, 1, 2, 3], requires_grad=True), trine.tensor([1.0, 0, 0, 2], requires_grad=True)
        getattr(trine, name)(x, 0, index, source, reduce, include_self=include_self).sum().backward()
        assert x.grad.allclose(trine.tensor(to_self, dtype=trine.float32)), (reduce, include_self)
        assert source.grad.allclose(trine.tensor(to_source, dtype=trine.float32)), (reduce, include_self)


def test_index_reduce_refuses_what_pytorch_refuses():
    x, source = trine.zeros(4, 3), trine.ones(2, 3)
    for error, arguments in [
        (RuntimeError, (0, trine.tensor([0, 1]), source, "sum")),
        (RuntimeError, (0, trine.tensor([0, 1, 2]), source, "prod")),
        (RuntimeError, (0, trine.tensor([0.0, 1.0]), source, "prod")),
        (RuntimeError, (0, trine.tensor([0, 1]), source.double(), "prod")),
        (RuntimeError, (0, trine.tensor([0, 1]), trine.ones(2, 2), "prod")),
        (IndexError, (0, trine.tensor([0, 4]), source, "prod")),
        (IndexError, (0, trine.tensor([0, -1]), source, "mean")),
        (IndexError, (2, trine.tensor([0, 1]), source, "prod")),
        (IndexError, (0, trine.tensor([[0, 1]]), source, "prod")),
    ]:
        with pytest.raises(error):
            x.index_reduce(*arguments)
    assert x.eq(0).all()
    with pytest.raises(NotImplementedError):
        (x > 0).index_reduce(0, trine.tensor([0, 1]), source > 0, "mean")
    with pytest.raises(NotImplementedError):
        x.cfloat().index_reduce(0, trine.tensor([0, 1]), source.cfloat(), "amax")
