"""The allocator: reuse, statistics, faults, sizes beyond 32 bits. A user would lose memory, a process, or data."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest
import trine
from trine import _C, nn


def in_use() -> int:
    gc.collect()
    return _C.memory_stats()["allocated_bytes"]


def test_memory_is_given_back_and_the_peak_is_kept():
    before = in_use()
    _C.reset_peak_memory_stats()
    t = trine.ones(1000, 1000)
    assert in_use() - before >= t.nbytes
    del t
    assert in_use() == before
    assert _C.memory_stats()["peak_bytes"] - before >= 4_000_000


def test_a_freed_block_is_reused():
    t = trine.empty(3_000_000)
    address = t.data_ptr()
    del t
    assert trine.empty(3_000_000).data_ptr() == address
    assert address % 64 == 0


def test_impossible_sizes_are_memory_errors_and_nothing_is_lost():
    before = in_use()
    with pytest.raises(MemoryError, match="allocate"):
        trine.empty(2**46, dtype=trine.float64)
    with pytest.raises(RuntimeError, match="overflow"):
        trine.empty(2**40, 2**40)
    with pytest.raises(RuntimeError, match="negative"):
        trine.empty(-1)
    assert in_use() == before


def network_step():
    trine.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 5))
    optimizer = trine.optim.Adam(model.parameters())
    loss = nn.functional.cross_entropy(model(trine.randn(2, 3, 8, 8)), trine.tensor([1, 2]))
    loss.backward()
    optimizer.step()
    return loss.item()


def test_every_allocation_of_a_training_step_may_fail():
    """The n-th allocation fails, for every n: a MemoryError each time, no crash, no leak, and the next step works."""
    expected = network_step()
    before = in_use()
    start = _C.memory_stats()["allocations"]
    network_step()
    count = _C.memory_stats()["allocations"] - start
    assert count > 50
    for n in range(1, count + 1):
        _C._inject_allocation_fault(n)
        try:
            with pytest.raises(MemoryError, match="injected"):
                network_step()
        finally:
            _C._inject_allocation_fault(0)
    assert network_step() == expected
    assert in_use() == before


def test_elements_beyond_two_to_the_31():
    n = 2**31 + 16
    t = trine.zeros(n, dtype=trine.uint8)
    t[-3:] = trine.tensor([7, 8, 9], dtype=trine.uint8)
    assert t[n - 1].item() == 9 and t[2**31].item() == 0
    assert t.sum().item() == 24
    assert t.argmax().item() == n - 1
    assert t.view(16, -1)[15, -1].item() == 9
    t += 1
    assert t[-1].item() == 10 and t[0].item() == 1
    assert (t == 10).nonzero().tolist() == [[n - 1]]


def test_threads_share_the_allocator():
    failures = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        try:
            for _ in range(300):
                a = rng.standard_normal(int(rng.integers(1, 20000))).astype("f4")
                b = trine.from_numpy(a)
                if not np.allclose(((b * 2).exp() - b).numpy(), np.exp(a * 2) - a, rtol=1e-5):
                    failures.append(seed)
        except Exception as e:  # reported below: an assertion in a thread would be lost
            failures.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failures == []


def test_thread_locals_leave_room_for_other_libraries():
    """libtrine is loaded at run time: its thread-locals must fit the few hundred bytes the loader keeps free."""
    import struct
    from pathlib import Path

    data = (
        (Path(trine.__file__).resolve().parent / "libtrine.so")
        if (Path(trine.__file__).resolve().parent / "libtrine.so").exists()
        else Path(_C.__file__).resolve().parent / "libtrine.so"
    )
    with open(data, "rb") as f:
        header = f.read(64)
        offset, size, count = struct.unpack_from("<Q", header, 32)[0], *struct.unpack_from("<HH", header, 54)
        f.seek(offset)
        programs = f.read(size * count)
    tls = [struct.unpack_from("<IIQQQQQQ", programs, i * size) for i in range(count)]
    assert sum(p[6] for p in tls if p[0] == 7) <= 512
