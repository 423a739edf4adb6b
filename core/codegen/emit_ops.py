"""Dispatchers, backend wrappers, boxed calls and schema records: trine/ops.h and ops_<table>.cpp."""

from __future__ import annotations

from schema import TYPES, Arg, Schema
from tables import Op

BACKENDS = 4  # CPU, Meta, CUDA, PrivateUse
LAZY = 2  # Conjugate, Negative
MODES = 3  # Trace, Profile, Debug


def quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def declarations(ops: list[Op]) -> str:
    lines = [
        "// Every operator as a C++ function. Generated from core/ops/*.yaml by core/codegen; edit those.",
        "#pragma once",
        "#include <optional>",
        "#include <string_view>",
        "#include <tuple>",
        "#include <vector>",
        "",
        '#include "tensor/tensor.h"',
        "",
        "namespace trine {",
        "",
        "class Generator;",
        "template <int64_t... V> DimsRef default_ints() {",
        "  static constexpr int64_t values[] = {V...};",
        "  return values;",
        "}",
        "",
    ]
    for op in ops:
        if op.doc:
            lines.append(f"// {op.doc}")
        for s in op.variants.values():
            lines.append(f"{s.cpp_return} {s.cpp_name}({s.params(defaults=True)});")
    lines += ["", "}  // namespace trine", ""]
    return "\n".join(lines)


def kernel_declarations(ops: list[Op]) -> str:
    """The functions that kernel files define: checked against the tables by the compiler."""
    lines = ["// What core/csrc/cpu, views and composite files have to define. Generated from core/ops/*.yaml; edit those.", "#pragma once"]
    lines += ['#include "trine/ops.h"', "", "namespace trine {", ""]
    for op in ops:
        s = op.schema
        if op.kind == "structured":
            lines.append(f"namespace cpu {{ void {op.kernel}({structured_params(s)}); }}")
        elif op.kind == "update":
            lines.append(f"namespace cpu {{ void {op.entry['update']}({s.params()}); }}")
        elif op.kind == "kernel":
            ret = "void" if s.returns == ("Self",) else s.cpp_return
            lines.append(f"namespace cpu {{ {ret} {op.kernel}({s.params()}); }}")
        elif op.kind in ("view", "composite") and "(" not in str(op.entry[op.kind]):
            space = {"view": "views", "composite": "composite"}[op.kind]
            lines.append(f"namespace {space} {{ {s.cpp_return} {op.entry[op.kind]}({s.params()}); }}")
    seen, unique = set(), []
    for line in lines:
        if not line.startswith("namespace ") or line not in seen or line == "namespace trine {":
            unique.append(line)
        seen.add(line)
    return "\n".join([*unique, "", "}  // namespace trine", ""])


def out_names(s: Schema) -> list[str]:
    if len(s.returns) == 1:
        return ["out"]
    return [f"out{i}" for i in range(len(s.returns))]


def structured_params(s: Schema) -> str:
    return ", ".join([f"Tensor& {n}" for n in out_names(s)] + ([s.params()] if s.args else []))


def has_backend(s: Schema) -> bool:
    """Whether arguments say on which device the operator runs."""
    return any(a.is_tensor or a.is_tensor_list or a.type == "device?" for a in s.args)


def kernel_signature(op: Op) -> tuple[str, str]:
    """Result and parameters of the function that a backend provides for an operator."""
    s = op.schema
    if op.kind == "structured":
        return "void", structured_params(s)
    return "void" if s.returns == ("Self",) else s.cpp_return, s.params()


def backend_declarations(ops: list[Op]) -> str:
    """How an out-of-tree device puts its kernels in place."""
    lines = [
        "// Where a device that is not part of Trine registers its kernels, one function per operator. Pointwise operators have one",
        "// function for all: register_pointwise_backend. Generated from core/ops/*.yaml; edit those.",
        "#pragma once",
    ]
    lines += ['#include "dispatch/pointwise.h"', '#include "trine/ops.h"', "", "namespace trine {", ""]
    for op in ops:
        if op.kind in ("structured", "kernel") and has_backend(op.schema):
            result, params = kernel_signature(op)
            lines.append(f"void register_kernel_{op.name}(DeviceType device, {result} (*kernel)({params}));")
    return "\n".join([*lines, "", "}  // namespace trine", ""])


def key_expr(s: Schema) -> str:
    keys = [f"key_of({a.name})" for a in s.args if a.is_tensor or a.is_tensor_list]
    keys += [f"device_key({a.name})" for a in s.args if a.type == "device?"]
    return " | ".join(keys) or "KeySet()"


def tensor_pointers(s: Schema) -> str:
    return "{" + ", ".join(f"&{a.name}" for a in s.args if a.is_tensor) + "}"


def common_device(op: Op, s: Schema) -> str:
    tensors = [a for a in s.args if a.is_tensor and not a.written]
    lists = [a for a in s.args if a.is_tensor_list and not a.written]
    if len(tensors) == 1 and not lists:
        return f"{tensors[0].name}.device()"
    if tensors:
        return f'common_device("{s.name}", ' + "{" + ", ".join(f"&{a.name}" for a in tensors) + "})"
    if lists:
        return f'common_device("{s.name}", {lists[0].name})'
    devices = [a for a in s.args if a.type == "device?"]
    return f"{devices[0].name}.value_or(Device{{}})" if devices else "Device{}"


class Emitter:
    """C++ text of one table's operators."""

    def __init__(self, table: str, ops: list[Op]):
        self.table, self.ops = table, ops
        self.out: list[str] = []

    def put(self, text: str = "") -> None:
        self.out.append(text)

    def text(self) -> str:
        self.put(f"// Operators of core/ops/{self.table}.yaml. Generated by core/codegen; edit the table.")
        self.put('#pragma GCC diagnostic ignored "-Wunused-parameter"')
        for h in (
            "autograd/declare.h",
            "batching/batched.h",
            "composite/helpers.h",
            "dispatch/boxing.h",
            "dispatch/pointwise.h",
            "dispatch/structured.h",
            "trine/kernels.h",
            "trine/rules.h",
        ):
            self.put(f'#include "{h}"')
        if any(op.kind == "view" for op in self.ops):
            self.put('#include "autograd/record.h"')
        self.put("\nnamespace trine {\n")
        for op in self.ops:
            for which, s in op.variants.items():
                self.variant(op, which, s)
        self.records()
        self.put("}  // namespace trine")
        return "\n".join(self.out) + "\n"

    # -- one variant -----------------------------------------------------------------------------------------------
    def variant(self, op: Op, which: str, s: Schema) -> None:
        params, call = s.params(), s.call_args()
        ret = s.cpp_return
        self.put(f"// {s.text}")
        if op.kind == "pointwise" and which == "functional":
            self.pointwise_def(op)
        elif op.kind in ("structured", "kernel") and which == "functional" and has_backend(s):
            result, kernel_params = kernel_signature(op)
            self.put(f"static {result} (*kernels_{op.name}[kNumBackends])({kernel_params}) = {{cpu::{op.kernel}}};")
            self.put(
                f"void register_kernel_{op.name}(DeviceType t, {result} (*fn)({kernel_params})) {{ kernels_{op.name}[static_cast<int>(t)] = fn; }}"
            )
        backend = f"backend_{s.id}"
        self.put(f"static {ret} {backend}({params}) {{")
        self.put(getattr(self, f"body_{op.kind}")(op, which, s))
        self.put("}")
        # Operators without a rule for gradients of their own pass straight through.
        direct = op.kind == "composite" and op.grad is None and which != "out"
        autograd = backend if direct else f"autograd::record_{s.id}"
        if not direct:
            self.put(f"namespace autograd {{ {ret} record_{s.id}({params}); }}")
        self.put(f"extern const OperatorInfo info_{s.id};")
        self.put(f"static {ret} mode_{s.id}({params}) {{")
        self.put(f"  const Value args[] = {{{', '.join(self.box(a) for a in s.args) or 'Value()'}}};")
        self.put(f"  Value results[{max(1, len(s.returns))}];")
        self.put(f"  mode_handler(select_key({key_expr(s)}))(info_{s.id}, args, results);")
        self.put(self.unbox_results(s))
        self.put("}")
        # Views carry lazy conjugation on, composite operators leave it to what they call.
        lazy = backend if op.kind in ("view", "composite") or op.entry.get("lazy", False) else f"mode_{s.id}"
        # Composite operators fall apart into others, which know what to do with a batch; those that must not are looped over.
        batched = backend if op.kind == "composite" and op.batching != "loop" and which != "out" else f"mode_{s.id}"
        if op.kind == "view" and which == "functional":
            # A view of a batched tensor is one of its base too: what is written to it reaches the base's history.
            batched = f"batched_{s.id}"
            origin = "ViewOrigin::MultipleOutputs" if s.returns == ("Tensor[]",) else "ViewOrigin::Default"
            self.put(f"static {ret} {batched}({params}) {{")
            self.put(f"  {ret} result = mode_{s.id}({call});")
            self.put(f"  if (!key_modes.excluded.has(Key::Autograd)) autograd::mark_view({s.args[0].name}, result, {origin});")
            self.put("  return result;\n}")
        # Within an autocast region only the operators that it casts for take the way through the boxed call.
        autocast = f"mode_{s.id}" if "autocast" in op.entry and which == "functional" else autograd
        table = [backend] * BACKENDS + [lazy] * LAZY + [batched, autograd, autocast] + [f"mode_{s.id}"] * MODES
        self.put(f"static {ret} (*const table_{s.id}[kNumKeys])({params}) = {{{', '.join(table)}}};")
        self.put(f"{ret} {s.cpp_name}({params}) {{ return table_{s.id}[static_cast<int>(select_key({key_expr(s)}))]({call}); }}")
        self.put(f"static void boxed_{s.id}([[maybe_unused]] const Value* a, [[maybe_unused]] Value* r) {{ {self.boxed_call(s)} }}\n")

    def box(self, a: Arg) -> str:
        if a.type == "Scalar":
            return f"Value(&{a.name})"
        if a.type == "Scalar?":
            return f"Value({a.name} ? &*{a.name} : nullptr)"
        if a.cpp_type.startswith(("std::optional", "const std::optional")):
            return f"({a.name} ? Value(*{a.name}) : Value())"
        return f"Value({a.name})"

    def unbox_results(self, s: Schema) -> str:
        take = {
            "Tensor": "take_tensor()",
            "Tensor[]": "take_list()",
            "bool": "to_bool()",
            "int": "to_int()",
            "float": "to_double()",
            "Scalar": "take_scalar()",
        }
        if s.returns == ("Self",):
            return f"  return {s.args[0].name};"
        if not s.returns or s.cpp_return == "void":
            return ""
        if s.is_out:
            items = ["out"] if len(s.returns) == 1 else [f"out[{i}]" for i in range(len(s.returns))]
        else:
            items = [f"results[{i}].{take[r]}" for i, r in enumerate(s.returns)]
        return f"  return {items[0]};" if len(items) == 1 else f"  return {{{', '.join(items)}}};"

    def boxed_call(self, s: Schema) -> str:
        order = {a.name: i for i, a in enumerate(s.args)}
        names = s.call_args().split(", ") if s.args else []
        args = []
        for n in names:
            a = s.args[order[n]]
            args.append(TYPES[a.type][2].format(a=f"a[{order[n]}]"))
        call = f"{s.cpp_name}({', '.join(args)})"
        if s.returns == ("Self",) or not s.returns:
            return f"{call};"
        own = {
            "Tensor": "Value::own({})",
            "Tensor[]": "Value::own({})",
            "Scalar": "Value::own({})",
            "bool": "Value({})",
            "int": "Value({})",
            "float": "Value({})",
        }
        if len(s.returns) == 1:
            return f"r[0] = {own[s.returns[0]].format(call)};"
        parts = " ".join(f"r[{i}] = {own[r].format(f'std::move(std::get<{i}>(t))')};" for i, r in enumerate(s.returns))
        return f"auto t = {call}; {parts}"

    # -- backend bodies --------------------------------------------------------------------------------------------
    def pointwise_def(self, op: Op) -> None:
        tensors = [a.name for a in op.tensor_args()]
        scalars = [a.name for a in op.scalar_args()]
        promote = op.entry.get("promote", [])
        raw = sum(1 << i for i, t in enumerate(tensors) if t in op.raw_args())
        mask = sum(1 << i for i, t in enumerate(scalars) if t in promote)
        complex_error = quote(op.entry["complex_error"]) if "complex_error" in op.entry else "nullptr"
        divisor = tensors.index(op.entry["divisor"]) if "divisor" in op.entry else -1
        self.put(f"PointwiseLoops loops_{op.name};")
        self.put(
            f"static const PointwiseDef def_{op.name} = {{{quote(op.schema.name)}, PointwiseRule::{op.entry['rule'].capitalize()}, {len(tensors)}, {raw}, {mask}, {len(scalars)}, {divisor}, &loops_{op.name}, {complex_error}}};"
        )

    def body_pointwise(self, op: Op, which: str, s: Schema) -> str:
        tensors = ", ".join(f"&{a.name}" for a in op.tensor_args())
        scalars = ", ".join(f"Scalar({a.name})" if a.type != "Scalar" else a.name for a in op.scalar_args())
        lines = [f"  const Tensor* const in[] = {{{tensors}}};"]
        if scalars:
            lines.append(f"  const Scalar scalars[] = {{{scalars}}};")
        sc = "scalars" if scalars else "nullptr"
        if which == "functional":
            lines.append(f"  return pointwise(def_{op.name}, in, {sc});")
        elif which == "out":
            lines += [f"  pointwise_out(def_{op.name}, out, in, {sc});", "  out.bump_version();", "  return out;"]
        else:
            lines += [f"  pointwise_inplace(def_{op.name}, self, in, {sc});", "  self.bump_version();", "  return self;"]
        return "\n".join(lines)

    def body_structured(self, op: Op, which: str, s: Schema) -> str:
        base = op.schema
        n = len(base.returns)
        args = ", ".join(a.name for a in base.args)
        lines = ["  using namespace rules;", f"  auto spec = {op.entry['rule']};"]
        dev = common_device(op, base)
        fetch = f"  auto* kernel = kernels_{op.name}[static_cast<int>(device.type)];\n  if (!kernel && device.type != DeviceType::Meta) missing_kernel({quote(base.name)}, static_cast<Key>(device.type));"
        if which == "functional":
            lines += [f"  Device device = {dev};", fetch]
            if n == 1:
                lines += [
                    "  Tensor out = allocate(spec, device);",
                    f"  if (kernel) kernel(out, {args});" if args else "  if (kernel) kernel(out);",
                    "  return out;",
                ]
            else:
                names = out_names(base)
                lines += [f"  Tensor {m} = allocate(spec[{i}], device);" for i, m in enumerate(names)]
                lines += [f"  if (kernel) kernel({', '.join(names)}, {args});", f"  return {{{', '.join(names)}}};"]
            return "\n".join(lines)
        inputs = "{" + ", ".join(f"&{a.name}" for a in base.args if a.is_tensor) + "}"
        if which == "inplace":
            lines += ["  Device device = self.device();", fetch]
            lines += [
                f"  OutTarget result({quote(s.name)}, self, spec, {inputs}, true);",
                f"  if (kernel) kernel(result.target(), {args});",
                "  result.finish();",
                "  self.bump_version();",
                "  return self;",
            ]
        elif n == 1:
            lines += ["  Device device = out.device();", fetch]
            lines += [
                f"  OutTarget result({quote(base.name)}, out, spec, {inputs});",
                f"  if (kernel) kernel(result.target(), {args});",
                "  result.finish();",
                "  out.bump_version();",
                "  return out;",
            ]
        else:
            lines += [
                f"  TRINE_CHECK(out.size() == {n}, {quote(base.name + ': out= needs a tuple of ' + str(n) + ' tensors, got ')}, out.size());",
                "  Device device = out[0].device();",
                fetch,
            ]
            for i in range(n):
                lines.append(f"  OutTarget result{i}({quote(base.name)}, out[{i}], spec[{i}], {inputs});")
            targets = ", ".join(f"result{i}.target()" for i in range(n))
            lines.append(f"  if (kernel) kernel({targets}, {args});")
            lines += [f"  result{i}.finish();\n  out[{i}].bump_version();" for i in range(n)]
            lines.append("  return {" + ", ".join(f"out[{i}]" for i in range(n)) + "};")
        return "\n".join(lines)

    def body_out_of(self, op: Op, s: Schema, call: str) -> str:
        """out= and in-place variants of operators that return fresh tensors."""
        if s.returns == ("Self",):
            return f"  copy_({s.args[0].name}, {call});\n  return {s.args[0].name};"
        n = len(s.returns)
        if n == 1:
            return f"  store_result({quote(s.name)}, out, {call});\n  return out;"
        lines = [
            f"  TRINE_CHECK(out.size() == {n}, {quote(s.name + ': out= needs a tuple of ' + str(n) + ' tensors, got ')}, out.size());",
            f"  auto t = {call};",
        ]
        lines += [f"  store_result({quote(s.name)}, out[{i}], std::get<{i}>(t));" for i in range(n)]
        lines.append("  return {" + ", ".join(f"out[{i}]" for i in range(n)) + "};")
        return "\n".join(lines)

    def body_kernel(self, op: Op, which: str, s: Schema) -> str:
        base = op.schema
        if which != "functional":
            return self.body_out_of(op, s, f"{base.cpp_name}({base.call_args()})")
        lines = []
        call = f"cpu::{op.kernel}({base.call_args()})"
        if any(a.is_tensor or a.is_tensor_list or a.type == "device?" for a in base.args):
            if base.returns == ("Self",):
                lines.append(f"  if ({base.args[0].name}.is_meta()) return {base.args[0].name};")
            lines.append(f"  Key key = backend_of({key_expr(base)});")
            if base.returns == ("Self",):
                lines.append("  if (key == Key::Meta) key = Key::CPU;  // its kernel says that a meta tensor has no values")
            lines.append(f"  auto* kernel = kernels_{op.name}[static_cast<int>(key)];")
            lines.append(f"  if (!kernel) missing_kernel({quote(base.name)}, key);")
            call = f"kernel({base.call_args()})"
        if base.returns == ("Self",):
            lines += [f"  {call};", f"  {base.args[0].name}.bump_version();", f"  return {base.args[0].name};"]
        elif not base.returns or base.cpp_return == "void":
            lines.append(f"  {call};")
        else:
            lines.append(f"  return {call};")
        return "\n".join(lines)

    def body_update(self, op: Op, which: str, s: Schema) -> str:
        """A kernel that changes its first argument: the functional form changes a copy, out= a copy in `out`."""
        base, name = op.schema, quote(s.name)
        target = {"functional": "result", "inplace": "self", "out": "out"}[which]
        lines = [f"  {{ using namespace rules; {op.entry['rule']}; }}"] if "rule" in op.entry else []
        lines.append(f"  Key key = static_cast<Key>({common_device_type(base)});")
        lines.append(f"  if (key != Key::CPU && key != Key::Meta) missing_kernel({name}, key);")
        if which == "functional":
            lines.append("  Tensor result = clone(self, std::nullopt);")
        else:
            lines.append(f"  check_writable({name}, {target});")
            lines += [f"  check_no_overlap({name}, {target}, {a.name});" for a in base.args[1:] if a.is_tensor or a.is_tensor_list]
        if which == "out":
            lines += [f"  if (!out.is_same(self)) {{ resize_output(out, self.sizes(), {name}); copy_(out, self); }}"]
        call = ", ".join([target] + [a.name for a in base.args[1:]])
        lines.append(f"  if (key == Key::CPU) cpu::{op.entry['update']}({call});")
        if which != "functional":
            lines.append(f"  {target}.bump_version();")
        return "\n".join([*lines, f"  return {target};"])

    def body_view(self, op: Op, which: str, s: Schema) -> str:
        v = str(op.entry["view"])
        if which != "functional":
            return self.body_out_of(op, s, f"{op.schema.cpp_name}({op.schema.call_args()})")
        call = v if "(" in v else f"views::{v}({s.call_args()})"
        origin = "ViewOrigin::MultipleOutputs" if s.returns == ("Tensor[]",) else "ViewOrigin::Default"
        # A tensor without history gets one when a differentiable value is written to a view of it.
        mark = f"if (!key_modes.excluded.has(Key::Autograd)) autograd::mark_view({s.args[0].name}, result, {origin});"
        return f"  auto result = {call};\n  {mark}\n  return result;"

    def body_composite(self, op: Op, which: str, s: Schema) -> str:
        c = str(op.entry["composite"])
        call = c if "(" in c else f"composite::{c}({op.schema.call_args()})"
        if which == "out" and isinstance(op.entry["out"], str):
            return f"  return {op.entry['out']};"
        if which != "functional":
            return self.body_out_of(op, s, f"{op.schema.cpp_name}({op.schema.call_args()})")
        return f"  {call};" if op.schema.cpp_return == "void" else f"  return {call};"

    # -- records ---------------------------------------------------------------------------------------------------
    def records(self) -> None:
        for op in self.ops:
            for s in op.variants.values():
                specs = []
                numbers = op.entry.get("numbers", op.kind == "pointwise" and len(op.tensor_args()) > 1)
                for a in s.args:
                    default = "nullptr" if a.default is None else quote(a.default)
                    specs.append(
                        f"{{{quote(a.name)}, ArgType::{TYPES[a.type][0]}, {a.list_size}, {str(a.type.endswith('?')).lower()}, {str(a.keyword_only).lower()}, {str(a.written).lower()}, {str(numbers and a.type == 'Tensor' and not a.written).lower()}, {default}}}"
                    )
                if specs:
                    self.put(f"static const ArgSpec args_{s.id}[] = {{\n    " + ",\n    ".join(specs) + "};")
                names = "nullptr"
                if s.return_names and len(s.returns) > 1:
                    self.put(f"static const char* const results_{s.id}[] = {{{', '.join(quote(n) for n in s.return_names)}}};")
                    names = f"results_{s.id}"
                kind = (
                    "Self"
                    if s.returns == ("Self",)
                    else "Void"
                    if not s.returns or s.cpp_return == "void"
                    else "Tensors"
                    if len(s.returns) > 1
                    else {"Tensor": "Tensor", "Tensor[]": "TensorList", "bool": "Bool", "int": "Int", "float": "Float", "Scalar": "Scalar"}[
                        s.returns[0]
                    ]
                )
                module = op.entry.get("module", "")
                python = "nullptr" if op.entry.get("function", True) is False and not op.entry.get("method") else quote(module)
                has_self = bool(s.args) and s.args[0].name == "self" and s.args[0].is_tensor
                method = op.entry.get("method", has_self and not module)
                if not op.entry.get("function", True):
                    python = quote("method")
                has_out = str(s.is_out).lower()
                batching = (op.batching or "loop").capitalize()
                autocast = str(op.entry.get("autocast", "none")).capitalize()
                self.put(
                    f"extern const OperatorInfo info_{s.id} = {{{quote(s.name)}, {quote(s.overload)}, {quote(s.text)}, {quote(op.doc)}, {'args_' + s.id if specs else 'nullptr'}, {len(specs)}, {max(1, len(s.returns))}, ReturnKind::{kind}, {names}, boxed_{s.id}, {python}, {str(bool(method)).lower()}, {has_out}, Batching::{batching}, Autocast::{autocast}}};"
                )
        ids = [s.id for op in self.ops for s in op.variants.values()]
        self.put(f"static const OperatorInfo* const infos_{self.table}[] = {{{', '.join('&info_' + i for i in ids)}}};")
        self.put(f"static const bool registered_{self.table} = (register_operators(infos_{self.table}), true);\n")


def common_device_type(s: Schema) -> str:
    tensors = [a for a in s.args if a.is_tensor]
    lists = [a for a in s.args if a.is_tensor_list]
    if tensors:
        return f"{tensors[0].name}.device().type"
    if lists:
        return f"({lists[0].name}.empty() ? DeviceType::CPU : {lists[0].name}[0].device().type)"
    device = next(a for a in s.args if a.type == "device?")
    return f"{device.name}.value_or(Device{{}}).type"
