"""``PackageImporter``: modules, objects and resources out of a package."""

from __future__ import annotations

import builtins
import importlib
import importlib.machinery
import importlib.util
import io
import linecache
import os
import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import IO, Any

from trine.serialization.archive import Archive
from trine.serialization.errors import CorruptFileError, UnsafeFileError
from trine.serialization.source import open_source

from ._mangling import PackageMangler, demangle
from ._pickling import PackageUnpickler, RecordStorages, globals_in
from ._torch_names import is_library, local_name
from .file_structure_representation import Directory, tree_of
from .glob_group import GlobPattern
from .importer import Importer

__all__ = ["PackageImporter"]

_SELF_NAMES = ("torch_package_importer", "trine_package_importer")
_NEWEST_VERSION = 10


class MissingRecordError(FileNotFoundError, RuntimeError):
    """A package has no such file. PyTorch raises ``RuntimeError``."""


class _ZipRecords:
    """Files of a package in a zip archive, below the one folder that they all share."""

    def __init__(self, file: Any) -> None:
        self._source = open_source(file, None)
        try:
            self._archive = Archive(self._source)
            folders = {name.partition("/")[0] for name in self._archive.entries}
            if len(folders) != 1 or not all("/" in name for name in self._archive.entries):
                raise CorruptFileError(f"package: {self._source.name} is no package: its files do not share one folder")
        except BaseException:
            self._source.close()
            raise
        self._prefix = folders.pop() + "/"
        self.names = [name[len(self._prefix) :] for name in self._archive.entries if not name.endswith("/")]

    def read(self, name: str) -> memoryview:
        return self._archive.read(self._prefix + name)


class _FolderRecords:
    """Files of a package that was unpacked into a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.names = sorted(
            os.path.relpath(os.path.join(place, name), folder).replace(os.sep, "/") for place, _, files in os.walk(folder) for name in files
        )
        self._known = frozenset(self.names)

    def read(self, name: str) -> memoryview:
        if name not in self._known:
            raise KeyError(name)
        with open(os.path.join(self._folder, *name.split("/")), "rb") as file:
            return memoryview(file.read())


class PackageImporter(Importer):
    """Reads a package made by ``PackageExporter`` or by PyTorch.

    Its modules see each other and what was made external, and nothing else of this Python: any other import in them raises
    ``ModuleNotFoundError``. They live beside modules of the same name in this Python and in other packages. ``torch`` means Trine.

    Making the importer, ``file_structure``, ``id``, ``load_text``, ``load_binary`` and ``pickle_dependencies`` run nothing of the
    package. ``import_module`` and ``load_pickle`` run its code.

    Args:
        file_or_buffer: path, folder into which a package was unpacked, or binary file.
        module_allowed: is asked for each external module; those for which it is false raise ``ImportError`` at once.

    Raises:
        CorruptFileError: the file is damaged or no package (it is a ``RuntimeError``).
        UnsafeFileError: it names paths outside of itself, has two files of one name, or inflates beyond reason.
    """

    modules: dict[str, ModuleType]

    def __init__(
        self,
        file_or_buffer: str | os.PathLike[str] | IO[bytes],
        module_allowed: Callable[[str], bool] = lambda module_name: True,
    ) -> None:
        is_path = isinstance(file_or_buffer, (str, os.PathLike))
        self.filename = os.fspath(file_or_buffer) if is_path else "<binary>"  # type: ignore[arg-type]
        folder = is_path and os.path.isdir(self.filename)
        self._records: Any = _FolderRecords(self.filename) if folder else _ZipRecords(file_or_buffer)
        self._names = frozenset(self._records.names)
        version = self._small_record(".data/version", "0")
        if not version.isdecimal() or int(version) > _NEWEST_VERSION:
            raise CorruptFileError(f"package: {self.filename} has version {version!r:.40}, up to {_NEWEST_VERSION} is known")
        if ".data/extern_modules" not in self._names:
            raise CorruptFileError(f"package: {self.filename} is no package: it does not list external modules")
        self.extern_modules = [line for line in self._text(".data/extern_modules").splitlines() if line]
        for name in self.extern_modules:
            if not module_allowed(name):
                raise ImportError(f"package: {self.filename} needs the external module {name!r}, which is not allowed", name=name)
        self._externs = frozenset(self.extern_modules)
        self._packages, self._sources = self._find_modules()
        self._mangler = PackageMangler()
        self._lock = threading.RLock()
        self._builtins = {**vars(builtins), "__import__": self._import}
        self.modules = dict.fromkeys(_SELF_NAMES, self)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"PackageImporter({self.filename!r})"

    # Records.

    def _read(self, name: str) -> memoryview:
        try:
            return self._records.read(name)
        except KeyError:
            raise MissingRecordError(f"package: {self.filename} has no file {name!r}") from None

    def _text(self, name: str, encoding: str = "utf-8", errors: str = "strict") -> str:
        return str(self._read(name), encoding, errors)

    def _small_record(self, name: str, default: str) -> str:
        return self._text(name, "latin-1").strip() if name in self._names else default

    def _find_modules(self) -> tuple[frozenset[str], dict[str, str]]:
        packages: set[str] = set()
        sources: dict[str, str] = {}
        for path in self._names:
            folders = path.split("/")[:-1]
            packages.update(".".join(folders[:depth]) for depth in range(1, len(folders) + 1) if folders[0] != ".data")
            if path.endswith(".py"):
                name = path[: -len("/__init__.py")] if path.endswith("/__init__.py") else path[:-3]
                name = name.replace("/", ".")
                if name in sources:
                    raise UnsafeFileError(f"package: {self.filename} has the module {name} twice; refused")
                sources[name] = path
        return frozenset(packages), sources

    # What runs nothing.

    def id(self) -> str:
        """What the names of this package's modules begin with in this process."""
        return self._mangler.parent_name()

    def python_version(self) -> str | None:
        """Version of the Python that made the package, None when it does not say."""
        return self._small_record(".data/python_version", "") or None

    def file_structure(self, *, include: GlobPattern = "**", exclude: GlobPattern = ()) -> Directory:
        """Tree of the files whose paths match ``include`` and not ``exclude`` (see ``GlobGroup``, separator ``/``)."""
        return tree_of(os.path.basename(self.filename), sorted(self._names), include, exclude)

    def load_binary(self, package: str, resource: str) -> bytes:
        """Bytes of a resource.

        Args:
            package: dotted name of the folder.
            resource: name of the file in it.
        """
        return bytes(self._read(_resource_path(package, resource)))

    def load_text(self, package: str, resource: str, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Text of a resource."""
        return self._text(_resource_path(package, resource), encoding, errors)

    def pickle_dependencies(self, package: str, resource: str) -> list[str]:
        """Modules whose classes and functions a pickle names, without loading it."""
        data = self.load_binary(package, resource)
        return sorted({module for module, _ in globals_in(data)})

    def get_source(self, module_name: str) -> str:
        """Source text of a module of the package."""
        path = self._sources.get(demangle(module_name))
        if path is None:
            raise ImportError(f"package: {self.filename} has no source of {module_name!r}", name=module_name)
        return importlib.util.decode_source(bytes(self._read(path)))

    def is_package(self, fullname: str) -> bool:
        """Whether the module has (or may have) modules below it."""
        return demangle(fullname) in self._packages

    def is_external(self, name: str) -> bool:
        """Whether a module is taken from this Python: it, or a package above it, was made external and is not in the file."""
        if name in self._sources:
            return False
        parts = name.split(".")
        return any(".".join(parts[:depth]) in self._externs for depth in range(1, len(parts) + 1))

    # What runs the package's code.

    def load_pickle(self, package: str, resource: str, map_location: Any = None) -> Any:
        """An object that ``save_pickle`` put into the package. This imports the modules that it needs, and runs code.

        Args:
            package: dotted name of the folder.
            resource: name of the file in it.
            map_location: where tensors go; see ``trine.load``.
        """
        data = self.load_binary(package, resource)
        storages = RecordStorages(self._read, self._small_record("byteorder", "little") == "big", map_location)
        return PackageUnpickler(io.BytesIO(data), self, storages).load()

    def import_module(self, name: str, package: str | None = None) -> ModuleType:
        """A module of the package, or one that was made external. Code of the package runs when it is first imported.

        Args:
            name: dotted name; with leading dots it is relative to ``package``.
        """
        if name.startswith("."):
            name = importlib.util.resolve_name(name, package)
        return self._load(demangle(name))

    def _load(self, name: str) -> ModuleType:
        with self._lock:
            found = self.modules.get(name)
            if found is not None:
                return found
            parent, _, last = name.rpartition(".")
            if name in self._sources or name in self._packages:
                if parent:
                    self._load(parent)
                    if name in self.modules:  # the parent imports it
                        return self.modules[name]
                module = self._execute(name)
                if parent:
                    setattr(self.modules[parent], last, module)
                return module
            if self.is_external(name):
                self.modules[name] = module = importlib.import_module(local_name(name) if is_library(name) else name)
                return module
        raise ModuleNotFoundError(
            f"package: no module {name!r} in {self.filename}, nor is it one of its external modules: {', '.join(self.extern_modules)}",
            name=name,
        )

    def _execute(self, name: str) -> ModuleType:
        path = self._sources.get(name)
        spec = importlib.machinery.ModuleSpec(name, self, origin="<package_importer>", is_package=name in self._packages)  # type: ignore[arg-type]
        module = ModuleType(self._mangler.mangle(name))
        names: dict[str, Any] = {
            "__builtins__": self._builtins,
            "__file__": None if path is None else f"{self.id()}.{path}",
            "__loader__": self,
            "__package__": name if name in self._packages else name.rpartition(".")[0],
            "__spec__": spec,
            "__torch_package__": True,
            "__trine_package__": True,
        }
        if name in self._packages:
            names["__path__"] = []
        vars(module).update(names)
        self.modules[name] = module
        if path is None:
            return module
        source = self.get_source(name)
        linecache.cache[names["__file__"]] = (len(source), None, source.splitlines(keepends=True), names["__file__"])
        try:
            exec(compile(source, names["__file__"], "exec", dont_inherit=True), vars(module))
        except BaseException:
            self.modules.pop(name, None)
            raise
        return self.modules[name]

    def _import(self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> ModuleType:
        """What ``import`` means in the package's modules."""
        if level:
            package = (globals or {}).get("__package__") or ""
            name = importlib.util.resolve_name("." * level + name, package)
        module = self._load(name)
        if not fromlist:
            return module if level else self._load(name.partition(".")[0])
        if name in self._packages:
            wanted = [n for entry in fromlist for n in (getattr(module, "__all__", ()) if entry == "*" else (entry,))]
            for entry in wanted:
                child = f"{name}.{entry}"
                if not hasattr(module, entry) and (child in self._sources or child in self._packages):
                    self._load(child)
        elif not isinstance(module, PackageImporter) and hasattr(module, "__path__"):
            for entry in fromlist:
                if entry != "*" and not hasattr(module, entry):
                    _try_submodule(module.__name__, entry)
        return module

    # importlib.resources within the package's modules.

    def get_resource_reader(self, fullname: str) -> Any:
        """For ``importlib.resources``: the files beside a package's modules."""
        return _ResourceReader(self, demangle(fullname))


class _ResourceReader:
    def __init__(self, owner: PackageImporter, package: str) -> None:
        self._owner, self._folder = owner, package.replace(".", "/") + "/"

    def open_resource(self, resource: str) -> IO[bytes]:
        return io.BytesIO(self._owner._read(self._folder + resource))

    def resource_path(self, resource: str) -> str:
        raise FileNotFoundError(f"package: {resource!r} lies in a package and has no path")

    def is_resource(self, name: str) -> bool:
        return self._folder + name in self._owner._names

    def contents(self) -> Iterator[str]:
        inside = (name[len(self._folder) :] for name in sorted(self._owner._names) if name.startswith(self._folder))
        return iter(dict.fromkeys(name.partition("/")[0] for name in inside))


def _try_submodule(package: str, name: str) -> None:
    try:
        importlib.import_module(f"{package}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{package}.{name}":
            raise


def _resource_path(package: str, resource: str) -> str:
    if not resource or "/" in resource or "\\" in resource or resource in (".", ".."):
        raise ValueError(f"package: the resource must be the name of a file, got {resource!r}")
    return f"{demangle(package).replace('.', '/')}/{resource}"
