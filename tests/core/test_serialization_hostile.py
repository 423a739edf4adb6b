"""Files written by somebody who wants to harm the reader, one attack each."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import struct
import time
import tracemalloc
import zipfile

import pytest
import trine
from trine.serialization import CorruptFileError, UnsafeFileError, inspect

TENSOR = b"ctorch._utils\n_rebuild_tensor_v2\n"
HOOKS = b"ccollections\nOrderedDict\n)R"


def text(value: str) -> bytes:
    raw = value.encode()
    return b"X" + struct.pack("<I", len(raw)) + raw


def number(value: int) -> bytes:
    raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + bytes([len(raw)]) + raw


def numbers(values: tuple) -> bytes:
    return b"(" + b"".join(map(number, values)) + b"t"


def storage(numel: int = 4, kind: str = "FloatStorage", key: str = "0") -> bytes:
    return b"(" + text("storage") + f"ctorch\n{kind}\n".encode() + text(key) + text("cpu") + number(numel) + b"tQ"


def tensor(size=(4,), stride=(1,), offset=0, stored: bytes | None = None, grad: bytes = b"\x89") -> bytes:
    stored = storage() if stored is None else stored
    return TENSOR + b"(" + stored + number(offset) + numbers(size) + numbers(stride) + grad + HOOKS + b"tR"


def archive(pickled: bytes, records: dict[str, bytes] | None = None, method: int = zipfile.ZIP_STORED) -> io.BytesIO:
    """A sound checkpoint around a pickle; storage 0 has 16 bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as out:
        out.writestr("x/data.pkl", pickled)
        for name, data in {"x/version": b"3\n", "x/data/0": bytes(16), **(records or {})}.items():
            out.writestr(name, data)
    buffer.seek(0)
    return buffer


def load(pickled: bytes, **options):
    return trine.load(archive(b"\x80\x02" + pickled + b".", **options))


def test_the_attacks_below_start_from_a_file_that_loads():
    assert load(tensor()).tolist() == [0, 0, 0, 0]
    assert load(tensor(size=(2, 2), stride=(2, 1))).shape == (2, 2)


@pytest.mark.parametrize(
    "pickled",
    [
        b"cos\nsystem\n" + text("touch canary") + b"\x85R",
        b"cposix\nsystem\n(S'touch canary'\ntR",
        b"(S'touch canary'\nios\nsystem\n",
        b"(cos\nsystem\nS'touch canary'\no",
        text("os") + text("system") + b"\x93" + text("touch canary") + b"\x85R",
        b"cbuiltins\neval\n" + text("open('canary', 'w')") + b"\x85R",
        b"c__builtin__\nexec\n" + text("open('canary', 'w')") + b"\x85R",
        b"cbuiltins\n__import__\n" + text("os") + b"\x85R",
        b"cbuiltins\ngetattr\n(ctorch\nSize\n" + text("__class__") + b"tR",
        b"cbuiltins\nopen\n" + text("canary") + text("w") + b"\x86R",
        b"csubprocess\nPopen\n" + text("touch canary") + b"\x85R",
        b"cnumpy\nload\n" + text("x") + b"\x85R",
        b"ctorch.storage\n_load_from_bytes\n" + text("x") + b"\x85R",
        b"ctorch\nload\n" + text("x") + b"\x85R",
        b"ctorch.serialization\nload\n" + text("x") + b"\x85R",
        b"ctorch.hub\nload\n" + text("x") + b"\x85R",
        b"ccollections\nOrderedDict.__init__\n)R",
        b"ctorch._utils\n_rebuild_tensor_v2.__globals__\n",
        b"ctrine.serialization\nload\n" + text("x") + b"\x85R",
        b"cargparse\nNamespace\n)\x81}" + text("__class__") + b"Nsb",
        b"ccollections\nOrderedDict\n)R}" + text("items") + b"Nsb",
        tensor() + b"}" + text("data") + b"Nsb",
        b"ccollections\ndefaultdict\ncos\nsystem\n\x85R",
        b"\x82\x01",
        b"N)R",
        b"N)\x81",
        text("eval") + b")R",
        b"]NN\x86s",
        b"}Na",
        text("text") + b"Na",
    ],
    ids=lambda p: repr(p[:40]),
)
def test_nothing_but_data_is_built(pickled, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(pickle.UnpicklingError):
        load(pickled)
    with contextlib.suppress(pickle.UnpicklingError):
        inspect(archive(b"\x80\x02" + pickled + b"."))
    assert list(tmp_path.iterdir()) == []


def test_the_refused_name_is_in_the_message():
    with pytest.raises(UnsafeFileError, match=r"'os\.system'"):
        load(b"cos\nsystem\n)R")


@pytest.mark.parametrize(
    ("pickled", "reason"),
    [
        (tensor(size=(5,)), "needs 5 elements"),
        (tensor(size=(2,), stride=(4,)), "needs 5 elements"),
        (tensor(size=(1,), offset=4), "needs 5 elements"),
        (tensor(size=(1,), offset=2**62), "needs"),
        (tensor(offset=-1), "offset"),
        (tensor(size=(-1,)), "no size"),
        (tensor(stride=(-1,)), "no size"),
        (tensor(size=(2, 2)), "size .* and stride"),
        (tensor(size=(2**62, 2**62), stride=(0, 0)), "too large"),
        (tensor(size=(2**33, 2), stride=(2**33, 1)), "too large|needs"),
        (tensor(size=(2**70,)), "no size"),
        (tensor(size=(1,) * 65, stride=(1,) * 65), "at most 64"),
        (tensor(grad=b"N"), "requires_grad"),
        (tensor(stored=storage(2, "LongStorage"), size=(2,), grad=b"\x88"), "cannot require gradients"),
        (tensor(stored=storage(5)), "claims 5 elements"),
        (tensor(stored=storage(3)), "claims 3 elements"),
        (tensor(stored=storage(2**61)), "claims"),
        (tensor(stored=storage(-1)), "claims"),
        (tensor(stored=storage(key="1")), "lacks the record"),
        (tensor(stored=storage(key="../../etc/passwd")), "lacks the record"),
        (tensor(stored=b"N"), "instead of a storage"),
        (tensor(stored=number(1)), "instead of a storage"),
        (tensor(stored=storage(16, "UntypedStorage")), "without a dtype"),
        (tensor() + tensor(stored=storage(2, "LongStorage"), size=(2,)) + b"\x86", "two sizes or dtypes"),
        (b"NQ", "not a storage"),
        (b"(" + text("module") + b"NNNNtQ", "not a storage"),
        (TENSOR + b")R", "arguments"),
        (TENSOR + b"NR", "instead of a tuple"),
        (b"ctorch\nQUInt8Storage\n", "QUInt8Storage"),
    ],
)
def test_tensors_stay_inside_their_storage(pickled, reason):
    with pytest.raises(pickle.UnpicklingError, match=reason):
        load(pickled)


def test_a_tensor_without_elements_needs_no_storage():
    assert tuple(load(tensor(size=(0, 7), stride=(7, 1), stored=storage(0), offset=0), records={"x/data/0": b""}).shape) == (0, 7)


@pytest.mark.parametrize(
    "pickled",
    [
        b"", b".", b"N", b"0.", b"(.", b"\x80", b"\x80\x09N.", b"h\x00.", b"j\xff\xff\xff\xff.", b"(0.", b"t.", b"K", b"X\xff\xff\xff\xff",
        b"X\xff\xff\xff\x7fabc", b"\x8d" + b"\xff" * 8, b"\x8b\xff\xff\xff\xff", b"\x8b\xff\xff\xff\x7f", b"\x95" + b"\xff" * 8 + b"N.",
        b"I12", b"Iabc\n.", b"Fx\n.", b"L" + b"9" * 100_000 + b"L\n.", b"S'unterminated\n.", b"V\\u12\n.", b"X\x01\x00\x00\x00\xff.",
        b"T\xff\xff\xff\xff.", b"}K\x01u.", b"(K\x01d.", b"]]s.", b"\xff.", b"\x97.", b"(K\x01K\x02K\x03q\x00.", b"q\x00.", b"\x94.",
    ],
    ids=lambda p: repr(p[:16]),
)  # fmt: skip
def test_broken_pickles_are_told(pickled):
    with pytest.raises(pickle.UnpicklingError):
        trine.load(archive(pickled))


def peak_of(function) -> int:
    tracemalloc.start()
    try:
        with pytest.raises(pickle.UnpicklingError):
            function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_announced_sizes_allocate_nothing():
    bombs = [
        b"\x8e" + (1 << 60).to_bytes(8, "little"),
        b"\x96" + (1 << 40).to_bytes(8, "little"),
        b"B" + (1 << 31).to_bytes(4, "little"),
        b"c__builtin__\nbytearray\n" + number(1 << 40) + b"\x85R",
        b"c__builtin__\nbytes\n" + number(1 << 40) + b"\x85R",
        b"c__builtin__\nlist\nc__builtin__\nxrange\n" + number(1 << 40) + b"\x85R\x85R",
        tensor(stored=storage(1 << 50), size=(1 << 50,)),
        b"r\xff\xff\xff\xffN",
    ]
    for bomb in bombs:
        assert peak_of(lambda bomb=bomb: load(bomb)) < 1 << 20


def test_copies_of_copies_are_stopped():
    # 5 bytes make a copy of a list of 200,000 elements, 20,000 times.
    pickled = b"c__builtin__\nset\nq\x00](" + b"K\x01" * 200_000 + b"eq\x01" + b"(" + b"h\x00h\x01\x85R" * 20_000 + b"t"
    with pytest.raises(UnsafeFileError, match="over and over"):
        load(pickled)


def test_dict_keys_cannot_take_for_ever():
    # A tuple of twice the tuple before, 60 times: hashing it visits 2**60 parts.
    doubled = b")" + b"2\x86" * 60
    started = time.monotonic()
    for pickled in (b"}" + doubled + b"Ns", b"\x8f(" + doubled + b"\x90", b"(" + doubled + b"\x91"):
        with pytest.raises(UnsafeFileError, match="parts"):
            load(pickled)
    deep = b")" + b"\x85" * 200_000
    with pytest.raises(UnsafeFileError, match="parts"):
        load(b"}" + deep + b"Ns")
    with pytest.raises(UnsafeFileError, match="cannot be a dict key"):
        load(b"}" + tensor() + b"Ns")
    assert time.monotonic() - started < 5


def test_deep_nesting_neither_crashes_nor_leaks():
    depth = 300_000
    found = load(b"]" * depth + b"a" * (depth - 1))
    assert len(found) == 1
    del found
    assert len(load(b")" + b"\x85" * depth)) == 1


def test_inspect_of_deep_and_shared_structures_ends():
    shared = b"](" + b"K\x01" * 10 + b"e" + b"2" * 1000 + b"(" * 0
    inspect(archive(b"\x80\x02](" + shared + b"e."))
    inspect(archive(b"\x80\x02" + b"]" * 10_000 + b"a" * 9_999 + b"."))


# The archive around the pickle.


def good() -> bytes:
    return archive(b"\x80\x02" + tensor() + b".").getvalue()


def refuse(data: bytes, reason: str) -> None:
    with pytest.raises(pickle.UnpicklingError, match=reason):
        trine.load(io.BytesIO(data))


def test_every_truncation_is_told(tmp_path):
    whole = good()
    path = tmp_path / "x.pt"
    for length in range(1, len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(pickle.UnpicklingError):
            trine.load(path)


def test_two_records_of_one_name_are_refused():
    data = good().replace(b"x/data/1", b"x/data/0")
    buffer = io.BytesIO(data)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(buffer, "a") as out:
        out.writestr("x/data/0", b"y" * 16)
    refuse(buffer.getvalue(), "two entries")


@pytest.mark.parametrize("name", ["/etc/passwd", "../up", "x/../../up", "x\\data\\0", "c:/x"])
def test_names_that_lead_outside_are_refused(name):
    buffer = archive(b"\x80\x02N.")
    with zipfile.ZipFile(buffer, "a") as out:
        info = zipfile.ZipInfo("placeholder")
        info.filename = name
        out.writestr(info, b"")
    refuse(buffer.getvalue(), "unsafe name")


def test_records_that_overlap_are_refused():
    data = bytearray(good())
    entries = [at for at in range(len(data)) if data[at : at + 4] == b"PK\x01\x02"]
    first, last = entries[0], entries[-1]
    data[last + 42 : last + 46] = data[first + 42 : first + 46]
    refuse(bytes(data), "overlapping")


def test_a_header_that_disagrees_with_the_directory_is_refused():
    data = bytearray(good())
    at = data.find(b"x/data/0")
    data[at] = ord("y")
    refuse(bytes(data), "disagrees")


def test_wrong_checksums_are_told(tmp_path):
    data = bytearray(good())
    at = data.find(b"x/data/0") + len("x/data/0")
    data[at] ^= 1
    path = tmp_path / "x.pt"
    path.write_bytes(data)
    with pytest.raises(CorruptFileError, match="checksum"):
        trine.load(path, mmap=False)


def test_an_inflation_bomb_is_refused_before_it_inflates():
    bomb = archive(
        b"\x80\x02" + tensor(stored=storage(1 << 26), size=(1 << 26,)) + b".", {"x/data/0": bytes(1 << 28)}, zipfile.ZIP_DEFLATED
    )
    data = bomb.getvalue()
    assert peak_of(lambda: trine.load(io.BytesIO(data))) < 1 << 22


def test_encrypted_and_exotic_entries_are_told():
    data = bytearray(good())
    central = data.find(b"PK\x01\x02")
    data[central + 8] |= 1
    refuse(bytes(data), "encrypted")
    refuse(archive(b"\x80\x02N.", method=zipfile.ZIP_LZMA).getvalue(), "compression method")


def test_several_checkpoints_in_one_archive_are_refused():
    refuse(archive(b"\x80\x02N.", {"y/data.pkl": b"\x80\x02N."}).getvalue(), "several checkpoints")


def test_an_unknown_version_is_told():
    refuse(archive(b"\x80\x02N.", {"x/version": b"99"}).getvalue(), "version")


# The format before 1.6.


def legacy(pickled: bytes, keys: list, data: bytes) -> io.BytesIO:
    head = b"".join(pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {"protocol_version": 1001, "little_endian": True}))
    return io.BytesIO(head + b"\x80\x02" + pickled + b"." + pickle.dumps(keys, 2) + data)


def legacy_storage(numel: int, view: bytes = b"N", key: str = "7") -> bytes:
    return b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text(key) + text("cpu") + number(numel) + view + b"tQ"


def test_views_in_old_files_share_memory():
    view = b"(" + text("v") + number(1) + number(2) + b"t"
    pickled = tensor(stored=legacy_storage(4)) + tensor(stored=legacy_storage(4, view), size=(2,)) + b"\x86"
    whole, part = trine.load(legacy(pickled, ["7"], struct.pack("<q4f", 4, 1, 2, 3, 4)))
    assert part.tolist() == [2, 3]
    part.zero_()
    assert whole.tolist() == [1, 0, 0, 4]


@pytest.mark.parametrize(
    ("pickled", "keys", "data", "reason"),
    [
        (tensor(stored=legacy_storage(1 << 60)), ["7"], b"", "truncated|claims"),
        (tensor(stored=legacy_storage(4)), ["7"], struct.pack("<q", 5) + bytes(20), "5 elements instead of 4"),
        (tensor(stored=legacy_storage(4)), ["7"], struct.pack("<q", 4) + bytes(15), "truncated"),
        (tensor(stored=legacy_storage(4)), [], bytes(24), "list of storages"),
        (tensor(stored=legacy_storage(4)), ["7", "7"], bytes(48), "list of storages"),
        (tensor(stored=legacy_storage(4)), [7], bytes(24), "not strings"),
        (tensor(stored=legacy_storage(4, b"(" + text("v") + number(3) + number(2) + b"t"), size=(2,)), ["7"], bytes(24), "beyond"),
        (b"cos\nsystem\n)R", [], b"", "os.system"),
    ],
)
def test_old_files_are_checked_as_well(pickled, keys, data, reason):
    with pytest.raises(pickle.UnpicklingError, match=reason):
        trine.load(legacy(pickled, keys, data))


def test_the_environment_of_these_tests_was_left_alone():
    assert not os.path.exists("canary")
