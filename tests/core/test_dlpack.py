"""DLPack: memory shared with other libraries through one protocol."""

from __future__ import annotations

import gc

import numpy as np
import pytest
import trine

DTYPES = ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128", "bool"]


@pytest.mark.parametrize("name", DTYPES)
def test_numpy_reads_and_writes_a_tensors_memory(name):
    t = trine.ones(2, 3, dtype=getattr(trine, name))
    a = np.from_dlpack(t)
    assert a.dtype == np.dtype(name) and a.shape == (2, 3)
    t[0, 1] = 0
    assert a[0, 1] == 0


@pytest.mark.parametrize("name", DTYPES)
def test_a_tensor_on_numpys_memory(name):
    a = np.ones((2, 3), dtype=name)
    t = trine.from_dlpack(a)
    assert t.dtype == getattr(trine, name)
    a[1, 2] = 0
    assert t[1, 2].item() == 0


def test_strides_and_offsets_travel():
    t = trine.arange(24.0).reshape(4, 6)[1:, ::2].t()
    assert np.array_equal(np.from_dlpack(t), t.numpy())
    back = trine.from_dlpack(t)
    assert back.stride() == t.stride() and back.data_ptr() == t.data_ptr()


def test_memory_outlives_the_exporter():
    a = np.from_dlpack(trine.arange(100))
    gc.collect()
    assert a.sum() == 4950
    t = trine.from_dlpack(np.arange(100))
    gc.collect()
    assert t.sum().item() == 4950


def test_a_capsule_is_used_once_and_an_unused_one_is_freed():
    t = trine.arange(3)
    capsule = trine.utils.dlpack.to_dlpack(t)
    assert trine.utils.dlpack.from_dlpack(capsule).tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError):
        trine.from_dlpack(capsule)
    for _ in range(100):
        t.__dlpack__()


def test_device_and_copy_requests():
    t = trine.ones(2)
    assert tuple(t.__dlpack_device__()) == (1, 0)
    a = np.from_dlpack(t)
    assert np.shares_memory(a, t.numpy())
    with pytest.raises(BufferError, match="require gradient"):
        trine.ones(1, requires_grad=True).__dlpack__()


def test_0_dim_empty_and_bfloat16():
    assert trine.from_dlpack(trine.tensor(5)).item() == 5
    assert trine.from_dlpack(trine.empty(0, 3)).shape == (0, 3)
    assert trine.from_dlpack(trine.ones(2, dtype=trine.bfloat16)).dtype == trine.bfloat16


def test_what_is_no_capsule_is_refused():
    with pytest.raises((TypeError, RuntimeError, ValueError)):
        trine.from_dlpack(3)
