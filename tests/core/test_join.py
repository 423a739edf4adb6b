"""Joining and padding: dtypes, layouts, the empty vectors that may be joined with anything."""

from __future__ import annotations

import numpy as np
import pytest
import trine


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_cat_joins_any_layout(dim):
    arrays = [np.random.default_rng(n).standard_normal((3, 4, 5)) for n in range(3)]
    tensors = [
        trine.from_numpy(arrays[0]),
        trine.from_numpy(arrays[1]).transpose(0, 2).contiguous().transpose(0, 2),
        trine.from_numpy(arrays[2]),
    ]
    np.testing.assert_array_equal(trine.cat(tensors, dim).numpy(), np.concatenate(arrays, dim))


def test_cat_promotes_dtypes():
    joined = trine.cat([trine.ones(2), trine.tensor([3]), trine.ones(1, dtype=trine.float64)])
    assert joined.dtype == trine.float64 and joined.tolist() == [1, 1, 3, 1]


def test_cat_skips_empty_vectors_and_checks_the_others():
    assert trine.cat([trine.zeros(0), trine.ones(2, 3)]).shape == (2, 3)
    with pytest.raises(RuntimeError, match="Sizes of tensors must match except in dimension 0"):
        trine.cat([trine.ones(2, 3), trine.ones(2, 4)])
    with pytest.raises(RuntimeError, match="zero-dimensional tensor"):
        trine.cat([trine.tensor(1.0)])
    with pytest.raises(ValueError, match="non-empty list"):
        trine.cat([])


def test_cat_keeps_channels_last():
    picture = trine.ones(2, 3, 4, 5).contiguous(memory_format=trine.channels_last)
    assert trine.cat([picture, picture], 1).is_contiguous(memory_format=trine.channels_last)
    assert trine.cat([picture, trine.ones(2, 3, 4, 5)], 1).is_contiguous()


def test_a_large_cat_is_whole():
    a, b = trine.arange(400_000), trine.arange(300_000) + 400_000
    assert bool((trine.cat([a, b]) == trine.arange(700_000)).all())


def test_gradients_go_back_to_each_part():
    a, b = trine.ones(2, requires_grad=True), trine.ones(3, requires_grad=True)
    (trine.cat([a, b]) * trine.arange(5.0)).sum().backward()
    assert a.grad.tolist() == [0, 1] and b.grad.tolist() == [2, 3, 4]


@pytest.mark.parametrize(
    ("name", "numpy_name"), [("hstack", "hstack"), ("vstack", "vstack"), ("dstack", "dstack"), ("column_stack", "column_stack")]
)
def test_stacks_follow_numpy(name, numpy_name):
    for shape in [(3,), (2, 3)]:
        a = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
        ours = getattr(trine, name)([trine.from_numpy(a), trine.from_numpy(a + 10)])
        np.testing.assert_array_equal(ours.numpy(), getattr(np, numpy_name)([a, a + 10]))


def test_negative_padding_cuts():
    x = trine.arange(12.0).reshape(3, 4)
    padded = trine.nn.functional.pad(x, (1, -2, -1, 1), value=9.0)
    assert padded.tolist() == [[9, 4, 5], [9, 8, 9], [9, 9, 9]]
    with pytest.raises(RuntimeError, match="negative output size"):
        trine.nn.functional.pad(x, (-3, -2))


@pytest.mark.parametrize("shifts,dims", [(1, None), (-2, 0), ((1, 2), (0, 1))])
def test_roll_follows_numpy(shifts, dims):
    a = np.arange(12).reshape(3, 4)
    ours = trine.roll(trine.from_numpy(a), shifts) if dims is None else trine.roll(trine.from_numpy(a), shifts, dims)
    np.testing.assert_array_equal(ours.numpy(), np.roll(a, shifts, dims))
