"""Runs the core and codec tests in a build with the address and undefined-behaviour sanitizers.

    tools/test --sanitize [pytest arguments]

Leaks are not looked for here: the interpreter itself never frees what it holds at exit. Tests that watch the
allocator's counters do that job.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-sanitize"
DEFAULT_TESTS = ["tests/core", "tests/vision", "--quick", "--fuzz", "500"]


def runtime(name: str) -> str:
    """Path of one of the compiler's runtime libraries."""
    compiler = os.environ.get("CXX", "g++")
    return subprocess.check_output([compiler, f"-print-file-name={name}"], text=True).strip()


def main(arguments: list[str]) -> int:
    build_environment = {
        **os.environ,
        "TRINE_BUILD_DIR": str(BUILD),
        # One vector instruction set is enough to find an index that runs off its row, and halves the build.
        "TRINE_CMAKE_ARGS": "-DTRINE_SANITIZE=ON -DTRINE_INSTRUCTION_SETS=base;avx2",
    }
    built = subprocess.run([ROOT / "tools" / "dev"], env=build_environment, cwd=ROOT)
    if built.returncode:
        return built.returncode
    environment = {
        **os.environ,
        "TRINE_SITE": str(BUILD / "site"),
        "PYTHONPATH": str(BUILD / "site"),
        # The interpreter is not linked with the sanitizer; libstdc++ comes along so that exceptions are intercepted.
        "LD_PRELOAD": f"{runtime('libasan.so')} {runtime('libstdc++.so')}",
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:handle_segv=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "PYTHONMALLOC": "malloc",
    }
    # Captured in Python only: what a sanitizer writes as it ends the process must come through.
    command = [sys.executable, "-m", "pytest", "--capture=sys", *(arguments or DEFAULT_TESTS)]
    return subprocess.run(command, env=environment, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
