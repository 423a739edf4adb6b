"""Run a PyTorch program on Trine: ``python -m trine.as_torch script.py args...`` (or ``-m module``, or ``-c code``).

Within it ``torch``, ``torchvision``, ``torchaudio`` and ``torchtext`` are Trine's own modules under a second name: one
object each, so that ``torch.nn is trine.nn``. A program can do the same to itself with ``trine.as_torch.install()``.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import os
import re
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["install", "main"]

ALIASES = {
    "torch": "trine",
    "torchvision": "trine.vision",
    "torchaudio": "trine.audio",
    "torchtext": "trine.text",
    "torchcsprng": "trine.csprng",
}
"""PyTorch's packages and the Trine package that answers for each."""

_USAGE = "usage: python -m trine.as_torch [-m module | -c code | script.py] [arguments...]"


def trine_name(name: str) -> str | None:
    """Trine's module for one of PyTorch's, None for a name that is not PyTorch's.

    >>> from trine.as_torch import trine_name
    >>> trine_name("torch.nn.functional"), trine_name("numpy")
    ('trine.nn.functional', None)
    """
    root, dot, rest = name.partition(".")
    return ALIASES[root] + dot + rest if root in ALIASES else None


def torch_name(name: str) -> str:
    """PyTorch's name for one of Trine's modules; the inverse of ``trine_name``."""
    for alias, target in sorted(ALIASES.items(), key=lambda item: -len(item[1])):
        if name == target or name.startswith(target + "."):
            return alias + name[len(target) :]
    return name


class _AliasLoader(importlib.abc.Loader):
    """Gives out a module that exists already under another name."""

    def __init__(self, target: str) -> None:
        self._target = target

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = importlib.import_module(self._target)
        self._own_spec = module.__spec__
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        # The import system has put the alias's spec on the shared module; its own one goes back.
        module.__spec__ = self._own_spec


class _AliasFinder(importlib.abc.MetaPathFinder):
    """Stands before all other finders, so that neither an installed PyTorch nor a second copy of a module is found."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        wanted = trine_name(fullname)
        if wanted is None:
            return None
        try:
            exists = wanted in sys.modules or importlib.util.find_spec(wanted) is not None
        except ModuleNotFoundError as error:
            if error.name is None or not (wanted + ".").startswith(error.name + "."):
                raise  # it exists and needs something else that is missing
            exists = False
        if not exists:
            raise ModuleNotFoundError(f"No module named {fullname!r}: Trine does not have {wanted!r}", name=fullname)
        return importlib.machinery.ModuleSpec(fullname, _AliasLoader(wanted), is_package=True)


class _InstallWhenUnpickled:
    """Travels in the data that ``multiprocessing`` sends to a fresh interpreter, and installs the aliases there."""

    def __reduce__(self) -> tuple[Callable[[], None], tuple]:
        return install, ()


def _prepare_children() -> None:
    """Make started (not forked) worker processes see the aliases before they import the program."""
    import multiprocessing
    from multiprocessing import spawn

    original = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        return {"trine_as_torch": _InstallWhenUnpickled(), **original(name)}

    spawn.get_preparation_data = get_preparation_data
    # The fork server itself would import the program without the aliases.
    multiprocessing.set_forkserver_preload([])


def install() -> None:
    """Let ``import torch`` and its companions find Trine, in this process and in those that ``multiprocessing`` starts.

    Raises ``RuntimeError`` when the real PyTorch has been imported already.
    """
    if any(isinstance(finder, _AliasFinder) for finder in sys.meta_path):
        return
    loaded = [name for name in ALIASES if name in sys.modules]
    if loaded:
        raise RuntimeError(f"as_torch: {loaded[0]} is already imported; install Trine's aliases before it")
    sys.meta_path.insert(0, _AliasFinder())
    _prepare_children()


def _explain(error: BaseException) -> None:
    """Say in an error about a missing name which one it is and that Trine lacks it."""
    if isinstance(error, AttributeError):
        found = re.fullmatch(r"module '(trine[\w.]*)' has no attribute '(\w+)'", str(error))
        if found:
            module = torch_name(found[1])
            error.args = (f"module {module!r} has no attribute {found[2]!r}: Trine does not have {module}.{found[2]}",)
    elif isinstance(error, ImportError) and not isinstance(error, ModuleNotFoundError):
        found = re.match(r"cannot import name '([^']+)' from '(trine[\w.]*)'", error.msg or "")
        if found:
            module = torch_name(found[2])
            error.msg = f"cannot import name {found[1]!r} from {module!r}: Trine does not have {module}.{found[1]}"


def _new_main(**attributes: Any) -> types.ModuleType:
    module = types.ModuleType("__main__")
    module.__dict__.update(__builtins__=builtins, **attributes)
    sys.modules["__main__"] = module
    return module


def _load_script(path: str) -> tuple[Any, types.ModuleType]:
    with io.open_code(os.path.abspath(path)) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    return code, _new_main(__file__=path, __cached__=None, __spec__=None)


def _load_module(name: str) -> tuple[Any, types.ModuleType]:
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(f"{name}.__main__")
    code = getattr(spec.loader, "get_code", lambda _: None)(spec.name) if spec is not None else None
    if spec is None or code is None:
        raise ImportError(f"as_torch: no module or package {name!r} that can be run")
    sys.argv[0] = spec.origin or name
    main_module = _new_main(__file__=spec.origin, __cached__=spec.cached, __spec__=spec, __loader__=spec.loader, __package__=spec.parent)
    return code, main_module


def _run(code: Any, module: types.ModuleType) -> int:
    try:
        exec(code, module.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        _explain(error)
        trace = error.__traceback__
        # The program's own frames only, as if Python had been started with it.
        error.__traceback__ = trace.tb_next if trace is not None else None
        sys.excepthook(type(error), error, error.__traceback__)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program named by the command line; returns its exit status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_USAGE, file=sys.stderr if not arguments else sys.stdout)
        return 0 if arguments else 2
    kind = arguments.pop(0) if arguments[0] in ("-m", "-c") else ""
    if not arguments:
        print(f"as_torch: {kind} needs an argument\n{_USAGE}", file=sys.stderr)
        return 2
    sys.argv = [kind or arguments[0], *arguments[1:]]
    install()
    try:
        if kind == "-c":
            code, module = compile(arguments[0], "<string>", "exec", dont_inherit=True), _new_main(__spec__=None)
        elif kind == "-m":
            code, module = _load_module(arguments[0])
        else:
            code, module = _load_script(arguments[0])
    except SyntaxError as error:
        sys.excepthook(type(error), error.with_traceback(None), None)
        return 1
    except (ImportError, OSError) as error:
        print(f"as_torch: cannot run {arguments[0]!r}: {error}", file=sys.stderr)
        return 2
    return _run(code, module)


if __name__ == "__main__":
    # Under its real name, so that child processes and install() mean this one module.
    from trine.as_torch import main as real_main

    sys.exit(real_main())
