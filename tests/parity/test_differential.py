"""Every operator on fresh random inputs, in Trine and in real PyTorch: `tools/test --parity`.

The seed is printed with each failure; TRINE_PARITY_SEED repeats a run.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import time

import execute
import operators
import pytest
import trine
from operators import ALL_DTYPES, ROOT

pytestmark = pytest.mark.parity

OPERATORS = [operator.on_fresh_inputs() for operator in operators.all_operators()]
SEED = int(os.environ.get("TRINE_PARITY_SEED", time.time_ns() % 1_000_000_007))


@pytest.fixture(scope="module")
def theirs(oracle, tmp_path_factory) -> dict:
    """Results of real PyTorch for every operator, dtype and sample."""
    folder = tmp_path_factory.mktemp("parity")
    calls = [
        (operator.key(dtype, index), operator.path, sample)
        for operator in OPERATORS
        for dtype in ALL_DTYPES
        for index, sample in operator.samples(dtype, SEED)
    ]
    (folder / "calls").write_bytes(pickle.dumps(calls))
    support = ROOT / "tests" / "support"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([oracle, support / "execute.py", folder / "calls", folder / "results"], check=True, env=environment)
    return pickle.loads((folder / "results").read_bytes())


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_fresh_inputs_give_pytorch_results(operator, theirs):
    problems = []
    for dtype in ALL_DTYPES:
        if isinstance(theirs.get(operator.key(dtype, 0)), dict):
            continue  # PyTorch refuses this dtype, if perhaps not where there is nothing to compute
        for index, sample in operator.samples(dtype, SEED):
            expected = theirs[operator.key(dtype, index)]
            if isinstance(expected, dict):
                continue
            found = operator.difference(execute.run(trine, operator.path, sample), expected)
            if found:
                problems.append(f"{operator.name}({sample.text}) of {dtype}: {found}")
    assert not problems, f"TRINE_PARITY_SEED={SEED}\n" + "\n".join(problems)
