"""NumPy arrays and tensors share memory, and other objects with memory too."""

from __future__ import annotations

import array
import gc

import numpy as np
import pytest
import trine

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("name", DTYPES)
def test_arrays_share_their_memory_both_ways(name):
    a = np.ones((2, 3), dtype=name)
    t = trine.from_numpy(a)
    assert t.dtype == getattr(trine, name) and t.shape == (2, 3)
    a[0, 1] = 0
    assert t[0, 1].item() == 0
    b = t.numpy()
    assert b.dtype == a.dtype and np.shares_memory(a, b)
    b[1, 2] = 0
    assert a[1, 2] == 0 and t[1, 2].item() == 0


@pytest.mark.parametrize("view", [np.s_[::2], np.s_[1:, ::3], np.s_[:, None], np.s_[..., 0]])
def test_strided_arrays_keep_their_strides(view):
    a = np.arange(24.0).reshape(4, 6)[view]
    t = trine.from_numpy(a)
    assert np.array_equal(np.array(t.tolist()), a)
    assert np.array_equal(t.numpy(), a)
    assert [s for s, n in zip(t.numpy().strides, a.shape, strict=True) if n > 1] == [
        s for s, n in zip(a.strides, a.shape, strict=True) if n > 1
    ]


def test_0_dim_and_empty():
    assert trine.tensor(5).numpy() == 5 and trine.tensor(5).numpy().shape == ()
    assert trine.empty(0, 3).numpy().shape == (0, 3)
    assert trine.from_numpy(np.empty((0, 2))).shape == (0, 2)
    assert trine.from_numpy(np.array(3.5)).item() == 3.5


def test_memory_lives_as_long_as_either_side():
    a = trine.arange(1000).numpy()
    gc.collect()
    assert a.sum() == 499500
    t = trine.from_numpy(np.arange(1000))
    gc.collect()
    assert t.sum().item() == 499500


def test_what_numpy_cannot_take_is_refused():
    with pytest.raises(RuntimeError, match=r"detach\(\)"):
        trine.ones(1, requires_grad=True).numpy()
    with pytest.raises(TypeError, match="BFloat16"):
        trine.ones(1, dtype=trine.bfloat16).numpy()
    with pytest.raises(TypeError, match="meta"):
        trine.ones(1, device="meta").numpy()
    assert trine.ones(1, requires_grad=True).numpy(force=True).tolist() == [1.0]


def test_what_trine_cannot_take_is_refused():
    with pytest.raises(TypeError):
        trine.from_numpy([1, 2])
    with pytest.raises(TypeError, match="can't convert"):
        trine.from_numpy(np.array([None]))
    with pytest.raises(ValueError, match="negative"):
        trine.from_numpy(np.arange(3)[::-1])


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writ")
def test_read_only_arrays_are_taken():
    a = np.arange(3)
    a.flags.writeable = False
    assert trine.from_numpy(a).tolist() == [0, 1, 2]


def test_numpy_functions_take_tensors():
    t = trine.tensor([1.0, 4.0])
    assert np.sqrt(t).tolist() == [1.0, 2.0]
    assert np.asarray(t, dtype=np.float64).dtype == np.float64
    copied = np.array(t)
    copied[0] = 9
    assert t.tolist() == [1.0, 4.0]
    assert np.shares_memory(np.asarray(t), t.numpy())
    assert np.stack([t, t]).shape == (2, 2)


def test_tensor_takes_arrays_and_numpy_numbers():
    a = np.array([[1, 2], [3, 4]], dtype=np.int16)
    t = trine.tensor(a)
    assert t.dtype == trine.int16 and t.tolist() == a.tolist()
    a[0, 0] = 9
    assert t[0, 0].item() == 1
    assert np.shares_memory(trine.as_tensor(a).numpy(), a)
    assert trine.tensor(np.float32(1.5)).item() == 1.5
    assert trine.tensor([np.float64(1.5), np.int64(2)]).tolist() == [1.5, 2.0]
    assert (trine.ones(2) * np.float64(2.5)).tolist() == [2.5, 2.5]
    assert trine.zeros(np.int64(3)).shape == (3,)
    assert trine.arange(5)[np.int64(2)].item() == 2
    assert trine.arange(5)[np.array([0, 3])].tolist() == [0, 3]


def test_an_array_and_a_tensor_in_one_expression():
    t = trine.ones(2) + np.array([1.0, 2.0])
    assert isinstance(t, trine.Tensor) and t.tolist() == [2.0, 3.0]


def test_frombuffer_shares_bytes():
    data = bytearray(range(8))
    t = trine.frombuffer(data, dtype=trine.uint8, offset=2, count=3)
    data[2] = 77
    assert t.tolist() == [77, 3, 4]
    assert trine.frombuffer(array.array("f", [1.5, 2.5]), dtype=trine.float32).tolist() == [1.5, 2.5]
    with pytest.raises(ValueError):
        trine.frombuffer(data, dtype=trine.float32, offset=5)
    with pytest.raises(ValueError):
        trine.frombuffer(b"", dtype=trine.uint8)
