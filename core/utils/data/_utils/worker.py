"""What happens inside one worker, be it a process or a thread."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .fetch import make_fetcher

__all__ = ["ExceptionWrapper", "IterableEnd", "WorkerInfo", "WorkerSession", "WorkerSettings", "get_worker_info"]


@dataclass(frozen=True)
class WorkerInfo:
    """Who the current worker is: its ``id`` (from 0), the number of workers, its seed, and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_current = threading.local()
_process_wide: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Information about the ``DataLoader`` worker that this code runs in; None outside one.

    >>> import trine
    >>> trine.utils.data.get_worker_info() is None
    True
    """
    return getattr(_current, "info", None) or _process_wide


class _KeyErrorMessage(str):
    """``KeyError`` shows the repr of its message; this one keeps line breaks in it."""

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """An exception of a worker on its way to the caller, with its traceback as text."""

    def __init__(self, error: BaseException, where: str) -> None:
        self.exc_type: Any = type(error)
        self.name = type(error).__name__
        self.exc_msg = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        self.where = where

    def without_type(self) -> ExceptionWrapper:
        """The same to be raised as ``RuntimeError``, for a class that cannot be pickled."""
        self.exc_type = RuntimeError
        return self

    def reraise(self) -> None:
        """Raise an exception of the same type whose message has the worker's traceback."""
        message: Any = f"Caught {self.name} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            message = _KeyErrorMessage(message)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=message)
        try:
            error = self.exc_type(message)
        except Exception:  # a type whose constructor wants something else than a message
            error = RuntimeError(message)
        raise error


@dataclass(frozen=True)
class IterableEnd:
    """A worker's iterable dataset is exhausted."""

    worker_id: int


@dataclass(frozen=True)
class WorkerSettings:
    """What every worker of a loader needs to know."""

    dataset: Any
    iterable: bool
    auto_collation: bool
    collate_fn: Callable[[Any], Any]
    drop_last: bool
    num_workers: int
    init_fn: Callable[[int], None] | None


class WorkerSession:
    """State of one worker; ``run`` never raises an ``Exception``, it returns it wrapped."""

    def __init__(self, settings: WorkerSettings, worker_id: int, where: str) -> None:
        self._settings = settings
        self._id = worker_id
        self._where = f"in DataLoader worker {where} {worker_id}"
        self._failure: ExceptionWrapper | None = None
        self._fetch: Callable[[Any], Any] | None = None

    def enter(self, seed: int, process_wide: bool) -> None:
        """Make ``get_worker_info`` answer and run the user's ``worker_init_fn``; a failure is reported with the first task."""
        global _process_wide
        info = WorkerInfo(self._id, self._settings.num_workers, seed, self._settings.dataset)
        if process_wide:
            _process_wide = info
        else:
            _current.info = info
        if self._settings.init_fn is not None:
            try:
                self._settings.init_fn(self._id)
            except Exception as error:
                self._failure = ExceptionWrapper(error, self._where)

    def new_epoch(self) -> None:
        """Begin anew with the dataset."""
        self._fetch = None

    def run(self, index: Any) -> Any:
        """The batch for ``index``, an ``ExceptionWrapper``, or ``IterableEnd``."""
        settings = self._settings
        if self._failure is not None:
            failure, self._failure = self._failure, None
            return failure
        try:
            if self._fetch is None:
                self._fetch = make_fetcher(
                    settings.dataset, settings.iterable, settings.auto_collation, settings.collate_fn, settings.drop_last
                )
            return self._fetch(index)
        except StopIteration as error:
            if settings.iterable:
                return IterableEnd(self._id)
            return ExceptionWrapper(error, self._where)
        except Exception as error:
            # As text only: a live traceback would keep the failed sample's memory.
            return ExceptionWrapper(error, self._where)

    def wrap(self, error: BaseException) -> ExceptionWrapper:
        """A failure outside ``run``, for example of sending its result."""
        return ExceptionWrapper(error, self._where)
