"""The operator tables (core/ops/*.yaml) read, checked and expanded into variants. docs/operators.md describes an entry's keys."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml
from schema import Arg, Schema, parse

POINTWISE_RULES = {"promote", "float", "compare", "predicate", "real"}
DTYPE_SETS = {
    "bool": ["Bool"],
    "int": ["UInt8", "Int8", "Int16", "Int32", "Int64"],
    "float": ["Float", "Double"],
    "complex": ["ComplexFloat", "ComplexDouble"],
}
DTYPE_SETS["integral"] = DTYPE_SETS["bool"] + DTYPE_SETS["int"]
DTYPE_SETS["real"] = DTYPE_SETS["integral"] + DTYPE_SETS["float"]
DTYPE_SETS["signed"] = DTYPE_SETS["int"] + DTYPE_SETS["float"]
DTYPE_SETS["number"] = DTYPE_SETS["signed"] + DTYPE_SETS["complex"]
DTYPE_SETS["all"] = DTYPE_SETS["bool"] + DTYPE_SETS["number"]
DTYPE_SETS["floatcomplex"] = DTYPE_SETS["float"] + DTYPE_SETS["complex"]

KEYS = {
    "op", "rule", "expr", "dtypes", "kernel", "composite", "view", "grad", "jvp", "tests", "doc", "method", "function", "inplace", "out", "lazy", "complex_error",
    "module", "promote", "raw", "cpp", "numbers", "update", "divisor", "undefined_grads", "vmap", "autocast",
}  # fmt: skip


@dataclass
class Op:
    """One table entry."""

    table: str
    schema: Schema
    entry: dict
    variants: dict[str, Schema] = field(default_factory=dict)  # "functional" | "inplace" | "out"

    @property
    def kind(self) -> str:
        for k in ("expr", "composite", "view", "update"):
            if k in self.entry:
                return {"expr": "pointwise"}.get(k, k)
        return "structured" if "rule" in self.entry else "kernel"

    @property
    def batching(self) -> str:
        """What the operator does with the dimensions that vmap hides: "pointwise", "leading", "loop", or "" (composite: falls apart)."""
        return self.entry.get("vmap", {"pointwise": "pointwise", "composite": ""}.get(self.kind, "loop"))

    @property
    def name(self) -> str:
        return self.schema.id

    @property
    def doc(self) -> str:
        return " ".join(str(self.entry.get("doc", "")).split())

    @property
    def grad(self) -> dict[str, str] | None:
        g = self.entry.get("grad")
        return None if g is None or g == "none" else {str(k): str(v) for k, v in g.items()}

    @property
    def kernel(self) -> str:
        return self.entry.get("kernel", self.schema.id)

    def tensor_args(self) -> list[Arg]:
        return [a for a in self.schema.args if a.is_tensor or a.is_tensor_list]

    def scalar_args(self) -> list[Arg]:
        """Number arguments of a pointwise expression."""
        return [a for a in self.schema.args if a.type in ("Scalar", "Scalar?", "float", "int", "bool")]

    def raw_args(self) -> list[str]:
        return list(self.entry.get("raw", []))

    def expressions(self) -> dict[str, str]:
        """dtype enumerator -> expression."""
        expr, sets = self.entry["expr"], self.entry.get("dtypes", "float" if self.entry["rule"] == "float" else "all")
        if not isinstance(expr, dict):
            expr = {s.strip(): expr for s in sets.split(",")}
        out = {}
        for names, text in expr.items():
            for s in str(names).split(","):
                for d in DTYPE_SETS.get(s.strip(), [s.strip()]):
                    out[d] = str(text)
        return out


def _variants(op: Op) -> dict[str, Schema]:
    s, e, kind = op.schema, op.entry, op.kind
    if s.returns == ("Self",):
        return {"functional": s}
    out = {"functional": s}
    if e.get(
        "inplace", kind == "update" or (kind == "pointwise" and e["rule"] in ("promote", "float", "compare") and s.args[0].name == "self")
    ):
        first = s.args[0]
        out["inplace"] = s.with_args(
            (Arg(first.name, first.type, written=True),) + s.args[1:], name=s.name + "_", cpp="", returns=("Self",), return_names=None
        )
    if e.get("out", kind in ("pointwise", "structured", "update")) and all(r == "Tensor" for r in s.returns):
        typ = "Tensor" if len(s.returns) == 1 else "Tensor[]"
        overload = "out" if not s.overload else s.overload + "_out"
        out["out"] = s.with_args(s.args + (Arg("out", typ, keyword_only=True, written=True),), overload=overload)
    return out


def load(folder: Path) -> list[Op]:
    """Every operator of every table, in file order. Raises ValueError that names file and entry."""
    ops: list[Op] = []
    seen: set[str] = set()
    for path in sorted(folder.glob("*.yaml")):
        for entry in yaml.load(path.read_text(encoding="utf8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or []:
            try:
                unknown = set(entry) - KEYS
                if unknown:
                    raise ValueError(f"unknown keys {sorted(unknown)}")
                op = Op(path.stem, replace(parse(entry["op"]), cpp=entry.get("cpp", "")), entry)
                if op.kind == "pointwise" and entry.get("rule") not in POINTWISE_RULES:
                    raise ValueError(f"a pointwise entry needs a rule of {sorted(POINTWISE_RULES)}")
                op.variants = _variants(op)
                for v in op.variants.values():
                    if v.id in seen:
                        raise ValueError(f"{v.id} is defined twice")
                    seen.add(v.id)
                ops.append(op)
            except (ValueError, KeyError) as err:
                raise ValueError(f"{path.name}: {entry.get('op', entry)}: {err}") from None
    return ops
