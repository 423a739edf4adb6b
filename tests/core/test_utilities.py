"""Settings, quasi-random numbers and small functions of the main namespace."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import trine
from scipy.stats import qmc


@pytest.mark.parametrize("dimension", [1, 2, 3, 40, 1111])
def test_sobol_points_equal_scipys(dimension):
    ours = trine.quasirandom.SobolEngine(dimension).draw(64, dtype=trine.float64).numpy()
    np.testing.assert_array_equal(ours, qmc.Sobol(dimension, scramble=False).random(64))


def test_scrambled_sobol_points_equal_pytorchs():
    # torch.quasirandom.SobolEngine(3, scramble=True, seed=5).draw(4)
    expected = [
        [0.4802905321121216, 0.11725887656211853, 0.12398969382047653], [0.9114733934402466, 0.8686649799346924, 0.5390787124633789],
        [0.5350564122200012, 0.27151042222976685, 0.30786722898483276], [0.10686441510915756, 0.5230376124382019, 0.8571265339851379],
    ]  # fmt: skip
    engine = trine.quasirandom.SobolEngine(3, scramble=True, seed=5)
    assert engine.draw(2).tolist() + engine.draw(2).tolist() == expected
    assert engine.reset().fast_forward(2).draw(2).tolist() == expected[2:]
    assert repr(engine) == "SobolEngine(dimension=3, scramble=True, seed=5)"


def test_sobol_refuses_what_would_not_be_balanced():
    engine = trine.quasirandom.SobolEngine(2)
    assert engine.draw_base2(2).shape == (4, 2) and engine.draw_base2(2).shape == (4, 2)
    with pytest.raises(ValueError, match="power"):
        engine.draw_base2(1)
    with pytest.raises(ValueError, match="21201"):
        trine.quasirandom.SobolEngine(21202)


def test_subnormal_results_become_zero_in_all_threads_when_asked():
    small = trine.full((300_000,), 1e-20)
    try:
        assert trine.set_flush_denormal(True) is True
        assert (small * 1e-20).count_nonzero().item() == 0
    finally:
        trine.set_flush_denormal(False)
    assert (small * 1e-20).count_nonzero().item() == small.numel()


def test_deterministic_modes_by_number_and_word():
    try:
        for mode, number in (("warn", 1), (2, 2), ("default", 0)):
            trine.set_deterministic_debug_mode(mode)
            assert trine.get_deterministic_debug_mode() == number
            assert trine.are_deterministic_algorithms_enabled() == (number > 0)
        for wrong in (7, "x"):
            with pytest.raises(RuntimeError, match="invalid value of debug_mode"):
                trine.set_deterministic_debug_mode(wrong)
    finally:
        trine.use_deterministic_algorithms(False)


def test_default_tensor_type_sets_the_default_dtype():
    try:
        trine.set_default_tensor_type("torch.DoubleTensor")
        assert trine.ones(1).dtype == trine.float64
        with pytest.raises(TypeError, match="floating-point"):
            trine.set_default_tensor_type(trine.LongTensor)
        with pytest.raises(TypeError, match="invalid type"):
            trine.set_default_tensor_type("nonsense")
    finally:
        trine.set_default_dtype(trine.float32)


def test_old_methods_of_tensors():
    x = trine.arange(6.0).view(2, 3)
    assert x.new(2, 2).shape == (2, 2) and x.new([1, 2]).tolist() == [1.0, 2.0] and x.new().shape == (0,)
    assert x.new_empty_strided((2, 2), (1, 2), dtype=trine.int64).stride() == (1, 2)
    assert x.__div__(2).tolist() == [[0, 0.5, 1], [1.5, 2, 2.5]] and trine.tensor(3.5).__long__() == 3 and trine.tensor(3.5).__nonzero__()
    y = trine.tensor([12])
    y <<= 2
    assert y.item() == 48
    y >>= 3
    assert y.item() == 6
    assert x.is_set_to(x.view(2, 3)) and not x.is_set_to(x.clone()) and not x.is_set_to(x[1:])
    assert x.clone().map2_(x, x, lambda a, b, c: a + b * c).tolist() == (x + x * x).tolist()
    with pytest.warns(UserWarning, match="resize"):
        assert x.resize(3, 2).shape == (3, 2)
    with pytest.raises(RuntimeError, match="indices"):
        x.indices()
    with pytest.raises(NotImplementedError, match="q_scale"):
        x.q_scale()
    assert not hasattr(x, "__cuda_array_interface__")


def test_compile_gives_the_same_values():
    module = trine.nn.Linear(2, 2)
    assert trine.compile(module) is module
    with pytest.raises(RuntimeError, match="mode or options"):
        trine.compile(module, mode="default", options={})


def test_assert_and_small_questions():
    trine._assert(True, "fine")
    with pytest.raises(AssertionError, match="wrong"):
        trine._assert(False, "wrong")
    assert trine.get_device(trine.ones(1)) == -1 and trine.is_signed(trine.ones(1)) and not trine.is_signed(trine.ones(1).byte())
    assert trine.compiled_with_cxx11_abi() is True and trine.is_warn_always_enabled() is False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trine.Storage([1.0])


def test_assert_allclose_ignores_dtypes_and_compares_nan():
    with pytest.warns(FutureWarning):
        trine.testing.assert_allclose([1.0, float("nan")], trine.tensor([1.0, float("nan")], dtype=trine.float64))
    with pytest.warns(FutureWarning), pytest.raises(AssertionError):
        trine.testing.assert_allclose(trine.ones(1), trine.ones(1) * 1.001)
    assert len(trine.testing.get_all_dtypes()) == 12 and trine.half not in trine.testing.get_all_dtypes(include_half=False)


def test_testing_overrides_stand_for_the_functions():
    overrides = trine.overrides.get_testing_overrides()
    assert overrides[trine.add](1, 2) == -1 and trine.zeros not in overrides and len(overrides) > 500
    assert trine.zeros in trine.overrides.get_ignored_functions()
