"""``PackageExporter``: code, objects and resources into one file."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.machinery
import importlib.util
import inspect
import io
import os
import platform
import sys
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import IO, Any, NamedTuple

from trine.serialization import _memory
from trine.serialization.archive_writer import ArchiveWriter
from trine.serialization.atomic import atomic_file
from trine.utils.hooks import RemovableHandle

from ._graph import DependencyGraph, EmptyMatchError, PackagingError, Reason
from ._mangling import demangle
from ._mock_source import MOCK_SOURCE, MODULE_SOURCE
from ._pickling import PackagePickler, globals_in
from ._torch_names import is_library
from .find_file_dependencies import find_files_source_depends_on
from .glob_group import GlobGroup, GlobPattern
from .importer import Importer, OrderedImporter, sys_importer
from .package_importer import PackageImporter, _resource_path

__all__ = ["EmptyMatchError", "PackageExporter", "PackagingError"]

_VERSION = b"6\n"
_SYSTEM_ACCESS = ("sys",)  # never external unasked: with it a package could reach everything

Hook = Callable[["PackageExporter", str], None]


class _Pattern:
    def __init__(self, action: str, group: GlobGroup, allow_empty: bool) -> None:
        self.action, self.group, self.allow_empty, self.matched = action, group, allow_empty, False


class _Source(NamedTuple):
    text: str
    is_package: bool


class PackageExporter:
    """Writes a package; a context manager that writes the file when its block ends, and leaves none when the block raises.

    Each module that the saved code and objects need must be said what to do with: ``intern`` puts its source into the package,
    ``extern`` takes it from the Python that loads, ``mock`` replaces it by something that may be imported and not used, ``deny``
    refuses it. The first pattern that matches counts. The standard library (without ``sys``) and Trine, under its name or
    PyTorch's, are external unasked.

    Args:
        f: path or binary file.
        importer: where modules come from: this Python's, that of a package (to package anew what came from one), or several in order.

    >>> import io
    >>> from trine.package import PackageExporter, PackageImporter
    >>> buffer = io.BytesIO()
    >>> with PackageExporter(buffer) as exporter:
    ...     exporter.save_source_string("greeting", "def text():\\n    return 'hello'\\n")
    >>> _ = buffer.seek(0)
    >>> PackageImporter(buffer).import_module("greeting").text()
    'hello'
    """

    def __init__(self, f: str | os.PathLike[str] | IO[bytes], importer: Importer | Sequence[Importer] = sys_importer) -> None:
        self._stack = contextlib.ExitStack()
        if isinstance(f, (str, os.PathLike)):
            path = os.fspath(f)
            prefix = os.path.splitext(os.path.basename(path))[0] or "archive"
            file: Any = self._stack.enter_context(atomic_file(path))
        else:
            prefix, file = "archive", f
        self._prefix = prefix.replace("\\", "_").replace(":", "_")
        self._archive = ArchiveWriter(file)
        self._written: dict[str, None] = {}
        self._digest = hashlib.sha256()
        self.importer = importer if isinstance(importer, Importer) else OrderedImporter(*importer)
        self.dependency_graph = DependencyGraph()
        self._patterns: list[_Pattern] = []
        self._sources: dict[str, _Source] = {}
        self._hooks: dict[str, OrderedDict[int, Hook]] = {"extern": OrderedDict(), "mock": OrderedDict(), "intern": OrderedDict()}
        self._storages: dict[tuple[int, int], tuple[int, Any]] = {}
        self._unique = 0
        self._closed = False

    # Patterns.

    def _add_pattern(self, action: str, include: GlobPattern, exclude: GlobPattern, allow_empty: bool) -> None:
        self._patterns.append(_Pattern(action, GlobGroup(include, exclude=exclude), allow_empty))

    def intern(self, include: GlobPattern, *, exclude: GlobPattern = (), allow_empty: bool = True) -> None:
        """Put modules of these names, and what they import in turn, into the package.

        Args:
            include, exclude: patterns, see ``GlobGroup``.
            allow_empty: whether it is no error when nothing matches by the end.
        """
        self._add_pattern("intern", include, exclude, allow_empty)

    def extern(self, include: GlobPattern, *, exclude: GlobPattern = (), allow_empty: bool = True) -> None:
        """Let the Python that loads the package provide modules of these names. See ``intern``."""
        self._add_pattern("extern", include, exclude, allow_empty)

    def mock(self, include: GlobPattern, *, exclude: GlobPattern = (), allow_empty: bool = True) -> None:
        """Replace modules of these names by one whose contents can be imported and raise ``NotImplementedError`` when used. See ``intern``."""
        self._add_pattern("mock", include, exclude, allow_empty)

    def deny(self, include: GlobPattern, *, exclude: GlobPattern = ()) -> None:
        """Refuse modules of these names: closing raises ``PackagingError`` when something needs one."""
        self._add_pattern("deny", include, exclude, True)

    def register_extern_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(exporter, module_name)`` for each module that was made external by a pattern, when the package is closed."""
        return self._register("extern", hook)

    def register_mock_hook(self, hook: Hook) -> RemovableHandle:
        """Likewise for each module that is mocked."""
        return self._register("mock", hook)

    def register_intern_hook(self, hook: Hook) -> RemovableHandle:
        """Likewise for each module that is put in by a pattern."""
        return self._register("intern", hook)

    def _register(self, action: str, hook: Hook) -> RemovableHandle:
        handle = RemovableHandle(self._hooks[action])
        self._hooks[action][handle.id] = hook
        return handle

    # Modules.

    def save_module(self, module_name: str, dependencies: bool = True) -> None:
        """Put a module that can be imported into the package.

        Args:
            module_name: dotted name.
            dependencies: also see to what it imports.
        """
        if not isinstance(module_name, str):
            raise TypeError("save_module: expected the module's name (for a file, use save_source_file)")
        self._intern(module_name, dependencies, pattern=None)

    def save_source_file(self, module_name: str, file_or_directory: str, dependencies: bool = True) -> None:
        """Put a source file, or all ``.py`` files of a folder as a package, in as ``module_name``."""
        path = os.fspath(file_or_directory)
        if not os.path.isdir(path):
            is_package = os.path.basename(path) == "__init__.py"
            self.save_source_string(module_name, _read_source(path), is_package, dependencies)
            return
        found = []
        for place, folders, files in os.walk(path):
            folders.sort()
            below = [part for part in os.path.relpath(place, path).split(os.sep) if part != "."]
            for name in sorted(f for f in files if f.endswith(".py")):
                is_package = name == "__init__.py"
                full_name = ".".join([module_name, *below, *([] if is_package else [name[:-3]])])
                found.append((full_name, _read_source(os.path.join(place, name)), is_package))
        for full_name, src, is_package in found:  # all of them first: they import each other
            self.save_source_string(full_name, src, is_package, dependencies=False)
        for full_name, src, is_package in found if dependencies else ():
            self._add_imports(full_name, src, is_package)

    def save_source_string(self, module_name: str, src: str, is_package: bool = False, dependencies: bool = True) -> None:
        """Put the text ``src`` in as a module.

        Args:
            is_package: other modules lie below it.
            dependencies: also see to what it imports.
        """
        if module_name in self._sources:
            raise ValueError(f"package: the module {module_name!r} is in the package already")
        self._sources[module_name] = _Source(src, is_package)
        self.dependency_graph.add(module_name, action="intern", explicit=True)
        self.dependency_graph.nodes[module_name].pop("error", None)  # it may have been needed before it was given
        if dependencies:
            self._add_imports(module_name, src, is_package)

    def _add_imports(self, module_name: str, src: str, is_package: bool) -> None:
        package = module_name if is_package else module_name.rpartition(".")[0]
        try:
            found = find_files_source_depends_on(src, package)
        except SyntaxError as error:
            raise SyntaxError(f"package: {module_name} is no Python {platform.python_version()}: {error}") from None
        for module, name in found:
            wanted = f"{module}.{name}" if name and self._is_module(f"{module}.{name}") else module
            self.dependency_graph.add_edge(module_name, wanted)
            self.add_dependency(wanted)

    def _is_module(self, name: str) -> bool:
        if name in self._sources:
            return True
        parent, _, attribute = name.rpartition(".")
        if self._is_external_unasked(parent):
            return False
        try:
            module = self.importer.import_module(parent)
            if not hasattr(module, "__path__") or (hasattr(module, attribute) and not inspect.ismodule(getattr(module, attribute))):
                return False
            self.importer.import_module(name)
        except ImportError:
            return False
        return True

    @staticmethod
    def _is_external_unasked(module_name: str) -> bool:
        top = module_name.partition(".")[0]
        return is_library(module_name) or (top not in _SYSTEM_ACCESS and (top in sys.stdlib_module_names or top == "builtins"))

    def add_dependency(self, module_name: str, dependencies: bool = True) -> None:
        """Note that the package needs a module; the patterns say what happens."""
        if module_name in self.dependency_graph.nodes and "action" in self.dependency_graph.nodes[module_name]:
            return
        if module_name in ("_mock", "torch_package_importer", "trine_package_importer"):
            self.dependency_graph.add(module_name, action="provided")
            return
        pattern = next((p for p in self._patterns if p.group.matches(module_name)), None)
        if self._is_external_unasked(module_name) and (pattern is None or pattern.action != "deny"):
            self.dependency_graph.add(module_name, action="extern", explicit=True)
            return
        if pattern is None:
            self.dependency_graph.add(module_name, action="none", error=Reason.UNDECIDED)
            return
        pattern.matched = True
        if pattern.action == "deny":
            self.dependency_graph.add(module_name, action="deny", error=Reason.DENIED)
        elif pattern.action == "intern":
            self._intern(module_name, dependencies, pattern)
        else:
            self.dependency_graph.add(module_name, action=pattern.action)

    def _intern(self, module_name: str, dependencies: bool, pattern: _Pattern | None) -> None:
        if module_name in self._sources:
            return
        self.dependency_graph.add(module_name, action="intern", explicit=pattern is None)
        self.dependency_graph.nodes[module_name].pop("error", None)
        try:
            module = self.importer.import_module(module_name)
        except ImportError as error:
            self.dependency_graph.add(module_name, error=Reason.NOT_FOUND, context=str(error))
            return
        source = self._source_of(module_name, module)
        if source is None:
            path = getattr(module, "__file__", None) or ""
            native = path.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES))
            self.dependency_graph.add(module_name, error=Reason.NATIVE if native else Reason.NO_SOURCE, context=path)
            return
        is_package = hasattr(module, "__path__")
        self._sources[module_name] = _Source(source, is_package)
        if dependencies:
            self._add_imports(module_name, source, is_package)

    @staticmethod
    def _source_of(module_name: str, module: Any) -> str | None:
        loader = getattr(module, "__loader__", None)
        if isinstance(loader, PackageImporter):
            name = demangle(module.__name__)
            return loader.get_source(name) if name in loader._sources else ""
        if getattr(module, "__path__", None) is not None and getattr(module, "__file__", None) is None:
            return ""  # a folder without __init__.py
        get_source = getattr(loader, "get_source", None)
        try:
            return get_source(module.__name__) if get_source is not None else inspect.getsource(module)
        except (ImportError, OSError, TypeError):
            return None

    # Resources.

    def save_binary(self, package: str, resource: str, binary: bytes) -> None:
        """Put bytes in as the file ``resource`` of the folder ``package`` (a dotted name)."""
        self._add_record(_resource_path(package, resource), binary)

    def save_text(self, package: str, resource: str, text: str) -> None:
        """Put a text in, in UTF-8."""
        self.save_binary(package, resource, text.encode("utf-8"))

    def save_pickle(self, package: str, resource: str, obj: Any, dependencies: bool = True, pickle_protocol: int = 3) -> None:
        """Put an object in. The code of its classes comes along as the patterns say.

        Args:
            package: dotted name of the folder.
            resource: name of the file in it.
            obj: anything that can be pickled. Tensors that share memory share it after loading.
            dependencies: see to the modules that it needs.
            pickle_protocol: 3, or 4 for readers that allow it.

        Raises:
            ObjNotFoundError, ObjMismatchError: a class is not what its name says, see ``Importer``.
        """
        if pickle_protocol not in (3, 4):
            raise ValueError(f"save_pickle: pickle_protocol must be 3 or 4, got {pickle_protocol}")
        path, buffer = _resource_path(package, resource), io.BytesIO()
        PackagePickler(buffer, self.importer, self._store, self, pickle_protocol).dump(obj)
        data = buffer.getvalue()
        if dependencies:
            node = f"<{package}.{resource}>"
            self.dependency_graph.add(node, action="provided", is_pickle=True)
            for module, name in globals_in(data):
                self.dependency_graph.add_edge(node, module)
                self.add_dependency(module)
                if self.dependency_graph.nodes[module].get("action") == "mock":
                    raise NotImplementedError(f"save_pickle: {module}.{name} is in {package}.{resource}, and its module is mocked")
        self._add_record(path, data)

    def _store(self, storage: Any) -> int:
        identity = (storage.data_ptr(), storage.nbytes()) if storage.nbytes() else (id(storage), 0)
        if identity not in self._storages:
            key = len(self._storages)
            self._storages[identity] = (key, storage)  # kept alive, so that its address means it
            self._add_record(f".data/{key}.storage", _memory.device_bytes(storage))
        return self._storages[identity][0]

    def get_unique_id(self) -> str:
        """A number, as a string, that this exporter has not given before."""
        self._unique += 1
        return str(self._unique - 1)

    def _add_record(self, name: str, data: Any) -> None:
        if self._closed:
            raise RuntimeError("package: the exporter is closed")
        if name in self._written:
            raise ValueError(f"package: the file {name!r} is in the package already")
        self._written[name] = None
        self._digest.update(name.encode() + b"\0" + hashlib.sha256(data).digest())
        self._archive.add(f"{self._prefix}/{name}", data)

    # What has been decided.

    def _with_action(self, action: str) -> list[str]:
        return sorted(name for name, node in self.dependency_graph.nodes.items() if node.get("action") == action)

    def interned_modules(self) -> list[str]:
        """Modules that are put in."""
        return self._with_action("intern")

    def externed_modules(self) -> list[str]:
        """Modules that the Python that loads must have."""
        return self._with_action("extern")

    def mocked_modules(self) -> list[str]:
        """Modules that are mocked."""
        return self._with_action("mock")

    def denied_modules(self) -> list[str]:
        """Modules that are needed and denied."""
        return self._with_action("deny")

    def get_rdeps(self, module_name: str) -> list[str]:
        """What needs a module directly."""
        if module_name not in self.dependency_graph.nodes:
            return []
        return sorted(name for name, needed in self.dependency_graph.edges.items() if module_name in needed)

    def dependency_graph_string(self) -> str:
        """Who needs whom, in Graphviz's language (for https://graphviz.org)."""
        return self.dependency_graph.to_dot()

    def all_paths(self, src: str, dst: str) -> str:
        """The part of the graph through which ``src`` needs ``dst``, in Graphviz's language."""
        return self.dependency_graph.between(src, dst).to_dot()

    # The end.

    def __enter__(self) -> PackageExporter:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.close()
        else:
            self._closed = True
            self._stack.__exit__(kind, error, trace)

    def close(self) -> None:
        """Check that everything the package needs is decided, and write it.

        Raises:
            PackagingError: modules are missing, denied or undecided; the message lists them. No file appears.
            EmptyMatchError: a pattern with ``allow_empty=False`` matched nothing.
        """
        if self._closed:
            return
        try:
            self._check()
            self._write()
        except BaseException:
            self._closed = True
            self._stack.__exit__(*sys.exc_info())
            raise
        self._closed = True
        self._stack.close()

    def _check(self) -> None:
        if any("error" in node for node in self.dependency_graph.nodes.values()):
            raise PackagingError(self.dependency_graph)
        for pattern in self._patterns:
            if not pattern.allow_empty and not pattern.matched:
                raise EmptyMatchError(f"package: nothing matched {pattern.group}, which was said with allow_empty=False")

    def _write(self) -> None:
        for name, node in list(self.dependency_graph.nodes.items()):
            for hook in list(self._hooks.get(node.get("action", ""), {}).values()):
                if not node.get("explicit"):
                    hook(self, name)
        mocked = self.mocked_modules()
        for name, source in self._sources.items():
            self._add_module(name, source.text, source.is_package)
        parents = {".".join(n.split(".")[:depth]) for n in (*mocked, *self._sources) for depth in range(1, n.count(".") + 1)}
        for name in mocked:
            self._add_module(name, MODULE_SOURCE, name in parents)
        if (mocked or "_mock" in self.dependency_graph.nodes) and "_mock" not in self._sources:
            self._add_module("_mock", MOCK_SOURCE, False)
        self._add_record(".data/extern_modules", "".join(f"{name}\n" for name in self.externed_modules()).encode())
        self._add_record(".data/python_version", platform.python_version().encode())
        self._add_record(".data/version", _VERSION)
        self._add_record("byteorder", sys.byteorder.encode())
        self._add_record(".data/serialization_id", f"{int.from_bytes(self._digest.digest()[:16], 'little'):040d}".encode())
        self._archive.finish()

    def _add_module(self, name: str, source: str, is_package: bool) -> None:
        self._add_record(name.replace(".", "/") + ("/__init__.py" if is_package else ".py"), source.encode("utf-8"))


def _read_source(path: str) -> str:
    with open(path, "rb") as file:
        return importlib.util.decode_source(file.read())
