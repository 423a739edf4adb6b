"""Makes tests/data/rnn.npz: what real PyTorch's recurrent networks give. See tools/reference for the environment.

PYTHON_WITH_TORCH tools/make_rnn_reference.py
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

import numpy as np  # noqa: E402
import torch  # noqa: E402
from rnn_cases import everything  # noqa: E402


def main() -> None:
    path = ROOT / "tests" / "data" / "rnn.npz"
    np.savez_compressed(path, **everything(torch))
    print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB from PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
