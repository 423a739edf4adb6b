"""Every example in the docstring of a public module runs and prints what it says.

What a user would lose: the first line they copy from the help would fail.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import pkgutil
from types import ModuleType

import pytest
import trine

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
# Running the first starts a program; the others are libraries, where `pkgutil` sees modules.
NOT_TO_IMPORT = {"__main__", "_C", "libtrine"}


def public_modules() -> list[str]:
    names = ["trine"]
    for info in pkgutil.walk_packages(trine.__path__, "trine.", onerror=lambda name: None):
        if not NOT_TO_IMPORT & set(info.name.split(".")):
            names.append(info.name)
    return names


def own_examples(module: ModuleType) -> list[doctest.DocTest]:
    """The examples of what is defined in ``module``, in the order of the file."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    tests = finder.find(module, module.__name__, globs={"trine": trine, "torch": trine})
    return [test for test in tests if test.examples]


@pytest.mark.parametrize("name", public_modules())
def test_examples_of_the_docstrings_run(name, tmp_path, monkeypatch):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("trine"):
            raise
        pytest.skip(f"{name} needs the optional package {error.name}")
    monkeypatch.chdir(tmp_path)  # examples write files
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    report: list[str] = []
    for test in own_examples(module):
        trine.manual_seed(0)
        runner.run(test, out=report.append)
    assert not runner.summarize(verbose=False).failed, "".join(report)


def native_functions() -> list[tuple[str, object]]:
    """Operators have no source module that doctest would look into: their texts come from the tables."""
    found = []
    for owner_name, owner in [("trine", trine), ("trine.Tensor", getattr(trine, "Tensor", None))]:
        for name in sorted(vars(owner)) if owner is not None else []:
            value = inspect.getattr_static(owner, name)
            text = getattr(value, "__doc__", None)
            is_native = inspect.isbuiltin(value) or inspect.ismethoddescriptor(value)
            if is_native and isinstance(text, str) and ">>>" in text:
                found.append((f"{owner_name}.{name}", text))
    return found


def test_examples_of_the_operator_tables_run(tmp_path):
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    report: list[str] = []
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        for name, text in native_functions():
            test = parser.get_doctest(text, {"trine": trine, "torch": trine}, name, None, 0)
            runner.run(test, out=report.append)
    finally:
        os.chdir(here)
    assert not runner.summarize(verbose=False).failed, "".join(report)
