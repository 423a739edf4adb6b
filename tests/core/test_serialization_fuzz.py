"""Damaged and hostile files: an error that says so, never a crash, a hang, a flood of memory, or a command that runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HELPER = Path(__file__).resolve().parent / "fuzz_checkpoints.py"
KINDS = ("zip", "zip-pickle", "zip-deflated", "legacy", "safetensors", "safetensors-header")


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_files_are_refused_without_harm(kind, fuzz_iterations, tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, HELPER, "--kind", kind, "--iterations", str(max(1, fuzz_iterations // 2)), "--folder", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert not (tmp_path / "canary").exists()
