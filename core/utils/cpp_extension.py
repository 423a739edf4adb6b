"""Extensions in C++: compiled against the installed Trine and loaded into the running program."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

__all__ = ["compile_library", "find_compiler"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def find_compiler(who: str) -> str:
    """The C++ compiler: ``$CXX``, else the system's.

    Raises ``RuntimeError``, in the name of ``who``, when there is none.
    """
    names = [os.environ["CXX"]] if os.environ.get("CXX") else ["c++", "g++", "clang++"]
    for name in names:
        found = shutil.which(name)
        if found:
            return found
    raise RuntimeError(f"{who}: no C++ compiler is installed (looked for {', '.join(names)}; on Debian: apt install g++)")


def compile_library(who: str, source: str, output: str, flags: Sequence[str] = ()) -> None:
    """Compile C++20 code to the shared library ``output``.

    Raises ``RuntimeError`` with the compiler's words when it refuses the code.
    """
    command = [find_compiler(who), "-std=c++20", "-O2", "-fPIC", "-shared", "-x", "c++", "-", "-o", output, *flags]
    done = subprocess.run(command, input=source, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise RuntimeError(f"{who}: the compiler refuses the code:\n{done.stderr[-8000:]}")
