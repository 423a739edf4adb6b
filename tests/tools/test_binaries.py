"""The built libraries run where they are said to run: on a processor without AVX, from any folder."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import trine

PACKAGE = Path(trine.__file__).parent
LIBRARIES = sorted({*PACKAGE.glob("*.so"), *PACKAGE.glob("*/_C*.so")})

needs_objdump = pytest.mark.skipif(shutil.which("objdump") is None, reason="needs objdump")


def dynamic_section(library: Path) -> str:
    return subprocess.check_output(["objdump", "-p", library], text=True)


@needs_objdump
@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
def test_library_finds_its_libraries_wherever_it_is_installed(library):
    section = dynamic_section(library)
    for path in re.findall(r"(?:RUNPATH|RPATH)\s+(\S+)", section):
        for folder in path.split(":"):
            assert folder.startswith("$ORIGIN"), f"{library.name} looks in {folder}, which is only on the build machine"


@needs_objdump
@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
def test_library_needs_only_what_every_system_has_or_the_wheel_brings(library):
    system = "libc.so libm.so libmvec.so libstdc++.so libgcc_s.so libgomp.so libpthread.so ld-linux"
    everywhere = tuple(system.split())
    ours = {"libtrine.so"} | {path.name for path in (PACKAGE / "lib").iterdir()}
    for name in re.findall(r"NEEDED\s+(\S+)", dynamic_section(library)):
        assert name.startswith(everywhere) or name in ours, f"{library.name} needs {name}"


def weak_functions(library: Path) -> set[str]:
    """Functions of which several objects had a copy and the linker kept one."""
    symbols = subprocess.check_output(["nm", "-C", "--defined-only", library], text=True)
    return {line[19:] for line in symbols.splitlines() if line[17:18] in "WV"}


@needs_objdump
@pytest.mark.slow
def test_functions_shared_with_the_wide_kernels_have_no_avx_instruction():
    """An inline function that the linker took from a kernel's object would end a program on an older processor."""
    library = PACKAGE / "libtrine.so"
    shared = {name for name in weak_functions(library) if not re.search(r"avx2|avx512", name)}
    listing = subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", "-C", library], stdout=subprocess.PIPE, text=True)
    function, wrong = "", set()
    for line in listing.stdout:
        if line.endswith(">:\n"):
            function = line[line.index("<") + 1 : -3]
        elif ("%ymm" in line or "%zmm" in line) and function in shared:
            wrong.add(function)
    assert listing.wait() == 0
    assert not wrong, f"{len(wrong)} functions, among them {sorted(wrong)[:5]}"


@needs_objdump
@pytest.mark.slow
def test_what_runs_at_load_has_no_instruction_that_older_processors_lack():
    """`import trine` would end with an illegal instruction wherever AVX or AVX-512 is missing."""
    listing = subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", PACKAGE / "libtrine.so"], stdout=subprocess.PIPE, text=True)
    function, found, wrong = "", 0, set()
    for line in listing.stdout:
        if line.endswith(">:\n"):
            function = line[line.index("<") + 1 : -3]
            found += function.startswith("_GLOBAL__sub_I_")
        elif function.startswith("_GLOBAL__sub_I_") and line.partition("\t")[2].startswith("v"):
            wrong.add(function)
    assert listing.wait() == 0
    assert found > 50 and not wrong, sorted(wrong)


@needs_objdump
@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
def test_thread_local_memory_fits_into_what_the_loader_reserves(library):
    """Some 1,600 bytes are shared by all libraries that are loaded at run time: NumPy first, and then no room for us."""
    listing = subprocess.check_output(["objdump", "-p", library], text=True)
    sizes = re.findall(r"^\s+TLS off.*\n\s+filesz \S+ memsz (0x[0-9a-f]+)", listing, re.MULTILINE)
    assert sum(int(size, 16) for size in sizes) <= 400
