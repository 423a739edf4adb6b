"""Instruction counts of a statement, function by function, from Valgrind's Callgrind.

Callgrind's file format: https://valgrind.org/docs/manual/cl-format.html.
"""

from __future__ import annotations

import ctypes
import dataclasses
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

from .measurement import TaskSpec

__all__ = ["CallgrindStats", "CopyIfCallgrind", "FunctionCount", "FunctionCounts", "collect"]

_LINE_WIDTH = 160
_SHOWN_ROWS = 18
# Counting is on inside this function of Python's C interface, which nothing else in an ordinary program calls.
_REGION = "PyRun_SimpleStringFlags"
_NOISE = re.compile(r"dict_?lookup|lookdict|unicodekeys_lookup|_Py_dict_lookup")
_PLAIN_TYPES = (type(None), bool, int, float, complex, str, bytes)


class FunctionCount(NamedTuple):
    """Instructions spent in one function, named ``file:function``."""

    count: int  # type: ignore[assignment]
    function: str


@dataclasses.dataclass(repr=False, eq=False, frozen=True)
class FunctionCounts:
    """Counts by function, the largest first (of differences: from the largest growth to the largest saving).

    ``inclusive`` counts hold what the function called as well. ``a - b`` and ``a + b`` join two by function.

    >>> from trine.utils.benchmark import FunctionCount, FunctionCounts
    >>> counts = FunctionCounts((FunctionCount(7, "a.c:f"), FunctionCount(3, "a.c:g")), inclusive=False)
    >>> counts.sum(), counts.filter(lambda name: "g" in name).sum()
    (10, 3)
    """

    _data: tuple[FunctionCount, ...]
    inclusive: bool
    truncate_rows: bool = True
    _linewidth: int | None = None

    def __iter__(self) -> Iterator[FunctionCount]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, item: Any) -> Any:
        return dataclasses.replace(self, _data=self._data[item]) if isinstance(item, slice) else self._data[item]

    def __repr__(self) -> str:
        width = max([len(str(c)) for c, _ in self] + [len(str(self.sum()))])
        rows = [f"  {count:>{width}}  {name}"[: self._linewidth or _LINE_WIDTH] for count, name in self]
        if self.truncate_rows and len(rows) > _SHOWN_ROWS:
            rows = [*rows[: _SHOWN_ROWS // 2], "...".rjust(width + 2), *rows[-_SHOWN_ROWS // 2 :]]
        name = f"<{type(self).__module__}.{type(self).__qualname__} object at {id(self):#x}>"
        return "\n".join([name, *rows, "" if self.inclusive else f"\nTotal: {self.sum()}"])

    def __add__(self, other: FunctionCounts) -> FunctionCounts:
        return self._merge(other, 1)

    def __sub__(self, other: FunctionCounts) -> FunctionCounts:
        return self._merge(other, -1)

    def __mul__(self, factor: float) -> FunctionCounts:
        return self._of({name: int(count * factor) for count, name in self})

    def _of(self, counts: dict[str, int]) -> FunctionCounts:
        ordered = sorted((FunctionCount(count, name) for name, count in counts.items() if count), reverse=True)
        return dataclasses.replace(self, _data=tuple(ordered))

    def _merge(self, other: FunctionCounts, sign: int) -> FunctionCounts:
        if self.inclusive != other.inclusive:
            raise ValueError("FunctionCounts: inclusive and exclusive counts cannot be joined")
        counts: dict[str, int] = defaultdict(int)
        for count, name in self:
            counts[name] += count
        for count, name in other:
            counts[name] += sign * count
        return self._of(counts)

    def transform(self, map_fn: Callable[[str], str]) -> FunctionCounts:
        """Rename functions; those that get the same name are added up."""
        counts: dict[str, int] = defaultdict(int)
        for count, name in self:
            counts[map_fn(name)] += count
        return self._of(counts)

    def filter(self, filter_fn: Callable[[str], bool]) -> FunctionCounts:
        """Only the functions whose name ``filter_fn`` accepts."""
        return dataclasses.replace(self, _data=tuple(entry for entry in self if filter_fn(entry.function)))

    def denoise(self) -> FunctionCounts:
        """Without the search in Python's dictionaries, whose length depends on the addresses of a run."""
        return self.filter(lambda name: not _NOISE.search(name))

    def sum(self) -> int:
        """All counts together."""
        return sum(count for count, _ in self)


@dataclasses.dataclass(repr=False, eq=False, frozen=True)
class CallgrindStats:
    """What ``Timer.collect_callgrind`` counted, for ``number_per_run`` executions of the statement."""

    task_spec: TaskSpec
    number_per_run: int
    built_with_debug_symbols: bool
    baseline_inclusive_stats: FunctionCounts
    baseline_exclusive_stats: FunctionCounts
    stmt_inclusive_stats: FunctionCounts
    stmt_exclusive_stats: FunctionCounts
    stmt_callgrind_out: str | None

    def stats(self, inclusive: bool = False) -> FunctionCounts:
        """Counts of the statement by function; ``inclusive`` ones hold what a function called as well."""
        return self.stmt_inclusive_stats if inclusive else self.stmt_exclusive_stats

    def counts(self, *, denoise: bool = False) -> int:
        """Instructions of all executions together; ``denoise`` leaves the search in dictionaries out."""
        stats = self.stmt_exclusive_stats
        return (stats.denoise() if denoise else stats).sum()

    def delta(self, other: CallgrindStats, inclusive: bool = False) -> FunctionCounts:
        """Counts of this minus those of ``other``, by function."""
        return self.stats(inclusive) - other.stats(inclusive)

    def as_standardized(self) -> CallgrindStats:
        """With file names that do not tell where Python and Trine were built, so that two builds can be compared."""
        parts = re.compile(r"^.*/(?=(?:Python|Objects|Modules|Include|core|csrc|site-packages)/)")

        def shorten(counts: FunctionCounts) -> FunctionCounts:
            return counts.transform(lambda name: parts.sub("", name))

        names = ("baseline_inclusive_stats", "baseline_exclusive_stats", "stmt_inclusive_stats", "stmt_exclusive_stats")
        changes: dict[str, Any] = {name: shorten(getattr(self, name)) for name in names}
        return dataclasses.replace(self, **changes)

    def __repr__(self) -> str:
        name = f"<{type(self).__module__}.{type(self).__qualname__} object at {id(self):#x}>"
        rows = [name, self.task_spec.summarize(), f"  {'':24}{'All':>12}{'Noise removed':>16}"]
        for label, counts in (("Instructions:", self.stmt_exclusive_stats), ("Baseline:", self.baseline_exclusive_stats)):
            rows.append(f"  {label:24}{counts.sum():>12}{counts.denoise().sum():>16}")
        rows.append(
            f"{self.number_per_run} runs per measurement, {self.task_spec.num_threads} thread{'s' * (self.task_spec.num_threads > 1)}"
        )
        return "\n".join(rows)


class CopyIfCallgrind:
    """Marks a value of a ``Timer``'s globals that may be pickled for the process in which instructions are counted.

    ``setup`` is code that runs there before the value is unpickled, such as the import of its class.
    """

    def __init__(self, value: Any, *, setup: str | None = None) -> None:
        self.value = value
        self.setup = setup

    @staticmethod
    def unwrap_all(globals: dict[str, Any]) -> dict[str, Any]:
        """``globals`` with the marked values themselves."""
        return {name: value.value if isinstance(value, CopyIfCallgrind) else value for name, value in globals.items()}


def _setup_lines(globals: dict[str, Any], folder: str) -> list[str]:
    """Code that gives the names of ``globals`` their values in another process."""
    import trine

    lines = ["import pickle", "import trine", "import trine as torch"]
    for index, (name, value) in enumerate(globals.items()):
        if isinstance(value, ModuleType):
            lines += [f"import {value.__name__}", f"import sys; {name} = sys.modules[{value.__name__!r}]"]
            continue
        if isinstance(value, CopyIfCallgrind):
            lines.append(value.setup or "")
            value = value.value
        elif not isinstance(value, (*_PLAIN_TYPES, trine.Tensor)):
            raise ValueError(
                f"Timer.collect_callgrind: the global {name!r} is a {type(value).__name__}, which is not copied to another process "
                "unasked; wrap it in CopyIfCallgrind, or make it in setup"
            )
        path = os.path.join(folder, f"value{index}")
        with open(path, "wb") as file:
            pickle.dump(value, file)
        lines.append(f"with open({path!r}, 'rb') as _file: {name} = pickle.load(_file)")
    return lines


def _program(spec: TaskSpec, stmt: str, number: int, lines: list[str]) -> str:
    import trine

    place = os.path.dirname(os.path.dirname(os.path.abspath(trine.__file__)))
    return "\n".join([
        "import ctypes, sys, timeit",
        f"sys.path.insert(0, {place!r})",
        *lines,
        f"trine.set_num_threads({spec.num_threads})",
        f"_inner = timeit.Timer({stmt!r}, {spec.setup or 'pass'!r}, globals=globals(), timer=lambda: 0.0)",
        "_inner.timeit(2)",
        f"_number = {number}",
        "sys.exit(ctypes.pythonapi.PyRun_SimpleString(b'_inner.timeit(_number)'))",
        "",
    ])  # fmt: skip


def _run(program: str, folder: str) -> str:
    script, out = os.path.join(folder, "program.py"), os.path.join(folder, "callgrind.out")
    with open(script, "w", encoding="utf-8") as file:
        file.write(program)
    command = [
        "valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--compress-strings=no", "--compress-pos=no",
        "--collect-atstart=no", f"--toggle-collect={_REGION}", sys.executable, script,
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONMALLOC": "malloc", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise RuntimeError(f"Timer.collect_callgrind: the statement failed under Valgrind:\n{done.stderr[-4000:]}")
    with open(out, encoding="utf-8", errors="replace") as file:
        return file.read()


def parse_counts(text: str) -> tuple[FunctionCounts, FunctionCounts]:
    """(inclusive, exclusive) counts in a file of Callgrind without compressed names."""
    inclusive: dict[str, int] = defaultdict(int)
    exclusive: dict[str, int] = defaultdict(int)
    place = function = ""
    depth_one = is_call = False
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key in ("fl", "fi", "fe"):
            place = value if key == "fl" else place
        elif key == "fn":
            # Callgrind keeps deeper levels of a recursion apart as name'2; their cost is in the first level's calls already.
            name, _, level = value.rpartition("'")
            depth_one = not (name and level.isdecimal())
            function = f"{place}:{value if depth_one else name}"
        elif key == "calls":
            is_call = True
        elif line[:1].isdigit():
            cost = int(line.split()[1])
            if not is_call:
                exclusive[function] += cost
            if depth_one:
                inclusive[function] += cost
            is_call = False
    empty = FunctionCounts((), True)
    return empty._of(inclusive), dataclasses.replace(empty, inclusive=False)._of(exclusive)


def collect(
    spec: TaskSpec, globals: dict[str, Any], number: int, repeats: int | None, collect_baseline: bool, retain_out_file: bool
) -> CallgrindStats | tuple[CallgrindStats, ...]:
    """See ``Timer.collect_callgrind``."""
    if number < 1:
        raise ValueError(f"Timer.collect_callgrind: number must be positive, got {number}")
    if shutil.which("valgrind") is None:
        raise RuntimeError("Timer.collect_callgrind: Valgrind is not installed (on Debian: apt install valgrind)")
    if not hasattr(ctypes.pythonapi, "PyRun_SimpleString"):
        raise RuntimeError(f"Timer.collect_callgrind: {sys.implementation.name} has no C interface that Callgrind could watch")
    results = []
    with tempfile.TemporaryDirectory(prefix="trine-callgrind-") as folder:
        lines = _setup_lines(globals, folder)
        nothing = (FunctionCounts((), True), FunctionCounts((), False))
        baseline = parse_counts(_run(_program(spec, "pass", number, lines), folder)) if collect_baseline else nothing
        for _ in range(1 if repeats is None else repeats):
            text = _run(_program(spec, spec.stmt, number, lines), folder)
            inclusive, exclusive = parse_counts(text)
            out = text if retain_out_file else None
            has_lines = "trine" in text and ".cpp" in text
            results.append(CallgrindStats(spec, number, has_lines, *baseline, inclusive, exclusive, out))
    return results[0] if repeats is None else tuple(results)
