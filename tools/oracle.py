"""Finds or makes the environment that has real PyTorch, and prints the path of its Python.

It is an environment of its own: Trine's never imports PyTorch, or a test could pass because of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TORCH = "torch==2.13.0"
PACKAGES = [TORCH, "numpy>=1.24"]


def has_torch(python: Path) -> bool:
    """Whether ``python`` can import the version of PyTorch that the stored values were made with."""
    check = f"import torch, numpy; assert torch.__version__.split('+')[0] == {TORCH.split('==')[1]!r}"
    return subprocess.run([python, "-c", check], capture_output=True).returncode == 0


def oracle_python() -> Path:
    """Path of a Python with real PyTorch: ``TRINE_ORACLE_PYTHON``, else ``.oracle``, which is made when missing."""
    named = os.environ.get("TRINE_ORACLE_PYTHON")
    if named:
        if not has_torch(Path(named)):
            raise SystemExit(f"oracle: TRINE_ORACLE_PYTHON={named} cannot import {TORCH} and numpy")
        return Path(named)
    python = ROOT / ".oracle" / "bin" / "python"
    if not python.exists() or not has_torch(python):
        print(f"oracle: installing {TORCH} into .oracle", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", ROOT / ".oracle"], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True, stdout=sys.stderr)
    return python


if __name__ == "__main__":
    print(oracle_python())
