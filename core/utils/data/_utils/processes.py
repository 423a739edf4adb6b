"""Worker processes.

Each has its own pair of sockets and shares no lock with the others: one that is killed at any moment can neither block
the others nor damage what they send.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import threading
import time
import weakref
from multiprocessing import connection as mp_connection
from typing import Any

import trine

from . import transport
from .seeding import seed_worker
from .worker import ExceptionWrapper, IterableEnd, WorkerSession, WorkerSettings

__all__ = ["ProcessPool"]

_GRACE = 2.0
_PARENT_CHECK = 5.0
_parent_ends: weakref.WeakSet[Any] = weakref.WeakSet()


class _Inbox:
    """Tasks of one worker, taken off the socket as they come.

    The parent never waits for a worker that is busy, and a parent that dies takes its workers with it, whatever the
    dataset is doing at that moment.
    """

    def __init__(self, tasks: Any, parent: int) -> None:
        self._tasks = tasks
        self._parent = parent
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True, name="trine-worker-inbox").start()

    def _read(self) -> None:
        try:
            while True:
                while not self._tasks.poll(_PARENT_CHECK):
                    if os.getppid() != self._parent:
                        os._exit(1)
                message = self._tasks.recv()
                self._queue.put(message)
                if message is None:
                    return
        except (EOFError, OSError):
            os._exit(1)

    def get(self) -> Any:
        return self._queue.get()


def _worker_main(settings: WorkerSettings, worker_id: int, base_seed: int, tasks: Any, results: Any, parent: int, forked: bool) -> None:
    if forked:
        # Copies of the parent's ends would keep the sockets of all workers open after the parent is gone.
        for end in list(_parent_ends):
            transport.close_quietly(end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    trine.set_num_threads(1)
    session = WorkerSession(settings, worker_id, "process")
    inbox = _Inbox(tasks, parent)
    session.enter(seed_worker(base_seed, worker_id), process_wide=True)
    ended = False
    try:
        while (message := inbox.get()) is not None:
            number, index = message
            if number is None:
                ended = False
                session.new_epoch()
            elif not ended:
                data = session.run(index)
                ended = isinstance(data, IterableEnd)
                try:
                    packed = transport.serialize((number, data))
                except Exception as error:
                    data = data.without_type() if isinstance(data, ExceptionWrapper) else session.wrap(error)
                    packed = transport.serialize((number, data))
                transport.send(results, packed)
                del data, packed
    except (BrokenPipeError, ConnectionError):
        os._exit(1)


def _stop(owner: int, processes: list[Any], ends: list[Any], grace: float = _GRACE) -> None:
    if os.getpid() != owner:
        return  # a forked child inherits the object, not the workers
    for tasks, _ in ends:
        with contextlib.suppress(OSError, ValueError):
            tasks.send(None)
    for _, results in ends:
        transport.close_quietly(results)
    deadline = time.monotonic() + grace
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
    for tasks, _ in ends:
        transport.close_quietly(tasks)
    for stop in ("terminate", "kill"):
        alive = [process for process in processes if process.is_alive()]
        for process in alive:
            getattr(process, stop)()
        for process in alive:
            process.join(grace)


class ProcessPool:
    """Worker processes started with ``context``."""

    def __init__(self, settings: WorkerSettings, context: Any, base_seed: int) -> None:
        self._processes: list[Any] = []
        self._ends: list[tuple[Any, Any]] = []
        forked = context.get_start_method() == "fork"
        self._finalizer = weakref.finalize(self, _stop, os.getpid(), self._processes, self._ends)
        try:
            for worker_id in range(settings.num_workers):
                self._start(settings, context, base_seed, worker_id, forked)
        except BaseException:
            self.shutdown()
            raise

    def _start(self, settings: WorkerSettings, context: Any, base_seed: int, worker_id: int, forked: bool) -> None:
        tasks, worker_tasks = context.Pipe(duplex=True)
        results, worker_results = context.Pipe(duplex=True)
        _parent_ends.update((tasks, results))
        process = context.Process(
            target=_worker_main,
            args=(settings, worker_id, base_seed, worker_tasks, worker_results, os.getpid(), forked),
            daemon=True,
        )
        try:
            process.start()
        finally:
            worker_tasks.close()
            worker_results.close()
        self._processes.append(process)
        self._ends.append((tasks, results))

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers."""
        return [process.pid for process in self._processes]

    def submit(self, worker_id: int, number: int | None, index: Any) -> None:
        """Ask a worker for batch ``number``; None starts a new epoch."""
        with contextlib.suppress(OSError):  # it died; receive() tells
            self._ends[worker_id][0].send((number, index))

    def receive(self, waiting: set[int], timeout: float | None) -> tuple[int, Any]:
        """Next ``(number, batch)`` of any worker.

        ``waiting`` are the workers that still owe something. Raises ``TimeoutError``, or ``RuntimeError`` when one of
        these has died.
        """
        by_end: dict[Any, int] = {self._ends[worker][1]: worker for worker in waiting}
        sentinels = {self._processes[worker].sentinel: worker for worker in waiting}
        ready: list[Any] = mp_connection.wait([*by_end, *sentinels], timeout)
        if not ready:
            raise TimeoutError
        # A worker may have sent its results before it died: results first.
        for end in ready:
            if end in by_end:
                try:
                    return transport.receive(end)
                except (EOFError, OSError):
                    self._report_death(by_end[end])
        self._report_death(sentinels[ready[0]])
        raise AssertionError("unreachable")

    def _report_death(self, worker: int) -> None:
        self._processes[worker].join(_GRACE)
        dead = [process for process in self._processes if not process.is_alive()] or [self._processes[worker]]
        reasons = []
        for process in dead:
            code = process.exitcode
            if code is not None and code < 0:
                name = signal.Signals(-code).name if -code in signal.valid_signals() else str(-code)
                hint = ", which is how the system stops a process when memory runs out" if -code == signal.SIGKILL else ""
                reasons.append(f"{process.pid} was killed by signal {name}{hint}")
            else:
                reasons.append(f"{process.pid} ended with status {code}")
        pids = ", ".join(str(process.pid) for process in dead)
        self.shutdown()
        raise RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly: worker {'; worker '.join(reasons)}")

    def shutdown(self) -> None:
        """End all workers; those that do not within two seconds are terminated."""
        self._finalizer()
