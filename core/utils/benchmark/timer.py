"""``Timer``: how long a statement takes, with as many repetitions as the clock needs."""

from __future__ import annotations

import enum
import textwrap
import timeit
from collections.abc import Callable
from time import perf_counter
from typing import Any, NoReturn, overload

import trine

from .measurement import Measurement, TaskSpec, set_torch_threads

__all__ = ["Language", "Timer", "timer"]

_CLOCK_SHARE = 1e-4  # what reading the clock may add to a block
_LARGEST_BLOCK = 2_147_483_647


class Language(enum.Enum):
    """In what language a ``Timer``'s statements are written."""

    PYTHON = 0
    CPP = 1


def timer() -> float:
    """Seconds of the steadiest clock; kernels on the CPU have finished when a call returns, so nothing is waited for."""
    return perf_counter()


def _language_of(language: Language | str) -> Language:
    known = {"py": Language.PYTHON, "python": Language.PYTHON, "c++": Language.CPP, "cpp": Language.CPP}
    found = known.get(language.lower()) if isinstance(language, str) else language
    if not isinstance(found, Language):
        raise ValueError(f"Timer: language must be 'py' or 'c++', got {language!r}")
    return found


class Timer:
    """Times a statement; ``timeit.Timer`` with the habits that benchmarks of tensors need.

    It runs the statement once or more before the clock starts, limits the threads (1 unless told otherwise) and keeps every
    block's time, so that a result says how far it can be believed.

    Args:
        stmt: code to time.
        setup: code run before, once a block of repetitions.
        global_setup: C++ only: what stands outside of functions, such as includes.
        timer: clock, in seconds.
        globals: names that ``stmt`` and ``setup`` know. ``trine`` (and ``torch`` for it) are there without.
        label, sub_label, description, env: how ``Compare`` titles the table, names the row, the column, and groups rows.
        num_threads: how many threads Trine may use.
        language: ``"py"``, or ``"c++"`` where a C++ compiler is installed.

    >>> import trine
    >>> from trine.utils.benchmark import Timer
    >>> result = Timer("x + 1", globals={"x": trine.ones(4)}).timeit(100)
    >>> result.number_per_run, result.median > 0
    (100, True)
    """

    _timer_cls: type[timeit.Timer] = timeit.Timer

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError(f"Timer: stmt must be a string of code, got {type(stmt).__name__}")
        self._globals = dict(globals or {})
        self._language = _language_of(language)
        stmt, setup, global_setup = (textwrap.dedent(code).strip() for code in (stmt, setup, global_setup))
        self._timer: Any
        if self._language is Language.CPP:
            if globals:
                raise ValueError("Timer: C++ code cannot see Python's globals; declare what it needs in setup")
            from .native import NativeTimer

            setup = "" if setup == "pass" else setup
            stmt = "" if stmt == "pass" else stmt
            self._timer = NativeTimer(stmt, setup, global_setup)
        else:
            if global_setup:
                raise ValueError("Timer: global_setup belongs to C++; put Python code into setup")
            from .callgrind import CopyIfCallgrind

            names = {"trine": trine, "torch": trine, **CopyIfCallgrind.unwrap_all(self._globals)}
            self._timer = self._timer_cls(stmt=stmt or "pass", setup=setup or "pass", timer=timer, globals=names)
        self._task_spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)

    def _seconds(self, number: int) -> float:
        # A coarse clock may say 0 or, when it is set, less: neither is a time.
        return max(self._timer.timeit(number), 1e-9)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """One block of ``number`` executions, after a short warm-up."""
        if number < 1:
            raise ValueError(f"Timer.timeit: number must be positive, got {number}")
        with set_torch_threads(self._task_spec.num_threads):
            self._seconds(max(number // 100, 1))
            return Measurement(number, [self._seconds(number)], self._task_spec)

    def repeat(self, repeat: int = -1, number: int = -1) -> NoReturn:
        """Refused: ``blocked_autorange`` and ``adaptive_autorange`` repeat, and keep every time."""
        raise NotImplementedError("Timer.repeat: use blocked_autorange() or adaptive_autorange()")

    def autorange(self, callback: Callable[[int, float], NoReturn] | None = None) -> NoReturn:
        """Refused: see ``blocked_autorange``."""
        raise NotImplementedError("Timer.autorange: use blocked_autorange() or adaptive_autorange()")

    def _block_size(self, min_run_time: float) -> int:
        """Executions that last so long that the clock does not matter, and no longer than a thousandth of the whole needs."""
        clock = min(self._empty_block() for _ in range(5))
        number = 1
        while True:
            seconds = self._seconds(number)
            if (clock / seconds <= _CLOCK_SHARE and seconds >= min_run_time / 1000) or number >= _LARGEST_BLOCK:
                return min(number, _LARGEST_BLOCK)
            if seconds > min_run_time:
                return number
            number *= 10

    def _empty_block(self) -> float:
        return self._seconds(0)

    def blocked_autorange(self, callback: Callable[[int, float], NoReturn] | None = None, min_run_time: float = 0.2) -> Measurement:
        """Blocks of executions until they have taken ``min_run_time`` seconds together; setup runs before each block.

        ``callback(number, seconds)`` is called after each block.
        """
        with set_torch_threads(self._task_spec.num_threads):
            number = self._block_size(min_run_time)
            return self._blocks(number, callback, lambda times: sum(times) >= min_run_time)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], NoReturn] | None = None,
    ) -> Measurement:
        """Blocks of executions until the interquartile range is below ``threshold`` of the median, or ``max_run_time`` is over.

        Args:
            threshold: largest interquartile range, as a share of the median.
            min_run_time: seconds to measure in any case.
            max_run_time: seconds after which it ends in any case.
            callback: called with (number, seconds) after each block.
        """
        spec = self._task_spec
        with set_torch_threads(spec.num_threads):
            number = self._block_size(0.05)

            def enough(times: list[float]) -> bool:
                total = sum(times)
                steady = len(times) > 3 and Measurement(number, times, spec).meets_confidence(threshold)
                return total >= max_run_time or (total >= min_run_time and steady)

            return self._blocks(number, callback, enough)

    def _blocks(self, number: int, callback: Callable[[int, float], Any] | None, enough: Callable[[list[float]], bool]) -> Measurement:
        times: list[float] = []
        while not times or not enough(times):
            times.append(self._seconds(number))
            if callback is not None:
                callback(number, times[-1])
        return Measurement(number, times, self._task_spec)

    @overload
    def collect_callgrind(self, number: int, *, repeats: None, collect_baseline: bool, retain_out_file: bool) -> Any: ...

    @overload
    def collect_callgrind(self, number: int, *, repeats: int, collect_baseline: bool, retain_out_file: bool) -> tuple[Any, ...]: ...

    def collect_callgrind(
        self, number: int = 100, *, repeats: int | None = None, collect_baseline: bool = True, retain_out_file: bool = False
    ) -> Any:
        """Instructions that ``number`` executions take, counted function by function under Valgrind.

        Counts repeat where times do not, so that small changes show. The statement runs in a process of its own: ``globals`` must be
        plain values, modules, or wrapped in ``CopyIfCallgrind``.

        Args:
            number: executions. Valgrind is some fifty times slower than the machine.
            repeats: how often to do it all; None gives one ``CallgrindStats``, a number gives a tuple.
            collect_baseline: also count an empty statement, which ``counts(denoise=...)`` and ``stats`` are compared with.
            retain_out_file: keep Callgrind's own file as a string in ``stmt_callgrind_out``.

        Raises:
            RuntimeError: Valgrind is not installed.
            ValueError: a value in ``globals`` cannot be handed over.
        """
        if self._language is Language.CPP:
            raise NotImplementedError("Timer.collect_callgrind: only Python statements are counted")
        from .callgrind import collect

        return collect(self._task_spec, self._globals, number, repeats, collect_baseline, retain_out_file)
