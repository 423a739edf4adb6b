"""Downloads that resume, verify and appear complete or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import os
import re
import socket
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import IO, Any

from .progress import open_progress

__all__ = ["DownloadError", "check_digest", "digest_of", "download", "require_digest", "verify"]

_CHUNK = 1 << 18
_ATTEMPTS = 4
_TIMEOUT = 30.0
_RETRIED_STATUS = (408, 425, 429, 500, 502, 503, 504)
_LONGEST_PAUSE = 30.0
_FIRST_PAUSE = 0.5


class DownloadError(OSError, RuntimeError):
    """A file could not be had, or is not the one that was asked for. The message says from where and why."""


def check_digest(digest: str | None) -> str | None:
    """``digest`` in lower case; raises ``ValueError`` unless it is a SHA-256 in hexadecimal or its beginning."""
    if not digest:
        return None
    if not re.fullmatch(r"[0-9a-fA-F]{1,64}", digest):
        raise ValueError(f"hub: {digest!r} is not a SHA-256 in hexadecimal, nor its beginning")
    return digest.lower()


def digest_of(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file in hexadecimal."""
    state = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            state.update(chunk)
    return state.hexdigest()


def require_digest(found: str, digest: str | None, origin: str) -> None:
    """Raise ``DownloadError`` when ``found`` does not begin with ``digest``."""
    if digest is not None and not found.startswith(digest):
        raise DownloadError(f'hub: invalid hash value (expected "{digest}", got "{found}") of what came from {origin}')


def verify(path: str, digest: str | None, origin: str) -> None:
    """Raise ``DownloadError`` when the file's SHA-256 does not begin with ``digest``."""
    if digest is not None:
        require_digest(digest_of(path), digest, origin)


class _Partial:
    """The unfinished file beside the destination, with what is needed to go on with it later.

    A lock keeps two processes from writing to it at once; the second one gets a file of its own.
    """

    def __init__(self, destination: str, url: str) -> None:
        mark = hashlib.sha256(url.encode()).hexdigest()[:8]
        folder, name = os.path.split(destination)
        self.path = os.path.join(folder, f".{name}.{mark}.part")
        self._shared = True
        self.file = self._open()
        self._notes = self.path + ".json"

    def _open(self) -> IO[bytes]:
        file = open(self.path, "a+b")  # noqa: SIM115  it is closed when the transfer ends
        if not self._lock(file):
            file.close()
            self._shared = False
            self.path = f"{self.path}.{os.getpid()}.{time.monotonic_ns()}"
            file = open(self.path, "a+b")  # noqa: SIM115
        return file

    def _lock(self, file: IO[bytes]) -> bool:
        try:
            import fcntl
        except ImportError:
            return True
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Its former owner may have renamed it to the destination between our open and our lock.
            return os.stat(self.path).st_ino == os.fstat(file.fileno()).st_ino
        except OSError:
            return False

    @property
    def size(self) -> int:
        return self.file.seek(0, os.SEEK_END)

    def restart(self) -> None:
        self.file.seek(0)
        self.file.truncate()

    def validator(self) -> str | None:
        """ETag or date of what the partial file is the beginning of."""
        with contextlib.suppress(OSError, ValueError, AttributeError):
            with open(self._notes, encoding="utf-8") as notes:
                value = json.load(notes).get("validator")
            return value if isinstance(value, str) else None
        return None

    def note(self, validator: str | None) -> None:
        if self._shared:
            with contextlib.suppress(OSError), open(self._notes, "w", encoding="utf-8") as notes:
                json.dump({"validator": validator}, notes)

    def finish(self, destination: str) -> None:
        self.file.flush()
        os.fsync(self.file.fileno())
        os.replace(self.path, destination)
        self._forget_notes()
        self.file.close()

    def discard(self) -> None:
        self.file.close()
        self._forget_notes()
        with contextlib.suppress(OSError):
            os.unlink(self.path)

    def close(self) -> None:
        """Keep a partial file that can be gone on with."""
        if not self._shared or not self.size:
            self.discard()
        else:
            self.file.close()

    def _forget_notes(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self._notes)


def _validator(response: Any) -> str | None:
    tag = response.headers.get("ETag")
    if tag and not tag.startswith("W/"):  # a weak tag does not promise equal bytes
        return tag
    return response.headers.get("Last-Modified")


def _request(url: str, start: int, validator: str | None) -> Any:
    headers = {"User-Agent": "trine-hub", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
        if validator:
            headers["If-Range"] = validator
    return urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=_TIMEOUT)


def _continues_at(response: Any, start: int) -> bool:
    found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return getattr(response, "status", None) == 206 and found is not None and int(found[1]) == start


def _transfer(url: str, partial: _Partial, digest: str | None, progress: bool, label: str) -> None:
    """One attempt; raises ``OSError`` or ``HTTPException`` when it ends before the file does."""
    start, validator = partial.size, partial.validator()
    if start and not validator and not digest:
        start = 0  # nothing would tell that the file on the server has changed
    with _request(url, start, validator) as response:
        if start and not _continues_at(response, start):
            start = 0
        if not start:
            partial.restart()
            partial.note(_validator(response))
        length = response.headers.get("Content-Length")
        total = start + int(length) if length and length.isdecimal() else None
        bar = open_progress(label, total, start, progress)
        received = start
        try:
            while chunk := response.read(_CHUNK):
                partial.file.write(chunk)
                received += len(chunk)
                bar.update(len(chunk))
        finally:
            partial.file.flush()
            bar.close()
    if total is not None and received < total:
        raise ConnectionError(f"the connection ended after {received} of {total} bytes")


def _explain(error: BaseException) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answers {error.code} {error.reason}"
    if isinstance(error, urllib.error.URLError):
        hint = "; is there a network?" if isinstance(error.reason, (socket.gaierror, TimeoutError)) else ""
        return f"{error.reason}{hint}"
    return str(error) or type(error).__name__


def _pauses() -> Iterator[float]:
    pause = _FIRST_PAUSE
    while True:
        yield min(pause, _LONGEST_PAUSE)
        pause *= 2


def _pause_asked_for(error: BaseException, pause: float) -> float:
    asked = error.headers.get("Retry-After", "") if isinstance(error, urllib.error.HTTPError) and error.headers else ""
    return min(float(asked), _LONGEST_PAUSE) if asked.isdecimal() else pause


def _transfer_with_retries(url: str, partial: _Partial, digest: str | None, progress: bool, label: str) -> None:
    failures, pauses, size = 0, _pauses(), partial.size
    while True:
        try:
            _transfer(url, partial, digest, progress, label)
            return
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == 416 and partial.size:
                partial.restart()  # what is here is longer than the file: it is another file
            elif error.code not in _RETRIED_STATUS:
                raise DownloadError(f"hub: cannot download {url}: {_explain(error)}") from None
            problem: BaseException = error
        except urllib.error.URLError as error:
            if isinstance(error.reason, (FileNotFoundError, PermissionError, IsADirectoryError)) or url.startswith("file:"):
                raise DownloadError(f"hub: cannot read {url}: {_explain(error)}") from None
            problem = error
        except (ConnectionError, TimeoutError, http.client.HTTPException) as error:
            problem = error
        if partial.size > size:  # an attempt that brought something does not count
            failures, pauses, size = 0, _pauses(), partial.size
        failures += 1
        if failures >= _ATTEMPTS:
            kept = f"; {partial.size} bytes are kept, the next call goes on from there" if partial.size else ""
            raise DownloadError(f"hub: cannot download {url}: {_explain(problem)} ({failures} attempts{kept})") from None
        time.sleep(_pause_asked_for(problem, next(pauses)))


def download(url: str, destination: str, digest: str | None, progress: bool) -> None:
    """Put what ``url`` gives at ``destination``.

    An interrupted transfer is kept beside the destination and gone on with, by this or a later call, when the server
    proves (by ETag or date) or the digest will prove that it is the same file.
    """
    scheme = urllib.parse.urlsplit(url).scheme
    if scheme not in ("http", "https", "file"):
        raise ValueError(f"hub: cannot download {url!r}: the scheme must be https, http or file")
    os.makedirs(os.path.dirname(os.path.abspath(destination)), exist_ok=True)
    if progress:
        sys.stderr.write(f'Downloading: "{url}" to {destination}\n')
    partial = _Partial(destination, url)
    label = os.path.basename(destination)
    try:
        resumed = partial.size > 0
        _transfer_with_retries(url, partial, digest, progress, label)
        try:
            verify(partial.path, digest, url)
        except DownloadError:
            partial.restart()
            if not resumed:
                raise
            # The beginning may stem from another version of the file: once more from the first byte.
            _transfer_with_retries(url, partial, digest, progress, label)
            verify(partial.path, digest, url)
        partial.finish(destination)
    finally:
        if not partial.file.closed:
            partial.close()
