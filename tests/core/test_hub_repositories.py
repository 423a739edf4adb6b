"""Models of a repository: fetched once, asked about, unpacked safely, made by its hubconf.py."""

from __future__ import annotations

import http.server
import io
import json
import sys
import threading
import urllib.parse
import zipfile

import pytest
import trine
from trine import hub
from trine.hub import DownloadError, repositories

HUBCONF = '''
dependencies = ["torch", "math"]
import torch
from helpers import scale as _scale

def double(n, bias=True):
    """A layer of n inputs."""
    return torch.nn.Linear(n, _scale(n), bias=bias)

CONSTANT = 3
'''
FILES = {"repo-abc/hubconf.py": HUBCONF, "repo-abc/helpers.py": "def scale(n):\n    return 2 * n\n", "repo-abc/docs/": ""}


def archive(files=FILES) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, text in files.items():
            file.writestr(name, text)
    return buffer.getvalue()


class GitHub(http.server.ThreadingHTTPServer):
    """Answers as GitHub does, from ``archives`` ({ref: bytes}) and ``branches``."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.archives = {"main": archive()}
        self.branches = [{"name": "main", "commit": {"sha": "0123456789abcdef"}}]
        self.requests: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    server: GitHub

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        parts = urllib.parse.urlsplit(self.path)
        self.server.requests.append(parts.path)
        if parts.path.startswith("/repos/"):
            page = int(urllib.parse.parse_qs(parts.query)["page"][0])
            entries = self.server.branches if "branches" in parts.path else []
            data = json.dumps(entries[(page - 1) * 100 : page * 100]).encode()
        else:
            ref = urllib.parse.unquote(parts.path.split("/zipball/")[-1]).strip("/")
            data = self.server.archives.get(ref)
        if data is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def github(monkeypatch, tmp_path):
    monkeypatch.setattr("trine.hub.transfer._FIRST_PAUSE", 0.01)
    monkeypatch.setenv("no_proxy", "*")
    running = GitHub()
    threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    monkeypatch.setattr(repositories, "_GITHUB", running.url)
    monkeypatch.setattr(repositories, "_GITHUB_API", running.url)
    monkeypatch.setattr(hub, "_chosen_dir", str(tmp_path / "cache"))
    yield running
    running.shutdown()
    running.server_close()


@pytest.fixture(autouse=True)
def as_it_was():
    """hubconf files make ``import torch`` mean Trine, in the whole process: not for other tests."""
    finders, path, modules = list(sys.meta_path), list(sys.path), set(sys.modules)
    yield
    sys.meta_path[:], sys.path[:] = finders, path
    for name in set(sys.modules) - modules:
        if name.split(".")[0] in ("torch", "helpers", "hubconf"):
            del sys.modules[name]


@pytest.fixture
def local(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "hubconf.py").write_text(HUBCONF)
    (folder / "helpers.py").write_text(FILES["repo-abc/helpers.py"])
    return folder


def test_a_model_of_a_local_folder(local):
    layer = hub.load(str(local), "double", 3, source="local", bias=False)
    assert type(layer) is trine.nn.Linear and layer.weight.shape == (6, 3) and layer.bias is None
    assert str(local) not in sys.path


def test_a_model_of_a_repository_is_downloaded_once(github, tmp_path, capsys):
    for _ in range(2):
        assert hub.load("someone/repo", "double", 2, trust_repo=True).weight.shape == (4, 2)
    assert sum("zipball" in path for path in github.requests) == 1
    assert "Using cache found in" in capsys.readouterr().err
    assert sorted(p.name for p in (tmp_path / "cache").iterdir()) == ["someone_repo_main", "trusted_list"]
    hub.load("someone/repo", "double", 2, force_reload=True, verbose=False)
    assert sum("zipball" in path for path in github.requests) == 2
    assert capsys.readouterr().err == ""


def test_what_a_repository_has(github):
    assert hub.list("pytorch/repo", verbose=False) == ["double"]
    assert hub.help("pytorch/repo", "double") == "A layer of n inputs."


def test_a_repository_without_main_has_master(github, tmp_path):
    github.archives = {"master": archive()}
    hub.list("pytorch/old", skip_validation=True)
    assert (tmp_path / "cache" / "pytorch_old_master").is_dir()


def test_a_ref_is_named_in_the_cache(github, tmp_path):
    github.archives["feature/x"] = archive()
    github.branches = [{"name": f"b{i}", "commit": {"sha": f"{i:040x}"}} for i in range(150)] + [
        {"name": "feature/x", "commit": {"sha": "f" * 40}}
    ]
    hub.list("pytorch/repo:feature/x")
    assert (tmp_path / "cache" / "pytorch_repo_feature_x" / "hubconf.py").is_file()


def test_a_commit_of_a_fork_is_refused(github):
    github.archives["abcdef0"] = archive()
    with pytest.raises(ValueError, match="fork"):
        hub.list("pytorch/repo:abcdef0")
    assert hub.list("pytorch/repo:abcdef0", skip_validation=True) == ["double"]
    github.archives["0123456"] = archive()
    assert hub.list("pytorch/repo:0123456") == ["double"]


def test_an_archive_by_its_url(github):
    layer = hub.load(f"{github.url}/anything/zipball/main", "double", 1, trust_repo=True)
    assert layer.weight.shape == (2, 1)


def test_a_repository_is_asked_about_until_it_is_trusted(github, monkeypatch, tmp_path):
    answers = iter(["n", "", "y"])
    asked = []
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or next(answers))
    for _ in range(2):
        with pytest.raises(PermissionError, match="not trusted"):
            hub.list("someone/repo")
    assert not github.requests and "someone/repo" in asked[0]
    hub.list("someone/repo")
    hub.list("someone/repo")  # trusted now: no question
    assert len(asked) == 3 and (tmp_path / "cache" / "trusted_list").read_text() == "someone_repo\n"
    with pytest.warns(UserWarning, match="not trusted yet"):
        hub.list("another/repo", trust_repo=None)


def test_where_nobody_answers_nothing_is_trusted(github, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with pytest.raises(PermissionError, match="trust_repo=True"):
        hub.list("someone/repo")


@pytest.mark.parametrize("name", ["repo", "a/b/c", "../x", "a/..", "a/b:../../x", "a/b:c d", "", "a b/c"])
def test_what_is_no_repository(github, name):
    with pytest.raises(ValueError, match="hub"):
        hub.list(name, trust_repo=True)
    assert not github.requests


@pytest.mark.parametrize("name", ["../evil.py", "repo-abc/../../evil.py", "/evil.py", "repo-abc\\..\\..\\evil.py"])
def test_an_archive_does_not_write_outside_of_its_folder(github, tmp_path, name):
    github.archives["main"] = archive({**FILES, name: "evil"})
    with pytest.raises(DownloadError):
        hub.list("pytorch/repo")
    assert not list(tmp_path.rglob("*evil*")) and not list((tmp_path / "cache").iterdir())


def test_a_damaged_archive_leaves_the_former_copy(github, tmp_path):
    hub.list("pytorch/repo")
    whole = github.archives["main"]
    for broken in (whole[:-30], whole[: len(whole) // 2], b"not a zip", archive({"a/x": "", "b/y": ""})):
        github.archives["main"] = broken
        with pytest.raises(DownloadError, match="archive"):
            hub.list("pytorch/repo", force_reload=True)
    assert hub.list("pytorch/repo") == ["double"]
    assert [p.name for p in (tmp_path / "cache").iterdir()] == ["pytorch_repo_main"]


def test_a_missing_repository_and_a_missing_network(github, monkeypatch):
    with pytest.raises(DownloadError, match="404"):
        hub.list("pytorch/repo:gone", skip_validation=True)
    monkeypatch.setattr(repositories, "_GITHUB_API", "http://127.0.0.1:9")
    with pytest.raises(DownloadError, match="skip_validation"):
        hub.list("pytorch/repo")


def test_what_a_hubconf_lacks_is_told(local):
    for name in ("triple", "CONSTANT", "_scale"):
        with pytest.raises(RuntimeError, match=f"Cannot find callable {name}"):
            hub.load(str(local), name, source="local")
    (local / "hubconf.py").write_text("dependencies = ['math', 'nobody_knows', 'no.such']\ndef m():\n    pass\n")
    with pytest.raises(RuntimeError, match=r"Missing dependencies: nobody_knows, no\.such"):
        hub.load(str(local), "m", source="local")
    (local / "hubconf.py").unlink()
    with pytest.raises(FileNotFoundError, match=r"hubconf\.py"):
        hub.load(str(local), "m", source="local")
    with pytest.raises(ValueError, match="source"):
        hub.load(str(local), "m", source="elsewhere")
    with pytest.raises(ValueError, match="trust_repo"):
        hub.list("a/b", trust_repo="maybe")


def test_model_zoo_is_the_hubs(tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "_chosen_dir", str(tmp_path / "cache"))
    trine.save({"w": trine.ones(2)}, tmp_path / "weights.pth")
    loaded = trine.utils.model_zoo.load_url((tmp_path / "weights.pth").as_uri(), progress=False)
    assert loaded["w"].tolist() == [1, 1]
