"""Distributions, divergences, constraints and transforms answer as real PyTorch does (tests/data/distributions.json).

What a user would lose: a model whose losses, gradients or samples change when it moves from PyTorch to Trine.
"""

from __future__ import annotations

import json
import math
from typing import Any

import distribution_cases as cases
import pytest
import trine

STORED = json.loads(cases.REFERENCE.read_text(encoding="utf8"))
RTOL = {"float64": 1e-9, "float32": 5e-6}

# PyTorch's second derivatives of lgamma end at eight digits, its derivatives of gamma and beta samples at two to eight. Ours are
# held to quantiles in test_gradients.py.
GRADIENT_RTOL = 2e-7
IMPLICIT = {"Beta", "Chi2", "Dirichlet", "Dirichlet_small", "FisherSnedecor", "Gamma", "InverseGamma", "StudentT"}
IMPLICIT_RTOL = 1e-2
# PyTorch has Bessel functions of seven digits there, and a count in float32.
COARSE = {"VonMises": 2e-4, "Multinomial": 1e-7, "Multinomial_logits": 1e-7}

# (case, what is asked): why PyTorch's answer is none.
DIFFERENT = {
    ("Chi2", "cdf gradient"): "PyTorch has no derivative of the incomplete gamma function by its first argument",
    ("Gamma", "cdf gradient"): "the same",
    ("InverseGamma", "cdf gradient"): "the same",
    ("Wishart", "rsample gradient"): "PyTorch overwrites what its gradient needs",
    ("Wishart_batch", "rsample gradient"): "the same",
    **{
        ("LKJCholesky", asked): "PyTorch's samples are not of the density (test_scipy.py has ours to their distribution)"
        for asked in ("sample", "sample_once", "expanded_sample")
    },
    ("Kumaraswamy", "mode"): "PyTorch takes the logarithm of a negative number",
    ("Wishart_batch", "log_prob gradient"): "PyTorch has gradients above the diagonal of a factor of which only the lower triangle is read",
    **{
        (name, asked): "PyTorch compares concentrations with a float32 zero, which float64 refuses"
        for name in ("GeneralizedPareto", "GeneralizedPareto_exponential")
        for asked in ("log_prob", "cdf", "expanded", "log_prob gradient", "cdf gradient")
    },
}


def number(value: Any) -> Any:
    return float(value) if value in ("nan", "inf", "-inf") else value


def differences(found: Any, wanted: Any, rtol: float) -> list[str]:
    """Where two encoded answers differ. No gradient and one of zeros are the same."""
    if isinstance(wanted, dict) and isinstance(found, dict) and "dtype" in wanted and "dtype" in found:
        rtol = max(rtol, RTOL.get(wanted["dtype"], 0.0))
        if (found["dtype"], found["shape"]) != (wanted["dtype"], wanted["shape"]):
            return [f"{found['dtype']} {found['shape']}, not {wanted['dtype']} {wanted['shape']}"]
        return differences(found["values"], wanted["values"], rtol)
    if isinstance(wanted, list) and isinstance(found, list):
        if len(found) != len(wanted):
            return [f"{found}, not {wanted}"]
        return [text for f, w in zip(found, wanted, strict=True) for text in differences(f, w, rtol)]
    for one, other in ((found, wanted), (wanted, found)):
        if one is None and isinstance(other, dict) and "values" in other and all(abs(v) < 1e-12 for v in other["values"]):
            return []
    found, wanted = number(found), number(wanted)
    if isinstance(wanted, float) and isinstance(found, (int, float)):
        same = found == wanted or (math.isnan(found) and math.isnan(wanted)) or abs(found - wanted) <= 1e-12 + rtol * abs(wanted)
    else:
        same = found == wanted and type(found) is type(wanted)
    return [] if same else [f"{found}, not {wanted}"]


def decoded(answer: Any) -> Any:
    return json.loads(json.dumps(answer))


@pytest.mark.parametrize("name", cases.CASES)
def test_distribution_answers_as_pytorch(name):
    found, wanted = decoded(cases.Bench(trine).distribution(cases.CASES[name])), STORED["distributions"][name]
    problems = []
    assert set(found) >= set(wanted)
    for asked in sorted(set(wanted) - {a for n, a in DIFFERENT if n == name}):
        rtol = COARSE.get(name, 1e-9)
        if asked.endswith("gradient"):
            rtol = IMPLICIT_RTOL if asked == "rsample gradient" and name in IMPLICIT else max(rtol, GRADIENT_RTOL)
        problems += [f"{asked}: {text}" for text in differences(found[asked], wanted[asked], rtol)]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("p", cases.KL)
def test_divergences_from_a_distribution_are_pytorchs(p):
    problems = []
    for q in cases.KL:
        pair = f"{p} || {q}"
        found, wanted = decoded(cases.Bench(trine).divergence(cases.KL[p], cases.KL[q])), STORED["divergences"][pair]
        if pair == "LowRank_batch || Multivariate":  # PyTorch fails where only one of the two is a batch; its own reverse does not
            assert wanted == {"error": "RuntimeError"} and found[0]["shape"] == [2]
            continue
        if isinstance(wanted, list) and isinstance(found, list) and "inf" in wanted[0]["values"]:
            found, wanted = found[0], wanted[0]  # the gradients of infinity mean nothing
        problems += [f"{pair}: {text}" for text in differences(found, wanted, GRADIENT_RTOL)]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("make", cases.TRANSFORMS)
def test_transform_answers_as_pytorch(make):
    found, wanted = decoded(cases.Bench(trine).transform(make, cases.TRANSFORMS[make])), STORED["transforms"][make]
    problems = [f"{asked}: {text}" for asked in wanted for text in differences(found[asked], wanted[asked], 1e-9)]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("make", cases.CONSTRAINTS)
def test_constraint_answers_as_pytorch(make):
    found = decoded(cases.Bench(trine).constraint(make, cases.CONSTRAINTS[make]))
    assert differences(found, STORED["constraints"][make], 0.0) == []


@pytest.mark.parametrize("call", cases.WRONG)
def test_wrong_call_fails_as_in_pytorch(call):
    bench = cases.Bench(trine)
    assert decoded(bench.attempt(lambda: eval(call, bench.names()))) == STORED["wrong"][call]


def test_every_case_and_every_class_has_an_answer():
    assert set(STORED["distributions"]) == set(cases.CASES) and set(STORED["transforms"]) == set(cases.TRANSFORMS)
    text = " ".join(case.make for case in cases.CASES.values())
    d = trine.distributions
    classes = [n for n in d.__all__ if isinstance(getattr(d, n), type) and issubclass(getattr(d, n), d.Distribution)]
    assert [n for n in classes if f"d.{n}(" not in text] == ["Distribution", "ExponentialFamily"]
    maps = [n for n in d.transforms.__all__ if n not in ("Transform", "identity_transform")]
    assert [n for n in maps if not any(n in make for make in cases.TRANSFORMS)] == []
