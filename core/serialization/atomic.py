"""Files that appear complete or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import IO

__all__ = ["atomic_file"]


def _mode_for(path: str) -> int:
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _sync_folder(folder: str) -> None:
    # The rename itself must survive a power cut. Some file systems cannot sync a folder; then nothing more can be done.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _create_beside(target: str, mode: int) -> tuple[int, str]:
    folder, name = os.path.split(target)
    while True:
        temporary = os.path.join(folder, f".{name[:100]}.{os.urandom(6).hex()}.tmp")
        with contextlib.suppress(FileExistsError):
            return os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), mode), temporary


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Binary file that replaces ``path`` when the block ends, and leaves it untouched when the block raises.

    The bytes go to a temporary file in the same folder, reach the disk, and are renamed over ``path``: a crash, a full
    disk or a second reader never sees half of it. A symbolic link stays a link. What is no regular file (``/dev/null``,
    a pipe) is written directly.
    """
    target = os.path.realpath(os.fspath(path))
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as file:
            yield file
        return
    descriptor, temporary = _create_beside(target, _mode_for(target))
    try:
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(os.path.dirname(target))
