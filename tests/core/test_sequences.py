"""`gradient`, `range` and `logspace` against NumPy, whose figures PyTorch's equal."""

from __future__ import annotations

import numpy as np
import pytest
import trine

SAMPLES = np.random.default_rng(0).normal(size=(5, 6))


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("spacing", [1, 0.5, (2.0, 0.25)])
def test_gradient_of_equal_spacing(spacing, edge_order):
    found = trine.gradient(trine.tensor(SAMPLES), spacing=spacing, edge_order=edge_order)
    wanted = np.gradient(SAMPLES, *(spacing if isinstance(spacing, tuple) else (spacing,)), edge_order=edge_order)
    assert len(found) == 2
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradient_at_given_places(edge_order):
    places = np.array([0.0, 1, 3, 4, 7, 8])
    (found,) = trine.gradient(trine.tensor(SAMPLES), spacing=(trine.tensor(places),), dim=-1, edge_order=edge_order)
    np.testing.assert_allclose(found.numpy(), np.gradient(SAMPLES, places, axis=1, edge_order=edge_order), rtol=1e-12, atol=1e-12)


def test_gradient_is_differentiable():
    assert trine.autograd.gradcheck(lambda t: trine.gradient(t, edge_order=2), (trine.tensor(SAMPLES, requires_grad=True),))


def test_gradient_refuses_wrong_arguments():
    t = trine.tensor(SAMPLES)
    for arguments, message in [
        ({"edge_order": 3}, "edge_order must be 1 or 2"),
        ({"dim": (0, 0)}, "multiple times"),
        ({"spacing": (1.0,)}, "list of 2"),
        ({"dim": 0, "spacing": (trine.arange(3.0),)}, "5 coordinates"),
    ]:
        with pytest.raises(RuntimeError, match=message):
            trine.gradient(t, **arguments)
    with pytest.raises(RuntimeError, match="at least 3"):
        trine.gradient(t[:2], dim=0, edge_order=2)


def test_range_includes_its_end():
    with pytest.warns(UserWarning, match="arange"):
        assert trine.range(0, 1, 0.25).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
        assert trine.range(1, 4, dtype=trine.int64).tolist() == [1, 2, 3, 4]
        with pytest.raises(RuntimeError, match="nonzero"):
            trine.range(0, 1, 0)
        with pytest.raises(RuntimeError, match="inconsistent"):
            trine.range(0, 1, -1)


def test_logspace():
    np.testing.assert_allclose(trine.logspace(-1, 1, 4, base=2, dtype=trine.float64).numpy(), np.logspace(-1, 1, 4, base=2), rtol=1e-15)
    out = trine.empty(0)
    assert trine.logspace(0, 2, 3, out=out) is out
    assert out.tolist() == [1.0, 10.0, 100.0]
    with pytest.raises(RuntimeError, match="non-negative"):
        trine.logspace(0, 1, -1)
