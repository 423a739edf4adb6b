"""Which module needs which, and what is wrong with the whole."""

from __future__ import annotations

import enum
from typing import Any

__all__ = ["DependencyGraph", "EmptyMatchError", "PackagingError", "Reason"]


class Reason(enum.Enum):
    """Why a module keeps a package from being made."""

    NATIVE = "Compiled modules cannot be put into a package: make them external, or mock them"
    NO_SOURCE = "These modules have no source text: make them external, or mock them"
    NOT_FOUND = "These modules cannot be imported"
    UNDECIDED = "No pattern says what to do with these modules: intern, extern or mock them"
    DENIED = "These modules are denied, and needed"


class EmptyMatchError(Exception):
    """A pattern that had to match something did not."""


class PackagingError(Exception):
    """A package cannot be made; the message lists the modules by reason. ``dependency_graph`` says who needs them."""

    def __init__(self, dependency_graph: DependencyGraph, debug: bool = False) -> None:
        lines = ["package: it cannot be made."]
        for reason in Reason:
            wrong = [name for name, node in dependency_graph.nodes.items() if node.get("error") is reason]
            if wrong:
                lines.append(f"{reason.value}:")
            for name in wrong:
                users = _some([user for user, needed in dependency_graph.edges.items() if name in needed])
                context = dependency_graph.nodes[name].get("context")
                lines.append(f"    {name}" + (f", needed by {users}" if users else "") + (f" ({context})" if context else ""))
        if debug:
            lines.append(dependency_graph.to_dot())
        super().__init__("\n".join(lines))
        self.dependency_graph = dependency_graph


def _some(names: list[str], most: int = 4) -> str:
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


class DependencyGraph:
    """Modules and pickles (``nodes``: name to attributes) and what each needs (``edges``)."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Any]] = {}
        self.edges: dict[str, dict[str, None]] = {}

    def add(self, name: str, **attributes: Any) -> None:
        """Add a node, or attributes to one."""
        self.nodes.setdefault(name, {}).update(attributes)

    def add_edge(self, user: str, needed: str) -> None:
        """``user`` needs ``needed``."""
        self.add(user)
        self.add(needed)
        self.edges.setdefault(user, {})[needed] = None

    def _reached(self, start: str, edges: dict[str, dict[str, None]]) -> set[str]:
        seen, waiting = {start}, [start]
        while waiting:
            fresh = set(edges.get(waiting.pop(), ())) - seen
            seen |= fresh
            waiting += fresh
        return seen

    def between(self, src: str, dst: str) -> DependencyGraph:
        """The nodes and edges on ways from ``src`` to ``dst``."""
        for name in (src, dst):
            if name not in self.nodes:
                raise ValueError(f"package: {name!r} is not in the dependency graph")
        reverse: dict[str, dict[str, None]] = {}
        for user, needed in self.edges.items():
            for name in needed:
                reverse.setdefault(name, {})[user] = None
        on_the_way = self._reached(src, self.edges) & self._reached(dst, reverse)
        part = DependencyGraph()
        for user, needed in self.edges.items():
            for name in needed:
                if user in on_the_way and name in on_the_way:
                    part.add_edge(user, name)
        return part

    def to_dot(self) -> str:
        """In Graphviz's language."""
        lines = [f'"{user}" -> "{name}";' for user, needed in self.edges.items() for name in needed]
        return "\n".join(["digraph G {", "rankdir = LR;", "node [shape=box];", *lines, "}", ""])
