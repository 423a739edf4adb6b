"""What a command says while it works: one line that is rewritten on a terminal, plain lines elsewhere."""

from __future__ import annotations

import shutil
import sys
from types import TracebackType
from typing import TextIO


class Progress:
    """``with Progress(10, "pictures") as progress: progress.step("cat.jpg")`` counts to ten.

    Args:
        total: how many steps there will be.
        what: their name.
        stream: where to write; standard error by default, so that results can be piped on.
    """

    def __init__(self, total: int, what: str, stream: TextIO | None = None) -> None:
        self.total = total
        self.what = what
        self.done = 0
        self.stream = stream or sys.stderr
        self.live = self.stream.isatty()

    def step(self, name: str) -> None:
        """Begin the next one, called ``name``."""
        self._show(name)
        self.done += 1

    def note(self, text: str) -> None:
        """Print a line that stays."""
        self._clear()
        print(text, file=self.stream, flush=True)

    def _show(self, name: str) -> None:
        number = f"[{self.done + 1}/{self.total}]"
        if not self.live:
            print(f"{number} {name}", file=self.stream, flush=True)
            return
        width = shutil.get_terminal_size().columns
        full = 20 * self.done // max(self.total, 1)
        line = f"{'█' * full}{'░' * (20 - full)} {number} {name}"
        self._clear()
        print(line[: width - 1], end="", file=self.stream, flush=True)

    def _clear(self) -> None:
        if self.live:
            print("\r\033[K", end="", file=self.stream, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._clear()
