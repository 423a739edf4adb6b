"""``Compare``: measurements side by side, a table for each label."""

from __future__ import annotations

import enum
import math
import statistics
from collections.abc import Iterable

from .measurement import Measurement, ordered_unique, select_unit, trim_sigfig, unit_to_english

__all__ = ["Colorize", "Compare"]

_BEST, _GOOD, _BAD, _VERY_BAD = "\033[92m\033[1m", "\033[34m\033[1m", "\033[2m\033[91m", "\033[31m\033[1m"
_PLAIN = "\033[0m\033[0m"


class Colorize(enum.Enum):
    """What a cell's colour compares it with."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class Compare:
    """Table of measurements: a row for each ``env``, ``sub_label`` and number of threads, a column for each ``description``.

    Measurements with the same label share a table and its unit; repetitions of one task are merged.

    >>> from trine.utils.benchmark import Compare, Measurement, TaskSpec
    >>> rows = [Measurement(1, [t], TaskSpec("x", "", label="add", sub_label="4 x 4", description=d)) for d, t in (("a", 2e-6), ("b", 3e-6))]
    >>> "microseconds" in str(Compare(rows))
    True
    """

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._trim_significant_figures = False
        self._colorize = Colorize.NONE
        self._highlight_warnings = False

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements."""
        results = list(results)
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(f"Compare: expected Measurement, got {type(result).__name__}")
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Show only the figures that can be believed."""
        self._trim_significant_figures = True

    def colorize(self, rowwise: bool = False) -> None:
        """Colour the cells by how they compare with the best of their column (or row)."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Mark measurements that spread too much with the size of the spread."""
        self._highlight_warnings = True

    def print(self) -> None:
        """Print the tables."""
        print(str(self))

    def __str__(self) -> str:
        results = Measurement.merge(self._results)
        labels = ordered_unique(m.task_spec.label for m in results)
        return "\n".join(self._table(label, [m for m in results if m.task_spec.label == label]) for label in labels)

    def _table(self, label: str | None, results: list[Measurement]) -> str:
        columns = ordered_unique(m.task_spec.description for m in results)
        threads = ordered_unique(m.task_spec.num_threads for m in results)
        rows = ordered_unique((m.task_spec.num_threads, m.task_spec.env, m.as_row_name) for m in results)
        rows.sort(key=lambda row: (row[0], [m.task_spec.env for m in results].index(row[1])))
        cells: dict[tuple, Measurement] = {
            (m.task_spec.num_threads, m.task_spec.env, m.as_row_name, m.task_spec.description): m for m in results
        }
        unit, scale = select_unit(min(m.median for m in results))
        texts = {key: self._text(m, scale) for key, m in cells.items()}
        width = {c: max([len(c or "")] + [len(t) for key, t in texts.items() if key[3] == c]) for c in columns}
        with_env = len({row[1] for row in rows}) > 1
        env_width = max((len(f"({row[1]})") for row in rows), default=0) if with_env else 0
        names = [((f"({row[1]})".ljust(env_width) + "  ") if with_env else "") + row[2].replace("\n", "; ") for row in rows]
        name_width = max(len(name) for name in names)
        header = " " * (name_width + 6) + "".join(f"  |  {(c or '').center(width[c])}" for c in columns)
        title = f" {label or 'Measurements'} "
        lines = ["[" + title.center(max(len(header) - 2, len(title)), "-") + "]", header.rstrip()]
        for count in sorted(threads):
            lines.append(f"{count} thread{'s' * (count > 1)}: ".ljust(len(header), "-"))
            for row, name in zip(rows, names, strict=True):
                if row[0] != count:
                    continue
                line = "      " + name.ljust(name_width)
                for c in columns:
                    key = (*row, c)
                    text = texts.get(key, "").rjust(width[c])
                    line += "  |  " + (self._colored(text, cells[key], self._rivals(key, cells)) if key in cells else text)
                lines.append(line.rstrip())
        return "\n".join([*lines, "", f"Times are in {unit_to_english(unit)}s ({unit}).", ""])

    def _text(self, measurement: Measurement, scale: float) -> str:
        value, figures = measurement.median / scale, measurement.significant_figures
        if self._trim_significant_figures:
            value = trim_sigfig(value, figures)
            digits = max(figures - 1 - math.floor(math.log10(value)), 0) if value > 0 else 0
            text = f"{value:.{digits}f}"
        else:
            text = f"{value:.1f}"
        if self._highlight_warnings and measurement.has_warnings:
            text = f"(! {measurement.iqr / measurement.median:.0%}) {text}"
        return text

    def _rivals(self, key: tuple, cells: dict[tuple, Measurement]) -> list[float]:
        along_row = self._colorize is Colorize.ROWWISE
        return [m.median for other, m in cells.items() if (other[:3] == key[:3] if along_row else other[3] == key[3])]

    def _colored(self, text: str, measurement: Measurement, rivals: list[float]) -> str:
        if self._colorize is Colorize.NONE:
            return text
        best, typical, value = min(rivals), statistics.median(rivals), measurement.median
        if value <= best * 1.02:
            color = _BEST
        elif value <= typical * 0.9:
            color = _GOOD
        elif value > best * 4:
            color = _VERY_BAD
        elif value > best * 1.5:
            color = _BAD
        else:
            return text
        return color + text + _PLAIN
