"""The Python examples on the pages under docs/ run, from the top of a page to its end.

What a user would lose: the first thing they copy from a page would fail.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [page for page in sorted(DOCS.glob("*.md")) if BLOCK.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_of_a_page_run(page, tmp_path, monkeypatch, capsys):
    # An example may make `import torch` mean Trine, which is not for other tests.
    monkeypatch.setattr("sys.meta_path", list(sys.meta_path))
    monkeypatch.chdir(tmp_path)  # examples write files
    monkeypatch.setenv("TRINE_HOME", str(tmp_path / "home"))
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        needed = re.search(r"^# needs (\w+)", block[1], re.MULTILINE)
        if needed:
            pytest.importorskip(needed[1])
        line = text.count("\n", 0, block.start()) + 1
        exec(compile("\n" * line + block[1], str(page), "exec"), names)
