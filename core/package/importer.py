"""Where modules and the names of objects come from: this Python's own, or packages that have been read."""

from __future__ import annotations

import importlib
import pickle
import sys
from abc import ABC, abstractmethod
from types import ModuleType
from typing import Any

from ._mangling import demangle, get_mangle_prefix, is_mangled

__all__ = ["Importer", "ObjMismatchError", "ObjNotFoundError", "OrderedImporter", "sys_importer"]


class ObjNotFoundError(Exception):
    """An importer has no object of that name."""


class ObjMismatchError(Exception):
    """An importer has another object of that name."""


class Importer(ABC):
    """Finds modules by name and names of objects; ``PackageImporter`` is one."""

    modules: dict[str, ModuleType]

    @abstractmethod
    def import_module(self, module_name: str) -> ModuleType:
        """The module, imported when it has not been yet."""

    def get_name(self, obj: Any, name: str | None = None) -> tuple[str, str]:
        """(module, qualified name) under which ``import_from`` this importer finds the very object.

        Raises:
            ObjNotFoundError: there is no such name.
            ObjMismatchError: there is another object of that name.
        """
        name = name or getattr(obj, "__qualname__", None) or obj.__name__
        shown = self.whichmodule(obj, name)
        module_name = demangle(shown)
        origin = f"the package {get_mangle_prefix(shown)}" if is_mangled(shown) else "this Python"
        try:
            found: Any = self.import_module(module_name)
            for part in name.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError) as error:
            raise ObjNotFoundError(
                f"package: {obj!r} comes from {origin} as {module_name}.{name}, which {self!r} does not have ({error}); "
                "add the importer it comes from"
            ) from None
        if found is not obj:
            raise ObjMismatchError(
                f"package: {obj!r} comes from {origin} as {module_name}.{name}, and {self!r} has another object of that name; "
                "put the importer it comes from first"
            )
        return module_name, name

    def whichmodule(self, obj: Any, name: str) -> str:
        """Name of the module that an object says it is from."""
        module = getattr(obj, "__module__", None)
        if module is not None:
            return module
        for module_name, candidate in self.modules.copy().items():
            if module_name not in ("__main__", "__mp_main__") and getattr(candidate, name, None) is obj:
                return module_name
        return "__main__"


class _SysImporter(Importer):
    """This Python's modules."""

    @property
    def modules(self) -> dict[str, ModuleType]:  # type: ignore[override]
        return sys.modules

    def import_module(self, module_name: str) -> ModuleType:
        return importlib.import_module(module_name)

    def whichmodule(self, obj: Any, name: str) -> str:
        return pickle.whichmodule(obj, name)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return "sys_importer"


sys_importer = _SysImporter()
"""This Python's modules."""


class OrderedImporter(Importer):
    """Several importers; the first that has a module gives it."""

    def __init__(self, *args: Importer) -> None:
        self._importers = list(args)

    def __repr__(self) -> str:
        return f"OrderedImporter{tuple(self._importers)!r}"

    @property
    def modules(self) -> dict[str, ModuleType]:  # type: ignore[override]
        joined: dict[str, ModuleType] = {}
        for importer in reversed(self._importers):
            joined.update(importer.modules)
        return joined

    def import_module(self, module_name: str) -> ModuleType:
        reasons = []
        for importer in self._importers:
            try:
                return importer.import_module(module_name)
            except ModuleNotFoundError as error:
                # Found, but something that it needs is missing: another importer's module would hide that.
                if error.name is not None and not (module_name + ".").startswith(error.name + "."):
                    raise
                reasons.append(str(error))
        raise ModuleNotFoundError(f"package: no importer has {module_name!r}: {'; '.join(reasons)}", name=module_name)

    def whichmodule(self, obj: Any, name: str) -> str:
        for importer in self._importers:
            module = importer.whichmodule(obj, name)
            if module != "__main__":
                return module
        return "__main__"

    def get_source(self, module_name: str) -> str | None:
        """Source text of a module."""
        for importer in self._importers:
            try:
                importer.import_module(module_name)
            except ModuleNotFoundError:
                continue
            get_source = getattr(importer, "get_source", None)
            return get_source(module_name) if get_source is not None else None
        return None
