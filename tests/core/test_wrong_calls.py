"""Wrong calls raise the type of exception that PyTorch raises (tests/support/wrong_calls.py stores it)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import trine

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.wrong_calls import outcome

EXPECTED = json.loads((Path(__file__).parents[1] / "data" / "wrong_calls.json").read_text())
# Why another answer than PyTorch's serves as well.
DIFFERENT = {
    "b - b": "NotImplementedError, which is a RuntimeError, as for every operator that lacks bool",
    "torch.neg(b)": "NotImplementedError, which is a RuntimeError, as for every operator that lacks bool",
    "torch.baddbmm(a, a, a)": "RuntimeError that names the shapes, as of bmm; PyTorch's IndexError speaks of a dimension that was not given",
    "torch.logical_and(a, 3)": "numbers are allowed, as in bitwise_and and in the array API standard",
}
CALLS = [pytest.param(c, marks=pytest.mark.xfail(strict=True, reason=DIFFERENT[c])) if c in DIFFERENT else c for c in sorted(EXPECTED)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_call_raises_pytorchs_type_of_error(call):
    kind, text = outcome(trine, call)
    assert kind == EXPECTED[call], text
    assert text or kind == "AssertionError"


def test_the_table_is_large():
    assert len(EXPECTED) >= 200
