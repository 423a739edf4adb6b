"""Pointwise functions against extended precision over the whole range, in units of the last place; every special value
against NumPy's. Run for each instruction set that the machine has."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import trine

WIDE = np.longdouble
COUNT = 20000
# name: (reference in extended precision, intervals, largest error in units of the last place)
UNARY = {
    "exp": (np.exp, [(-110, 90), (-750, 720), (-1, 1)], 1.5),
    "exp2": (np.exp2, [(-155, 130), (-1080, 1030), (-1, 1)], 1.5),
    "expm1": (np.expm1, [(-3, 3), (-110, 90), (-50, 720)], 2),
    "log": (np.log, [(0.5, 2), (0, 100)], 1),
    "log2": (np.log2, [(0.5, 2), (0.99, 1.01), (0, 100)], 1),
    "log10": (np.log10, [(0.5, 2), (0.99, 1.01), (0, 100)], 1.1),
    "log1p": (np.log1p, [(-1, 1), (0, 1e4)], 1.5),
    "sqrt": (np.sqrt, [(0, 2)], 0.51),
    "rsqrt": (lambda x: 1 / np.sqrt(x), [(0, 2)], 1.6),
    "sin": (np.sin, [(-10, 10), (-1e3, 1e3), (-1e5, 1e5), (-1e9, 1e9)], 2),
    "cos": (np.cos, [(-10, 10), (-1e3, 1e3), (-1e5, 1e5), (-1e9, 1e9)], 2),
    "tan": (np.tan, [(-10, 10), (-1e3, 1e3), (-1e5, 1e5), (-1e9, 1e9)], 2.3),
    "asin": (np.arcsin, [(-1, 1)], 2.2),
    "acos": (np.arccos, [(-1, 1)], 1.5),
    "atan": (np.arctan, [(-5, 5)], 2.2),
    "sinh": (np.sinh, [(-2, 2), (-90, 90), (-712, 712)], 3),
    "cosh": (np.cosh, [(-2, 2), (-90, 90), (-712, 712)], 2.2),
    "tanh": (np.tanh, [(-2, 2), (-25, 25)], 1.8),
    "asinh": (np.arcsinh, [(-5, 5)], 2.2),
    "acosh": (np.arccosh, [(1, 5)], 2.2),
    "atanh": (np.arctanh, [(-1, 1)], 2.2),
}
BINARY = {
    "atan2": (np.arctan2, 2.5),
    "hypot": (np.hypot, 1.2),
    "pow": (np.power, 1.5),
    "fmod": (np.fmod, 0),
    "remainder": (lambda x, y: np.where(np.fmod(x, y) * np.sign(y) < 0, np.fmod(x, y) + y, np.fmod(x, y)), 0.51),
}
DTYPES = [np.float32, np.float64]
# Without fused multiply-add (level 0) every step of a polynomial rounds twice.
SLACK = 1.8 if os.environ.get("TRINE_ISA") == "0" else 1.0


def random_bits(dtype, count=COUNT, seed=0) -> np.ndarray:
    """Numbers of every magnitude, subnormal to the largest."""
    values = np.frombuffer(np.random.default_rng(seed).bytes(count * np.dtype(dtype).itemsize), dtype).copy()
    return values[np.isfinite(values)]


def specials(dtype) -> np.ndarray:
    info = np.finfo(dtype)
    positive = [
        0.0,
        info.smallest_subnormal,
        info.tiny,
        0.5,
        1.0,
        1.5,
        2.0,
        3.0,
        np.pi / 4,
        np.pi / 2,
        np.pi,
        88.9,
        710.0,
        1e30,
        info.max,
        np.inf,
    ]
    return np.array(positive + [-v for v in positive] + [np.nan], dtype)


def error_in_places(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """|got - want| in units of the last place of `want`; infinity where one is NaN, infinite or of the other sign alone."""
    info = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        rounded = want.astype(got.dtype)
        place = np.spacing(np.clip(np.abs(rounded), info.tiny, info.max))
        error = np.abs(got.astype(WIDE) - want) / place.astype(WIDE)
    agree = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    finite = np.isfinite(got) & np.isfinite(rounded)
    return np.where(agree, 0, np.where(finite, error, np.inf))


def worst(name: str, got: np.ndarray, want: np.ndarray, limit: float, *inputs: np.ndarray) -> list[str]:
    error = error_in_places(got, want)
    k = int(np.argmax(error))
    if error[k] <= limit * SLACK:
        return []
    return [
        f"{name}({', '.join(repr(i[k]) for i in inputs)}) = {got[k]!r}, expected {want[k]!r}: {float(error[k]):.2f} places, {int((error > limit).sum())} numbers"
    ]


def unary_problems(name: str) -> list[str]:
    reference, intervals, limit = UNARY[name]
    problems = []
    for dtype in DTYPES:
        rng = np.random.default_rng(1)
        x = np.concatenate([random_bits(dtype), specials(dtype), *(rng.uniform(a, b, COUNT).astype(dtype) for a, b in intervals)])
        if name in ("sin", "cos", "tan"):
            x = x[~(np.abs(x) > 2.0**62)]  # the extended-precision reference itself ends there
        with np.errstate(all="ignore"):
            want = reference(x.astype(WIDE))
        problems += worst(f"{name} {dtype.__name__}", getattr(trine, name)(trine.from_numpy(x)).numpy(), want, limit, x)
    return problems


def binary_problems(name: str) -> list[str]:
    reference, limit = BINARY[name]
    problems = []
    for dtype in DTYPES:
        rng = np.random.default_rng(2)
        a, b = np.meshgrid(specials(dtype), specials(dtype))
        x = np.concatenate([random_bits(dtype, seed=3), np.exp(rng.uniform(-5, 5, COUNT)).astype(dtype), a.ravel()])
        y = np.concatenate([random_bits(dtype, seed=4), rng.uniform(-60, 60, COUNT).astype(dtype), b.ravel()])
        n = min(len(x), len(y))
        x, y = x[-n:], y[-n:]
        with np.errstate(all="ignore"):
            want = reference(x.astype(WIDE), y.astype(WIDE))
            if name == "remainder":
                want = np.where(np.isfinite(x) & np.isinf(y), np.where((x != 0) & (np.signbit(x) != np.signbit(y)), y, x), want)
        problems += worst(
            f"{name} {dtype.__name__}", getattr(trine, name)(trine.from_numpy(x), trine.from_numpy(y)).numpy(), want, limit, x, y
        )
    return problems


@pytest.mark.parametrize("name", sorted(UNARY))
def test_functions_are_accurate_over_the_whole_range(name):
    problems = unary_problems(name)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("name", sorted(BINARY))
def test_functions_of_two_numbers_are_accurate(name):
    problems = binary_problems(name)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("level", ["0", "1"])
def test_other_instruction_sets_are_as_accurate(level):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_math as t\n"
        "p = [m for n in t.UNARY for m in t.unary_problems(n)] + [m for n in t.BINARY for m in t.binary_problems(n)]\n"
        "print(*p, sep='\\n'); sys.exit(bool(p))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)],
        env={**os.environ, "TRINE_ISA": level},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(("name", "limit"), [("erf", 2), ("erfc", 6)])
def test_error_functions_agree_with_the_c_library(name, limit):
    for dtype in DTYPES:
        x = np.concatenate([np.random.default_rng(5).uniform(-6, 10, COUNT).astype(dtype), specials(dtype)])
        want = np.array([getattr(math, name)(v) for v in x.astype(np.float64).tolist()]).astype(WIDE)
        problems = worst(name, getattr(trine, name)(trine.from_numpy(x)).numpy(), want, limit, x)
        assert not problems, problems


def test_signed_zeros_survive():
    for dtype in (trine.float32, trine.float64):
        minus = trine.tensor([-0.0], dtype=dtype)
        for name in (
            "sin",
            "tan",
            "asin",
            "atan",
            "sinh",
            "tanh",
            "asinh",
            "atanh",
            "expm1",
            "log1p",
            "sqrt",
            "floor",
            "ceil",
            "round",
            "trunc",
        ):
            assert np.signbit(getattr(trine, name)(minus).numpy()[0]), name


def test_rounding_goes_to_even():
    x = trine.tensor([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5])
    assert x.round().tolist() == [-2, -2, 0, 0, 2, 2, 4]


def test_remainders_have_pythons_sign_for_integers_and_floats():
    pairs = [(a, b) for a in (-7, -6, -1, 0, 1, 6, 7) for b in (-3, -2, 2, 3)]
    for dtype in (trine.int8, trine.int16, trine.int32, trine.int64, trine.float32, trine.float64):
        x, y = (trine.tensor([p[k] for p in pairs], dtype=dtype) for k in (0, 1))
        assert trine.remainder(x, y).tolist() == [a % b for a, b in pairs]
        assert trine.floor_divide(x, y).tolist() == [a // b for a, b in pairs]


def test_maximum_hands_on_nan_and_fmax_prefers_the_number():
    nan, x, y = float("nan"), trine.tensor([1.0, float("nan"), 2.0]), trine.tensor([float("nan"), 1.0, 3.0])
    for name, want in (("maximum", [nan, nan, 3]), ("minimum", [nan, nan, 2]), ("fmax", [1, 1, 3]), ("fmin", [1, 1, 2])):
        assert np.array_equal(getattr(trine, name)(x, y).numpy(), np.array(want, np.float32), equal_nan=True), name


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_all_narrow_floats_convert_there_and_back(dtype):
    patterns = np.arange(65536, dtype=np.uint16)
    narrow = trine.from_numpy(patterns.view(np.int16)).view(getattr(trine, dtype))
    wide = narrow.to(trine.float32).numpy()
    if dtype == "float16":
        want = patterns.view(np.float16).astype(np.float32)
    else:
        want = (patterns.astype(np.uint32) << 16).view(np.float32)
    assert np.array_equal(wide, want, equal_nan=True)
    back = trine.from_numpy(want).to(getattr(trine, dtype)).view(trine.int16).numpy().view(np.uint16)
    number = ~np.isnan(want)
    assert np.array_equal(back[number], patterns[number])
    assert np.isnan(trine.from_numpy(want).to(getattr(trine, dtype)).to(trine.float32).numpy()[~number]).all()


def test_narrowing_rounds_to_nearest_even():
    x = np.concatenate([random_bits(np.float32, 200000), np.random.default_rng(6).uniform(-70000, 70000, 200000).astype(np.float32)])
    with np.errstate(over="ignore"):
        want = x.astype(np.float16)
    assert np.array_equal(trine.from_numpy(x).to(trine.float16).numpy(), want)
