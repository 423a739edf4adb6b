"""Counts the lines that exist because of one operator: what adding it cost.

.venv/bin/python tools/operator_lines.py erf
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def entry_lines(operator: str) -> int:
    """Lines of the table entries whose schema is of ``operator``."""
    total = 0
    for table in (ROOT / "core" / "ops").glob("*.yaml"):
        inside = False
        for line in table.read_text(encoding="utf8").splitlines():
            if re.match(r"- ", line):
                inside = re.match(rf"- op:\s*[\"']?{re.escape(operator)}[.(]", line) is not None
            if inside and line.strip() and not line.lstrip().startswith("#"):
                total += 1
    return total


def function_lines(text: str, name: str) -> int:
    """Lines of the C++ functions called ``name`` in ``text``, from the signature to the closing brace."""
    total = 0
    lines = text.splitlines()
    for start, line in enumerate(lines):
        if not re.match(rf"[^=;/(]*\b\w+[\s&*]+{re.escape(name)}\s*\(", line) or line[:1].isspace():
            continue
        depth, opened = 0, False
        for count, body in enumerate(lines[start:], 1):
            depth += body.count("{") - body.count("}")
            opened = opened or "{" in body
            if opened and depth <= 0:
                total += count
                break
            if not opened and ";" in body:
                break  # a declaration
    return total


def count(operator: str) -> dict[str, int]:
    """Lines by place; places without any are left out."""
    csrc = ROOT / "core" / "csrc"
    vocabulary = sum(function_lines(path.read_text(encoding="utf8"), operator) for path in (csrc / "math").glob("*.h"))
    kernels = sum(function_lines(path.read_text(encoding="utf8"), f"{operator}_kernel") for path in (csrc / "cpu").rglob("*.cpp"))
    parts = {"table entry": entry_lines(operator), "word of the vocabulary": vocabulary, "kernel": kernels}
    return {place: lines for place, lines in parts.items() if lines}


if __name__ == "__main__":
    for place, lines in count(sys.argv[1]).items():
        print(f"{lines:4} {place}")
