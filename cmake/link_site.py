"""Links the Python files of the source tree into the importable tree of a development build.

    python cmake/link_site.py SOURCE SITE

Folders are linked whole where nothing is built into them, so that new modules appear without another run. Links to
files that are gone are removed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

# source folder -> package folder below SITE; these hold built libraries and are therefore real directories
PACKAGES = {"core": "trine", "vision": "trine/vision"}
NOT_IN_PACKAGE = {"core": {"csrc", "ops", "codegen", "__pycache__"}, "vision": {"csrc", "examples", "__pycache__"}}


def link(target: Path, name: Path) -> None:
    """Makes ``name`` a link to ``target``, replacing a link that points elsewhere."""
    if name.is_symlink():
        if os.readlink(name) == str(target):
            return
        name.unlink()
    elif name.exists():
        raise SystemExit(f"link_site: {name} is in the way of a link to {target}")
    name.symlink_to(target)


def main(source: Path, site: Path) -> None:
    for folder, package in PACKAGES.items():
        if not (source / folder).is_dir():
            continue
        destination = site / package
        destination.mkdir(parents=True, exist_ok=True)
        wanted = set()
        for entry in sorted((source / folder).iterdir()):
            is_package = entry.is_dir() and entry.name not in NOT_IN_PACKAGE[folder] and not entry.name.startswith(".")
            if is_package or entry.suffix in {".py", ".pyi", ".xz"} or entry.name == "py.typed":
                link(entry, destination / entry.name)
                wanted.add(entry.name)
        for name in destination.iterdir():
            if name.is_symlink() and name.name not in wanted:
                name.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
