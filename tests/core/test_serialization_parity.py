"""Files go from real PyTorch to Trine and back without a change; needs an environment with PyTorch (``oracle``)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import trine

HERE = Path(__file__).resolve().parent

MAKE_AND_COMPARE = """
import collections, random, sys
import torch

def value(rng, depth):
    kind = rng.randrange(16 if depth else 11)
    if kind == 0:
        return rng.choice([None, True, False, 0.5, float("-inf"), 1 - 2j, "t\\u00ebxt", b"\\x00\\xfe", rng.getrandbits(80) - 2**79])
    if kind == 1:
        return rng.choice([torch.Size([1, 2]), torch.device("cpu"), torch.device("cuda", 3), torch.float16, torch.int8, bytearray(b"ab")])
    if kind == 2: return torch.nn.Parameter(torch.randn(3), requires_grad=rng.random() < 0.5)
    if kind == 3: return torch.empty(rng.choice([(0,), (2, 0, 3)]))
    if kind < 11:
        dtype = rng.choice([torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
                            torch.float32, torch.float64, torch.complex64, torch.complex128])
        base = (torch.randn(6, 5) * 10).to(dtype)
        made.append(base)
        base = rng.choice(made)
        return rng.choice([base, base[1:4], base.t(), base[::2, 1::3], base[0, 0], base[2].expand(4, 5), base.diagonal()])
    items = [value(rng, depth - 1) for _ in range(rng.randrange(4))]
    if kind == 11: return items
    if kind == 12: return tuple(items)
    if kind == 13: return collections.OrderedDict((str(i), v) for i, v in enumerate(items))
    if kind == 14: return {rng.choice(["k%d", "%d"]) % i if i % 2 else i: v for i, v in enumerate(items)}
    return {"set": {1, "a", 2.5}, "items": items}

def build(seed):
    global made
    made = []
    torch.manual_seed(seed)
    rng = random.Random(seed)
    return [value(rng, 3) for _ in range(6)]

def same(a, b, where):
    assert type(a) is type(b), (where, type(a), type(b))
    if isinstance(a, torch.Tensor):
        assert a.dtype == b.dtype and a.shape == b.shape and a.stride() == b.stride() and a.storage_offset() == b.storage_offset(), where
        assert a.requires_grad == b.requires_grad and a.untyped_storage().nbytes() == b.untyped_storage().nbytes(), where
        assert torch.equal(torch.view_as_real(a) if a.is_complex() else a, torch.view_as_real(b) if b.is_complex() else b), where
        pairs.setdefault(a.untyped_storage().data_ptr(), set()).add(b.untyped_storage().data_ptr())
    elif isinstance(a, dict):
        assert list(a) == list(b), where
        for key in a: same(a[key], b[key], f"{where}[{key!r}]")
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b)): same(x, y, f"{where}[{i}]")
    else:
        assert a == b, (where, a, b)

folder, count, action = sys.argv[1], int(sys.argv[2]), sys.argv[3]
for seed in range(count):
    obj = build(seed)
    if action == "write":
        torch.save(obj, f"{folder}/{seed}.pt", pickle_protocol=2 + seed % 4)
        torch.save(obj, f"{folder}/{seed}.old", _use_new_zipfile_serialization=False)
    else:
        for name in ("new", "fromold"):
            for options in ({"weights_only": True}, {"weights_only": False}, {"weights_only": True, "mmap": True}):
                pairs = {}
                same(obj, torch.load(f"{folder}/{seed}.{name}", **options), f"{seed}.{name}")
                assert all(len(found) == 1 for pointer, found in pairs.items() if pointer), "shared memory was split"
print("done")
"""


@pytest.fixture
def ask(oracle, tmp_path):
    def run(action: str, count: int) -> None:
        command = [oracle, "-W", "ignore", "-c", MAKE_AND_COMPARE, str(tmp_path), str(count), action]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stdout == "done\n", done.stderr[-3000:]

    return run


def test_pytorch_reads_back_what_went_through_trine(ask, tmp_path):
    count = 40
    ask("write", count)
    for seed in range(count):
        trine.save(trine.load(tmp_path / f"{seed}.pt"), tmp_path / f"{seed}.new")
        trine.save(trine.load(tmp_path / f"{seed}.old"), tmp_path / f"{seed}.fromold")
    ask("compare", count)


def test_the_stored_checkpoints_are_what_their_program_makes(oracle, tmp_path):
    program = (HERE / "checkpoints" / "make.py").read_text()
    (tmp_path / "make.py").write_text(program)
    subprocess.run([oracle, tmp_path / "make.py"], check=True, capture_output=True)
    stored = {path.name for path in (HERE / "checkpoints").glob("*.pt")}
    assert {path.name for path in tmp_path.glob("*.pt")} == stored
    for name in ("zip_protocol2.pt", "legacy.pt"):
        made, kept = (trine.serialization.inspect(folder / name) for folder in (tmp_path, HERE / "checkpoints"))
        assert [t.name for t in made.tensors] == [t.name for t in kept.tensors]
