"""Operator schemas: the line `name.overload(Type arg=default, *, Type arg) -> Type` as data."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

# schema type -> (ArgType enumerator, C++ parameter type, unboxing of `a`)
TYPES = {
    "Tensor": ("Tensor", "const Tensor&", "{a}.tensor()"),
    "Tensor?": ("OptionalTensor", "const Tensor&", "{a}.tensor()"),
    "Tensor[]": ("TensorList", "TensorList", "{a}.tensors()"),
    "Tensor?[]": ("OptionalTensorList", "TensorList", "{a}.tensors()"),
    "int": ("Int", "int64_t", "{a}.to_int()"),
    "int?": ("Int", "std::optional<int64_t>", "opt_int({a})"),
    "int[]": ("IntList", "DimsRef", "{a}.ints()"),
    "int[]?": ("IntList", "std::optional<DimsRef>", "opt_ints({a})"),
    "float": ("Float", "double", "{a}.to_double()"),
    "float?": ("Float", "std::optional<double>", "opt_double({a})"),
    "float[]": ("FloatList", "std::span<const double>", "{a}.doubles()"),
    "float[]?": ("FloatList", "std::optional<std::span<const double>>", "opt_doubles({a})"),
    "bool": ("Bool", "bool", "{a}.to_bool()"),
    "bool?": ("Bool", "std::optional<bool>", "opt_bool({a})"),
    "Scalar": ("Scalar", "const Scalar&", "{a}.scalar()"),
    "Scalar?": ("Scalar", "const std::optional<Scalar>&", "opt_scalar({a})"),
    "str": ("String", "std::string_view", "{a}.string()"),
    "str?": ("String", "std::optional<std::string_view>", "opt_string({a})"),
    "dtype": ("DType", "DType", "{a}.dtype()"),
    "dtype?": ("DType", "DType", "{a}.dtype()"),
    "device?": ("Device", "std::optional<Device>", "opt_device({a})"),
    "memory_format?": ("MemoryFormat", "std::optional<MemoryFormat>", "opt_format({a})"),
    "memory_format": ("MemoryFormat", "MemoryFormat", "{a}.memory_format()"),
    "Generator?": ("Generator", "Generator*", "{a}.generator()"),
}

# schema type -> type of a field that keeps the argument for the backward pass
FIELDS = {
    "int[]": "Dims",
    "int[]?": "std::optional<Dims>",
    "float[]": "std::vector<double>",
    "Scalar": "Scalar",
    "Scalar?": "std::optional<Scalar>",
    "str": "std::string",
    "float[]?": "std::optional<std::vector<double>>",
}


@dataclass(frozen=True)
class Arg:
    name: str
    type: str  # a key of TYPES
    list_size: int = 0
    default: str | None = None
    keyword_only: bool = False
    written: bool = False

    @property
    def cpp_type(self) -> str:
        return TYPES[self.type][1]

    @property
    def field_type(self) -> str:
        return FIELDS.get(self.type, self.cpp_type)

    @property
    def is_tensor(self) -> bool:
        return self.type in ("Tensor", "Tensor?")

    @property
    def is_tensor_list(self) -> bool:
        return self.type in ("Tensor[]", "Tensor?[]")

    def cpp_default(self) -> str | None:
        if self.default is None:
            return None
        if self.default == "None":
            if self.is_tensor:
                return "Tensor()"
            return {"dtype?": "DType::Undefined", "Generator?": "nullptr"}.get(self.type, "std::nullopt")
        if self.default in ("True", "False"):
            return self.default.lower()
        if self.type.startswith("int[]") and not self.default.startswith("["):
            return "std::initializer_list<int64_t>{}"  # one value for the whole list, see params()
        if self.default.startswith("["):
            return "std::initializer_list<int64_t>{%s}" % self.default[1:-1] if self.default != "[]" else "DimsRef()"
        if self.type == "str":
            return '"%s"' % self.default.strip("'\"")
        if self.type == "memory_format":
            return f"MemoryFormat::{self.default}"
        if self.type.startswith("Scalar"):
            return f"Scalar({self.default})"
        return self.default


@dataclass(frozen=True)
class Schema:
    name: str
    overload: str
    args: tuple[Arg, ...]
    returns: tuple[str, ...]  # () for none; ("Self",) for an in-place operator
    return_names: tuple[str, ...] | None = None
    text: str = field(default="", compare=False)
    cpp: str = ""  # C++ name where it differs

    @property
    def cpp_name(self) -> str:
        return (self.cpp or self.name) + ("_out" if self.is_out else "")

    @property
    def is_out(self) -> bool:
        return self.overload.endswith("out") and self.args[-1].name == "out"

    @property
    def id(self) -> str:
        """Unique C++ identifier of this variant."""
        return self.name + ("_" + self.overload if self.overload else "")

    @property
    def cpp_return(self) -> str:
        if self.returns == ("Self",):
            return "const Tensor&"
        if not self.returns:
            return "void"
        kinds = {
            "Tensor": "Tensor",
            "Tensor[]": "std::vector<Tensor>",
            "bool": "bool",
            "int": "int64_t",
            "float": "double",
            "Scalar": "Scalar",
        }
        if len(self.returns) == 1:
            return kinds[self.returns[0]]
        return "std::tuple<%s>" % ", ".join(kinds[r] for r in self.returns)

    def params(self, defaults: bool = False) -> str:
        """C++ parameter list; out tensors come first, as in the C++ front end."""
        out = []
        ordered = [a for a in self.args if a.written and a.name == "out"] + [a for a in self.args if not (a.written and a.name == "out")]
        for a in ordered:
            d = a.cpp_default() if defaults else None
            if d is not None and d.startswith("std::initializer_list"):
                # A span default must outlive the call expression: a static array does.
                values = a.default[1:-1] if a.default.startswith("[") else ", ".join([a.default] * max(a.list_size, 1))
                d = f"default_ints<{values}>()"
            out.append(f"{a.cpp_type} {a.name}" + (f" = {d}" if d is not None else ""))
        return ", ".join(out)

    def call_args(self) -> str:
        ordered = [a for a in self.args if a.written and a.name == "out"] + [a for a in self.args if not (a.written and a.name == "out")]
        return ", ".join(a.name for a in ordered)

    def with_args(self, args, **kw) -> Schema:
        s = replace(self, args=tuple(args), **kw)
        return replace(s, text=s.render())

    def render(self) -> str:
        parts, starred = [], False
        for a in self.args:
            if a.keyword_only and not starred:
                parts.append("*")
                starred = True
            t = a.type
            if a.list_size:
                t = t.replace("[]", f"[{a.list_size}]")
            if a.written:
                t += "!"
            parts.append(f"{t} {a.name}" + (f"={a.default}" if a.default is not None else ""))
        name = self.name + (f".{self.overload}" if self.overload else "")
        names = self.return_names or ("",) * len(self.returns)
        rets = [f"{'Tensor' if r == 'Self' else r} {n}".strip() for r, n in zip(self.returns, names, strict=True)]
        ret = rets[0] if len(rets) == 1 else "(" + ", ".join(rets) + ")"
        return f"{name}({', '.join(parts)}) -> {ret}"


_HEAD = re.compile(r"^(\w+)(?:\.(\w+))?\((.*)\)\s*->\s*(.+)$")
_ARG = re.compile(r"^(?P<type>[A-Za-z_]+\??)(?P<list>\[\d*\])?(?P<opt>\?)?(?P<written>!)?\s+(?P<name>\w+)(?:\s*=\s*(?P<default>.+))?$")


def _split(text: str) -> list[str]:
    depth, current, out = 0, "", []
    for ch in text:
        depth += (ch in "[({") - (ch in "])}")
        if ch == "," and depth == 0:
            out.append(current.strip())
            current = ""
        else:
            current += ch
    return [p for p in out + [current.strip()] if p]


def parse(text: str) -> Schema:
    """Schema of a table line. Raises ValueError that quotes the line."""
    m = _HEAD.match(" ".join(text.split()))
    if not m:
        raise ValueError(f"not an operator schema: {text!r}")
    name, overload, arg_text, ret_text = m.groups()
    args, keyword_only = [], False
    for part in _split(arg_text):
        if part == "*":
            keyword_only = True
            continue
        a = _ARG.match(part)
        if not a:
            raise ValueError(f"bad argument {part!r} in schema {text!r}")
        size = int(a["list"][1:-1] or 0) if a["list"] else 0
        typ = a["type"] + ("[]" if a["list"] else "") + ("?" if a["opt"] else "")
        if typ not in TYPES:
            raise ValueError(f"unknown type {typ!r} in schema {text!r}")
        args.append(Arg(a["name"], typ, size, a["default"], keyword_only, bool(a["written"])))
    rets = _split(ret_text[1:-1]) if ret_text.startswith("(") else [ret_text]
    types = tuple(r.split()[0] for r in rets)
    names = tuple(r.split()[1] for r in rets) if all(len(r.split()) == 2 for r in rets) and rets else None
    if name.endswith("_") and not name.endswith("__") and args and args[0].written:
        types = ("Self",)
    s = Schema(name, overload or "", tuple(args), types, names)
    return replace(s, text=s.render())
