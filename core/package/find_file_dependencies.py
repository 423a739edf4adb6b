"""Which modules a source file imports, found in its syntax tree; the file is not run."""

from __future__ import annotations

import ast

__all__ = ["find_files_source_depends_on"]


def _absolute(module: str | None, level: int, package: str) -> str:
    if level == 0:
        return module or ""
    parts = package.split(".") if package else []
    if level > len(parts):
        raise ImportError(f"package: a relative import of {module or '.'!r} in {package!r} goes beyond its top")
    base = ".".join(parts[: len(parts) - level + 1])
    return f"{base}.{module}" if module else base


def find_files_source_depends_on(src: str, package: str) -> list[tuple[str, str | None]]:
    """(module, name in it or None) for each import in a source text, wherever it stands.

    Found are ``import``, ``from ... import`` and ``__import__`` with literal arguments; names computed at run time are not.

    Args:
        src: the text.
        package: name of the package it belongs to, for relative imports.
    """
    found: dict[tuple[str, str | None], None] = {}
    for node in ast.walk(ast.parse(src)):
        if isinstance(node, ast.Import):
            found.update(((alias.name, None), None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(node.module, node.level, package)
            found.update(((module, None if alias.name == "*" else alias.name), None) for alias in node.names)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "__import__":
            found.update(_call(node, package))
    return list(found)


def _call(node: ast.Call, package: str) -> dict[tuple[str, str | None], None]:
    arguments = dict(zip(("name", "globals", "locals", "fromlist", "level"), node.args, strict=False))
    arguments.update((k.arg, k.value) for k in node.keywords if k.arg)

    def literal(key: str, default: object) -> object:
        try:
            return ast.literal_eval(arguments[key]) if key in arguments else default
        except ValueError:
            return None

    name, names, level = literal("name", None), literal("fromlist", ()), literal("level", 0)
    if not isinstance(name, str) or not isinstance(level, int):
        return {}
    module = _absolute(name or None, level, package)
    listed = [n for n in names if isinstance(n, str)] if isinstance(names, (list, tuple)) else []
    return {(module, n): None for n in listed} or {(module, None): None}
