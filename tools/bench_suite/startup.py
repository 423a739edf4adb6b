"""How long a program waits before its first line runs."""

from __future__ import annotations

import subprocess
import sys

from bench_suite.cases import case


@case("import", threads=(1,), torch=0.1)
def import_library(library):
    code = f"import {library.__name__}"
    # The start of the interpreter itself is in both figures; it is small against either import.
    return lambda: subprocess.run([sys.executable, "-c", code], check=True)
