"""safetensors files: exchanged with the reference implementation, and refused when anything in them disagrees."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
import safetensors.numpy as reference
import trine
from trine.serialization import inspect, load_safetensors, save_safetensors


def raw(header: object, data: bytes = b"", length: int | None = None) -> bytes:
    """A file with that header, whatever it says."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def tensor(dtype="F32", shape=(2,), begin=0, end=8) -> dict:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def samples() -> dict:
    names = "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64"
    found = {name: trine.tensor([[0, 1, 2], [3, 4, 5]]).to(getattr(trine, name)) for name in names.split()}
    return {**found, "scalar": trine.tensor(1.5), "empty": trine.zeros(0, 4), "transposed": trine.arange(6.0).reshape(2, 3).t()}


def test_the_reference_implementation_reads_what_we_write(tmp_path):
    path = tmp_path / "x.safetensors"
    save_safetensors({**samples(), "ünï": trine.ones(1)}, path, metadata={"format": "pt"})
    found = reference.load_file(path)
    assert set(found) == {*samples(), "ünï"}
    for name, value in samples().items():
        assert np.array_equal(found[name], value.numpy()) and found[name].dtype == value.numpy().dtype


@pytest.mark.parametrize("mmap", [None, False])
def test_we_read_what_the_reference_implementation_writes(tmp_path, mmap):
    path = tmp_path / "x.safetensors"
    arrays = {name: np.ascontiguousarray(value.numpy()) for name, value in samples().items()}
    reference.save_file(arrays, path, metadata={"a": "b"})
    found = load_safetensors(path, mmap=mmap)
    assert set(found) == set(arrays)
    for name, array in arrays.items():
        assert np.array_equal(found[name].numpy(), array) and tuple(found[name].shape) == array.shape
    assert inspect(path).metadata == {"a": "b"}


def test_bfloat16_comes_back(tmp_path):
    path = tmp_path / "x.safetensors"
    save_safetensors({"w": trine.tensor([1.5, -2.0], dtype=trine.bfloat16)}, path)
    assert load_safetensors(path)["w"].dtype == trine.bfloat16
    assert trine.load(path)["w"].tolist() == [1.5, -2.0]


def test_tensors_use_the_mapping_and_leave_the_file_alone(tmp_path):
    path = tmp_path / "x.safetensors"
    save_safetensors({"a": trine.ones(1000), "b": trine.zeros(3, dtype=trine.int8), "c": trine.ones(5)}, path)
    before = path.read_bytes()
    found = load_safetensors(path)
    assert all(t.data_ptr() % 4 == 0 for t in found.values())
    for value in found.values():
        value.fill_(3)
    assert path.read_bytes() == before


def test_other_devices(tmp_path):
    path = tmp_path / "x.safetensors"
    save_safetensors({"a": trine.ones(2, 3)}, path)
    found = load_safetensors(path, device="meta")["a"]
    assert found.device.type == "meta" and tuple(found.shape) == (2, 3)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "shorter"),
        (b"\0" * 7, "shorter"),
        (raw({}, length=99), "longer than the file"),
        (raw({}, length=200_000_000), "the format allows"),
        (raw(b"[1]"), "does not begin"),
        (raw(b'{"a":'), "no JSON"),
        (raw(b"{" + b'"a":{' * 100_000), "no JSON"),
        (raw(b'{"a":NaN}'), "NaN"),
        (raw(b"{\xff}"), "no JSON"),
        (raw({"a": 1}), "not described"),
        (raw({"a": {**tensor(), "extra": 1}}, b"\0" * 8), "not described"),
        (raw({"a": tensor("F31")}, b"\0" * 8), "unknown dtype"),
        (raw({"a": tensor(shape=[-1, -2])}, b"\0" * 8), "no list of sizes"),
        (raw({"a": tensor(shape=[2.0])}, b"\0" * 8), "no list of sizes"),
        (raw({"a": tensor(shape=[True, 2])}, b"\0" * 8), "no list of sizes"),
        (raw({"a": tensor(shape=[1 << 62, 1 << 62])}, b"\0" * 8), "needs"),
        (raw({"a": tensor(end=4)}, b"\0" * 4), "needs 8 bytes"),
        (raw({"a": tensor(begin=8, end=0)}, b"\0" * 8), "lies at"),
        (raw({"a": tensor(begin=-8, end=0)}, b"\0" * 8), "lies at"),
        (raw({"a": tensor(end=8)}), "lies at"),
        (raw({"a": tensor(), "b": tensor()}, b"\0" * 8), "overlaps"),
        (raw({"a": tensor(), "b": tensor(begin=12, end=20)}, b"\0" * 20), "gap"),
        (raw({"a": tensor()}, b"\0" * 9), "end at byte 8"),
        (raw({"a": tensor(), "__metadata__": {"x": 1}}, b"\0" * 8), "map of strings"),
        (raw(b'{"a":%s,"a":%s}' % ((json.dumps(tensor()).encode(),) * 2), b"\0" * 8), "twice"),
    ],
)
def test_a_header_that_disagrees_is_refused(content, reason, tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    with pytest.raises(pickle.UnpicklingError, match=reason):
        load_safetensors(path)


def test_what_cannot_be_saved_is_named(tmp_path):
    path = tmp_path / "x.safetensors"
    for tensors, error, reason in (
        ({"w": trine.ones(1, dtype=trine.complex128)}, ValueError, "complex128"),
        ({"__metadata__": trine.ones(1)}, ValueError, "reserved"),
        ({"w": 1}, TypeError, "int"),
        ([trine.ones(1)], TypeError, "list"),
    ):
        with pytest.raises(error, match=reason):
            save_safetensors(tensors, path)
    with pytest.raises(TypeError, match="metadata"):
        save_safetensors({}, path, metadata={"a": 1})
    assert not path.exists()
