"""Typed and untyped storages, and the names of dtypes and layouts that come later."""

from __future__ import annotations

import copy
import pickle
import struct

import pytest
import trine

NAMES = {
    "DoubleStorage": "float64", "FloatStorage": "float32", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8", "ByteStorage": "uint8",
    "BoolStorage": "bool", "ComplexFloatStorage": "complex64", "ComplexDoubleStorage": "complex128",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_each_class_holds_its_dtype(name):
    cls, dtype = getattr(trine, name), getattr(trine, NAMES[name])
    s = cls([1, 0, 1])
    assert isinstance(s, cls) and isinstance(s, trine.TypedStorage)
    assert s.dtype == cls.dtype == dtype and s.type() == f"torch.{name}" and s.tolist() == [1, 0, 1]
    assert s.nbytes() == 3 * dtype.itemsize == s.size() * s.element_size() and len(s.untyped()) == s.nbytes()
    assert not isinstance(s, trine.FloatStorage if name != "FloatStorage" else trine.DoubleStorage)
    back = pickle.loads(pickle.dumps(s))
    assert back.tolist() == s.tolist() and back.dtype == dtype and back != s


def test_a_tensors_storage_is_its_memory():
    x = trine.arange(6.0).view(2, 3)[:, 1:]
    s = x.storage()
    assert s.tolist() == [0, 1, 2, 3, 4, 5] and s.data_ptr() == x.untyped_storage().data_ptr()
    s[4] = 40
    assert x.tolist() == [[1, 2], [40, 5]]
    s.fill_(7)
    assert x.tolist() == [[7, 7], [7, 7]] and x.storage_type() is trine.FloatStorage
    assert s == x.storage() and hash(s) == hash(x.storage()) and s != s.clone()


def test_conversions_copy_and_keep_values():
    s = trine.FloatStorage([1.5, -2.5])
    assert s.int().tolist() == [1, -2] and s.int().dtype == trine.int32
    assert s.complex_double().tolist() == [1.5, -2.5] and s.float() is s and s.type("torch.DoubleStorage").dtype == trine.float64
    d = trine.DoubleStorage(2).copy_(s)
    assert d.tolist() == [1.5, -2.5]
    with pytest.raises(RuntimeError, match="copy_"):
        trine.DoubleStorage(3).copy_(s)
    assert copy.deepcopy(s).tolist() == s.tolist() and copy.deepcopy(s).data_ptr() != s.data_ptr()


def test_resize_keeps_the_first_elements():
    s = trine.LongStorage([1, 2, 3])
    assert s.resize_(2).tolist() == [1, 2] and s.resize_(5).size() == 5 and s[:2] == [1, 2]
    with pytest.raises(IndexError, match="out of range"):
        s[5]
    with pytest.raises(TypeError):
        s["a"]


def test_from_buffer_reads_the_byte_order_asked_for():
    data = struct.pack(">3i", 1, -2, 3)
    assert trine.IntStorage.from_buffer(data, "big").tolist() == [1, -2, 3]
    assert trine.IntStorage.from_buffer(data, "big", 1, 4).tolist() == [-2]
    assert trine.IntStorage.from_buffer(struct.pack("<2i", 5, 6), "little").tolist() == [5, 6]
    with pytest.raises(ValueError, match="from_buffer"):
        trine.IntStorage.from_buffer(data, "middle")
    with pytest.raises(ValueError, match="from_buffer"):
        trine.IntStorage.from_buffer(data[:5], "big")


def test_a_shared_file_mapping_writes_back(tmp_path):
    path = tmp_path / "numbers"
    s = trine.FloatStorage.from_file(str(path), True, 3)
    s.fill_(2.5)
    assert struct.unpack("3f", path.read_bytes()) == (2.5, 2.5, 2.5)
    private = trine.from_file(str(path), size=3)
    private.zero_()
    assert struct.unpack("3f", path.read_bytes()) == (2.5, 2.5, 2.5)
    with pytest.raises(RuntimeError, match="from_file"):
        trine.from_file(str(path), size=30)


def test_sharing_moves_the_bytes():
    s = trine.FloatStorage([1, 2])
    assert not s.is_shared() and s.share_memory_() is s and s.is_shared() and s.tolist() == [1, 2]


def test_untyped_storage_is_bytes():
    s = trine.UntypedStorage(3).fill_(1)
    s[1] = 9
    assert s.tolist() == [1, 9, 1] and list(s[1:]) == [9, 1] and s.float().tolist() == [1, 9, 1]
    assert repr(s) == " 1\n 9\n 1\n[torch.storage.UntypedStorage(device=cpu) of size 3]"
    assert pickle.loads(pickle.dumps(s)).tolist() == s.tolist()


def test_typed_storage_prints_as_in_pytorch():
    assert repr(trine.FloatStorage([1, 2])) == " 1.0\n 2.0\n[torch.storage.TypedStorage(dtype=torch.float32, device=cpu) of size 2]"


@pytest.mark.parametrize("name", ["qint8", "quint8", "qint32", "quint4x2", "complex32"])
def test_later_dtypes_are_names_that_operators_refuse(name):
    dtype = getattr(trine, name)
    assert repr(dtype) == f"torch.{name}" and isinstance(dtype, trine.dtype) and pickle.loads(pickle.dumps(dtype)) is dtype
    with pytest.raises(TypeError, match="dtype"):
        trine.ones(2, dtype=dtype)


def test_layouts_and_schemes_are_names():
    for name in ("sparse_coo", "sparse_csr", "_mkldnn"):
        assert repr(getattr(trine, name)) == f"torch.{name}" and isinstance(getattr(trine, name), trine.layout)
    assert repr(trine.per_tensor_affine) == "torch.per_tensor_affine" and isinstance(trine.per_tensor_affine, trine.qscheme)
    assert trine.legacy_contiguous_format is trine.contiguous_format
    with pytest.raises(RuntimeError, match="QInt8Storage"):
        trine.QInt8Storage(2)
