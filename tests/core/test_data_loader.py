"""The DataLoader with and without workers: order, errors, and what happens when things are broken off."""

from __future__ import annotations

import glob
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import trine
from trine.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, get_worker_info

WORKERS = [{}, {"num_workers": 2}, {"num_workers": 2, "worker_type": "thread"}, {"num_workers": 3, "persistent_workers": True}]


class Squares(Dataset):
    def __init__(self, length=20, side=4):
        self.length, self.side = length, side

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return trine.full((self.side, self.side), float(index)), index


class Counted(IterableDataset):
    """Numbers, each from one worker only."""

    def __iter__(self):
        info = get_worker_info()
        start, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(start, 23, step))


class Failing(Dataset):
    def __init__(self, error):
        self.error = error

    def __len__(self):
        return 8

    def __getitem__(self, index):
        if index == 5:
            raise self.error
        return index


class Dying(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        if index == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return index


class Slow(Dataset):
    def __init__(self, seconds):
        self.seconds = seconds

    def __len__(self):
        return 8

    def __getitem__(self, index):
        time.sleep(self.seconds if index else 0)
        return index


class Randoms(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return random.random(), float(np.random.rand()), trine.rand(1).item()


class Who(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        info = get_worker_info()
        return info.id, info.num_workers, info.seed, info.dataset is not None


class TwoMessages(Exception):
    def __init__(self, first, second):
        super().__init__(first, second)


class Shapes(Dataset):
    """Tensors and arrays of every form that a batch may have, small and large."""

    def __len__(self):
        return 3

    def __getitem__(self, index):
        big = trine.arange(100_000).reshape(100, 1000)
        return {
            "view": big.t()[index],
            "expanded": trine.ones(1).expand(20_000),
            "empty": trine.zeros(0, 5),
            "scalar": trine.tensor(index),
            "bool": trine.ones(3, dtype=trine.bool),
            "half": trine.ones(20_000, dtype=trine.bfloat16),
            "array": np.full((100, 200), index),
            "text": "x" * 100_000,
            "leaf": trine.ones(2, requires_grad=True),
            "none": None,
        }


def as_lists(loader):
    return [batch.tolist() if hasattr(batch, "tolist") else batch for batch in loader]


def identity(batch):
    return batch


def refuse_first_worker(worker):
    if worker == 0:
        raise ValueError("no start today")


@pytest.mark.parametrize("options", WORKERS)
def test_batches_come_in_order_and_once(options):
    loader = DataLoader(Squares(), batch_size=3, **options)
    for _ in range(2):
        found = list(loader)
        assert [i for _, indices in found for i in indices.tolist()] == list(range(20))
        for images, indices in found:
            assert images.shape == (len(indices), 4, 4) and images[:, 2, 1].tolist() == indices.tolist()
            images.add_(1)  # a batch is the caller's own


@pytest.mark.parametrize("options", WORKERS)
def test_workers_give_the_same_shuffled_order(options):
    orders = []
    for extra in ({}, options):
        trine.manual_seed(3)
        orders.append([indices.tolist() for _, indices in DataLoader(Squares(), batch_size=4, shuffle=True, **extra)])
    assert orders[0] == orders[1] and orders[0] != sorted(orders[0])


@pytest.mark.parametrize("options", WORKERS)
@pytest.mark.parametrize(("batch_size", "drop_last"), [(1, False), (5, False), (5, True), (None, False)])
def test_iterable_datasets(options, batch_size, drop_last):
    loader = DataLoader(Counted(), batch_size=batch_size, drop_last=drop_last, **options)
    for _ in range(2):
        flat = [n for item in as_lists(loader) for n in (item if isinstance(item, list) else [item])]
        if not drop_last:
            assert sorted(flat) == list(range(23))
        else:
            assert len(set(flat)) == len(flat) and len(flat) % 5 == 0


@pytest.mark.parametrize("kind", ["process", "thread"])
def test_any_order_gives_everything(kind):
    loader = DataLoader(Squares(50), batch_size=4, num_workers=3, in_order=False, worker_type=kind)
    assert sorted(i for _, indices in loader for i in indices.tolist()) == list(range(50))
    loader = DataLoader(Counted(), batch_size=2, num_workers=3, in_order=False, worker_type=kind)
    assert sorted(n for batch in as_lists(loader) for n in batch) == list(range(23))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_every_way_to_start_a_process(method):
    loader = DataLoader(Squares(6), batch_size=2, num_workers=1, multiprocessing_context=method)
    assert [indices.tolist() for _, indices in loader] == [[0, 1], [2, 3], [4, 5]]


def test_a_dataset_of_tensors_travels_to_a_fresh_interpreter():
    dataset = TensorDataset(trine.arange(6).reshape(3, 2), trine.nn.Parameter(trine.ones(3)).detach())
    loader = DataLoader(dataset, batch_size=2, num_workers=1, multiprocessing_context="spawn")
    assert [rows.tolist() for rows, _ in loader] == [[[0, 1], [2, 3]], [[4, 5]]]


@pytest.mark.parametrize("options", WORKERS[1:])
def test_tensors_and_arrays_of_every_form_arrive(options):
    for index, sample in enumerate(DataLoader(Shapes(), batch_size=None, collate_fn=identity, **options)):
        assert sample["view"].tolist() == list(range(index, 100_000, 1000))
        assert sample["expanded"].sum().item() == 20_000 and tuple(sample["empty"].shape) == (0, 5)
        assert sample["scalar"].item() == index and sample["scalar"].shape == ()
        assert sample["bool"].dtype == trine.bool and sample["half"].dtype == trine.bfloat16
        assert sample["half"].float().sum().item() == 20_000
        assert sample["array"].sum() == 20_000 * index and len(sample["text"]) == 100_000
        sample["array"][0] = 7  # writable
        assert sample["leaf"].requires_grad and sample["none"] is None


def test_prefetched_batches_wait_without_open_files():
    before = len(os.listdir("/proc/self/fd"))
    kept = list(DataLoader(Squares(60, side=100), num_workers=2))
    assert len(os.listdir("/proc/self/fd")) <= before + 2
    assert [int(images[0, 0, 0].item()) for images, _ in kept] == list(range(60))


def test_batches_larger_than_the_room_for_shared_memory_come_through_the_socket(monkeypatch):
    monkeypatch.delattr(os, "memfd_create")
    images, indices = next(iter(DataLoader(Squares(8, side=300), batch_size=8, num_workers=1)))
    assert images[:, 299, 299].tolist() == indices.tolist()


# Workers know who they are, and draw their own random numbers.


@pytest.mark.parametrize("kind", ["process", "thread"])
def test_workers_know_who_they_are(kind):
    found = list(DataLoader(Who(), batch_size=None, num_workers=2, worker_type=kind))
    assert [tuple(w)[:2] for w in found] == [(0, 2), (1, 2), (0, 2), (1, 2)]
    assert found[1][2] == found[0][2] + 1 and get_worker_info() is None


def test_worker_processes_draw_different_and_reproducible_numbers():
    runs = []
    for _ in range(2):
        trine.manual_seed(1)
        runs.append([tuple(map(float, sample)) for sample in DataLoader(Randoms(), batch_size=None, num_workers=2)])
    assert runs[0] == runs[1] and len({value for sample in runs[0] for value in sample}) == 12


def test_worker_init_fn_is_called_with_the_workers_number():
    def start(worker):
        get_worker_info().dataset.side = worker + 2

    for kind in ("process",):
        sizes = [images.shape[-1] for images, _ in DataLoader(Squares(4), num_workers=2, worker_init_fn=start, worker_type=kind)]
        assert sizes == [2, 3, 2, 3]


# Errors.


@pytest.mark.parametrize("options", WORKERS[1:3])
@pytest.mark.parametrize("error", [ValueError("sample five"), KeyError("sample five"), FileNotFoundError(2, "sample five")])
def test_an_error_comes_with_its_type_and_the_workers_traceback(options, error):
    iterator = iter(DataLoader(Failing(error), batch_size=2, **options))
    assert [next(iterator).tolist() for _ in range(2)] == [[0, 1], [2, 3]]
    with pytest.raises(type(error)) as caught:
        next(iterator)
    text = str(caught.value)
    assert f"Caught {type(error).__name__} in DataLoader worker" in text and "Original Traceback" in text
    assert "in __getitem__" in text and "sample five" in text
    assert next(iterator).tolist() == [6, 7], "the loader goes on behind the error"


def test_an_error_that_cannot_be_made_from_a_message_becomes_a_runtime_error():
    with pytest.raises(RuntimeError, match="Caught TwoMessages in DataLoader worker process 0"):
        list(DataLoader(Failing(TwoMessages("a", "b")), num_workers=1))


def test_an_error_of_a_class_that_cannot_be_pickled_becomes_a_runtime_error():
    class Local(Exception):
        pass

    with pytest.raises(RuntimeError, match="Caught Local in DataLoader worker process 0"):
        list(DataLoader(Failing(Local()), num_workers=1))
    with pytest.raises(Local):
        list(DataLoader(Failing(Local()), num_workers=1, worker_type="thread"))


def test_an_exit_in_a_worker_is_not_waited_for():
    with pytest.raises(SystemExit):
        list(DataLoader(Failing(SystemExit(3)), num_workers=1, worker_type="thread"))
    with pytest.raises(RuntimeError, match="ended with status 3"):
        list(DataLoader(Failing(SystemExit(3)), num_workers=1))


def test_a_failing_worker_init_fn_is_reported():
    with pytest.raises(ValueError, match="no start today"):
        list(DataLoader(Squares(), num_workers=2, worker_init_fn=refuse_first_worker))


def test_a_batch_that_cannot_be_pickled_is_reported():
    with pytest.raises(Exception, match=r"Can't (pickle|get)"):
        list(DataLoader([lambda: 0], batch_size=None, num_workers=1, collate_fn=identity))


def test_a_killed_worker_is_reported_with_its_number_and_signal():
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly.*SIGKILL"):
        list(DataLoader(Dying(), batch_size=2, num_workers=2))


def test_a_loader_works_again_after_a_worker_died():
    loader = DataLoader(Dying(), batch_size=2, num_workers=2, persistent_workers=True)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="exited unexpectedly"):
            list(loader)


@pytest.mark.parametrize("kind", ["process", "thread"])
def test_a_worker_that_takes_too_long_is_reported(kind):
    with pytest.raises(RuntimeError, match=r"timed out after 0\.3 seconds"):
        list(DataLoader(Slow(1.0), num_workers=1, timeout=0.3, worker_type=kind))


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"num_workers": -1}, ValueError, "num_workers"),
        ({"timeout": -1}, ValueError, "timeout"),
        ({"prefetch_factor": 2}, ValueError, "prefetch_factor"),
        ({"persistent_workers": True}, ValueError, "persistent_workers"),
        ({"sampler": [0], "shuffle": True}, ValueError, "sampler"),
        ({"batch_sampler": [[0]], "batch_size": 2}, ValueError, "batch_sampler"),
        ({"batch_size": None, "drop_last": True}, ValueError, "drop_last"),
        ({"multiprocessing_context": "fork"}, ValueError, "num_workers"),
        ({"num_workers": 1, "multiprocessing_context": "teleport"}, ValueError, "teleport"),
        ({"num_workers": 1, "multiprocessing_context": 3}, TypeError, "int"),
        ({"worker_type": "fibre"}, ValueError, "fibre"),
        ({"batch_size": 0}, ValueError, "batch_size"),
    ],
)
def test_arguments_that_exclude_each_other(options, error, reason):
    with pytest.raises(error, match=reason):
        DataLoader(Squares(), **options)


def test_an_iterable_dataset_takes_no_order():
    for options in ({"shuffle": True}, {"sampler": [0]}, {"batch_sampler": [[0]]}):
        with pytest.raises(ValueError, match="IterableDataset"):
            DataLoader(Counted(), **options)


def test_what_is_fixed_cannot_change():
    loader = DataLoader(Squares(), batch_size=2)
    with pytest.raises(ValueError, match="batch_size"):
        loader.batch_size = 3
    assert len(loader) == 10 and len(DataLoader(Squares(5), batch_size=2, drop_last=True)) == 2


def test_a_dataset_longer_than_it_says_is_told():
    class Liar(Counted):
        def __len__(self):
            return 3

    loader = DataLoader(Liar())
    assert len(loader) == 3
    with pytest.warns(UserWarning, match="gives 3 batches"):
        for _ in loader:
            pass


# Breaking off.


def test_leaving_an_epoch_in_the_middle_starts_the_next_one_at_the_beginning():
    loader = DataLoader(Squares(), batch_size=4, num_workers=2, persistent_workers=True)
    for _ in range(3):
        _, indices = next(iter(loader))
        assert indices.tolist() == [0, 1, 2, 3]
    assert len(list(loader)) == 5


def eventually(condition, seconds=60.0):
    """Whether the condition becomes true; a loaded machine needs its time to end a process."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def test_a_dropped_iterator_ends_its_workers():
    from multiprocessing import active_children

    before = set(active_children())
    for persistent in (False, True):
        loader = DataLoader(Squares(), num_workers=2, persistent_workers=persistent)
        iterator = iter(loader)
        next(iterator)
        assert len(set(active_children()) - before) == 2
        del iterator, loader
        assert eventually(lambda: set(active_children()) <= before)
    iterator = iter(DataLoader(Squares(), num_workers=2, worker_type="thread"))
    next(iterator)
    del iterator
    assert eventually(lambda: not [t for t in threading.enumerate() if t.name.startswith("trine-data")])


def run_program(body: str, folder, send: int | None = None) -> subprocess.CompletedProcess:
    """Run a program whose dataset sleeps; ``send`` goes to its process group once it prints "ready"."""
    program = textwrap.dedent(
        """
        import os, signal, sys, time
        import trine
        from trine.utils.data import DataLoader, Dataset
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell begins with it ignored
        class Slow(Dataset):
            def __len__(self):
                return 1000
            def __getitem__(self, index):
                open(f"{sys.argv[1]}/pid{os.getpid()}", "w").close()
                time.sleep(0.05)
                return trine.zeros(100, 100)
        """
    ) + textwrap.dedent(body)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    if send is not None:
        assert process.stdout.readline() == "ready\n", process.communicate()[1]
        if send == signal.SIGKILL:
            process.kill()
        else:
            os.killpg(process.pid, send)
    out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def alive(folder) -> list[int]:
    pids = [int(os.path.basename(path)[3:]) for path in glob.glob(f"{folder}/pid*")]
    return [pid for pid in pids if os.path.exists(f"/proc/{pid}") and "Z" not in open(f"/proc/{pid}/stat").read().split()[2]]


def wait_for_end(folder) -> None:
    deadline = time.monotonic() + 10
    while alive(folder) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert glob.glob(f"{folder}/pid*") and not alive(folder), "worker processes are left behind"


@pytest.mark.parametrize("kind", ["process", "thread"])
def test_a_program_that_ends_in_the_middle_of_an_epoch_ends_cleanly(kind, tmp_path):
    done = run_program(
        f"""
        for x in DataLoader(Slow(), num_workers=2, worker_type={kind!r}):
            other = iter(DataLoader(Slow(), num_workers=1))
            next(other)
            break
        """,
        tmp_path,
    )
    assert done.returncode == 0 and done.stderr == ""
    wait_for_end(tmp_path)


@pytest.mark.parametrize("kind", ["process", "thread"])
def test_control_c_stops_the_program_and_its_workers(kind, tmp_path):
    body = f"""
    for x in DataLoader(Slow(), num_workers=2, worker_type={kind!r}):
        print("ready", flush=True)
    """
    done = run_program(body, tmp_path, send=signal.SIGINT)
    assert "KeyboardInterrupt" in done.stderr and done.stderr.count("Traceback") == 1, done.stderr
    wait_for_end(tmp_path)


def test_a_killed_program_takes_its_workers_with_it(tmp_path):
    body = """
    for x in DataLoader(Slow(), num_workers=2):
        print("ready", flush=True)
    """
    run_program(body, tmp_path, send=signal.SIGKILL)
    wait_for_end(tmp_path)


def test_no_shared_memory_is_left_behind():
    before = set(os.listdir("/dev/shm"))
    iterator = iter(DataLoader(Squares(50, side=200), num_workers=2))
    next(iterator)
    del iterator
    with pytest.raises(RuntimeError):
        list(DataLoader(Dying(), num_workers=2))
    assert set(os.listdir("/dev/shm")) <= before
