"""Names of modules that come from packages: ``<trine_package_3>.model`` is no module of this Python, nor another package's."""

from __future__ import annotations

import itertools
import re

__all__ = ["PackageMangler", "demangle", "get_mangle_prefix", "is_mangled"]

_PREFIX = re.compile(r"<trine_package_\d+>(?=\.|$)")
_numbers = itertools.count()


class PackageMangler:
    """Gives the modules of one package names that no other has."""

    def __init__(self) -> None:
        self._name = f"<trine_package_{next(_numbers)}>"

    def mangle(self, name: str) -> str:
        """The name in this process of a module called ``name`` in the package."""
        return f"{self._name}.{name}"

    def parent_name(self) -> str:
        """What all names begin with."""
        return self._name


def is_mangled(name: str) -> bool:
    """Whether a module's name is one from a package."""
    return _PREFIX.match(name) is not None


def demangle(name: str) -> str:
    """The name within the package."""
    found = _PREFIX.match(name)
    return name if found is None else name[found.end() + 1 :]


def get_mangle_prefix(name: str) -> str:
    """Which package a name belongs to."""
    found = _PREFIX.match(name)
    return found[0] if found else name
