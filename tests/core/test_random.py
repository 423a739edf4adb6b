"""A user's seed gives the numbers that PyTorch gives for it (stored values: random_cases.py), whatever the machine."""

from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import random_cases
import trine

STORED = json.loads(random_cases.REFERENCE.read_text(encoding="utf8"))
# Where the last place may differ: PyTorch takes these from the C library in float64, and libraries differ there.
LIBRARY = ("float64", "complex128")


def same(got: float, want: float, dtype: str) -> bool:
    if got == want or (math.isnan(got) and math.isnan(want)):
        return True
    if not (math.isfinite(got) and math.isfinite(want)):
        return False
    resolution = {
        "float64": 2.0**-52,
        "complex128": 2.0**-52,
        "float32": 2.0**-23,
        "complex64": 2.0**-23,
        "float16": 2.0**-10,
        "bfloat16": 2.0**-7,
    }
    return abs(got - want) <= 4 * resolution.get(dtype, 0.0) * max(abs(want), 1e-3)


def problems_of(torch, families) -> list[str]:
    found = []
    for family in families:
        for expression, want in STORED[family].items():
            try:
                got = random_cases.describe(torch, expression)
            except Exception as error:  # a missing operator is one problem, not the end of the list
                found.append(f"{expression}: {type(error).__name__}: {error}")
                continue
            for key in ("dtype", "shape", "stride", "next"):
                if got[key] != want[key]:
                    found.append(f"{expression}: {key} is {got[key]}, PyTorch has {want[key]}")
            numbers = [(float.fromhex(a), float.fromhex(b)) for a, b in zip(got["numbers"], want["numbers"], strict=True)]
            if not all(same(a, b, want["dtype"]) for a, b in numbers):
                found.append(f"{expression}: {numbers}")
            elif got["crc32"] != want["crc32"] and want["dtype"] not in LIBRARY:
                found.append(f"{expression}: the ends agree, some of the numbers between do not")
    return found


@pytest.mark.parametrize("family", sorted(STORED))
def test_numbers_for_a_seed_are_pytorchs(family):
    problems = problems_of(trine, [family])
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("level", ["0", "1"])
def test_numbers_do_not_depend_on_the_instruction_set(level):
    code = "import sys; sys.path[:0] = sys.argv[1:]; import test_random as t; p = t.problems_of(t.trine, sorted(t.STORED)); print(*p, sep='\\n'); sys.exit(bool(p))"
    folders = [str(Path(__file__).parent), str(Path(random_cases.__file__).parent)]
    run = subprocess.run(
        [sys.executable, "-c", code, *folders], env={**os.environ, "TRINE_ISA": level}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_numbers_do_not_depend_on_the_number_of_threads():
    def draw() -> list[bytes]:
        trine.manual_seed(3)
        drawn = [
            trine.randn(300_001),
            trine.rand(300_001),
            trine.empty(300_001).bernoulli_(0.3),
            trine.dropout(trine.ones(300_001), 0.3, True),
        ]
        return [t.numpy().tobytes() for t in drawn]

    threads = trine.get_num_threads()
    try:
        trine.set_num_threads(1)
        one = draw()
        trine.set_num_threads(2)
        assert draw() == one
    finally:
        trine.set_num_threads(threads)


def test_state_has_pytorchs_layout_and_restores_the_stream():
    trine.manual_seed(random_cases.SEED)
    trine.randn(1)  # leaves the second number of the pair behind
    state = trine.get_rng_state()
    raw = state.numpy().tobytes()
    assert (state.dtype, len(raw)) == (trine.uint8, 5056)
    assert np.frombuffer(raw, "<u8", 1)[0] == random_cases.SEED
    assert np.frombuffer(raw, "<i4", 2, 8).tolist() == [621, 1]  # words left in the block + 1; seeded
    assert np.frombuffer(raw, "<u8", 1, 16)[0] == 4
    numpy_stream = np.random.RandomState(random_cases.SEED)
    numpy_stream.randint(0, 2**32, size=4, dtype=np.uint32)
    assert np.frombuffer(raw, "<u8", 624, 24).tolist() == numpy_stream.get_state()[1].tolist()
    first = [trine.randn(3), trine.rand(700), trine.randint(10, (9,))]
    trine.set_rng_state(state)
    for t in first:
        again = trine.randn(3) if t.numel() == 3 else trine.rand(700) if t.numel() == 700 else trine.randint(10, (9,))
        assert (again == t).all()


def test_damaged_states_are_refused():
    state = trine.get_rng_state()
    with pytest.raises(RuntimeError, match="state"):
        trine.set_rng_state(state[:100])
    with pytest.raises(TypeError):
        trine.set_rng_state(state.to(trine.float32))
    broken = state.clone()
    broken[8:12] = 255
    with pytest.raises(RuntimeError, match="valid state"):
        trine.set_rng_state(broken)


def test_generators_are_independent_and_restartable():
    a, b = trine.Generator(), trine.Generator()
    assert a.initial_seed() == 67280421310721
    assert a.manual_seed(5) is a
    b.manual_seed(5)
    trine.manual_seed(0)
    x = trine.rand(100, generator=a)
    assert (x == trine.rand(100, generator=b)).all()
    assert trine.initial_seed() == 0
    assert a.manual_seed(-1).initial_seed() == 2**64 - 1
    fresh = a.seed()
    assert a.initial_seed() == fresh != trine.seed()
    with pytest.raises((RuntimeError, ValueError, OverflowError)):
        a.manual_seed(2**64)


def test_fork_rng_leaves_the_stream_as_it_was():
    trine.manual_seed(1)
    want = trine.rand(4)
    trine.manual_seed(1)
    with pytest.raises(KeyError), trine.random.fork_rng():
        trine.rand(1000)
        raise KeyError
    assert (trine.rand(4) == want).all()


def test_generator_survives_pickling():
    g = trine.Generator().manual_seed(9)
    trine.rand(5, generator=g)
    copy = pickle.loads(pickle.dumps(g))
    assert (trine.rand(50, generator=g) == trine.rand(50, generator=copy)).all()


def test_philox_words_are_the_published_ones():
    # Random123's known answer for Philox4x32-10 with key and counter zero: 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
    g = trine.Generator(engine="philox").manual_seed(0)
    words = trine.empty(2, dtype=trine.int64).random_(-(2**63), None, generator=g).numpy().view(np.uint64)
    assert [hex(w) for w in words.tolist()] == ["0x6627e8d5e169c58d", "0xbc57ac4c9b00dbd8"]


def test_philox_stream_does_not_depend_on_how_it_is_cut():
    g = trine.Generator(engine="philox")
    whole = trine.rand(1003, generator=g.manual_seed(7))
    g.manual_seed(7)
    parts = [trine.rand(n, generator=g) for n in (1, 2, 5, 995)]
    assert (trine.cat(parts) == whole).all()
    state = g.get_state()
    x = trine.randn(20, generator=g)
    g.set_state(state)
    assert state.numel() == 16
    assert (trine.randn(20, generator=g) == x).all()
    with pytest.raises(ValueError, match="philox"):
        trine.Generator(engine="pcg")


def test_two_threads_share_a_generator_without_losing_words():
    g = trine.Generator().manual_seed(0)
    drawn = [[], []]

    def draw(into: list) -> None:
        for _ in range(50):
            into.append(trine.empty(100, dtype=trine.int64).random_(0, 2**40, generator=g))

    threads = [threading.Thread(target=draw, args=(into,)) for into in drawn]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = {tuple(t.tolist()) for into in drawn for t in into}
    g.manual_seed(0)
    assert rows == {tuple(trine.empty(100, dtype=trine.int64).random_(0, 2**40, generator=g).tolist()) for _ in range(100)}


REFUSED = {
    "torch.empty(2).uniform_(3, 1)": "from=3",
    "torch.empty(2).normal_(0, -1)": "std >= 0",
    "torch.empty(2).bernoulli_(1.5)": "p=1.5",
    "torch.bernoulli(torch.full((2,), 1.5))": "1.5",
    "torch.empty(2).random_(5, 3)": "from=5",
    "torch.empty(2, dtype=torch.uint8).random_(0, 300)": "out of bounds",
    "torch.empty(2).exponential_(0.0)": "lambda",
    "torch.empty(2).geometric_(1.0)": "p=1",
    "torch.empty(2).cauchy_(0, -1.0)": "sigma",
    "torch.empty(2).log_normal_(0, -1.0)": "std",
    "torch.multinomial(torch.full((2,), -1.0), 1)": "element < 0",
    "torch.multinomial(torch.zeros(2), 1)": "sum of probabilities",
    "torch.multinomial(torch.ones(2), 3)": "without replacement",
    "torch.multinomial(torch.ones(2, 2, 2), 1)": "dim",
    "torch.multinomial(torch.ones(2), 0)": "num_samples",
    "torch.randperm(-1)": "negative",
    "torch.dropout(torch.ones(2), 1.5, True)": "between 0 and 1",
    "torch.poisson(torch.full((1,), -1.0))": "rate",
    "torch.randint(3, 3, (2,))": "from=3",
    "torch.normal(0.0, torch.full((1,), -1.0))": "std >= 0",
    "torch.empty(1).expand(2).uniform_()": "single memory location",
    "torch.empty(2, dtype=torch.int64).normal_()": "int64",
}


@pytest.mark.parametrize("expression", REFUSED)
def test_impossible_requests_are_refused_with_what_was_asked(expression):
    with pytest.raises(RuntimeError, match=REFUSED[expression]):
        eval(expression, {"torch": trine})


def test_dropout_gradient_passes_what_was_kept():
    trine.manual_seed(0)
    x = trine.randn(1000, requires_grad=True)
    y = trine.dropout(x, 0.3, True)
    y.backward(trine.ones(1000))
    kept = (y != 0).numpy()
    assert 600 < kept.sum() < 800
    assert np.array_equal(x.grad.numpy(), np.where(kept, np.float32(1) / np.float32(0.7), np.float32(0)))


def test_meta_tensors_take_random_operators():
    assert trine.rand(3, device="meta").shape == (3,)
    assert trine.empty(2, 3, device="meta").normal_().shape == (2, 3)
    assert trine.dropout(trine.ones(5, device="meta"), 0.5, True).shape == (5,)
