"""The version, and the check that native libraries which meet in one process come from one build."""

from __future__ import annotations

from types import ModuleType

from trine import _C

__all__ = ["__version__", "build_stamp", "check_build", "cuda", "hip"]

__version__: str = _C.__version__
cuda: str | None = None  # the toolkit a build was made with, for programs that look
hip: str | None = None
build_stamp: str = _C._library_stamp  # of libtrine, which every other native library links to


def _describe(version: str, stamp: str) -> str:
    return f"version {version}, build {stamp}"


def check_build(module: ModuleType) -> None:
    """Raises ImportError unless the native ``module`` was compiled with the libtrine that is loaded.

    Every native module of Trine carries ``__version__`` and ``_build_stamp``; one without a stamp is taken for older than
    the check.

    >>> import trine
    >>> trine.version.check_build(trine._C)
    """
    stamp = getattr(module, "_build_stamp", None)
    if stamp == build_stamp:
        return
    theirs = _describe(getattr(module, "__version__", "unknown"), stamp or "unknown")
    raise ImportError(
        f"{module.__name__} ({theirs}) was compiled with another libtrine than the one loaded "
        f"({_describe(__version__, build_stamp)}). Both must come from one build: reinstall Trine (pip install --force-reinstall "
        "trine), or in a source tree run tools/setup again.",
        name=module.__name__,
        path=getattr(module, "__file__", None),
    )


check_build(_C)
