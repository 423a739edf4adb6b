"""Random numbers that must equal PyTorch's: the cases, and the command that stores PyTorch's answers.

    python tests/support/random_cases.py       # under a Python that has PyTorch: writes tests/data/random.json

A case is an expression over the name `torch`; it is evaluated after `torch.manual_seed(SEED)`. Stored are shape, the
first and last numbers, a checksum of all bytes, and the next number of the stream, which shows how much was drawn.
"""

from __future__ import annotations

import json
import math
import zlib
from pathlib import Path
from typing import Any

SEED = 42
REFERENCE = Path(__file__).parents[1] / "data" / "random.json"
SIZES = [0, 1, 2, 15, 16, 17, 31, 100, 1000, 100000]
FLOATS = ["float32", "float64", "float16", "bfloat16"]


def cases() -> dict[str, list[str]]:
    """Family -> expressions."""
    out: dict[str, list[str]] = {}
    for name in ("rand", "randn"):
        out[name] = [f"torch.{name}({n}, dtype=torch.{d})" for n in SIZES for d in FLOATS]
    out["rand"] += ["torch.rand(3, 4)", "torch.rand(7, dtype=torch.complex64)"]
    out["randn"] += ["torch.randn(3, 4)", "torch.randn(9, dtype=torch.complex64)", "torch.randn(8, dtype=torch.complex128)"]
    out["uniform_"] = [f"torch.empty({n}, dtype=torch.{d}).uniform_(-0.3, 1.7)" for n in (17, 1000) for d in FLOATS]
    out["uniform_"] += [
        "torch.empty(20, 30).t().uniform_()",
        "torch.empty(4, 5, 6)[:, ::2].uniform_(2, 3)",
        "torch.empty(6, 5)[:, 1].uniform_()",
    ]
    out["normal_"] = [f"torch.empty({n}, dtype=torch.{d}).normal_(0.3, 1.7)" for n in (15, 17, 1000) for d in FLOATS]
    out["normal_"] += [
        "torch.empty(20, 30).t().normal_()",
        "torch.empty(40, 2)[:, 0].normal_(1, 2)",
        "torch.empty(3, 4, 5, 6).to(memory_format=torch.channels_last).normal_()",
    ]
    out["cached normal"] = [
        "(torch.randn(1), torch.randn(3), torch.randn(20), torch.randn(2))[3]",
        "(torch.randn(1), torch.rand(1), torch.randn(1))[2]",
    ]
    ranges = [(0, 10), (-5, 5), (0, 2**20 + 7), (0, 2**28 - 1), (0, 2**28), (0, 2**31), (-(2**40), 2**41)]
    out["randint"] = [f"torch.randint({a}, {b}, ({n},))" for a, b in ranges for n in (1, 100, 10000)]
    out["randint"] += [f"torch.randint(3, 100, (50,), dtype=torch.{d})" for d in ("uint8", "int8", "int16", "int32", *FLOATS)]
    out["randint"] += ["torch.randint(7, (3, 4))", "torch.randint_like(torch.zeros(4), 9)", "torch.randint_like(torch.zeros(4), -9, 9)"]
    out["random_"] = [f"torch.empty(50, dtype=torch.{d}).random_()" for d in ("bool", "uint8", "int8", "int16", "int32", "int64", *FLOATS)]
    out["random_"] += [
        "torch.empty(50, dtype=torch.int64).random_(-2**63, None)",
        "torch.empty(9).random_(100)",
        "torch.empty(9).random_(3, 100)",
    ]
    out["bernoulli"] = [
        f"torch.empty({n}, dtype=torch.{d}).bernoulli_({p})" for n in (1, 17, 10000) for d in ("bool", "int64", *FLOATS) for p in (0.3, 0.5)
    ]
    out["bernoulli"] += [f"torch.empty(100).bernoulli_({p})" for p in (0.0, 1.0, 1e-3)]
    out["bernoulli"] += [f"torch.bernoulli(torch.linspace(0, 1, 1000, dtype=torch.{d}))" for d in FLOATS]
    out["bernoulli"] += [
        "torch.empty(500).bernoulli_(torch.linspace(0, 1, 500, dtype=torch.float64))",
        "torch.bernoulli(torch.zeros(40), 0.25)",
    ]
    out["dropout"] = [
        f"torch.dropout(torch.arange({n}, dtype=torch.{d}) - 4, {p}, True)" for n in (10, 1000) for d in FLOATS for p in (0.1, 0.5)
    ]
    out["dropout"] += ["torch.native_dropout(torch.ones(100), 0.5, True)[1]", "torch.nn.functional.dropout(torch.ones(2, 3, 4), 0.4)"]
    out["dropout"] += ["torch.feature_dropout(torch.ones(4, 5, 3), 0.5, True)", "torch.alpha_dropout(torch.ones(40), 0.5, True)"]
    out["exponential_"] = [
        f"torch.empty({n}, dtype=torch.{d}).exponential_({r})" for n in (1, 17, 5000) for d in FLOATS for r in (1.0, 0.7)
    ]
    out["cauchy_"] = [f"torch.empty(1000, dtype=torch.{d}).cauchy_(0.3, 0.7)" for d in FLOATS]
    out["geometric_"] = [f"torch.empty(1000, dtype=torch.{d}).geometric_(0.3)" for d in ("int64", "uint8", *FLOATS)]
    out["log_normal_"] = [f"torch.empty(1000, dtype=torch.{d}).log_normal_(0.3, 0.7)" for d in FLOATS]
    out["randperm"] = [f"torch.randperm({n})" for n in (0, 1, 2, 5, 1000, 100000)] + [
        "torch.randperm(50, dtype=torch.int32)",
        "torch.randperm(50, dtype=torch.float32)",
    ]
    weights = "torch.linspace(0, 1, 50, dtype=torch.{d})"
    for d in ("float32", "float64"):
        w = weights.format(d=d)
        out.setdefault("multinomial", [])
        out["multinomial"] += [
            f"torch.multinomial({w}, {n}, {r})" for n, r in ((1, False), (1, True), (20, False), (20, True), (500, True))
        ]
        out["multinomial"] += [f"torch.multinomial({w}.repeat(3, 1), {n}, {r})" for n, r in ((1, False), (10, False), (10, True))]
    out["poisson"] = [f"torch.poisson(torch.linspace(0, 40, 500, dtype=torch.{d}))" for d in ("float32", "float64")]
    for d in ("float32", "float64"):
        shapes = f"(torch.arange(500, dtype=torch.{d}) / 16 + 1 / 16)"
        out.setdefault("gamma", []).append(f"torch._standard_gamma({shapes})")
        out.setdefault("dirichlet", []).append(f"torch._sample_dirichlet({shapes}.reshape(100, 5))")
        chances = f"torch.arange(500, dtype=torch.{d}) / 499.5"
        out.setdefault("binomial", [])
        out["binomial"] += [f"torch.binomial(torch.full((500,), {n}, dtype=torch.{d}), {chances})" for n in (5, 40, 3000, 1e6)]
    out["normal"] = [
        "torch.normal(torch.arange(40.0), 0.7)",
        "torch.normal(0.7, torch.arange(40.0))",
        "torch.normal(torch.arange(40.0), torch.arange(40.0) / 8)",
        "torch.normal(2.0, 3.0, (5, 4))",
        "torch.normal(torch.zeros(4, 1), torch.ones(5))",
    ]
    out["like"] = [
        "torch.rand_like(torch.zeros(3, 4).t())",
        "torch.randn_like(torch.zeros(3, 40))",
        "torch.rand_like(torch.zeros(5), dtype=torch.float64)",
    ]
    return out


def describe(torch: Any, expression: str) -> dict[str, Any]:
    """What is stored of one case."""
    torch.manual_seed(SEED)
    result = eval(expression, {"torch": torch})
    following = float(torch.rand(1))
    dtype = str(result.dtype).rpartition(".")[2]
    flat = result.contiguous().reshape(-1)
    if dtype.startswith("complex"):
        flat = torch.view_as_real(flat).reshape(-1)
    raw = flat.view(torch.int16) if dtype in ("float16", "bfloat16") else flat
    numbers = [float(v) for v in torch.cat([flat[:8], flat[-8:]]).tolist()]
    return {
        "dtype": dtype,
        "shape": list(result.shape),
        "stride": list(result.stride()),
        "numbers": [v.hex() if math.isfinite(v) else str(v) for v in numbers],
        "crc32": zlib.crc32(raw.numpy().tobytes()),
        "next": following.hex(),
    }


def main() -> None:
    import torch

    stored = {family: {e: describe(torch, e) for e in expressions} for family, expressions in cases().items()}
    lines = [
        f"{json.dumps(family)}: {{\n" + ",\n".join(f"{json.dumps(e)}: {json.dumps(v)}" for e, v in found.items()) + "\n}"
        for family, found in stored.items()
    ]
    REFERENCE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf8")


if __name__ == "__main__":
    main()
