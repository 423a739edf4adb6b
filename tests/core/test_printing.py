"""Tensors print as PyTorch prints them, character by character.

``printed_tensors.json`` holds PyTorch's texts; tests/support/print_cases.py makes it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trine
from print_cases import CASES, key, text_of

EXPECTED = json.loads((Path(__file__).parent / "printed_tensors.json").read_text())


@pytest.mark.parametrize(("options", "expression"), CASES, ids=[key(o, e) for o, e in CASES])
def test_tensor_prints_as_in_pytorch(options, expression):
    assert text_of(trine, options, expression) == EXPECTED[key(options, expression)]


def test_printing_leaves_the_graph_and_the_grad_mode_alone():
    x = trine.ones(2, requires_grad=True)
    y = x * 2
    repr(y)
    assert trine.is_grad_enabled()
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_a_subclass_prints_its_name():
    class Mine(trine.Tensor):
        pass

    assert repr(trine.ones(1).as_subclass(Mine)) == "Mine([1.])"


def test_printoptions_come_back_after_an_error():
    before = trine.get_printoptions()
    with pytest.raises(ValueError), trine.printoptions(precision=1):
        raise ValueError
    assert trine.get_printoptions() == before
    with pytest.raises(ValueError, match="profile"):
        trine.set_printoptions(profile="tiny")


@pytest.mark.parametrize("spec", ["", ".3f", ">10", "d"])
def test_0_dim_tensors_format_as_their_number(spec):
    value = 7 if spec in ("d", "") else 3.14159
    assert format(trine.tensor(value, dtype=trine.float64 if isinstance(value, float) else None), spec) == format(value, spec)


def test_other_tensors_refuse_a_format():
    with pytest.raises(TypeError):
        format(trine.ones(2), ".2f")
    assert f"{trine.ones(2)}" == "tensor([1., 1.])"
