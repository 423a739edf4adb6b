"""Operator tables -> C++. Usage: main.py --ops FOLDER --out FOLDER [--list-outputs]. Files are rewritten only when their text changes."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import emit_autograd
import emit_ops
import emit_pointwise
from tables import Op, load


def outputs(ops: list[Op], rules: list[str]) -> dict[str, str]:
    """Relative path -> text of every generated file."""
    tables: dict[str, list[Op]] = {}
    for op in ops:
        tables.setdefault(op.table, []).append(op)
    files = {
        "trine/ops.h": emit_ops.declarations(ops),
        "trine/kernels.h": emit_ops.kernel_declarations(ops),
        "trine/backend.h": emit_ops.backend_declarations(ops),
        "trine/rules.h": "".join(f'#include "rules/{r}"\n' for r in rules),
    }
    for table, members in tables.items():
        files[f"ops_{table}.cpp"] = emit_ops.Emitter(table, members).text()
        files[f"autograd_{table}.cpp"] = emit_autograd.Emitter(table, members).text()
        loops = [op for op in members if op.kind == "pointwise"]
        if loops:
            files[f"kernels/pointwise_{table}.cpp"] = emit_pointwise.text(table, loops)
    return files


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--ops", type=Path, required=True)
    ap.add_argument("--out", type=Path)
    ap.add_argument("--list-outputs", action="store_true")
    args = ap.parse_args()
    try:
        ops = load(args.ops)
    except ValueError as err:
        sys.exit(f"operator tables: {err}")
    rules = sorted(p.name for p in (args.ops.parent / "csrc" / "rules").glob("*.h"))
    files = outputs(ops, rules)
    if args.list_outputs:
        print("\n".join(files))
        return
    for name, text in files.items():
        path = args.out / name
        if not path.exists() or path.read_text(encoding="utf8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf8")


if __name__ == "__main__":
    main()
