"""Questions about objects that may come from packages."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ._mangling import is_mangled

__all__ = ["is_from_package"]


def is_from_package(obj: Any) -> bool:
    """Whether an object's class, or a module, was imported from a package.

    >>> from trine.package import is_from_package
    >>> is_from_package(3)
    False
    """
    return is_mangled(obj.__name__ if isinstance(obj, ModuleType) else getattr(type(obj), "__module__", "") or "")
