#include "bindings/op_function.h"

#include <structmember.h>

#include <cstring>
#include <map>
#include <string>

#include "autograd/node.h"
#include "bindings/types.h"

namespace trine::py {
namespace {

struct OpFunction {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  const OperatorInfo* const* overloads;
  int count;
  bool as_method;
  const char* name;
  const char* module;
};

PyTypeObject* function_type = nullptr;  // trine.add
PyTypeObject* method_type = nullptr;    // Tensor.add: binds when looked up on an instance
std::map<std::string, PyObject*>& functions() {
  static auto* m = new std::map<std::string, PyObject*>;
  return *m;
}

// One result a line, as PyTorch prints them.
PyObject* result_tuple_repr(PyObject* self) {
  return guarded([&]() -> PyObject* {
    PyMemberDef* members = Py_TYPE(self)->tp_members;
    std::string out = std::string(Py_TYPE(self)->tp_name) + "(";
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); i++) {
      Ref text = checked(PyObject_Repr(PyTuple_GET_ITEM(self, i)));
      const char* utf8 = PyUnicode_AsUTF8(text.get());
      if (!utf8) throw PythonError{};
      out += std::string(i ? ",\n" : "\n") + members[i].name + "=" + utf8;
    }
    return string(out + ")").release();
  });
}

// Result tuples with names, as torch.max(...).values: one type per operator, made when first needed.
PyTypeObject* result_tuple_type(const OperatorInfo& op) {
  static auto* types = new std::map<std::string, PyTypeObject*>;
  std::string key = op.name;
  for (int i = 0; i < op.num_results; i++) key += std::string(" ") + op.result_names[i];
  auto it = types->find(key);
  if (it != types->end()) return it->second;
  auto* fields = new PyStructSequence_Field[op.num_results + 1]();
  for (int i = 0; i < op.num_results; i++) fields[i].name = op.result_names[i];
  auto* type_name = new std::string(std::string("torch.return_types.") + op.name);
  PyStructSequence_Desc desc = {type_name->c_str(), nullptr, fields, op.num_results};
  PyTypeObject* t = PyStructSequence_NewType(&desc);
  if (!t) throw PythonError{};
  t->tp_repr = result_tuple_repr;
  return (*types)[key] = t;
}

constexpr int64_t kLarge = 32 * 1024;  // elements from which the interpreter lock is worth giving up

bool is_large(const OperatorInfo& op, const Value* v) {
  for (int i = 0; i < op.num_args; i++)
    if (v[i].tag() == Tag::Tensor && v[i].tensor().numel() >= kLarge) return true;
  return false;
}

PyObject* run(const OperatorInfo& op, Call& call, PyObject* const* args) {
  Value results[8];
  if (is_large(op, call.values)) {
    GilRelease unlocked;
    op.boxed(call.values, results);
  } else {
    op.boxed(call.values, results);
  }
  if (op.has_out) {
    if (op.returns == ReturnKind::Tensors)
      for (int i = 0; i < op.num_results; i++) results[i].take_tensor();
    else
      results[0].take_tensor();
    return Py_NewRef(call.out);
  }
  if (op.returns == ReturnKind::Tensor) {
    Tensor t = results[0].take_tensor();
    if (call.factory.requires_grad) set_requires_grad(t, true);
    return wrap(std::move(t));
  }
  return wrap_result(op, results, args ? args[0] : nullptr).release();
}

// Python's tuple and dict of a vectorcall.
Ref positional_tuple(PyObject* const* args, Py_ssize_t n) {
  Ref t = checked(PyTuple_New(n));
  for (Py_ssize_t i = 0; i < n; i++) PyTuple_SET_ITEM(t.get(), i, Py_NewRef(args[i]));
  return t;
}
Ref keyword_dict(PyObject* const* values, PyObject* names) {
  Ref d = checked(PyDict_New());
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++)
    if (PyDict_SetItem(d.get(), PyTuple_GET_ITEM(names, i), values[i]) < 0) throw PythonError{};
  return d;
}

PyObject* op_vectorcall(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  auto* f = reinterpret_cast<OpFunction*>(self);
  return call_overloads(f->name, {f->overloads, static_cast<size_t>(f->count)}, self, args, PyVectorcall_NARGS(nargsf), kwnames, f->as_method);
}

PyObject* op_bind(PyObject* self, PyObject* obj, PyObject*) { return obj && obj != Py_None ? PyMethod_New(self, obj) : Py_NewRef(self); }

PyObject* op_repr(PyObject* self) {
  auto* f = reinterpret_cast<OpFunction*>(self);
  return PyUnicode_FromFormat(f->as_method ? "<method '%s' of 'trine.Tensor' objects>" : "<built-in function %s>", f->name);
}

PyObject* op_doc(PyObject* self, void*) {
  auto* f = reinterpret_cast<OpFunction*>(self);
  std::string text;
  for (int i = 0; i < f->count; i++)
    if (!f->overloads[i]->has_out) text += std::string(f->overloads[i]->schema) + "\n";
  return string(text + "\n" + f->overloads[0]->doc).release();
}
PyObject* op_schemas(PyObject* self, void*) {
  auto* f = reinterpret_cast<OpFunction*>(self);
  PyObject* t = PyTuple_New(f->count);
  for (int i = 0; t && i < f->count; i++) PyTuple_SET_ITEM(t, i, PyUnicode_FromString(f->overloads[i]->schema));
  return t;
}
PyObject* op_name(PyObject* self, void*) { return PyUnicode_FromString(reinterpret_cast<OpFunction*>(self)->name); }
PyObject* op_module_of(PyObject* self, void*) {
  const char* m = reinterpret_cast<OpFunction*>(self)->module;
  return PyUnicode_FromFormat("trine%s%s", *m && std::strcmp(m, "method") ? "." : "", std::strcmp(m, "method") ? m : "");
}
PyObject* op_table_module(PyObject* self, void*) { return PyUnicode_FromString(reinterpret_cast<OpFunction*>(self)->module); }
PyObject* op_reduce(PyObject* self, PyObject*) {
  auto* f = reinterpret_cast<OpFunction*>(self);
  Ref module = Ref(PyImport_ImportModule("trine._C"));
  if (!module) return nullptr;
  Ref getter(PyObject_GetAttrString(module.get(), f->as_method ? "_operator_method" : "_operator"));
  return getter ? Py_BuildValue("(O(s))", getter.get(), f->name) : nullptr;
}

PyGetSetDef op_properties[] = {{"__doc__", op_doc, nullptr, nullptr, nullptr},   {"__name__", op_name, nullptr, nullptr, nullptr},
                               {"__qualname__", op_name, nullptr, nullptr, nullptr}, {"__module__", op_module_of, nullptr, nullptr, nullptr},
                               {"schemas", op_schemas, nullptr, nullptr, nullptr}, {"module", op_table_module, nullptr, nullptr, nullptr}, {}};
PyMethodDef op_methods[] = {{"__reduce__", op_reduce, METH_NOARGS, nullptr}, {}};
PyMemberDef op_members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(OpFunction, vectorcall), READONLY, nullptr}, {}};

PyTypeObject* make_op_type(const char* name, bool method) {
  PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)}, {Py_tp_repr, reinterpret_cast<void*>(op_repr)}, {Py_tp_getset, op_properties}, {Py_tp_methods, op_methods},
                         {Py_tp_members, op_members}, {method ? Py_tp_descr_get : 0, reinterpret_cast<void*>(op_bind)}, {0, nullptr}};
  unsigned long flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  if (method) flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
  PyType_Spec spec = {name, sizeof(OpFunction), 0, static_cast<unsigned>(flags), slots};
  return reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
}

Ref new_function(PyTypeObject* type, const char* name, const std::vector<const OperatorInfo*>& overloads) {
  Ref r = checked(type->tp_alloc(type, 0));
  auto* f = reinterpret_cast<OpFunction*>(r.get());
  auto* list = new const OperatorInfo*[overloads.size()];
  std::copy(overloads.begin(), overloads.end(), list);
  f->vectorcall = op_vectorcall;
  f->overloads = list;
  f->count = static_cast<int>(overloads.size());
  f->as_method = type == method_type;
  f->name = name;
  f->module = overloads[0]->python_module;
  return r;
}

std::string python_signature(const OperatorInfo& op) {
  std::string s = op.schema;
  return s.substr(s.find('('), s.rfind(" ->") - s.find('('));
}

}  // namespace

Ref wrap_result(const OperatorInfo& op, Value* results, PyObject* self) {
  switch (op.returns) {
    case ReturnKind::Void: return Ref(none());
    case ReturnKind::Self: return self && is_tensor(self) ? Ref::borrow(self) : Ref(none());
    case ReturnKind::Tensor: return Ref(wrap(results[0].take_tensor()));
    case ReturnKind::Bool: return Ref(boolean(results[0].to_bool()));
    case ReturnKind::Int: return checked(PyLong_FromLongLong(results[0].to_int()));
    case ReturnKind::Float: return checked(PyFloat_FromDouble(results[0].to_double()));
    case ReturnKind::Scalar: {
      Scalar s = results[0].take_scalar();
      if (s.is_bool()) return Ref(boolean(s.to<bool>()));
      if (s.is_integral()) return checked(PyLong_FromLongLong(s.to_int()));
      if (s.is_floating()) return checked(PyFloat_FromDouble(s.to_double()));
      return checked(PyComplex_FromDoubles(s.to_complex().real(), s.to_complex().imag()));
    }
    case ReturnKind::TensorList: {
      std::vector<Tensor> list = results[0].take_list();
      Ref t = checked(PyTuple_New(static_cast<Py_ssize_t>(list.size())));
      for (size_t i = 0; i < list.size(); i++) PyTuple_SET_ITEM(t.get(), i, wrap(list[i]));
      return t;
    }
    case ReturnKind::Tensors: {
      if (!op.result_names) {
        Ref t = checked(PyTuple_New(op.num_results));
        for (int i = 0; i < op.num_results; i++) PyTuple_SET_ITEM(t.get(), i, wrap(results[i].take_tensor()));
        return t;
      }
      Ref t = checked(PyStructSequence_New(result_tuple_type(op)));
      for (int i = 0; i < op.num_results; i++) PyStructSequence_SET_ITEM(t.get(), i, wrap(results[i].take_tensor()));
      return t;
    }
  }
  return Ref(none());
}

PyObject* call_torch_function(PyObject* callable, std::span<PyObject* const> overriding, PyObject* args, PyObject* kwargs) {
  struct Popped {
    Ref mode = torch_function_mode_active() ? pop_torch_function_mode() : Ref();
    ~Popped() {
      if (mode) push_torch_function_mode(mode.get());
    }
  };
  // Subclasses come before their base classes, otherwise left to right; each type once.
  SmallVector<PyObject*, 4> order;
  for (PyObject* o : overriding) {
    bool seen = false;
    for (PyObject* p : order) seen |= Py_TYPE(p) == Py_TYPE(o);
    if (seen) continue;
    size_t at = order.size();
    for (size_t i = 0; i < order.size(); i++)
      if (PyType_IsSubtype(Py_TYPE(o), Py_TYPE(order[i]))) {
        at = i;
        break;
      }
    order.insert(at, o);
  }
  Ref types = checked(PyTuple_New(static_cast<Py_ssize_t>(order.size())));
  for (size_t i = 0; i < order.size(); i++) PyTuple_SET_ITEM(types.get(), i, Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(order[i]))));
  if (Popped popped; popped.mode) {
    Ref handler = checked(PyObject_GetAttrString(popped.mode.get(), "__torch_function__"));
    Ref r = checked(PyObject_CallFunctionObjArgs(handler.get(), callable, types.get(), args, kwargs, nullptr));
    if (r.get() != Py_NotImplemented) return r.release();
  }
  for (PyObject* o : order) {
    Ref handler = checked(PyObject_GetAttrString(o, "__torch_function__"));
    Ref r = checked(PyObject_CallFunctionObjArgs(handler.get(), callable, types.get(), args, kwargs, nullptr));
    if (r.get() != Py_NotImplemented) return r.release();
  }
  Ref name = optional_attribute(callable, "__name__");
  PyErr_Format(PyExc_TypeError, "no implementation found for 'torch.%S' on types that implement __torch_function__: %R", name ? name.get() : callable, types.get());
  return nullptr;
}

PyObject* ask_torch_function_mode(PyObject* callable, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  Ref tuple = positional_tuple(args, nargs), dict = keyword_dict(args + nargs, kwnames);
  return call_torch_function(callable, overriding_arguments(args, nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0)), tuple.get(), dict.get());
}

PyObject* call_overloads(const char* name, std::span<const OperatorInfo* const> overloads, PyObject* callable, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, bool as_method) {
  return guarded([&]() -> PyObject* {
    if (torch_function_mode_active()) return ask_torch_function_mode(callable, args, nargs, kwnames);
    bool wants_out = false;
    if (kwnames)
      for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(kwnames); k++)
        wants_out |= PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, k), "out") == 0 && args[nargs + k] != Py_None;
    for (const OperatorInfo* op : overloads) {
      if (op->has_out != wants_out) continue;
      Call call;
      if (!parse(*op, args, nargs, kwnames, as_method, call, nullptr)) continue;
      if (!call.overriding.empty()) {
        Ref tuple = positional_tuple(args, nargs), dict = keyword_dict(args + nargs, kwnames);
        return call_torch_function(callable, call.overriding, tuple.get(), dict.get());
      }
      return run(*op, call, args);
    }
    // Nothing fits: say why, for the one form there is, or list the forms.
    std::string message, why;
    size_t forms = 0;
    for (const OperatorInfo* op : overloads) forms += op->has_out == wants_out;
    if (forms == 0) throw_error(ErrorKind::Type, str(name, "(): got an unexpected keyword argument 'out'"));
    if (forms == 1) {
      for (const OperatorInfo* op : overloads) {
        if (op->has_out != wants_out) continue;
        Call call;
        parse(*op, args, nargs, kwnames, as_method, call, &why);
      }
      throw_error(ErrorKind::Type, str(name, "(): ", why));
    }
    message = str(name, "() received an invalid combination of arguments - got (");
    for (Py_ssize_t i = as_method ? 1 : 0; i < nargs; i++) message += str(i > (as_method ? 1 : 0) ? ", " : "", Py_TYPE(args[i])->tp_name);
    for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); k++)
      message += str(nargs + k > 0 ? ", " : "", PyUnicode_AsUTF8(PyTuple_GET_ITEM(kwnames, k)), "=", Py_TYPE(args[nargs + k])->tp_name);
    message += "), but expected one of:";
    for (const OperatorInfo* op : overloads) {
      if (op->has_out != wants_out) continue;
      Call call;
      why.clear();
      parse(*op, args, nargs, kwnames, as_method, call, &why);
      message += str("\n * ", python_signature(*op), "\n      ", why);
    }
    throw_error(ErrorKind::Type, message);
  });
}

PyObject* operator_function(const char* name) {
  auto it = functions().find(name);
  return it == functions().end() ? nullptr : it->second;
}

void add_operators(PyObject* module) {
  function_type = make_op_type("trine._C.OperatorFunction", false);
  method_type = make_op_type("trine._C.OperatorMethod", true);
  std::map<std::string, std::vector<const OperatorInfo*>> by_name;
  std::map<std::string, bool> methods;
  for (const OperatorInfo* op : all_operators()) {
    by_name[op->name].push_back(op);
    methods[op->name] |= op->is_method;
  }
  Ref ops = checked(PyDict_New());
  for (auto& [name, overloads] : by_name) {
    const char* stable = overloads[0]->name;
    Ref f = new_function(function_type, stable, overloads);
    functions()[name] = f.get();
    if (PyDict_SetItemString(ops.get(), stable, f.get()) < 0) throw PythonError{};
    if (!methods[name]) continue;
    // Properties (x.real) are not covered by operators of the same name.
    if (PyDict_GetItemString(tensor_type->tp_dict, stable)) continue;
    std::vector<const OperatorInfo*> of_method;
    for (const OperatorInfo* op : overloads)
      if (op->is_method) of_method.push_back(op);
    Ref m = new_function(method_type, stable, of_method);
    if (PyObject_SetAttrString(reinterpret_cast<PyObject*>(tensor_type), stable, m.get()) < 0) throw PythonError{};
  }
  if (PyModule_AddObjectRef(module, "ops", ops.get()) < 0) throw PythonError{};
}

}  // namespace trine::py
