"""Which samples an operator gets: those its table entry names, those of its family, else those its schema suggests.

A table entry says ``tests: {samples: KIND}`` with a kind from ``KINDS``, or a list of samples in the notation of
``samples``. Nothing needs to be said for an operator whose arguments already tell: one tensor, two tensors, a tensor and
dims.
"""

from __future__ import annotations

from typing import Any

from families import SAMPLES

UNARY = ["f(3, 5)", "f()", "f(0)", "f(2, 0, 3)", "f(1)", "f(67)", "f(2, 3, 4)", "special()"]
BINARY = ["f(3, 5), f(3, 5)", "f(3, 5), f(5)", "f(3, 1), f(1, 5)", "f(), f(4)", "f(0), f(1)", "f(2, 1, 4), f(3, 1)",
          "f(33), f(33)", "special(), f(1)", "f(3), f32(3)", "f(3), i64(3)", "f(2, 3), 2", "f(2, 3), 1.5"]  # fmt: skip
TERNARY = ["f(3, 5), f(3, 5), f(3, 5)", "f(3, 1), f(5), f(1, 5)", "f(), f(), f(4)", "f(0), f(1), f(0)"]
REDUCTION = ["f(3, 5)", "f()", "f(0)", "f(3, 5), 0", "f(3, 5), -1", "f(3, 5), 1, True", "f(2, 3, 4), 1", "f(2, 37, 3), 1",
             "f(1000)", "f(0, 3), 0", "f(3, 0), 0"]  # fmt: skip
DIM = ["f(3, 5), 0", "f(3, 5), -1", "f(2, 3, 4), 1", "f(7), 0", "f(), 0", "f(0, 3), 0", "f(2, 70), 1"]

KINDS: dict[str, list[str]] = {
    "unary": UNARY,
    "no_bool": UNARY,
    "nonzero": [text.replace("f(", "pos(") for text in UNARY],
    "positive": [text.replace("f(", "pos(") for text in UNARY],
    "unit": [text.replace("f(", "unit(") for text in UNARY],
    "binary": BINARY,
    "binary_nonzero": [
        "f(3, 5), pos(3, 5)",
        "f(3, 5), pos(5)",
        "f(3, 1), pos(1, 5)",
        "f(), pos(4)",
        "f(0), pos(1)",
        "f(33), pos(33)",
        "special(), pos(1)",
        "f(2, 3), 2",
        "f(2, 3), -1.5",
    ],
    "bitwise": ["f(3, 5), f(3, 5)", "f(3, 5), f(5)", "f(0), f(1)", "f(), f(4)", "f(2, 3), 2"],
    "shift": ["f(3, 5), domain(0, 4, 3, 5)", "f(3), 2"],
    "ternary": TERNARY,
    "reduction": REDUCTION,
    "dim": DIM,
    "scalar": ["f(3, 5), 2", "f(3, 5), 1.5", "f(), -1", "f(0), 2", "f(3), True"],
    "none": [],
}

# kinds whose results are compared bit for bit where they are zeros: the sign of zero counts
POINTWISE_KINDS = {"unary", "no_bool", "nonzero", "positive", "unit", "binary", "binary_nonzero", "ternary"}


def with_domain(texts: list[str], domain: list[float]) -> list[str]:
    """The same samples with values from an interval."""
    low, high = domain
    return [text.replace("f(", f"domain({low}, {high}, ").replace(", )", ")") for text in texts if "special" not in text]


def suggested_kind(op: Any) -> str | None:
    """The kind that follows from the schema of a table entry (``tables.Op``)."""
    args = op.schema.args
    required = [a for a in args if a.default is None]
    tensors = [a for a in required if a.type == "Tensor"]
    scalars = [a for a in required if a.type.startswith("Scalar")]
    if len(required) == len(tensors) + len(scalars):
        names = {a.name for a in args}
        if len(tensors) == 1 and not scalars:
            return "reduction" if {"dim", "keepdim"} <= names else "unary"
        if len(tensors) + len(scalars) == 2:
            return "binary" if len(tensors) == 2 else "scalar"
        if len(tensors) == 3:
            return "ternary"
    if [a.type for a in required] in (["Tensor", "int"], ["Tensor", "int[]"]) and required[1].name == "dim":
        return "dim"
    return None


def is_internal(op: Any) -> bool:
    """Whether an entry is only a part of others (a backward pass, a cast), which test it by being tested."""
    named = op.schema.id in SAMPLES or op.schema.name in SAMPLES or op.entry.get("tests")
    return not named and (
        op.schema.name.startswith("_")
        or op.schema.name.endswith("_backward")
        or (op.entry.get("module") == "nn" and suggested_kind(op) is None)
    )


def sample_texts(op: Any) -> list[str]:
    """The samples of a table entry. Raises ValueError when nothing says what they are."""
    tests = op.entry.get("tests") or {}
    if isinstance(tests, str):
        tests = {"samples": tests}
    chosen = tests.get("samples")
    texts: list[str]
    if isinstance(chosen, list):
        texts = [str(text) for text in chosen]
    elif op.schema.id in SAMPLES:
        texts = SAMPLES[op.schema.id]
    elif chosen in KINDS or chosen in SAMPLES:
        texts = KINDS[chosen] if chosen in KINDS else SAMPLES[chosen]
    elif op.schema.name in SAMPLES:
        texts = SAMPLES[op.schema.name]  # Python chooses among overloads by the arguments
    else:
        kind = suggested_kind(op)
        if kind is None:
            raise ValueError(
                f"{op.schema.id}: nothing says what its samples are: add `tests: {{samples: [...]}}` to its entry in "
                f"core/ops/{op.table}.yaml (the notation is described in tests/support/samples.py)"
            )
        texts = KINDS[kind]
    if "domain" in tests:
        texts = with_domain(texts, tests["domain"])
    return list(texts)
