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
    parser.add_argument("tables", nargs="*", help="operator tables, by name (default: all)")
    parser.add_argument("--out", type=Path, default=ROOT / "tests" / "data" / "operators")
    arguments = parser.parse_args()

    calls, digests, table_of = [], {}, {}
    known = {operator.table for operator in all_operators()}
    if unknown := set(arguments.tables) - known:
        parser.error(f"no such table: {', '.join(sorted(unknown))}")
    chosen = set(arguments.tables) or known
    for operator in all_operators():
        if operator.table not in chosen:
            continue
        for dtype in ALL_DTYPES:
            for index, sample in operator.samples(dtype):
                key = operator.key(dtype, index)
                calls.append((key, operator.path, sample))
                digests[key] = sample.digest()
                table_of[key] = operator.table
    results = oracle_results(arguments.oracle, calls)

    writers, missing = {table: Writer() for table in chosen}, set()
    for key, result in results.items():
        writers[table_of[key]].add(key, digests[key], result)
        if isinstance(result, dict) and "missing" in result:
            missing.add(key.split("|")[0])
    version = subprocess.check_output([arguments.oracle, "-c", "import torch; print(torch.__version__)"], text=True).strip()
    for table, writer in writers.items():
        writer.save(arguments.out / f"{table}.bin", {"torch": version})
    size = sum(path.stat().st_size for path in arguments.out.glob("*.bin"))
    print(f"{len(results)} results of PyTorch {version}; all stored tables: {size / 1e3:.0f} kB")
    if missing:
        print(f"not in PyTorch under this name: {', '.join(sorted(missing))}", file=sys.stderr)


if __name__ == "__main__":
    main()
