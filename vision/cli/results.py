"""What was found in a picture, and the table of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from trine import Tensor


@dataclass
class Result:
    """One picture: what the network says, how long each part took in milliseconds, or why it could not be read."""

    path: Path
    picture: Tensor | None = None  # uint8 (3, height, width)
    labels: list[tuple[str, float]] = field(default_factory=list)  # name and probability, most probable first
    seen: tuple[int, int, int, int] | None = None  # left, top, right, bottom of what the network looked at
    milliseconds: dict[str, float] = field(default_factory=dict)
    error: str | None = None

    @property
    def total_milliseconds(self) -> float:
        """From file to labels."""
        return sum(self.milliseconds.values())


def table(results: list[Result]) -> str:
    """The readable pictures as lines of text: picture, labels with probabilities, milliseconds."""
    rows = [("picture", "size", "what is in it", "decode", "prepare", "network", "ms")]
    for result in results:
        if result.error is not None:
            continue
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
