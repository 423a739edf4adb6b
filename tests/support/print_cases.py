"""What the printing tests print. Under an interpreter with real PyTorch, this writes how PyTorch prints it:

python tests/support/print_cases.py > tests/core/printed_tensors.json
"""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

DEFAULT: dict[str, Any] = {"profile": "default"}

# (options of set_printoptions, expression in terms of `torch`)
CASES: list[tuple[dict[str, Any], str]] = [
    (DEFAULT, expression)
    for expression in [
        # 0-dim, and kinds of numbers
        "torch.tensor(1)",
        "torch.tensor(1.0)",
        "torch.tensor(True)",
        "torch.tensor(1.5)",
        "torch.tensor(1e10)",
        "torch.tensor(float('nan'))",
        "torch.tensor(1 + 2j)",
        "torch.tensor(-0.0)",
        "torch.tensor([1, -20, 300])",
        "torch.tensor([True, False])",
        "torch.tensor([1.0, 2.0])",
        "torch.tensor([1.5, -2.25])",
        "torch.tensor([0.0, 0.0])",
        "torch.tensor([1e-5, 1.0])",
        "torch.tensor([1000.5, 0.25])",
        "torch.tensor([1e8, 1.0])",
        "torch.tensor([1e9, 2e9])",
        "torch.tensor([1.0, float('inf')])",
        "torch.tensor([1.5, float('-inf'), float('nan')])",
        "torch.tensor([float('inf'), float('nan')])",
        "torch.tensor([1 + 2j, -3.5 - 0.25j])",
        "torch.tensor([1e6 + 1j, 2.0])",
        "torch.tensor([1 - 0j, complex(0, float('nan'))])",
        # dtypes
        "torch.tensor([1, 2], dtype=torch.int32)",
        "torch.tensor([1, 2], dtype=torch.uint8)",
        "torch.tensor([1.5, 2], dtype=torch.float64)",
        "torch.tensor([1.5, 2], dtype=torch.float16)",
        "torch.tensor([0.1, 2], dtype=torch.bfloat16)",
        "torch.tensor([65504.0, 1e-7], dtype=torch.float16)",
        "torch.tensor([1j], dtype=torch.complex128)",
        # empty
        "torch.empty(0)",
        "torch.empty(0, dtype=torch.int64)",
        "torch.empty(2, 0)",
        "torch.empty(2, 0, 3, dtype=torch.bool)",
        # shapes, line breaks, summaries
        "torch.arange(6).reshape(2, 3)",
        "torch.arange(24).reshape(2, 3, 4)",
        "torch.arange(16.0).reshape(2, 2, 2, 2)",
        "torch.arange(30)",
        "torch.arange(30) / 7",
        "torch.arange(1001)",
        "torch.arange(1000)",
        "torch.arange(2000.0).reshape(40, 50)",
        "torch.arange(10000).reshape(10, 10, 10, 10)",
        "torch.arange(4000).reshape(2, 2, 1000)",
        "torch.arange(1200, dtype=torch.int16).reshape(2, 600)",
        "torch.arange(2000) * (1 + 1j)",
        "torch.arange(12.0).reshape(3, 4).t()",
        "torch.arange(12.0).reshape(3, 4)[:, ::2]",
        "torch.tensor([1.0]).expand(3)",
        # what follows the numbers
        "torch.tensor([1.0], requires_grad=True)",
        "torch.tensor([1.0], requires_grad=True) * 2",
        "torch.tensor([1.0], requires_grad=True).exp()",
        "torch.arange(30.0, requires_grad=True)",
        "torch.arange(11.0, dtype=torch.float64, requires_grad=True)",
        "torch.empty(2, 3, device='meta')",
        "torch.empty(2, 3, device='meta', dtype=torch.int32)",
        "torch.nn.Parameter(torch.tensor([1.0, 2.0]))",
        "torch.nn.Parameter(torch.empty(0, 3))",
    ]
] + [
    ({"precision": 2}, "torch.tensor([1.23456, 100.0])"),
    ({"precision": 8}, "torch.tensor([0.1], dtype=torch.float64)"),
    ({"sci_mode": True}, "torch.tensor([1.5, 2.25])"),
    ({"sci_mode": True}, "torch.tensor([1.0, 2.0])"),
    ({"sci_mode": False}, "torch.tensor([1e-6, 1e6])"),
    ({"threshold": 4}, "torch.arange(10)"),
    ({"threshold": 4, "edgeitems": 1}, "torch.arange(25).reshape(5, 5)"),
    ({"threshold": 4, "edgeitems": 0}, "torch.arange(25).reshape(5, 5)"),
    ({"linewidth": 30}, "torch.arange(20)"),
    ({"linewidth": 20}, "torch.tensor([1.5, 2.5, 3.5], dtype=torch.float64, requires_grad=True)"),
    ({"profile": "short"}, "torch.arange(1100) / 3"),
    ({"profile": "full"}, "torch.arange(1001)"),
]


def text_of(lib: ModuleType, options: dict[str, Any], expression: str) -> str:
    """``repr`` of the expression's value under ``options``."""
    lib.set_printoptions(profile="default")
    lib.set_printoptions(**options)
    try:
        return repr(eval(expression, {"torch": lib}))
    finally:
        lib.set_printoptions(profile="default")


def key(options: dict[str, Any], expression: str) -> str:
    """Name of a case in the stored file."""
    return expression if options == DEFAULT else f"{expression} with {options}"


def main() -> None:
    import torch

    print(json.dumps({key(o, e): text_of(torch, o, e) for o, e in CASES}, indent=1))


if __name__ == "__main__":
    main()
