"""``DataLoader``: samples drawn, fetched (here, in processes or in threads), collated, in order."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

import trine

from ._utils.collate import default_collate, default_convert
from ._utils.fetch import make_fetcher
from ._utils.worker import ExceptionWrapper, IterableEnd, WorkerSettings, get_worker_info
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

T_co = TypeVar("T_co", covariant=True)
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _Endless(Sampler[None]):
    """Index sampler of iterable datasets, which have no indices."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


def _check_workers(num_workers: int, prefetch_factor: int | None, persistent: bool, timeout: float, kind: str) -> int | None:
    if num_workers < 0:
        raise ValueError(f"DataLoader: num_workers must not be negative, got {num_workers}; 0 loads in this process")
    if timeout < 0:
        raise ValueError(f"DataLoader: timeout must not be negative, got {timeout}")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError("DataLoader: prefetch_factor needs num_workers > 0")
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError(f"DataLoader: prefetch_factor must not be negative, got {prefetch_factor}")
    if persistent and num_workers == 0:
        raise ValueError("DataLoader: persistent_workers needs num_workers > 0")
    if kind not in ("process", "thread"):
        raise ValueError(f"DataLoader: worker_type must be 'process' or 'thread', got {kind!r}")
    return 2 if num_workers and prefetch_factor is None else prefetch_factor


def _to_pinned(data: Any) -> Any:
    if isinstance(data, trine.Tensor):
        return data.pin_memory()
    if isinstance(data, dict):
        return type(data)({key: _to_pinned(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(_to_pinned(item) for item in data))
    if isinstance(data, (list, tuple)):
        return [_to_pinned(item) for item in data]
    return data.pin_memory() if hasattr(data, "pin_memory") else data


class DataLoader(Generic[T_co]):
    """Iterable over the batches of a dataset.

    Args:
        dataset: a ``Dataset`` (or anything with ``__getitem__`` and ``__len__``), or an ``IterableDataset``.
        batch_size: samples in a batch. None gives single samples, converted but not batched.
        shuffle: random order, new in each epoch.
        sampler: order of the indices, instead of ``shuffle``.
        batch_sampler: gives lists of indices, instead of ``batch_size``, ``shuffle``, ``sampler`` and ``drop_last``.
        num_workers: how many workers prepare batches ahead. 0 prepares each batch here when it is asked for.
        collate_fn: makes a batch of a list of samples. None is ``default_collate``.
        pin_memory: put batches into page-locked memory where there is an accelerator; without one it does nothing.
        drop_last: leave out a last batch that is not full.
        timeout: seconds to wait for a worker's batch before a ``RuntimeError``; 0 waits for ever.
        worker_init_fn: called with the worker's number when a worker starts.
        multiprocessing_context: ``"fork"``, ``"spawn"``, ``"forkserver"`` or a context of ``multiprocessing``.
        generator: source of the order and of the workers' seeds. None is the default generator. The same seed gives
            the same order as in PyTorch.
        prefetch_factor: batches that each worker prepares ahead. None means 2.
        persistent_workers: keep the workers from one epoch to the next.
        pin_memory_device: accepted for compatibility.
        in_order: whether batches come in the sampler's order; False takes them as they get ready.
        worker_type: ``"process"`` (as PyTorch does) or ``"thread"``. Threads start at once, copy nothing, and run in
            parallel where samples are made by code that releases the interpreter lock (decoding, resizing, NumPy);
            choose them for such datasets. They share the process's random generators, so that random transforms are not
            reproducible with more than one, and Python code in ``__getitem__`` runs in turns: choose processes then.

    An exception in a worker is raised here, with the same type and the worker's traceback in its message; a worker
    process that dies is reported as ``RuntimeError`` with its process id and what killed it.

    >>> import trine
    >>> loader = trine.utils.data.DataLoader(list(range(5)), batch_size=2)
    >>> [batch.tolist() for batch in loader]
    [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[list] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
        worker_type: str = "process",
    ) -> None:
        self.prefetch_factor = _check_workers(num_workers, prefetch_factor, persistent_workers, timeout, worker_type)
        self.dataset = dataset
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.worker_type = worker_type
        self.in_order = in_order
        self.generator = generator
        self._context: Any = None
        self.multiprocessing_context = multiprocessing_context
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable:
            self._check_iterable(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("DataLoader: sampler and shuffle exclude each other")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("DataLoader: batch_sampler excludes batch_size, shuffle, sampler and drop_last")
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("DataLoader: drop_last needs batches, and batch_size=None makes none")
        if sampler is None:
            sampler = self._default_sampler(bool(shuffle))
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self._iterator: _WorkerIterator | None = None
        self._announced: int | None = None
        self._initialized = True

    def _check_iterable(self, shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
        given = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"DataLoader: an IterableDataset decides its own order; {name} must be left out, got {value}")

    def _default_sampler(self, shuffle: bool) -> Iterable[Any]:
        if self._iterable:
            return _Endless()
        return RandomSampler(self.dataset, generator=self.generator) if shuffle else SequentialSampler(self.dataset)

    @property
    def multiprocessing_context(self) -> Any:
        """Context that starts the worker processes; None is the system's default."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        if context is not None:
            import multiprocessing

            if self.num_workers == 0:
                raise ValueError("DataLoader: multiprocessing_context needs num_workers > 0")
            if isinstance(context, str):
                methods = multiprocessing.get_all_start_methods()
                if context not in methods:
                    raise ValueError(f"DataLoader: multiprocessing_context must be one of {methods}, got {context!r}")
                context = multiprocessing.get_context(context)
            if not isinstance(context, multiprocessing.context.BaseContext):
                raise TypeError(f"DataLoader: multiprocessing_context must be a str or a context, got {type(context).__name__}")
        self._context = context

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and self.__dict__.get("_initialized"):
            raise ValueError(f"DataLoader: {name} cannot change after the loader is made")
        super().__setattr__(name, value)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def _settings(self) -> WorkerSettings:
        return WorkerSettings(
            self.dataset, self._iterable, self._auto_collation, self.collate_fn, self.drop_last, self.num_workers, self.worker_init_fn
        )

    def _make_iterator(self) -> _BaseIterator:
        if self.num_workers == 0:
            return _LocalIterator(self)
        return _WorkerIterator(self)

    def __iter__(self) -> Iterator[T_co]:
        if not (self.persistent_workers and self.num_workers):
            return self._make_iterator()
        if self._iterator is None or self._iterator.broken:
            self._iterator = _WorkerIterator(self)
        else:
            self._iterator.restart()
        return self._iterator

    def __len__(self) -> int:
        if not self._iterable:
            return len(self._index_sampler)
        length = len(self.dataset)
        if self.batch_size is not None:
            length = length // self.batch_size if self.drop_last else math.ceil(length / self.batch_size)
        # Who has asked is told when more batches come than this.
        self._announced = length
        return length

    def check_worker_number_rationality(self) -> None:
        """Kept for compatibility; more workers than cores are allowed."""


class _BaseIterator:
    """One pass over a loader. It does not hold the loader: a loader with persistent workers holds it."""

    def __init__(self, loader: DataLoader) -> None:
        self._index_sampler = loader._index_sampler
        self._pin = loader.pin_memory and trine.cuda.is_available()
        self._given = 0
        self._announced = loader._announced
        self._with_workers = loader.num_workers > 0
        self._indices = iter(self._index_sampler)
        # Drawn even where no worker needs it, and before the sampler's own seed: PyTorch's order for the same seed.
        self._base_seed = trine.empty((), dtype=trine.int64).random_(generator=loader.generator).item()

    def __iter__(self) -> _BaseIterator:
        return self

    def __len__(self) -> int:
        return len(self._index_sampler)

    def _next(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        batch = self._next()
        self._given += 1
        if self._announced is not None and self._given > self._announced:
            self._warn_too_long(self._announced)
            self._announced = None
        return _to_pinned(batch) if self._pin else batch

    def _warn_too_long(self, announced: int) -> None:
        hint = "; with several workers, __iter__ must give each its share (see IterableDataset)" if self._with_workers else ""
        warnings.warn(
            f"DataLoader: the length of the IterableDataset gives {announced} batches and {self._given} have come{hint}",
            stacklevel=3,
        )


class _LocalIterator(_BaseIterator):
    """Fetches in the caller."""

    def __init__(self, loader: DataLoader) -> None:
        super().__init__(loader)
        self._fetch = make_fetcher(loader.dataset, loader._iterable, loader._auto_collation, loader.collate_fn, loader.drop_last)

    def _next(self) -> Any:
        return self._fetch(next(self._indices))


def _start_pool(loader: DataLoader, base_seed: int) -> Any:
    if loader.worker_type == "thread":
        from ._utils.threads import ThreadPool

        return ThreadPool(loader._settings(), base_seed)
    from ._utils.processes import ProcessPool

    context = loader.multiprocessing_context
    if context is None:
        import multiprocessing

        context = multiprocessing.get_context()
    return ProcessPool(loader._settings(), context, base_seed)


class _WorkerIterator(_BaseIterator):
    """Keeps ``prefetch_factor`` batches per worker under way and gives them out in order."""

    def __init__(self, loader: DataLoader) -> None:
        super().__init__(loader)
        self.broken = False
        self._count = loader.num_workers
        self._prefetch = loader.prefetch_factor or 0
        self._in_order = loader.in_order
        self._timeout = loader.timeout or None
        self._persistent = loader.persistent_workers
        self._pool = _start_pool(loader, self._base_seed)
        self._reset()

    def _reset(self) -> None:
        self._sent = 0
        self._wanted = 0
        self._owner: dict[int, int] = {}
        """Worker of each batch that was asked for and not given out."""
        self._ready: dict[int, Any] = {}
        self._pending = [0] * self._count
        self._active = [True] * self._count
        self._turn = 0
        for _ in range(self._prefetch * self._count):
            self._ask()

    def restart(self) -> None:
        """Begin a new epoch with the same workers."""
        while any(self._pending):  # an epoch that was left in the middle
            self._take()
        self._indices = iter(self._index_sampler)
        self._given = 0
        for worker in range(self._count):
            self._pool.submit(worker, None, None)
        self._reset()

    def _choose_worker(self) -> int | None:
        for step in range(self._count):
            worker = (self._turn + step) % self._count
            if not self._active[worker]:
                continue
            if not self._in_order and self._pending[worker] > min(
                pending for pending, active in zip(self._pending, self._active, strict=True) if active
            ):
                continue  # in any order, a slow worker gets no more than the others have
            self._turn = (worker + 1) % self._count
            return worker
        return None

    def _ask(self) -> None:
        worker = self._choose_worker()
        if worker is None:
            return
        try:
            index = next(self._indices)
        except StopIteration:
            return
        self._pool.submit(worker, self._sent, index)
        self._owner[self._sent] = worker
        self._pending[worker] += 1
        self._sent += 1

    def _take(self) -> int | None:
        """Receive one message; the number of its batch, or None when it only said that a worker has nothing more."""
        waiting = {worker for worker, pending in enumerate(self._pending) if pending}
        try:
            number, data = self._pool.receive(waiting, self._timeout)
        except TimeoutError:
            self._shutdown()
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds") from None
        except BaseException:
            # A dead worker, or Ctrl-C: what is under way is lost, and a half-read message may be in the pipe.
            self._shutdown()
            raise
        worker = self._owner[number]
        if isinstance(data, IterableEnd):
            # What it was asked for behind its end will not come.
            self._active[worker] = False
            self._pending[worker] = 0
            self._owner = {n: w for n, w in self._owner.items() if w != worker or n in self._ready}
            return None
        self._pending[worker] -= 1
        self._ready[number] = data
        return number

    def _shutdown(self) -> None:
        self.broken = True
        self._pool.shutdown()

    def _give(self, number: int) -> Any:
        del self._owner[number]
        data = self._ready.pop(number)
        self._ask()
        if isinstance(data, ExceptionWrapper):
            data.reraise()
        return data

    def _next(self) -> Any:
        if self.broken:
            raise StopIteration
        if not self._owner and self._sent == 0:
            self._ask()  # prefetch_factor=0: nothing is under way yet
        while True:
            while self._wanted < self._sent and self._wanted not in self._owner:
                self._wanted += 1
            if self._wanted == self._sent:
                self._finish()
                raise StopIteration
            if self._wanted in self._ready:
                self._wanted += 1
                return self._give(self._wanted - 1)
            number = self._take()
            if number is None:
                self._ask()
            elif not self._in_order and number != self._wanted:
                return self._give(number)

    def _finish(self) -> None:
        if not self._persistent:
            self._shutdown()
