"""Measures what Trine promised to stay below, and fails when a promise is broken.

    .venv/bin/python tools/budgets.py [--full-build] [--json FILE]

Works on the development build: the wheel's size is that of the files an install would hold, packed as a wheel packs
them. With --full-build the wheel itself is built from nothing, timed, and installed.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
MEGABYTE = 1e6
IMPORT_ROUNDS = 11
SOURCE_SUFFIXES = {".py", ".cpp", ".h", ".yaml", ".cmake", ".cu", ".inc"}
# Tables of data, not sources that somebody reads from top to bottom.
DATA_FILES = re.compile(r"(^|/)(_?categories|_meta|.*_names|labels)\.py$")


@dataclass
class Budget:
    """One promise: a measured ``value`` and the ``limit`` it must not exceed (None: for information)."""

    name: str
    value: float | None
    limit: float | None
    unit: str = ""
    note: str = ""

    @property
    def broken(self) -> bool:
        return self.value is not None and self.limit is not None and self.value > self.limit


def install(prefix: Path) -> None:
    """Installs the files of the development build that a wheel would hold."""
    subprocess.run(
        [tool("cmake"), "--install", BUILD, "--prefix", prefix, "--component", "wheel", "--strip"],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def tool(name: str) -> str:
    """A program of the environment this runs in, else one on the path."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else name


def wheel_megabytes(prefix: Path) -> float:
    with tempfile.TemporaryDirectory() as folder:
        wheel = Path(folder) / "trine.whl"
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(prefix.rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    archive.write(path, path.relative_to(prefix))
        return wheel.stat().st_size / MEGABYTE


def installed_megabytes(prefix: Path) -> float:
    return sum(path.stat().st_size for path in prefix.rglob("*") if path.is_file()) / MEGABYTE


def import_milliseconds(prefix: Path) -> tuple[float, float]:
    """Medians for ``import trine`` and ``import numpy``, each in processes of its own, in alternation."""
    code = "import time; start = time.perf_counter(); import {}; print((time.perf_counter() - start) * 1e3)"
    times: dict[str, list[float]] = {"trine": [], "numpy": []}
    environment = {**os.environ, "PYTHONPATH": str(prefix)}
    for _ in range(IMPORT_ROUNDS):
        for module, seen in times.items():
            answer = subprocess.check_output([sys.executable, "-c", code.format(module)], env=environment, cwd=prefix)
            seen.append(float(answer))
    return statistics.median(times["trine"]), statistics.median(times["numpy"])


def build_wheel(folder: Path) -> tuple[Path, float]:
    """Builds the wheel from nothing on two jobs, without a compiler cache; returns it and the minutes it took."""
    environment = {**os.environ, "CCACHE_DISABLE": "1", "CMAKE_BUILD_PARALLEL_LEVEL": "2"}
    start = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, ROOT],
        env=environment,
        check=True,
    )
    minutes = (time.monotonic() - start) / 60
    (wheel,) = folder.glob("trine-*.whl")
    return wheel, minutes


def install_wheel(wheel: Path, prefix: Path) -> None:
    """Installs a wheel alone into a folder."""
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-compile", "--target", prefix, wheel]
    subprocess.run(command, check=True)


def slowest_kernel_file() -> Path | None:
    """The hand-written kernel file whose compilations took longest, by ninja's log."""
    log = BUILD / ".ninja_log"
    spent: dict[Path, int] = {}
    for line in log.read_text().splitlines()[1:]:
        start, end, _, output, *_ = line.split("\t")
        match = re.search(r"kernels_\w+\.dir/(core/csrc/cpu/kernels/\w+\.cpp)\.o$", output)
        if match:
            source = ROOT / match[1]
            spent[source] = spent.get(source, 0) + int(end) - int(start)
    present = {source: ms for source, ms in spent.items() if source.exists()}
    return max(present, key=present.__getitem__) if present else None


def rebuild_seconds(source: Path) -> float:
    """Seconds from touching ``source`` to an importable build, without a compiler cache."""
    source.touch()
    start = time.monotonic()
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    subprocess.run([ROOT / "tools" / "dev"], env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def lines_to_add(operator: str) -> tuple[int, str]:
    """Lines of the table entry of ``operator``, of its kernel if it has one, and of its word in the vocabulary."""
    sys.path.insert(0, str(ROOT / "tools"))
    from operator_lines import count

    parts = count(operator)
    return sum(parts.values()), ", ".join(f"{where} {lines}" for where, lines in parts.items())


def tracked_sources() -> list[Path]:
    try:
        listing = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True, stderr=subprocess.DEVNULL)
        names = [name for name in listing.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        folders = ("core", "vision", "tests", "tools", "cmake", "docs")
        names = [str(p.relative_to(ROOT)) for folder in folders for p in (ROOT / folder).rglob("*") if p.is_file()]
    return [ROOT / name for name in names if Path(name).suffix in SOURCE_SUFFIXES and not DATA_FILES.search(name)]


def longest_source() -> tuple[int, str]:
    lengths = {path: sum(1 for _ in path.open(encoding="utf-8", errors="replace")) for path in tracked_sources() if path.exists()}
    path = max(lengths, key=lengths.__getitem__)
    return lengths[path], str(path.relative_to(ROOT))


def measure(full_build: bool) -> list[Budget]:
    folder = Path(tempfile.mkdtemp(prefix="trine-budgets-"))
    prefix = folder / "install"
    minutes = None
    try:
        if full_build:
            wheel, minutes = build_wheel(folder)
            wheel_mb = wheel.stat().st_size / MEGABYTE
            install_wheel(wheel, prefix)
        else:
            install(prefix)
            wheel_mb = wheel_megabytes(prefix)
        compileall.compile_dir(prefix, quiet=2)
        installed = installed_megabytes(prefix)
        trine_ms, numpy_ms = import_milliseconds(prefix)
    finally:
        shutil.rmtree(folder)
    kernel = slowest_kernel_file()
    erf_lines, erf_note = lines_to_add("erf")
    longest, longest_name = longest_source()
    return [
        Budget("wheel", wheel_mb, 40, "MB"),
        Budget("installed", installed, 130, "MB"),
        Budget("import trine", trine_ms, None, "ms", f"import numpy {numpy_ms:.0f} ms in the same run"),
        Budget("import trine / import numpy", trine_ms / numpy_ms, 1.6),
        Budget("full build", minutes, 10, "min", "the wheel, 2 jobs, without ccache"),
        Budget(
            "rebuild after touching a kernel file",
            rebuild_seconds(kernel) if kernel else None,
            60,
            "s",
            f"{kernel.relative_to(ROOT)}, the slowest" if kernel else "",
        ),
        Budget("lines to add erf", erf_lines, None, "", erf_note),
        Budget("longest source file", longest, 800, "lines", longest_name),
    ]


def show(budgets: list[Budget], out: Callable[[str], object] = print) -> None:
    out("")
    out(f"{'budget':38} {'measured':>12} {'at most':>9}")
    for budget in budgets:
        value = "not measured" if budget.value is None else f"{budget.value:.4g} {budget.unit}".strip()
        limit = "" if budget.limit is None else f"{budget.limit:g}"
        mark = "  BROKEN" if budget.broken else ""
        out(f"{budget.name:38} {value:>12} {limit:>9}{mark}  {budget.note}".rstrip())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full-build", action="store_true", help="measure a build from nothing too (minutes)")
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    arguments = parser.parse_args()
    budgets = measure(arguments.full_build)
    show(budgets)
    if arguments.json:
        arguments.json.write_text(json.dumps({b.name: b.value for b in budgets}, indent=2) + "\n")
    broken = [budget.name for budget in budgets if budget.broken]
    if broken:
        print(f"budgets: broken: {', '.join(broken)}", file=sys.stderr)
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
