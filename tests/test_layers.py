"""Who may include or import whom, after the picture in docs/architecture.md.

What a user would lose: a phone build that drags the interpreter in, kernels that cannot be reused, an import of the
core that pulls a domain package along.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CSRC = ROOT / "core" / "csrc"

# folder of core/csrc -> folders it may include, itself aside; "trine" is the generated and public C++ interface
MAY_INCLUDE = {
    "base": set(),
    "math": {"base"},
    "tensor": {"base"},
    "dispatch": {"base", "tensor", "trine"},
    "rules": {"base", "tensor", "dispatch", "trine"},
    "cpu": {"base", "math", "tensor", "dispatch", "rules", "trine"},
    "cuda": {"base", "math", "tensor", "dispatch", "rules", "trine"},
    "batching": {"base", "tensor", "dispatch", "trine"},
    "autograd": {"base", "tensor", "dispatch", "rules", "batching", "trine"},
    "autocast": {"base", "tensor", "dispatch", "autograd", "trine"},
    "composite": {"base", "tensor", "dispatch", "rules", "batching", "autograd", "trine"},
    "views": {"base", "tensor", "dispatch", "trine"},
    "graph": {"base", "tensor", "dispatch", "trine"},
    "include": {"base", "tensor", "dispatch", "trine", "autograd"},
    "bindings": {"base", "tensor", "dispatch", "rules", "batching", "autograd", "autocast", "composite", "graph", "trine"},
}
# A domain package knows the core by its public surface.
DOMAIN_MAY_INCLUDE = {"base", "tensor", "dispatch", "trine"}
DOMAINS = [name for name in ("vision", "audio", "text", "csprng") if (ROOT / name).is_dir()]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
SOURCE_SUFFIXES = {".h", ".cpp", ".cu", ".inc"}


def sources(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.suffix in SOURCE_SUFFIXES)


def includes(path: Path) -> list[tuple[bool, str]]:
    """(is quoted, name) of each include of a file."""
    return [(quote == '"', name) for quote, name in INCLUDE.findall(path.read_text())]


def core_folder(name: str, includer: Path) -> str | None:
    """Folder of the core that ``#include "name"`` reaches from ``includer``; None for a neighbour's header."""
    if (includer.parent / name).exists():
        return None
    head = name.split("/")[0]
    return head if "/" in name else None


def test_every_folder_of_the_core_is_in_the_picture():
    folders = {p.name for p in CSRC.iterdir() if p.is_dir() and sources(p)}
    assert folders <= set(MAY_INCLUDE), "say here and in docs/architecture.md what a new folder may know"


@pytest.mark.parametrize("folder", sorted(MAY_INCLUDE))
def test_core_folder_includes_only_what_lies_below_it(folder):
    allowed = MAY_INCLUDE[folder] | {folder}
    wrong = []
    for path in sources(CSRC / folder):
        for quoted, name in includes(path):
            target = core_folder(name, path) if quoted else None
            if target is not None and target not in allowed:
                wrong.append(f"{path.relative_to(ROOT)} includes {name}")
    assert not wrong, "\n".join(wrong)


def test_only_bindings_know_python():
    wrong = [
        str(path.relative_to(ROOT))
        for path in sources(CSRC)
        if path.relative_to(CSRC).parts[0] != "bindings"
        and any(name in ("Python.h", "pybind11/pybind11.h", "numpy/arrayobject.h") for _, name in includes(path))
    ]
    assert not wrong, "these include Python outside core/csrc/bindings: " + ", ".join(wrong)


def test_widely_included_headers_stay_light():
    heavy = {"iostream", "regex", "functional", "fstream"}
    wrong = [
        f"{path.relative_to(ROOT)} includes <{name}>"
        for folder in ("base", "tensor", "dispatch", "math")
        for path in sources(CSRC / folder)
        if path.suffix == ".h"
        for quoted, name in includes(path)
        if not quoted and name in heavy
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("domain", DOMAINS)
def test_domain_extension_uses_the_public_surface_of_the_core(domain):
    wrong = []
    for path in sources(ROOT / domain / "csrc"):
        for quoted, name in includes(path):
            target = core_folder(name, path) if quoted else None
            if target in MAY_INCLUDE and target not in DOMAIN_MAY_INCLUDE:
                wrong.append(f"{path.relative_to(ROOT)} includes {name}")
    assert not wrong, "\n".join(wrong)


def python_files(folder: str) -> list[Path]:
    skipped = {"csrc", "codegen", "ops"} if folder == "core" else {"csrc", "examples"}
    base = ROOT / folder
    return sorted(p for p in base.rglob("*.py") if not skipped & {p.relative_to(base).parts[0]})


def module_name(path: Path, folder: str) -> tuple[str, bool]:
    """Dotted name of a source file as installed, and whether it is a package."""
    parts = list(path.relative_to(ROOT / folder).with_suffix("").parts)
    package = parts[-1] == "__init__"
    if package:
        parts.pop()
    return ".".join(["trine"] + ([] if folder == "core" else [folder]) + parts), package


def imports(path: Path, folder: str) -> set[str]:
    """Absolute names of the modules that a file imports, wherever in it the statement stands."""
    name, is_package = module_name(path, folder)
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                here = name.split(".")
                here = here[: len(here) - node.level + (1 if is_package else 0)]
                base = ".".join(here + ([node.module] if node.module else []))
            found.add(base)
            found |= {f"{base}.{alias.name}" for alias in node.names}
    return found


def belongs_to(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def test_core_does_not_import_a_domain_package():
    # as_torch answers `import torchvision`: knowing the domain packages by name is its job.
    wrong = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in python_files("core")
        if path.name != "as_torch.py" and "as_torch" not in path.parts
        for module in imports(path, "core")
        if any(belongs_to(module, f"trine.{domain}") for domain in ("vision", "audio", "text", "csprng"))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("domain", DOMAINS)
def test_domain_package_imports_public_names_only(domain):
    wrong = []
    for path in python_files(domain):
        for module in imports(path, domain):
            parts = module.split(".")
            private = any(part.startswith("_") and not part.startswith("__") for part in parts[1:])
            if parts[0] == "trine" and private and not belongs_to(module, f"trine.{domain}"):
                wrong.append(f"{path.relative_to(ROOT)} imports {module}")
            if any(belongs_to(module, f"trine.{other}") for other in DOMAINS if other != domain):
                wrong.append(f"{path.relative_to(ROOT)} imports {module}")
    assert not wrong, "\n".join(wrong)


def test_nothing_imports_pytorch():
    wrong = [
        f"{path.relative_to(ROOT)} imports {module}"
        for folder in ["core", *DOMAINS]
        for path in python_files(folder)
        if "examples" not in path.parts  # programs of PyTorch's users, which as_torch runs
        for module in imports(path, folder)
        if module.split(".")[0] in ("torch", "torchvision", "torchaudio")
    ]
    assert not wrong, "\n".join(wrong)
