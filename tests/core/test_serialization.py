"""A user's checkpoints: what PyTorch wrote loads, what is saved comes back, nothing is lost on the way to the disk."""

from __future__ import annotations

import collections
import io
import os
import pickle
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import trine
from trine.serialization import CorruptFileError, UnsafeFileError, inspect

CHECKPOINTS = Path(__file__).resolve().parent / "checkpoints"
FILES = ["zip_protocol2.pt", "zip_protocol3.pt", "zip_protocol4.pt", "zip_protocol5.pt", "legacy.pt"]


def rounds(obj, **options):
    """``obj`` after a save and a load in memory."""
    buffer = io.BytesIO()
    trine.save(obj, buffer)
    buffer.seek(0)
    return trine.load(buffer, **options)


def check_everything(found):
    """Compare with what ``checkpoints/make.py`` saved."""
    base = found["base"]
    assert base.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert found["row"].tolist() == [4, 5, 6, 7]
    assert found["transposed"].stride() == (1, 4) and found["transposed"][1].tolist() == [1, 5, 9]
    assert found["strided"].tolist() == [[1, 3], [9, 11]]
    assert found["expanded"].tolist() == [7.0] * 5 and found["expanded"].stride() == (0,)
    assert found["scalar"].shape == () and found["scalar"].item() == 2.5
    assert tuple(found["empty"].shape) == (0, 3)
    for name, tensor in found["dtypes"].items():
        assert tensor.dtype == getattr(trine, name)
        assert [complex(x) for x in tensor.tolist()] == ([0, 1, 1] if name == "bool" else [0, 1, 2])
    assert isinstance(found["parameter"], trine.nn.Parameter) and found["parameter"].requires_grad
    assert found["parameter"].tolist() == [3.0, 3.0]
    assert isinstance(found["frozen"], trine.nn.Parameter) and not found["frozen"].requires_grad
    assert found["leaf"].requires_grad and not isinstance(found["leaf"], trine.nn.Parameter)
    assert found["marked"].label == "a tensor with an attribute"
    assert list(found["model"]) == [
        "0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var", "1.num_batches_tracked",
    ]  # fmt: skip
    assert type(found["model"]) is collections.OrderedDict and found["model"]._metadata["1"] == {"version": 2}
    assert found["optimizer"]["param_groups"][0]["lr"] == 0.25
    assert found["optimizer"]["state"][0]["step"].item() == 1.0
    assert found["meta"].device.type == "meta" and tuple(found["meta"].shape) == (2, 3)
    assert found["device"] == trine.device("cpu") and found["cuda"] == trine.device("cuda", 1)
    assert found["dtype"] is trine.bfloat16
    assert isinstance(found["size"], trine.Size) and tuple(found["size"]) == (2, 3)
    assert found["ordered"] == collections.OrderedDict(z=1, a=2) and list(found["ordered"]) == ["z", "a"]
    assert found["default"] == {"k": [1]} and found["default"].default_factory is list
    assert found["counter"] == collections.Counter("aab") and type(found["counter"]) is collections.Counter
    assert found["set"] == {1, 2, 3} and found["tuple"] == (1, (2, ("three", None)))
    expected = [0, 255, 256, 65535, 65536, -1, 2**31 - 1, -(2**31), 2**63, -(2**70), 0.1, float("inf"), 1 + 2j, True, False]
    assert found["numbers"] == expected and [type(n) for n in found["numbers"]] == [type(n) for n in expected]
    assert found["text"] == "naïve \N{SNOWMAN} \U0001f40d" and found["bytes"] == b"\x00\xff\n"
    assert found["bytearray"] == bytearray(b"\x00\xff")
    array, scalar = found["numpy"]["array"], found["numpy"]["scalar"]
    assert array.dtype == np.int16 and array.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert isinstance(scalar, np.float64) and scalar == 0.5


@pytest.mark.parametrize("mmap", [None, False])
@pytest.mark.parametrize("name", FILES)
def test_files_of_pytorch_load_from_a_path(name, mmap):
    check_everything(trine.load(CHECKPOINTS / name, mmap=mmap))


@pytest.mark.parametrize("name", FILES)
def test_files_of_pytorch_load_from_an_open_file_and_from_memory(name):
    with open(CHECKPOINTS / name, "rb") as file:
        check_everything(trine.load(file))
    check_everything(trine.load(io.BytesIO((CHECKPOINTS / name).read_bytes()), weights_only=False))


def test_a_file_without_random_access_loads():
    class Pipe:
        def __init__(self, data):
            self.data = data

        def read(self, count=-1):
            return self.data

    check_everything(trine.load(Pipe((CHECKPOINTS / FILES[0]).read_bytes())))


def test_what_was_loaded_can_be_saved_and_comes_back(tmp_path):
    found = trine.load(CHECKPOINTS / FILES[0])
    del found["marked"]  # Python attributes of tensors are not saved
    trine.save(found, tmp_path / "again.pt")
    again = trine.load(tmp_path / "again.pt")
    again["marked"] = trine.load(CHECKPOINTS / FILES[0])["marked"]
    check_everything(again)


def test_tensors_that_share_memory_share_it_again():
    base = trine.arange(6.0)
    found = rounds({"all": base, "part": base[2:4], "again": base})
    assert found["all"] is found["again"]
    found["part"].fill_(9)
    assert found["all"].tolist() == [0, 1, 9, 9, 4, 5]


def test_one_memory_under_two_dtypes_is_saved_once():
    floats = trine.ones(4)
    found = rounds([floats, floats.view(trine.int32)])
    assert found[1].tolist() == [0x3F800000] * 4
    found[0].zero_()
    assert found[1].tolist() == [0] * 4


def test_containers_that_contain_themselves_come_back():
    items: list = []
    pair = (items, "x")
    items.append(pair)
    found = rounds({"pair": pair, "items": items})
    assert found["pair"][0] is found["items"] and found["items"][0] is found["pair"]


@pytest.mark.parametrize("count", [0, 1, 999, 1000, 1001, 70_000])
def test_containers_of_any_length_come_back(count):
    assert rounds(list(range(count))) == list(range(count))
    assert rounds({str(i): i for i in range(count)}) == {str(i): i for i in range(count)}
    assert rounds(tuple(range(count))) == tuple(range(count))


def test_numpy_values_come_back():
    values = [np.float32(1.5), np.int64(-3), np.bool_(True), np.arange(6, dtype=">i4").reshape(2, 3).T, np.zeros((0, 2), np.complex64)]
    for value, found in zip(values, rounds(values), strict=True):
        assert np.array_equal(found, value) and found.shape == value.shape and found.dtype == value.dtype.newbyteorder("=")


def test_writing_to_a_mapped_tensor_leaves_the_file_alone(tmp_path):
    path = tmp_path / "weights.pt"
    trine.save({"w": trine.ones(1000)}, path)
    before = path.read_bytes()
    trine.load(path)["w"].zero_()
    assert path.read_bytes() == before
    assert trine.load(path)["w"].sum().item() == 1000


def test_a_mapped_tensor_outlives_the_replacement_of_its_file(tmp_path):
    path = tmp_path / "weights.pt"
    trine.save(trine.ones(100_000), path)
    old = trine.load(path)
    trine.save(trine.zeros(5), path)
    assert old.sum().item() == 100_000 and trine.load(path).shape == (5,)


def test_mmap_of_an_open_file_is_an_error():
    with open(CHECKPOINTS / FILES[0], "rb") as file, pytest.raises(ValueError, match="mmap=True needs a path"):
        trine.load(file, mmap=True)


def test_records_lie_at_multiples_of_64_and_any_zip_program_reads_them(tmp_path):
    path = tmp_path / "model.best.pt"
    trine.save({"a": trine.ones(3), "b": trine.zeros(5, dtype=trine.int8), "c": trine.ones(7)}, path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert {name.split("/")[0] for name in names} == {"model.best"}
        assert archive.read("model.best/version") == b"3\n" and archive.read("model.best/byteorder") == b"little"
        for info in archive.infolist():
            data_at = info.header_offset + 30 + len(info.filename) + len(_local_extra(path, info.header_offset))
            assert data_at % 64 == 0, info.filename


def _local_extra(path: Path, offset: int) -> bytes:
    with open(path, "rb") as file:
        file.seek(offset + 26)
        name, extra = int.from_bytes(file.read(2), "little"), int.from_bytes(file.read(2), "little")
        file.seek(name, os.SEEK_CUR)
        return file.read(extra)


def test_equal_contents_give_equal_files(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        trine.save({"w": trine.ones(3), "epoch": 1}, tmp_path / name / "x.pt")
    assert (tmp_path / "a/x.pt").read_bytes() == (tmp_path / "b/x.pt").read_bytes()


def test_64_bit_archives_are_written_and_read():
    from trine.serialization.archive import Archive
    from trine.serialization.archive_writer import ArchiveWriter
    from trine.serialization.source import MemorySource

    buffer = io.BytesIO()
    writer = ArchiveWriter(buffer, force_zip64=True)
    for at in range(3):
        writer.add(f"a/{at}", bytes([at]) * 100)
    writer.finish()
    archive = Archive(MemorySource(buffer.getvalue(), "memory"))
    assert bytes(archive.read("a/2")) == b"\x02" * 100
    assert zipfile.ZipFile(buffer).read("a/1") == b"\x01" * 100


def test_a_compressed_checkpoint_loads(tmp_path):
    packed = tmp_path / "packed.pt"
    with zipfile.ZipFile(CHECKPOINTS / FILES[0]) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    check_everything(trine.load(packed))


def test_a_checkpoint_of_the_other_byte_order_loads(tmp_path):
    swapped = tmp_path / "big.pt"
    widths = {np.dtype(t).itemsize for t in ("u1", "u2", "u4", "u8")}
    assert widths == {1, 2, 4, 8}
    with zipfile.ZipFile(swapped, "w") as archive:
        buffer = io.BytesIO()
        trine.save([trine.arange(3), trine.ones(2, dtype=trine.complex64)], buffer)
        with zipfile.ZipFile(buffer) as old:
            for name in old.namelist():
                data = old.read(name)
                if name.endswith("data/0"):
                    data = np.frombuffer(data, "<i8").astype(">i8").tobytes()
                if name.endswith("data/1"):
                    data = np.frombuffer(data, "<f4").astype(">f4").tobytes()
                archive.writestr(name, b"big" if name.endswith("byteorder") else data)
    found = trine.load(swapped)
    assert found[0].tolist() == [0, 1, 2] and found[1].tolist() == [1, 1]


# Where tensors go.


def test_map_location_takes_names_devices_dicts_and_functions():
    value = {"w": trine.ones(2)}
    for location in ("cpu", trine.device("cpu"), {"cpu": "cpu"}, {"cuda:0": "cpu"}, lambda storage, where: storage, lambda s, w: None):
        assert rounds(value, map_location=location)["w"].tolist() == [1, 1]
    for location in ("meta", trine.device("meta"), {"cpu": "meta"}):
        assert rounds(value, map_location=location)["w"].device.type == "meta"
    seen = []
    rounds(value, map_location=lambda storage, where: seen.append((storage.nbytes(), where)))
    assert seen == [(8, "cpu")]
    with pytest.raises(TypeError, match="map_location"):
        rounds(value, map_location=1.5)


@pytest.fixture
def cuda_checkpoint(tmp_path) -> Path:
    path = tmp_path / "cuda.pt"
    buffer = io.BytesIO()
    trine.save({"w": trine.ones(2)}, buffer)
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data.replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0") if name.endswith("pkl") else data)
    return path


def test_a_cuda_checkpoint_says_how_to_load_it_without_cuda(cuda_checkpoint):
    if trine.cuda.is_available():
        pytest.skip("this machine has CUDA")
    with pytest.raises(RuntimeError, match=r"map_location=trine\.device\('cpu'\)"):
        trine.load(cuda_checkpoint)
    for location in ("cpu", {"cuda:0": "cpu"}, lambda storage, where: storage):
        assert trine.load(cuda_checkpoint, map_location=location)["w"].tolist() == [1, 1]


# What is refused.


def test_a_whole_module_is_refused_by_name():
    with pytest.raises(UnsafeFileError, match=r"torch\.nn\.modules\.linear\.Linear"):
        trine.load(CHECKPOINTS / "whole_module.pt", weights_only=False)


def test_inspect_shows_a_refused_file():
    summary = inspect(CHECKPOINTS / "whole_module.pt")
    assert summary.refused == ["torch.nn.modules.linear.Linear"]
    assert [(t.name, t.shape) for t in summary.tensors] == [("_parameters.weight", (2, 2)), ("_parameters.bias", (2,))]


@pytest.mark.parametrize("name", FILES)
def test_inspect_lists_names_shapes_and_values(name):
    summary = inspect(CHECKPOINTS / name)
    shapes = {tensor.name: (tensor.dtype, tensor.shape) for tensor in summary.tensors}
    assert shapes["model.0.weight"] == ("float32", (2, 2)) and shapes["dtypes.bool"] == ("bool", (3,))
    assert summary.values["optimizer.param_groups.0.lr"] == 0.25 and summary.refused == []
    assert "model.0.weight  float32  [2, 2]  16 bytes" in str(summary)
    keys = {tensor.name: tensor.storage for tensor in summary.tensors}
    assert keys["base"] == keys["row"] != keys["scalar"]


@pytest.mark.parametrize("value", [print, int, io.BytesIO(), object(), lambda: 0, 1j.__class__, np.array(["a"], dtype=object)])
def test_saving_something_with_code_is_refused_and_leaves_no_file(value, tmp_path):
    path = tmp_path / "x.pt"
    with pytest.raises(pickle.PicklingError, match="save: an object of type"):
        trine.save({"ok": 1, "bad": value}, path)
    assert list(tmp_path.iterdir()) == []


def test_saving_a_module_says_to_save_its_state_dict(tmp_path):
    class Model:
        def state_dict(self):
            return {}

    with pytest.raises(pickle.PicklingError, match="state_dict"):
        trine.save(Model(), tmp_path / "x.pt")


def test_options_that_would_run_code_are_refused_with_a_reason(tmp_path):
    with pytest.raises(ValueError, match="pickle_module"):
        trine.load(CHECKPOINTS / FILES[0], pickle_module=pickle)
    with pytest.raises(ValueError, match="pickle_module"):
        trine.save(1, tmp_path / "x", pickle_module=pickle)
    with pytest.raises(TypeError, match="unexpected keyword"):
        trine.load(CHECKPOINTS / FILES[0], fix_imports=True)


def test_paths_that_do_not_exist(tmp_path):
    with pytest.raises(FileNotFoundError):
        trine.load(tmp_path / "none.pt")
    with pytest.raises(RuntimeError, match="parent directory"):
        trine.save(1, tmp_path / "none" / "x.pt")


def test_other_files_are_told_from_checkpoints(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"")
    with pytest.raises(EOFError):
        trine.load(path)
    for content, reason in ((b"hello, world, this is text", "neither"), (pickle.dumps({"a": 1}), "bare pickle")):
        path.write_bytes(content)
        with pytest.raises(pickle.UnpicklingError, match=reason):
            trine.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(CorruptFileError, match=r"without data\.pkl"):
        trine.load(path)
    with pytest.raises(TypeError, match="BytesIO"):
        trine.load(b"PK")


def test_a_torchscript_program_is_named_as_such(tmp_path):
    path = tmp_path / "script.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x/data.pkl", b"\x80\x02N.")
        archive.writestr("x/constants.pkl", b"\x80\x02N.")
    with pytest.raises(UnsafeFileError, match="TorchScript"):
        trine.load(path)


# The way to the disk.


def test_an_error_while_saving_keeps_the_former_file(tmp_path):
    path = tmp_path / "x.pt"
    trine.save("former", path)
    with pytest.raises(pickle.PicklingError):
        trine.save([trine.ones(1000), print], path)
    assert trine.load(path) == "former" and [p.name for p in tmp_path.iterdir()] == ["x.pt"]


def test_a_full_disk_keeps_the_former_file(tmp_path):
    path = tmp_path / "x.pt"
    trine.save("former", path)
    program = (
        "import resource, sys, trine\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try: trine.save(trine.ones(100_000), sys.argv[1])\n"
        "except OSError as error: print('OSError', error.errno)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.startswith("OSError"), done.stderr
    assert trine.load(path) == "former" and [p.name for p in tmp_path.iterdir()] == ["x.pt"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 100_000


def test_saving_keeps_links_and_permissions(tmp_path):
    target, link = tmp_path / "target.pt", tmp_path / "link.pt"
    trine.save(1, target)
    target.chmod(0o600)
    link.symlink_to(target)
    trine.save(2, link)
    assert link.is_symlink() and trine.load(target) == 2 and target.stat().st_mode & 0o777 == 0o600


def test_saving_to_a_file_that_cannot_seek():
    class Sink:
        def __init__(self):
            self.pieces = []

        def write(self, data):
            self.pieces.append(bytes(data))

    sink = Sink()
    trine.save({"w": trine.ones(3)}, sink)
    assert trine.load(io.BytesIO(b"".join(sink.pieces)))["w"].tolist() == [1, 1, 1]


def test_several_objects_of_the_old_format_in_one_file():
    content = (CHECKPOINTS / "legacy.pt").read_bytes()
    file = io.BytesIO(content + content)
    check_everything(trine.load(file))
    assert file.tell() == len(content)
    check_everything(trine.load(file))
