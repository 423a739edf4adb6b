"""Runs every operator sample in real PyTorch and stores what it answers: see tools/reference."""

from __future__ import annotations

import argparse
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUPPORT = ROOT / "tests" / "support"
sys.path.insert(0, str(SUPPORT))

from operators import ALL_DTYPES, all_operators  # noqa: E402
from stored import Writer  # noqa: E402


def oracle_results(oracle: str, calls: list) -> dict:
    """Results of ``(key, path, sample)`` calls, from a process that has PyTorch."""
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder) / "calls", Path(folder) / "results"
        asked.write_bytes(pickle.dumps(calls))
        subprocess.run([oracle, SUPPORT / "execute.py", asked, answered], check=True)
        return pickle.loads(answered.read_bytes())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("oracle", help="a Python that has real PyTorch")
    parser.add_argument("--out", type=Path, default=ROOT / "tests" / "data" / "operators.bin")
    arguments = parser.parse_args()

    calls, digests = [], {}
    for operator in all_operators():
        for dtype in ALL_DTYPES:
            for index, sample in operator.samples(dtype):
                key = operator.key(dtype, index)
                calls.append((key, operator.path, sample))
                digests[key] = sample.digest()
    results = oracle_results(arguments.oracle, calls)

    writer, missing = Writer(), set()
    for key, result in results.items():
        writer.add(key, digests[key], result)
        if isinstance(result, dict) and "missing" in result:
            missing.add(key.split("|")[0])
    version = subprocess.check_output([arguments.oracle, "-c", "import torch; print(torch.__version__)"], text=True)
    writer.save(arguments.out, {"torch": version.strip()})
    size = arguments.out.stat().st_size
    print(f"{len(results)} results of PyTorch {version.strip()}, {size / 1e3:.0f} kB in {arguments.out.name}")
    if missing:
        print(f"not in PyTorch under this name: {', '.join(sorted(missing))}", file=sys.stderr)


if __name__ == "__main__":
    main()
