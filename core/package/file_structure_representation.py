"""What is in a package, as a tree; reading it runs nothing."""

from __future__ import annotations

from collections.abc import Iterable

from .glob_group import GlobGroup, GlobPattern

__all__ = ["Directory", "tree_of"]


class Directory:
    """A folder or file of a package. ``str()`` draws the tree.

    Args:
        name: of the folder or file.
        is_dir: whether it is a folder.
    """

    def __init__(self, name: str, is_dir: bool) -> None:
        self.name = name
        self.is_dir = is_dir
        self.children: dict[str, Directory] = {}

    def _add(self, path: str) -> None:
        here = self
        *folders, name = path.split("/")
        for folder in folders:
            here = here.children.setdefault(folder, Directory(folder, True))
        here.children[name] = Directory(name, False)

    def has_file(self, filename: str) -> bool:
        """Whether there is a file of that path below this folder."""
        here: Directory | None = self
        for part in filename.split("/"):
            here = here.children.get(part) if here is not None else None
        return here is not None and not here.is_dir

    def __str__(self) -> str:
        lines: list[str] = []
        self._draw("    ", lines)
        return "\n".join([f"─── {self.name}", *lines, ""])

    def _draw(self, indent: str, lines: list[str]) -> None:
        ordered = sorted(self.children.values(), key=lambda child: (not child.is_dir, child.name))
        for index, child in enumerate(ordered):
            is_last = index == len(ordered) - 1
            lines.append(f"{indent}{'└' if is_last else '├'}── {child.name}")
            child._draw(indent + ("    " if is_last else "│   "), lines)


def tree_of(name: str, paths: Iterable[str], include: GlobPattern, exclude: GlobPattern) -> Directory:
    """Tree of the paths that match."""
    group = GlobGroup(include, exclude=exclude, separator="/")
    top = Directory(name, True)
    for path in paths:
        if group.matches(path):
            top._add(path)
    return top
