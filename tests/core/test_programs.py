"""Programs in the style of well-known examples run unchanged on Trine and print what they print on PyTorch.

tools/program_figures writes the stored figures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
FIGURES = json.loads((TESTS / "data" / "programs.json").read_text())


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_program_trains_as_on_pytorch(name):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-m", "trine.as_torch", str(TESTS / "programs" / f"{name}.py")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    printed = [line.split(" ", 1) for line in done.stdout.splitlines()]
    assert [p[0] for p in printed] == [f[0] for f in FIGURES[name]]
    for step, ((key, value), (_, expected)) in enumerate(zip(printed, FIGURES[name], strict=True)):
        if key == "sample":
            assert value == expected
        else:
            assert float(value) == pytest.approx(float(expected), rel=2e-4), f"line {step}"


def test_every_program_has_stored_figures():
    assert {p.stem for p in (TESTS / "programs").glob("*.py")} == set(FIGURES)
