"""What a timing is: the task, its repeated times, and how much of the figure can be believed."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import statistics
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import trine

__all__ = ["Measurement", "TaskSpec", "ordered_unique", "select_unit", "set_torch_threads", "trim_sigfig", "unit_to_english"]

_MOST_FIGURES = 4
_Z_90 = 1.645  # 90 % of a normal distribution lie within so many standard deviations
_SHORTEST_INTERVAL = 25e-9  # s: below this a clock and a loop decide, not the task
_SUSPICIOUS_SPREAD = 0.1  # interquartile range over median
_UNITS = {"ns": ("nanosecond", 1e-9), "us": ("microsecond", 1e-6), "ms": ("millisecond", 1e-3), "s": ("second", 1)}


@dataclasses.dataclass(init=True, repr=False, eq=True, frozen=True)
class TaskSpec:
    """What was timed: the statement and what a table calls it. Equal ones are repetitions of one task."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, else the statement."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        return (
            self.stmt
            if "\n" not in self.stmt
            else "stmt:" + (f" ({self.sub_label})" if self.sub_label else "") + f"\n{textwrap.indent(self.stmt, '  ')}"
        )

    def setup_str(self) -> str:
        """The setup as it is printed; empty when there is none."""
        if self.setup in ("", "pass"):
            return ""
        return f"setup:\n{textwrap.indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """Title, description and setup in a few lines."""
        lines = [self.title, self.description or "", self.setup_str()]
        return "\n".join(line for line in lines if line)


def _quantile(ordered: list[float], share: float) -> float:
    """Linear interpolation between order statistics (NumPy's default)."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


@dataclasses.dataclass(init=True, repr=False)
class Measurement:
    """Result of a ``Timer``.

    Args:
        number_per_run: how often the statement ran for each entry of ``raw_times``.
        raw_times: seconds of each run.
        task_spec: what was timed.
        metadata: whatever the caller wants to keep with it.

    >>> import trine
    >>> from trine.utils.benchmark import Measurement, TaskSpec
    >>> Measurement(2, [3.0, 1.0, 2.0], TaskSpec("x + 1", "pass")).median
    1.0
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    @property
    def times(self) -> list[float]:
        """Seconds of one execution of the statement, one entry a run."""
        return [t / self.number_per_run for t in self.raw_times]

    def _ordered(self) -> list[float]:
        if not self.raw_times:
            raise ValueError("Measurement: no times were recorded")
        return sorted(self.times)

    @property
    def median(self) -> float:
        """Median of ``times``, in seconds."""
        return statistics.median(self._ordered())

    @property
    def mean(self) -> float:
        """Mean of ``times``, in seconds."""
        return statistics.fmean(self._ordered())

    @property
    def iqr(self) -> float:
        """Distance of the first from the third quartile of ``times``, in seconds."""
        ordered = self._ordered()
        return _quantile(ordered, 0.75) - _quantile(ordered, 0.25)

    @property
    def significant_figures(self) -> int:
        """How many figures of the median can be believed, 1 to 4.

        The times between the quartiles, which the tails do not disturb, give a standard error; 1.645 of it is half of a 90 %
        confidence interval (no less than 25 ns); a figure counts when it is larger than that.
        """
        ordered = self._ordered()
        low, high = _quantile(ordered, 0.25), _quantile(ordered, 0.75)
        middle = [t for t in ordered if low <= t <= high]
        deviation = statistics.stdev(middle) if len(middle) > 1 else 0.0
        interval = max(_Z_90 * deviation / math.sqrt(max(len(middle), 1)), _SHORTEST_INTERVAL)
        median = statistics.median(ordered)
        figures = math.floor(math.log10(median) - math.log10(interval)) if median > 0 else 1
        return min(max(figures, 1), _MOST_FIGURES)

    @property
    def has_warnings(self) -> bool:
        """Whether the times spread so much that the median should not be trusted."""
        return not self.meets_confidence()

    def meets_confidence(self, threshold: float = _SUSPICIOUS_SPREAD) -> bool:
        """Whether the interquartile range is below ``threshold`` of the median."""
        median = self.median
        return median > 0 and self.iqr / median < threshold

    @property
    def title(self) -> str:
        """Title of the task."""
        return self.task_spec.title

    @property
    def env(self) -> str:
        """Name of the environment the task ran in."""
        return "Unspecified env" if self.task_spec.env is None else self.task_spec.env

    @property
    def as_row_name(self) -> str:
        """What a table's row is called."""
        spec = self.task_spec
        return spec.sub_label or spec.stmt or "[Unknown]"

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Measurements of the same task joined into one each, in the order of their first."""
        groups: dict[TaskSpec, list[Measurement]] = {}
        for measurement in measurements:
            groups.setdefault(measurement.task_spec, []).append(measurement)
        return [Measurement(1, [t for m in group for t in m.times], spec) for spec, group in groups.items()]

    def __repr__(self) -> str:
        name = f"<{type(self).__module__}.{type(self).__qualname__} object at {id(self):#x}>"
        lines = [name, self.task_spec.summarize()]
        unit, scale = select_unit(self.median)
        runs, threads = len(self.raw_times), self.task_spec.num_threads
        if runs == 1:
            lines.append(f"  {self.median / scale:.2f} {unit}")
        else:
            lines.append(f"  Median: {self.median / scale:.2f} {unit}")
        if runs > 3:
            ordered = self._ordered()
            low, high = (_quantile(ordered, q) / scale for q in (0.25, 0.75))
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low:.2f} to {high:.2f})")
        lines.append(
            f"  {runs} measurement{'s' * (runs > 1)}, {self.number_per_run} run{'s' * (self.number_per_run > 1)} per measurement, "
            f"{threads} thread{'s' * (threads > 1)}"
        )
        if self.has_warnings:
            lines.append(f"  WARNING: the interquartile range is {self.iqr / self.median if self.median else math.nan:.1%} of the median;")
            lines.append("           something else was busy on this machine.")
        return "\n".join(lines)


def select_unit(t: float) -> tuple[str, float]:
    """The unit that suits ``t`` seconds, and how many seconds it has.

    >>> from trine.utils.benchmark import select_unit
    >>> select_unit(2.5e-6)
    ('us', 1e-06)
    """
    # The rounding keeps 0.001, whose logarithm is a hair below -3, in milliseconds.
    power = math.floor(round(math.log10(t), 9) / 3) if t > 0 else -3
    unit = {-3: "ns", -2: "us", -1: "ms"}.get(max(power, -3), "s")
    return unit, _UNITS[unit][1]


def unit_to_english(u: str) -> str:
    """``"millisecond"`` for ``"ms"``."""
    return _UNITS[u][0]


def trim_sigfig(x: float, n: int) -> float:
    """``x`` rounded to ``n`` significant figures (in double precision)."""
    if n < 1 or int(n) != n:
        raise ValueError(f"trim_sigfig: n must be a positive integer, got {n}")
    return x if x == 0 or not math.isfinite(x) else float(f"{x:.{int(n) - 1}e}")


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """Each element once, in the order of first appearance."""
    return list(dict.fromkeys(elements))


@contextlib.contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """Run a block with ``n`` threads."""
    before = trine.get_num_threads()
    try:
        trine.set_num_threads(n)
        yield
    finally:
        trine.set_num_threads(before)
