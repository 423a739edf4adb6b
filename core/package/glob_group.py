"""Patterns for names of modules and paths of files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

__all__ = ["GlobGroup", "GlobPattern"]

GlobPattern: TypeAlias = "str | Iterable[str]"


def _expression(pattern: str, separator: str) -> re.Pattern[str]:
    sep = re.escape(separator)

    def piece(component: str) -> str:
        if "**" in component:
            if component == "**":
                return f"(?:{sep}[^{sep}]+)*"
            raise ValueError(f"GlobGroup: ** must be a whole segment, as in 'a{separator}**', got {pattern!r}")
        return sep + f"[^{sep}]*".join(re.escape(part) for part in component.split("*"))

    # Every segment, the first too, is preceded by a separator: `matches` adds it.
    return re.compile("".join(piece(component) for component in pattern.split(separator)))


class GlobGroup:
    """Names that match one of ``include`` and none of ``exclude``.

    ``*`` stands for anything within one segment of a name, ``**`` for any number of whole segments, none among them.

    Args:
        include, exclude: a pattern or several.
        separator: what stands between segments.

    >>> from trine.package import GlobGroup
    >>> group = GlobGroup("torch.**", exclude="torch.nn.*")
    >>> group.matches("torch"), group.matches("torch.optim.sgd"), group.matches("torch.nn.init")
    (True, True, False)
    """

    def __init__(self, include: GlobPattern, *, exclude: GlobPattern = (), separator: str = ".") -> None:
        self._description = f"GlobGroup(include={include}, exclude={exclude})"
        self.separator = separator
        self.include = self._compiled(include)
        self.exclude = self._compiled(exclude)

    def _compiled(self, patterns: GlobPattern) -> list[re.Pattern[str]]:
        return [_expression(p, self.separator) for p in ([patterns] if isinstance(patterns, str) else patterns)]

    def matches(self, candidate: str) -> bool:
        """Whether the name belongs to the group."""
        name = self.separator + candidate
        return any(p.fullmatch(name) for p in self.include) and not any(p.fullmatch(name) for p in self.exclude)

    def __str__(self) -> str:
        return self._description

    __repr__ = __str__
