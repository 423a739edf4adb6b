"""Makes tests/data/optimizers.json: where real PyTorch's optimizers and schedules lead in 200 steps. See tools/reference for the environment.

PYTHON_WITH_TORCH tools/make_optimizer_reference.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

import torch  # noqa: E402
from optimizer_cases import OPTIMIZERS, SCHEDULES, rates, trajectory  # noqa: E402


def main() -> None:
    stored = {
        "torch": torch.__version__,
        "trajectories": {
            f"{name}|{dtype}": trajectory(torch, name, dtype) for name in OPTIMIZERS for dtype in ("float64", "float32", "complex128")
        },
        "rates": {name: rates(torch, name) for name in SCHEDULES},
    }
    path = ROOT / "tests" / "data" / "optimizers.json"
    path.write_text(json.dumps(stored, separators=(",", ":")) + "\n")
    print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB from PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
