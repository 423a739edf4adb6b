"""What was found in a picture, and the table of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trine import Tensor


@dataclass
class Result:
    """One picture: what the network says, and how long each part took in milliseconds."""

    path: Path
    picture: Tensor  # uint8 (3, height, width)
    labels: list[tuple[str, float]]  # name and probability, most probable first
    seen: tuple[int, int, int, int]  # left, top, right, bottom of what the network looked at
    milliseconds: dict[str, float]

    @property
    def total_milliseconds(self) -> float:
        """From file to labels."""
        return sum(self.milliseconds.values())


@dataclass
class Unreadable:
    """A file that could not be read, and why."""

    path: Path
    reason: str


def table(results: list[Result]) -> str:
    """Results as lines of text: picture, labels with probabilities, milliseconds."""
    rows: list[tuple[str, ...]] = [("picture", "size", "what is in it", "decode", "prepare", "network", "ms")]
    for result in results:
        height, width = result.picture.shape[-2:]
        times = [f"{result.milliseconds[part]:.1f}" for part in ("decode", "prepare", "network")]
        for i, (name, probability) in enumerate(result.labels):
            label = f"{probability:6.1%}  {name}"
            if i == 0:
                rows.append((result.path.name, f"{width}x{height}", label, *times, f"{result.total_milliseconds:.1f}"))
            else:
                rows.append(("", "", label, "", "", "", ""))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for number, row in enumerate(rows):
        left = [cell.ljust(width) for cell, width in zip(row[:3], widths[:3], strict=True)]
        right = [cell.rjust(width) for cell, width in zip(row[3:], widths[3:], strict=True)]
        lines.append("  ".join(left + right).rstrip())
        if number == 0:
            lines.append("  ".join("─" * width for width in widths))
    return "\n".join(lines)
