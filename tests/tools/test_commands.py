"""The commands under tools/ keep what the README says of them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import budgets
import operator_lines
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def test_broken_budget_is_told_from_one_that_was_not_measured():
    assert budgets.Budget("size", 41, 40).broken
    assert not budgets.Budget("size", 40, 40).broken
    assert not budgets.Budget("size", None, 40).broken
    lines: list[str] = []
    budgets.show([budgets.Budget("size", 41, 40, "MB"), budgets.Budget("build", None, 10)], lines.append)
    assert "BROKEN" in lines[2] and "not measured" in lines[3]


def test_lines_of_an_operator_are_counted_to_the_closing_brace():
    text = """
inline float erf(float x) {
  if (x > 0) {
    return 1;
  }
  return f(x);
}
float erf(float x);
inline float erfc(float x) { return 1; }
"""
    assert operator_lines.function_lines(text, "erf") == 6
    assert operator_lines.function_lines(text, "erfc") == 1


def test_adding_erf_costs_a_table_entry():
    assert operator_lines.entry_lines("erf") > 0


def test_environment_holds_what_the_build_needs():
    """`pip install .` and tools/setup must not drift apart."""
    requirements = (ROOT / "tools" / "requirements.txt").read_text()
    project = (ROOT / "pyproject.toml").read_text()
    build = re.search(r"\[build-system\]\s*requires = \[(.*?)\n\]", project, re.DOTALL)[1]
    for name in re.findall(r'"([\w.-]+)', build):
        assert re.search(rf"^{re.escape(name)}\b", requirements, re.MULTILINE), f"{name} is not in requirements.txt"


@pytest.mark.parametrize("command", ["setup", "dev", "test", "lint", "bench", "reference", "demo"])
def test_command_of_the_readme_can_be_run(command):
    assert os.access(ROOT / "tools" / command, os.X_OK)


def test_benchmarks_are_listed_without_building_anything():
    answer = subprocess.run([sys.executable, ROOT / "tools" / "bench"], capture_output=True, text=True, check=True)
    for name in ("add_one", "mobilenet_v2", "decode_jpeg", "resnet18_training_step"):
        assert name in answer.stdout


def test_development_tree_follows_the_source_tree(tmp_path):
    """A module that is removed disappears from the importable tree, a new one appears."""
    (tmp_path / "source" / "core" / "nn").mkdir(parents=True)
    (tmp_path / "source" / "core" / "csrc").mkdir()
    (tmp_path / "source" / "core" / "__init__.py").write_text("")
    (tmp_path / "source" / "core" / "old.py").write_text("")
    command = [sys.executable, ROOT / "cmake" / "link_site.py", tmp_path / "source", tmp_path / "site"]
    subprocess.run(command, check=True)
    package = tmp_path / "site" / "trine"
    assert sorted(path.name for path in package.iterdir()) == ["__init__.py", "nn", "old.py"]
    (tmp_path / "source" / "core" / "old.py").unlink()
    (tmp_path / "source" / "core" / "new.py").write_text("")
    subprocess.run(command, check=True)
    assert sorted(path.name for path in package.iterdir()) == ["__init__.py", "new.py", "nn"]
