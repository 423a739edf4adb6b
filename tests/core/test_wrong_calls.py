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
# Refused too (or, as the last two, allowed), by another type than PyTorch's.
DIFFERENT = {
    "b - b", "torch.baddbmm(a, a, a)", "torch.bincount(v)",
    "torch.neg(b)", "torch.tensor(2**70)", "torch.tensor([None])", "g.set_(a)", "torch.logical_and(a, 3)",
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "call", [pytest.param(c, marks=pytest.mark.xfail(strict=True)) if c in DIFFERENT else c for c in sorted(EXPECTED)]
)
def test_a_wrong_call_raises_pytorchs_type_of_error(call):
    kind, text = outcome(trine, call)
    assert kind == EXPECTED[call], text
    assert text or kind == "AssertionError"


def test_the_table_is_large():
    assert len(EXPECTED) >= 200
