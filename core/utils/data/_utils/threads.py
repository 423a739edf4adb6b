"""Worker threads: no copies, no start-up cost, and parallel where samples are made by native code."""

from __future__ import annotations

import queue
import threading
import time
import weakref
from typing import Any

from .worker import IterableEnd, WorkerSession, WorkerSettings

__all__ = ["ThreadPool"]

_GRACE = 2.0


def _worker_main(settings: WorkerSettings, worker_id: int, seed: int, tasks: Any, results: Any, stopped: threading.Event) -> None:
    session = WorkerSession(settings, worker_id, "thread")
    session.enter(seed, process_wide=False)
    ended = False
    while (message := tasks.get()) is not None and not stopped.is_set():
        number, index = message
        if number is None:
            ended = False
            session.new_epoch()
        elif not ended:
            try:
                data = session.run(index)
            except BaseException as error:  # a thread that ends without a word would be waited for for ever
                data = session.wrap(error)
            ended = isinstance(data, IterableEnd)
            results.put((number, data))
            del data


def _stop(threads: list[threading.Thread], tasks: list[Any], stopped: threading.Event) -> None:
    stopped.set()
    for inbox in tasks:
        inbox.put(None)
    deadline = time.monotonic() + _GRACE
    for thread in threads:
        if thread is not threading.current_thread():
            thread.join(max(0.0, deadline - time.monotonic()))


class ThreadPool:
    """Worker threads of this process; the same interface as ``ProcessPool``."""

    def __init__(self, settings: WorkerSettings, base_seed: int) -> None:
        self._results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._tasks: list[queue.SimpleQueue[Any]] = [queue.SimpleQueue() for _ in range(settings.num_workers)]
        threads: list[threading.Thread] = []
        stopped = threading.Event()
        self._finalizer = weakref.finalize(self, _stop, threads, self._tasks, stopped)
        for worker_id, tasks in enumerate(self._tasks):
            thread = threading.Thread(
                target=_worker_main,
                args=(settings, worker_id, base_seed + worker_id, tasks, self._results, stopped),
                name=f"trine-data-{worker_id}",
                daemon=True,
            )
            thread.start()
            threads.append(thread)

    def submit(self, worker_id: int, number: int | None, index: Any) -> None:
        """Ask a worker for batch ``number``; None starts a new epoch."""
        self._tasks[worker_id].put((number, index))

    def receive(self, waiting: set[int], timeout: float | None) -> tuple[int, Any]:
        """Next ``(number, batch)`` of any worker; raises ``TimeoutError``."""
        try:
            return self._results.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError from None

    def shutdown(self) -> None:
        """End all workers after the sample they are at."""
        self._finalizer()
