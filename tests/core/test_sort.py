"""Sorting and selection against NumPy: order, stability, NaN, both sides of the radix threshold."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import trine

DTYPES = ["uint8", "int8", "int16", "int32", "int64", "float32", "float64"]


def values(dtype: str, *shape: int, distinct: int = 40) -> np.ndarray:
    drawn = np.random.default_rng(5).integers(-distinct, distinct, shape)
    return (drawn if dtype != "uint8" else np.abs(drawn)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1, 10, 511, 5000])
def test_equal_elements_keep_their_order(dtype, size):
    array = values(dtype, size)
    sorted_values, indices = trine.from_numpy(array).sort()
    np.testing.assert_array_equal(indices.numpy(), np.argsort(array, kind="stable"))
    np.testing.assert_array_equal(sorted_values.numpy(), np.sort(array))
    down = trine.from_numpy(array).sort(descending=True).indices.numpy()
    np.testing.assert_array_equal(down, np.argsort(-array.astype(np.float64), kind="stable"))


@pytest.mark.parametrize("size", [6, 2000])
def test_nan_is_the_largest_and_both_zeros_are_equal(size):
    array = np.resize(np.array([np.nan, 0.0, -0.0, np.inf, -np.inf, 1.0], np.float32), size)
    indices = trine.from_numpy(array).sort().indices.numpy()
    np.testing.assert_array_equal(indices, np.argsort(array, kind="stable"))


def test_64_bit_integers_are_not_rounded():
    array = np.array([2**62 + 1, 2**62, -(2**62) - 1, 2**62 + 2])
    assert trine.from_numpy(array).argsort().tolist() == [2, 1, 0, 3]


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_every_dimension_and_layout_can_be_sorted(dim):
    array = values("float32", 4, 60, 5)
    tensor = trine.from_numpy(array).transpose(0, 2).contiguous().transpose(0, 2)
    np.testing.assert_array_equal(tensor.sort(dim).values.numpy(), np.sort(array, dim))


@pytest.mark.parametrize("k", [1, 3, 40, 70])
def test_topk_and_kthvalue_pick_by_rank(k):
    array = np.random.default_rng(6).permutation(8 * 70).reshape(8, 70).astype(np.float32)
    tensor = trine.from_numpy(array)
    np.testing.assert_array_equal(tensor.topk(k).values.numpy(), -np.sort(-array, 1)[:, :k])
    low, where = tensor.topk(k, largest=False)
    np.testing.assert_array_equal(low.numpy(), np.sort(array, 1)[:, :k])
    np.testing.assert_array_equal(np.take_along_axis(array, where.numpy(), 1), low.numpy())
    np.testing.assert_array_equal(tensor.kthvalue(k).values.numpy(), np.sort(array, 1)[:, k - 1])


def test_median_is_the_lower_middle_and_nan_when_one_is():
    x = trine.tensor([[4.0, 1.0, 3.0, 2.0], [1.0, float("nan"), 0.0, 5.0]])
    values_, indices = x.median(1)
    assert values_[0].item() == 2.0 and values_[1].isnan().item() and indices.tolist() == [3, 1]
    assert x.nanmedian(1).values.tolist() == [2.0, 1.0]


def test_unique_gives_values_places_and_counts():
    array = values("int64", 300, distinct=10)
    found, inverse, counts = trine.unique(trine.from_numpy(array), return_inverse=True, return_counts=True)
    expected = np.unique(array, return_inverse=True, return_counts=True)
    for ours, theirs in zip((found, inverse, counts), expected, strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs.reshape(-1))


@pytest.mark.parametrize("right", [False, True])
def test_searchsorted_finds_the_same_places_as_numpy(right):
    edges, wanted = np.sort(values("float64", 30)), values("float64", 200)
    ours = trine.searchsorted(trine.from_numpy(edges), trine.from_numpy(wanted), right=right)
    np.testing.assert_array_equal(ours.numpy(), np.searchsorted(edges, wanted, "right" if right else "left"))


def test_ranks_out_of_range_are_refused():
    with pytest.raises(RuntimeError, match="topk"):
        trine.ones(3).topk(4)
    with pytest.raises(RuntimeError, match="kthvalue"):
        trine.ones(3).kthvalue(0)


@pytest.mark.parametrize("shape, dim", [((6,), 0), ((6, 2), 0), ((2, 6), 1), ((3, 4, 2), -2), ((0, 3), 0), ((1, 3), 0)])
def test_unique_consecutive_of_slices(shape, dim):
    x = trine.randint(0, 2, shape, generator=trine.Generator().manual_seed(3))
    values, inverse, counts = trine.unique_consecutive(x, return_inverse=True, return_counts=True, dim=dim)
    groups = [(k, len(list(g))) for k, g in itertools.groupby(x.movedim(dim, 0).tolist())]
    assert values.movedim(dim, 0).tolist() == [k for k, _ in groups]
    assert counts.tolist() == [n for _, n in groups]
    assert trine.equal(values.index_select(dim, inverse), x)


def test_unique_consecutive_of_no_elements_is_refused():
    with pytest.raises(RuntimeError, match="0 sized dimensions"):
        trine.unique_consecutive(trine.zeros(3, 0), dim=0)
    with pytest.raises(IndexError):
        trine.unique_consecutive(trine.zeros(2), dim=1)
