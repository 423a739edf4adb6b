"""The operators of the tables, each with its samples, as the operator tests and tools/reference see them."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "core" / "codegen"))

import tables  # noqa: E402
from compare import difference  # noqa: E402
from families import PATHS  # noqa: E402
from sample_kinds import POINTWISE_KINDS, is_internal, sample_texts, suggested_kind  # noqa: E402
from samples import ALL_DTYPES, Sample, make  # noqa: E402

# Where an operator takes every dtype, these get all samples; the others get the first few, which is where a dtype
# that is converted wrongly shows.
MAIN_DTYPES = ["float32", "float64", "int64", "bool"]
FEW = 3


@dataclass(frozen=True)
class Operator:
    """One table entry and what its tests need to know of it."""

    op: Any  # tables.Op
    texts: tuple[str, ...]
    tests: dict[str, Any] = field(hash=False)

    @property
    def name(self) -> str:
        return self.op.schema.id

    @property
    def table(self) -> str:
        return self.op.table

    @property
    def path(self) -> str:
        """How Python calls it, in Trine and in PyTorch alike."""
        if "path" in self.tests:
            return self.tests["path"]
        return PATHS.get(self.op.schema.id, self.op.schema.name)

    @property
    def zero_signs(self) -> bool:
        samples = self.tests.get("samples")
        return self.tests.get("zero_signs", self.op.kind == "pointwise") and (
            (isinstance(samples, str) and samples in POINTWISE_KINDS) or suggested_kind(self.op) in POINTWISE_KINDS
        )

    @property
    def tolerance(self) -> float | None:
        return self.tests.get("rtol")

    def on_fresh_inputs(self) -> Operator:
        """The operator as it is compared on inputs that nobody chose."""
        return replace(self, tests={**self.tests, **self.tests.get("fresh", {}), "cancelling": True})

    def difference(self, ours: Any, theirs: Any) -> str | None:
        """What is wrong with our results; where there are several right ones (eigenvectors) only with dtypes and shapes."""
        unique = self.tests.get("unique")
        if unique is not None and len(ours) == len(theirs):
            ours = [
                mine if index in unique or mine.array.shape != other.array.shape else replace(mine, array=other.array)
                for index, (mine, other) in enumerate(zip(ours, theirs, strict=True))
            ]
        return difference(ours, theirs, self.tolerance, self.zero_signs, self.tests.get("cancelling", False))

    @property
    def differentiable(self) -> bool:
        changes_its_argument = self.op.schema.returns == ("Self",)
        return not changes_its_argument and (self.op.grad is not None or self.op.kind == "composite")

    def samples(self, dtype: str, seed: int = 0) -> Iterator[tuple[int, Sample]]:
        if dtype in self.tests.get("except_dtypes", ()):  # those of which PyTorch's answers are no measure
            return
        texts = self.texts if dtype in MAIN_DTYPES else self.texts[:FEW]
        for index, text in enumerate(texts):
            yield index, make(text, dtype, seed)

    def key(self, dtype: str, index: int) -> str:
        return f"{self.name}|{dtype}|{index}"


@functools.cache
def all_operators() -> list[Operator]:
    """Every public functional operator of the tables. Raises ValueError when one has nothing to be tested with."""
    found = []
    for op in tables.load(ROOT / "core" / "ops"):
        tests = op.entry.get("tests") or {}
        if isinstance(tests, str):
            tests = {"samples": tests}
        if is_internal(op):
            continue
        if tests.get("samples") == "none" or tests.get("skip"):
            continue
        found.append(Operator(op, tuple(sample_texts(op)), tests))
    return found


def by_name() -> dict[str, Operator]:
    return {operator.name: operator for operator in all_operators()}


__all__ = ["ALL_DTYPES", "Operator", "all_operators", "by_name"]
