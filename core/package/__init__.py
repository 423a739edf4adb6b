"""Packages: a model's code, its pickled objects and its resources in one file that needs nothing else of where it was made.

The files are those of ``torch.package``. ``import_module`` and ``load_pickle`` run code that is in the file, as importing any module
does: use them on packages whose makers you trust. ``file_structure``, ``load_text`` and ``load_binary`` run nothing.
"""

from .analyze import is_from_package
from .file_structure_representation import Directory
from .glob_group import GlobGroup
from .importer import Importer, ObjMismatchError, ObjNotFoundError, OrderedImporter, sys_importer
from .package_exporter import EmptyMatchError, PackageExporter, PackagingError
from .package_importer import PackageImporter

__all__ = [
    "Directory",
    "EmptyMatchError",
    "GlobGroup",
    "Importer",
    "ObjMismatchError",
    "ObjNotFoundError",
    "OrderedImporter",
    "PackageExporter",
    "PackageImporter",
    "PackagingError",
    "is_from_package",
    "sys_importer",
]
