"""What every test gets: the development build on the path, the command line's switches, a fixed seed."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SITE = Path(os.environ.get("TRINE_SITE", ROOT / "build" / "site"))
if SITE.is_dir() and str(SITE) not in sys.path:
    sys.path.insert(0, str(SITE))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--parity", action="store_true", help="also compare with real PyTorch (see tools/test --parity)")
    parser.addoption("--fuzz", type=int, default=2000, metavar="N", help="mutated files per reader (default 2000)")
    parser.addoption("--faults", type=int, default=0, metavar="N", help="before each test, run it N times with an allocation that fails")
    parser.addoption("--quick", action="store_true", help="skip the tests marked slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if "parity" in item.keywords and not config.getoption("--parity"):
            item.add_marker(pytest.mark.skip(reason="needs --parity"))
        if "slow" in item.keywords and config.getoption("--quick"):
            item.add_marker(pytest.mark.skip(reason="slow, and --quick was given"))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """With --faults: however the test ends when the memory runs out somewhere in it, the process lives and the test passes after it.

    Tests with fixtures of their own, which they may use up, are left out.
    """
    runs = pyfuncitem.config.getoption("--faults")
    fixtures = pyfuncitem._fixtureinfo.name2fixturedefs
    given = set(pyfuncitem._fixtureinfo.argnames) - set((getattr(pyfuncitem, "callspec", None) and pyfuncitem.callspec.params) or ())
    if runs and all(fixtures[name][-1].scope == "session" for name in given):
        import random

        import trine

        arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        draw = random.Random(pyfuncitem.nodeid)
        for _ in range(runs):
            trine._C._inject_allocation_fault(draw.randrange(1, 1 << draw.randrange(1, 12)))
            report, threading.excepthook = threading.excepthook, lambda failure: None  # its threads may fail too
            with contextlib.suppress(BaseException):
                pyfuncitem.obj(**arguments)
            threading.excepthook = report
            trine._C._inject_allocation_fault(0)
    return (yield)


@pytest.fixture
def fuzz_iterations(request: pytest.FixtureRequest) -> int:
    """How many mutated files a fuzz test of a reader shall try."""
    return request.config.getoption("--fuzz")


@pytest.fixture(autouse=True)
def fixed_seed() -> None:
    """Each test starts from the same random state, whichever tests ran before it in this process."""
    import random

    import numpy as np

    random.seed(0)
    np.random.seed(0)
    trine = sys.modules.get("trine")
    if trine is not None and hasattr(trine, "manual_seed"):
        trine.manual_seed(0)


@pytest.fixture(scope="session")
def oracle() -> str:
    """Path of a Python that has real PyTorch; tests that need it are skipped where there is none."""
    candidates = [os.environ.get("TRINE_ORACLE_PYTHON"), str(ROOT / ".oracle" / "bin" / "python")]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    pytest.skip("no environment with real PyTorch: TRINE_ORACLE_PYTHON is not set and .oracle does not exist")
