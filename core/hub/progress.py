"""A progress bar on the terminal."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Any

__all__ = ["open_progress"]

_REDRAW_SECONDS = 0.1


def _readable(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.2f} GB"


class _Silent:
    """Shows nothing: for pipes, log files and ``progress=False``."""

    def update(self, count: int) -> None:
        pass

    def close(self) -> None:
        pass


class _Bar:
    """One line on stderr, redrawn at most ten times a second."""

    def __init__(self, label: str, total: int | None, done: int) -> None:
        self._label, self._total = label, total
        self._done = self._first = done
        self._begun = time.monotonic()
        self._drawn = 0.0
        self._draw()

    def update(self, count: int) -> None:
        self._done += count
        if time.monotonic() - self._drawn >= _REDRAW_SECONDS:
            self._draw()

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        rate = (self._done - self._first) / max(self._drawn - self._begun, 1e-3)
        width = shutil.get_terminal_size().columns - 1
        if self._total:
            share = min(1.0, self._done / self._total)
            filled = int(20 * share)
            line = f"{self._label} [{'=' * filled}{' ' * (20 - filled)}] {share:4.0%} {_readable(self._done)} of {_readable(self._total)}"
        else:
            line = f"{self._label} {_readable(self._done)}"
        sys.stderr.write("\r" + f"{line}, {_readable(rate)}/s"[:width].ljust(width))
        sys.stderr.flush()

    def close(self) -> None:
        self._draw()
        sys.stderr.write("\n")
        sys.stderr.flush()


def open_progress(label: str, total: int | None, done: int, show: bool) -> Any:
    """Something with ``update(bytes)`` and ``close()``: tqdm's bar when it is installed, else our own, on a terminal only."""
    if not show or not getattr(sys.stderr, "isatty", lambda: False)():
        return _Silent()
    try:
        from tqdm import tqdm
    except ImportError:
        return _Bar(label, total, done)
    return tqdm(total=total, initial=done, unit="B", unit_scale=True, desc=label)
