"""Models out of a repository: its ``hubconf.py`` says which there are and makes them."""

from __future__ import annotations

import builtins
import importlib.util
import json
import os
import re
import shutil
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

from trine import as_torch
from trine.serialization.archive import Archive
from trine.serialization.errors import CorruptFileError, UnsafeFileError
from trine.serialization.source import open_source

from .transfer import DownloadError, download

__all__ = ["describe", "entry_points", "make"]

_GITHUB = "https://github.com"
_GITHUB_API = "https://api.github.com"
_HUBCONF = "hubconf.py"
_TRUSTED_OWNERS = ("facebookincubator", "facebookresearch", "fairinternal", "pytorch")  # PyTorch's list
_DEFAULT_REFS = ("main", "master")
_PAGE = 100
_TIMEOUT = 30.0
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_REF = re.compile(r"[A-Za-z0-9_./+@-]+")


class _Repository:
    """``owner/name[:ref]`` at GitHub, or the URL of a zip archive."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.url = text if "://" in text else None
        if self.url is not None:
            path = urllib.parse.urlsplit(text).path
            stem = re.sub(r"[^A-Za-z0-9_.-]+", "_", os.path.splitext(path)[0].strip("/"))
            host = re.sub(r"[^A-Za-z0-9_.-]+", "_", urllib.parse.urlsplit(text).netloc)
            self.owner = ""
            self.refs: tuple[str, ...] = ("",)
            self.trust_name = text
            self._folder = f"{host}_{stem}"
            return
        place, _, ref = text.partition(":")
        owner, _, name = place.partition("/")
        if not _NAME.fullmatch(owner) or not _NAME.fullmatch(name) or {owner, name} & {".", ".."}:
            raise ValueError(f"hub: expected 'owner/name' or 'owner/name:branch', got {text!r}")
        if ref and (not _REF.fullmatch(ref) or ".." in ref):
            raise ValueError(f"hub: {ref!r} is no name of a branch, tag or commit")
        self.owner, self.name = owner, name
        self.refs = (ref,) if ref else _DEFAULT_REFS
        self.trust_name = f"{owner}_{name}"
        self._folder = f"{owner}_{name}_"

    def folder(self, ref: str) -> str:
        """Name of its folder in the cache; PyTorch's for repositories at GitHub."""
        return self._folder + ref.replace("/", "_")

    def archive_url(self, ref: str) -> str:
        return self.url or f"{_GITHUB}/{self.owner}/{self.name}/zipball/{urllib.parse.quote(ref)}"


def _ask_github(url: str) -> Any:
    headers = {"User-Agent": "trine-hub", "Accept": "application/vnd.github.v3+json"}
    token = os.environ.get("GITHUB_TOKEN")
    if token and url.startswith(_GITHUB_API):
        headers["Authorization"] = f"token {token}"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=_TIMEOUT) as response:
            return json.load(response)
    except (OSError, ValueError) as error:
        raise DownloadError(f"hub: cannot ask {url} ({error}); skip_validation=True does without") from None


def _check_ref(repository: _Repository, ref: str) -> None:
    """GitHub serves commits of anyone's fork under the repository's own name: the ref must be the repository's."""
    for kind in ("branches", "tags"):
        page = 1
        while True:
            url = f"{_GITHUB_API}/repos/{repository.owner}/{repository.name}/{kind}?per_page={_PAGE}&page={page}"
            entries = _ask_github(url)
            if any(entry["name"] == ref or (len(ref) >= 7 and entry["commit"]["sha"].startswith(ref)) for entry in entries):
                return
            if len(entries) < _PAGE:
                break
            page += 1
    raise ValueError(
        f"hub: {_GITHUB}/{repository.owner}/{repository.name} has no branch or tag {ref!r}; if it is a commit of a fork, name the fork"
    )


def _unpack(path: str, folder: str) -> None:
    """Put what lies below the archive's one top folder into ``folder``, which appears whole or not at all."""
    source = open_source(path, None)
    try:
        archive = Archive(source)
        tops = {name.partition("/")[0] for name in archive.entries}
        if len(tops) != 1:
            raise CorruptFileError(f"hub: the archive has {len(tops)} top folders, expected one")
        fresh = tempfile.mkdtemp(dir=os.path.dirname(folder), prefix=".unpacking-")
        try:
            for name in archive.entries:
                inside = name.partition("/")[2]
                if not inside or inside.endswith("/"):
                    continue
                target = os.path.join(fresh, *inside.split("/"))
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "xb") as file:
                    file.write(archive.read(name))
            os.chmod(fresh, 0o755)
            shutil.rmtree(folder, ignore_errors=True)
            os.replace(fresh, folder)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
    finally:
        source.close()


def _fetch(repository: _Repository, hub_dir: str, force_reload: bool, verbose: bool, skip_validation: bool) -> str:
    os.makedirs(hub_dir, exist_ok=True)
    if not force_reload:
        for ref in repository.refs:
            folder = os.path.join(hub_dir, repository.folder(ref))
            if os.path.isdir(folder):
                if verbose:
                    sys.stderr.write(f"Using cache found in {folder}\n")
                return folder
    problem: Exception | None = None
    for ref in repository.refs:
        folder = os.path.join(hub_dir, repository.folder(ref))
        with tempfile.TemporaryDirectory(dir=hub_dir, prefix=".download-") as place:
            path = os.path.join(place, "archive.zip")
            try:
                if repository.url is None and not skip_validation:
                    _check_ref(repository, ref)
                download(repository.archive_url(ref), path, None, verbose)
                _unpack(path, folder)
            except (DownloadError, ValueError) as error:
                problem = problem or error
                continue
            except (CorruptFileError, UnsafeFileError) as error:
                raise DownloadError(f"hub: {repository.archive_url(ref)} gave no sound archive: {error}") from None
        return folder
    assert problem is not None
    raise problem


def _require_trust(repository: _Repository, hub_dir: str, trust_repo: bool | str | None) -> None:
    """Ask, where that is due, whether code of the repository may run."""
    if trust_repo not in (True, False, None, "check"):
        raise ValueError(f"hub: trust_repo must be True, False, None or 'check', got {trust_repo!r}")
    path = os.path.join(hub_dir, "trusted_list")
    try:
        with open(path, encoding="utf-8") as file:
            trusted = file.read().split("\n")
    except FileNotFoundError:
        trusted = []
    is_known = repository.trust_name in trusted or repository.owner in _TRUSTED_OWNERS
    if trust_repo is None:
        if not is_known:
            warnings.warn(
                f"hub: code of {repository.text}, which is not trusted yet, is about to run; trust_repo=True or 'check' decides about it"
            )
        return
    if trust_repo is False or (trust_repo == "check" and not is_known):
        question = f"The repository {repository.text} has not been trusted yet and its code is about to run. Trust it (y/N)? "
        try:
            answer = input(question)
        except EOFError:
            raise PermissionError(f"hub: nobody answers whether {repository.text} is trusted; pass trust_repo=True if it is") from None
        if answer.strip().lower() not in ("y", "yes"):
            raise PermissionError(f"hub: {repository.text} is not trusted")
    if repository.trust_name not in trusted and repository.owner not in _TRUSTED_OWNERS:
        os.makedirs(hub_dir, exist_ok=True)
        with open(path, "a", encoding="utf-8") as file:
            file.write(repository.trust_name + "\n")


def _folder_of(
    repo: str, source: str, trust_repo: bool | str | None, force_reload: bool, verbose: bool, skip_validation: bool, hub_dir: str
) -> str:
    if source.lower() not in ("github", "local"):
        raise ValueError(f"hub: source must be 'github' or 'local', got {source!r}")
    if source.lower() == "local":
        return os.path.abspath(os.path.expanduser(repo))
    repository = _Repository(repo)
    _require_trust(repository, hub_dir, trust_repo)
    return _fetch(repository, hub_dir, force_reload, verbose, skip_validation)


def _with_hubconf(folder: str, use: Callable[[ModuleType], Any]) -> Any:
    """``use(hubconf)``, with the repository's modules importable meanwhile."""
    path = os.path.join(folder, _HUBCONF)
    if not os.path.isfile(path):
        raise FileNotFoundError(f"hub: {folder} has no {_HUBCONF}")
    if "torch" not in sys.modules:
        as_torch.install()
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location("hubconf", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return use(module)
    finally:
        if folder in sys.path:
            sys.path.remove(folder)


def _check_dependencies(module: ModuleType) -> None:
    missing = []
    for name in getattr(module, "dependencies", None) or ():
        try:
            found = importlib.util.find_spec(name) is not None
        except (ImportError, ValueError):
            found = False
        if not found:
            missing.append(name)
    if missing:
        raise RuntimeError(f"hub: {_HUBCONF} needs packages that are not installed. Missing dependencies: {', '.join(missing)}")


def _entry(module: ModuleType, name: str) -> Callable:
    if not isinstance(name, str):
        raise ValueError(f"hub: the model's name must be a string, got {type(name).__name__}")
    _check_dependencies(module)
    found = getattr(module, name, None)
    if name.startswith("_") or not callable(found):
        known = ", ".join(_names(module)) or "nothing"
        raise RuntimeError(f"hub: Cannot find callable {name} in hubconf; it has {known}")
    return found


def _names(module: ModuleType) -> builtins.list[str]:
    return [name for name in dir(module) if not name.startswith("_") and callable(getattr(module, name))]


def entry_points(folder_options: dict[str, Any]) -> builtins.list[str]:
    """See ``trine.hub.list``."""
    return _with_hubconf(_folder_of(**folder_options), _names)


def describe(folder_options: dict[str, Any], model: str) -> str | None:
    """See ``trine.hub.help``."""
    return _with_hubconf(_folder_of(**folder_options), lambda module: _entry(module, model).__doc__)


def make(folder_options: dict[str, Any], model: str, args: tuple, kwargs: dict[str, Any]) -> Any:
    """See ``trine.hub.load``."""
    return _with_hubconf(_folder_of(**folder_options), lambda module: _entry(module, model)(*args, **kwargs))
