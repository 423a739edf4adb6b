"""Files of a Debian package, without installing it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path


def unpack_debian_package(name: str, target: Path) -> None:
    """Download the package ``name`` with apt-get and unpack it below ``target``.

    Raises:
        RuntimeError: if apt-get is missing or does not find the package.
    """
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise RuntimeError(f"{name}: apt-get and dpkg-deb are needed to fetch this Debian package")
    with tempfile.TemporaryDirectory() as folder:
        attempts = [["apt-get", "download", name]]
        attempts += [["apt-get", "update", "-q"], attempts[0]]  # a new system has no list of packages yet
        for command in attempts:
            result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            packages = list(Path(folder).glob("*.deb"))
            if packages:
                target.mkdir(parents=True, exist_ok=True)
                subprocess.run(["dpkg-deb", "-x", str(packages[0]), str(target)], check=True)
                return
    raise RuntimeError(f"{name}: apt-get could not download this Debian package: {result.stderr.strip()}")
