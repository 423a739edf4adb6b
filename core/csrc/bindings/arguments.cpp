#include "bindings/arguments.h"

#include <cstring>

#include "bindings/types.h"

namespace trine::py {

constinit thread_local bool torch_function_enabled = true;
constinit thread_local bool in_torch_function_mode = false;
constinit thread_local bool has_default_device = false;

namespace {
// Behind a pointer: the static thread-local block is small, and shared by every library of the process.
struct ThreadModes {
  std::vector<PyObject*> functions;           // references of their own, which a thread that ends inside a mode keeps
  std::optional<Device> device;               // for the thread
  std::vector<std::optional<Device>> devices;  // what the regions around hid
};
thread_local std::unique_ptr<ThreadModes> thread_modes;
ThreadModes& modes() {
  if (!thread_modes) thread_modes = std::make_unique<ThreadModes>();
  return *thread_modes;
}
}  // namespace

void push_torch_function_mode(PyObject* mode) {
  modes().functions.push_back(Py_NewRef(mode));
  in_torch_function_mode = true;
}
Ref pop_torch_function_mode() {
  if (!thread_modes || thread_modes->functions.empty()) return {};
  PyObject* top = thread_modes->functions.back();
  thread_modes->functions.pop_back();
  in_torch_function_mode = !thread_modes->functions.empty();
  return Ref(top);
}

std::optional<Device> default_device() { return has_default_device ? thread_modes->device : std::nullopt; }
void set_default_device(std::optional<Device> device) {
  // Regions end with what was set before them, so the outermost remembers a setting made inside.
  if (modes().devices.empty()) modes().device = device;
  else modes().devices.front() = device;
  has_default_device = modes().device.has_value();
}
void push_default_device(Device device) {
  modes().devices.push_back(std::exchange(modes().device, device));
  has_default_device = true;
}
void pop_default_device() {
  if (modes().devices.empty()) return;
  modes().device = modes().devices.back();
  modes().devices.pop_back();
  has_default_device = modes().device.has_value();
}

namespace {

bool is_numpy_scalar(PyObject* o) {
  const char* name = Py_TYPE(o)->tp_name;
  return std::strncmp(name, "numpy.", 6) == 0 && std::strcmp(name, "numpy.ndarray") != 0 && PyNumber_Check(o);
}

bool is_int(PyObject* o) {
  if (PyLong_Check(o)) return !PyBool_Check(o);
  if (PyFloat_Check(o)) return false;
  if (is_tensor(o)) {
    const Tensor& t = unwrap(o);
    return t.dim() == 0 && is_integral(t.dtype(), false);
  }
  return PyIndex_Check(o);
}

int64_t to_int(PyObject* o) {
  if (PyLong_CheckExact(o)) {
    int64_t v = PyLong_AsLongLong(o);
    if (v == -1 && PyErr_Occurred()) throw PythonError{};
    return v;
  }
  Ref index = checked(PyNumber_Index(o));
  int64_t v = PyLong_AsLongLong(index.get());
  if (v == -1 && PyErr_Occurred()) throw PythonError{};
  return v;
}

bool is_float(PyObject* o) { return PyFloat_Check(o) || (PyLong_Check(o) && !PyBool_Check(o)) || is_numpy_scalar(o) || (is_tensor(o) && unwrap(o).dim() == 0); }

double to_float(PyObject* o) {
  double v = PyFloat_AsDouble(o);
  if (v == -1 && PyErr_Occurred()) throw PythonError{};
  return v;
}

bool is_bool(PyObject* o) { return PyBool_Check(o) || std::strcmp(Py_TYPE(o)->tp_name, "numpy.bool") == 0 || std::strcmp(Py_TYPE(o)->tp_name, "numpy.bool_") == 0; }

bool is_sequence(PyObject* o) { return PyTuple_Check(o) || PyList_Check(o); }
Py_ssize_t length(PyObject* o) { return PyTuple_Check(o) ? PyTuple_GET_SIZE(o) : PyList_GET_SIZE(o); }
PyObject* element(PyObject* o, Py_ssize_t i) { return PyTuple_Check(o) ? PyTuple_GET_ITEM(o, i) : PyList_GET_ITEM(o, i); }

const char* expected(const ArgSpec& a) {
  switch (a.type) {
    case ArgType::Tensor:
    case ArgType::OptionalTensor: return "Tensor";
    case ArgType::TensorList:
    case ArgType::OptionalTensorList: return "tuple of Tensors";
    case ArgType::Int: return "int";
    case ArgType::IntList: return "tuple of ints";
    case ArgType::Float: return "float";
    case ArgType::FloatList: return "tuple of floats";
    case ArgType::Bool: return "bool";
    case ArgType::BoolList: return "tuple of bools";
    case ArgType::Scalar: return "Number";
    case ArgType::ScalarList: return "tuple of Numbers";
    case ArgType::String: return "str";
    case ArgType::DType: return "torch.dtype";
    case ArgType::Device: return "torch.device";
    case ArgType::MemoryFormat: return "torch.memory_format";
    case ArgType::Generator: return "torch.Generator";
    case ArgType::Layout: return "torch.layout";
  }
  return "?";
}

bool take_tensor(PyObject* o, const ArgSpec& a, Call& call, Value& out) {
  if (is_exact_tensor(o)) {
    out = Value(unwrap(o));
    return true;
  }
  if (is_tensor(o)) {
    if (has_torch_function(o)) call.overriding.push_back(o);
    out = Value(unwrap(o));
    return true;
  }
  if (a.accepts_number && is_number(o)) {
    out = Value(call.arena.tensor(wrapped_number(to_scalar(o))));
    return true;
  }
  if (!PyLong_Check(o) && !PyFloat_Check(o) && has_torch_function(o)) {
    call.overriding.push_back(o);
    return true;
  }
  return false;
}

bool take_ints(PyObject* const* items, Py_ssize_t n, Call& call, Value& out) {
  int64_t* p = call.arena.ints(static_cast<size_t>(n));
  for (Py_ssize_t i = 0; i < n; i++) {
    if (!is_int(items[i])) return false;
    p[i] = to_int(items[i]);
  }
  out = Value(DimsRef(p, static_cast<size_t>(n)));
  return true;
}

bool take(PyObject* o, const ArgSpec& a, Call& call, Value& out) {
  if (o == Py_None) {
    if (a.nullable || a.type == ArgType::OptionalTensor || (a.default_text && !std::strcmp(a.default_text, "None"))) {
      out = Value();
      return true;
    }
    return false;
  }
  switch (a.type) {
    case ArgType::Tensor:
    case ArgType::OptionalTensor: return take_tensor(o, a, call, out);
    case ArgType::TensorList:
    case ArgType::OptionalTensorList: {
      if (!is_sequence(o)) return false;
      std::vector<Tensor>& list = call.arena.tensor_list();
      list.reserve(static_cast<size_t>(length(o)));
      for (Py_ssize_t i = 0; i < length(o); i++) {
        PyObject* item = element(o, i);
        Value v;
        if (item == Py_None && a.type == ArgType::OptionalTensorList)
          list.emplace_back();
        else if (take_tensor(item, a, call, v))
          list.push_back(v.tensor());
        else
          return false;
      }
      out = Value(TensorList(list));
      return true;
    }
    case ArgType::Int:
      if (!is_int(o)) return false;
      out = Value(to_int(o));
      return true;
    case ArgType::IntList:
      if (is_sequence(o)) return take_ints(PySequence_Fast_ITEMS(o), length(o), call, out);
      if (a.list_size > 0 && is_int(o)) {
        int64_t* p = call.arena.ints(static_cast<size_t>(a.list_size));
        std::fill_n(p, a.list_size, to_int(o));
        out = Value(DimsRef(p, static_cast<size_t>(a.list_size)));
        return true;
      }
      return false;
    case ArgType::Float:
      if (!is_float(o)) return false;
      out = Value(to_float(o));
      return true;
    case ArgType::FloatList: {
      if (!is_sequence(o)) return false;
      std::vector<double>& list = call.arena.doubles();
      for (Py_ssize_t i = 0; i < length(o); i++) {
        if (!is_float(element(o, i))) return false;
        list.push_back(to_float(element(o, i)));
      }
      out = Value(std::span<const double>(list));
      return true;
    }
    case ArgType::Bool:
      if (!is_bool(o)) return false;
      out = Value(PyObject_IsTrue(o) == 1);
      return true;
    case ArgType::Scalar:
      if (!is_number(o)) {
        if (!is_tensor(o) || unwrap(o).dim() != 0) return false;
        out = Value(call.arena.scalar(item(unwrap(o))));
        return true;
      }
      out = Value(call.arena.scalar(to_scalar(o)));
      return true;
    case ArgType::String: {
      if (!PyUnicode_Check(o)) return false;
      Py_ssize_t n;
      const char* s = PyUnicode_AsUTF8AndSize(o, &n);
      if (!s) throw PythonError{};
      out = Value(std::string_view(s, static_cast<size_t>(n)));
      return true;
    }
    case ArgType::DType:
      if (!is_dtype(o)) return false;
      out = Value(to_dtype(o));
      return true;
    case ArgType::Device:
      if (!is_device(o)) return false;
      out = Value(to_device(o));
      return true;
    case ArgType::MemoryFormat:
      if (Py_TYPE(o) != memory_format_type) return false;
      out = Value(to_memory_format(o));
      return true;
    case ArgType::Generator:
      if (Py_TYPE(o) != generator_type) return false;
      out = Value(unwrap_generator(o));
      return true;
    default: return false;
  }
}

// The value of a schema's default. The texts are the table's own, so their forms are few.
void take_default(const ArgSpec& a, Call& call, Value& out) {
  if (a.default_text[0] == 'N') {  // None: no other default starts so
    out = Value();
    return;
  }
  std::string_view d = a.default_text;
  switch (a.type) {
    case ArgType::Int: out = Value(static_cast<int64_t>(std::strtoll(a.default_text, nullptr, 10))); return;
    case ArgType::Float: out = Value(std::strtod(a.default_text, nullptr)); return;
    case ArgType::Bool: out = Value(d == "True"); return;
    case ArgType::Scalar:
      if (d.find_first_of(".e") == d.npos)
        out = Value(call.arena.scalar(Scalar(static_cast<int64_t>(std::strtoll(a.default_text, nullptr, 10)))));
      else
        out = Value(call.arena.scalar(Scalar(std::strtod(a.default_text, nullptr))));
      return;
    case ArgType::String: out = Value(d.substr(1, d.size() - 2)); return;
    case ArgType::MemoryFormat:
      out = Value(d == "Preserve" ? MemoryFormat::Preserve : d == "ChannelsLast" ? MemoryFormat::ChannelsLast : MemoryFormat::Contiguous);
      return;
    case ArgType::IntList: {
      size_t n = 0;
      int64_t parsed[16];
      const char* p = a.default_text;
      if (*p == '[') {
        p++;
        while (*p && *p != ']' && n < 16) {
          char* end;
          parsed[n++] = std::strtoll(p, &end, 10);
          p = *end == ',' ? end + 1 : end;
        }
      } else {
        parsed[n++] = std::strtoll(p, nullptr, 10);
      }
      size_t count = n == 1 && a.list_size > 1 ? static_cast<size_t>(a.list_size) : n;
      int64_t* out_ints = call.arena.ints(count);
      for (size_t i = 0; i < count; i++) out_ints[i] = parsed[n == 1 ? 0 : i];
      out = Value(DimsRef(out_ints, count));
      return;
    }
    default: out = Value(); return;
  }
}

bool name_matches(const char* spec, PyObject* given) {
  if (PyUnicode_CompareWithASCIIString(given, spec) == 0) return true;
  // `self` is called `input` in the functional form; NumPy's spellings are taken too.
  static const struct {
    const char *spec, *alias;
  } aliases[] = {{"self", "input"}, {"dim", "axis"}, {"keepdim", "keepdims"}, {"self", "x"}, {"other", "x2"}};
  for (auto& a : aliases)
    if (!std::strcmp(spec, a.spec) && PyUnicode_CompareWithASCIIString(given, a.alias) == 0) return true;
  return false;
}

}  // namespace

bool is_number(PyObject* o) { return PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) || is_numpy_scalar(o); }

Scalar to_scalar(PyObject* o) {
  if (PyFloat_Check(o)) return Scalar(PyFloat_AS_DOUBLE(o));
  if (PyBool_Check(o)) return Scalar(o == Py_True);
  if (PyLong_Check(o)) {
    int overflow;
    int64_t v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow) {
      double d = PyLong_AsDouble(o);
      if (d == -1 && PyErr_Occurred()) throw PythonError{};
      if (overflow > 0 && d < 18446744073709551616.0) throw_error(ErrorKind::Runtime, "value cannot be converted to type int64_t without overflow");
      throw_error(ErrorKind::Runtime, "Overflow when unpacking long");
    }
    return Scalar(v);
  }
  if (PyComplex_Check(o)) return Scalar(cdouble(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)));
  if (is_bool(o)) return Scalar(PyObject_IsTrue(o) == 1);
  if (PyIndex_Check(o)) return Scalar(to_int(o));
  if (std::strstr(Py_TYPE(o)->tp_name, "complex")) {
    Py_complex c = PyComplex_AsCComplex(o);
    if (PyErr_Occurred()) throw PythonError{};
    return Scalar(cdouble(c.real, c.imag));
  }
  return Scalar(to_float(o));
}

bool has_torch_function(PyObject* o) {
  if (!torch_function_enabled || is_exact_tensor(o)) return false;
  static PyObject* const name = PyUnicode_InternFromString("__torch_function__");
  PyObject* attr = _PyType_Lookup(Py_TYPE(o), name);
  if (!attr || attr == Py_None) return false;
  static PyObject* const disabled_name = PyUnicode_InternFromString("_disabled_torch_function_impl");
  (void)disabled_name;
  return !(PyCFunction_Check(attr) && !std::strcmp(reinterpret_cast<PyCFunctionObject*>(attr)->m_ml->ml_name, "_disabled_torch_function_impl"));
}

SmallVector<PyObject*, 2> overriding_arguments(PyObject* const* args, Py_ssize_t n) {
  SmallVector<PyObject*, 2> found;
  for (Py_ssize_t i = 0; i < n; i++) {
    if (has_torch_function(args[i])) found.push_back(args[i]);
    if (!PyList_Check(args[i]) && !PyTuple_Check(args[i])) continue;
    for (Py_ssize_t k = 0; k < length(args[i]); k++)
      if (has_torch_function(element(args[i], k))) found.push_back(element(args[i], k));
  }
  return found;
}

bool parse(const OperatorInfo& op, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, bool as_method, Call& call, std::string* why) {
  Py_ssize_t nkw = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  int positional = 0;
  for (int i = 0; i < op.num_args; i++) positional += !op.args[i].keyword_only;
  Py_ssize_t used_kw = 0;
  Py_ssize_t at = 0;
  bool factory = false;
  bool varargs = false;
  for (int i = 0; i < op.num_args; i++) {
    const ArgSpec& a = op.args[i];
    factory |= a.type == ArgType::Device;
    PyObject* given = nullptr;
    if (!a.keyword_only && at < nargs) {
      given = args[at];
      // view(2, 3): a list of ints as the only positional argument may be spread out.
      bool only = positional == (as_method ? 2 : 1) && i == (as_method ? 1 : 0);
      if (a.type == ArgType::IntList && only && !is_sequence(given) && given != Py_None && is_int(given)) {
        if (!take_ints(args + at, nargs - at, call, call.values[i])) {
          if (why) *why = str("argument '", a.name, "' must be tuple of ints");
          return false;
        }
        at = nargs;
        varargs = true;
        continue;
      }
      at++;
    } else if (nkw) {
      for (Py_ssize_t k = 0; k < nkw; k++)
        if (name_matches(a.name, PyTuple_GET_ITEM(kwnames, k))) {
          given = args[nargs + k];
          used_kw++;
          break;
        }
    }
    if (!given) {
      if (!a.default_text && !(a.written && a.keyword_only)) {
        if (why) *why = str("missing required argument '", i == 0 && !as_method && !std::strcmp(a.name, "self") ? "input" : a.name, "' (position ", i + (as_method ? 0 : 1), ")");
        return false;
      }
      if (a.written && a.keyword_only) {
        if (why) *why = "missing required argument 'out'";
        return false;
      }
      take_default(a, call, call.values[i]);
      continue;
    }
    if (a.written && a.keyword_only) call.out = given;
    if (!take(given, a, call, call.values[i])) {
      if (why)
        *why = str("argument '", i == 0 && !as_method && !std::strcmp(a.name, "self") ? "input" : a.name, "' (position ", i + (as_method ? 0 : 1), ") must be ", expected(a), ", not ", Py_TYPE(given)->tp_name);
      return false;
    }
  }
  (void)varargs;
  if (has_default_device && factory && op.args[0].type != ArgType::Tensor)
    for (int i = 0; i < op.num_args; i++)
      if (op.args[i].type == ArgType::Device && call.values[i].tag() == Tag::None) call.values[i] = Value(*default_device());
  if (at < nargs) {
    if (why) *why = str("takes ", positional - as_method, " positional arguments but ", nargs - as_method, nargs - as_method == 1 ? " was given" : " were given");
    return false;
  }
  if (used_kw < nkw) {
    for (Py_ssize_t k = 0; k < nkw; k++) {
      PyObject* name = PyTuple_GET_ITEM(kwnames, k);
      bool known = false;
      for (int i = 0; i < op.num_args && !known; i++) known = name_matches(op.args[i].name, name);
      if (known) {
        // Named and positional at once, unless every use was counted.
        continue;
      }
      PyObject* v = args[nargs + k];
      if (factory && PyUnicode_CompareWithASCIIString(name, "requires_grad") == 0) {
        int on = PyObject_IsTrue(v);
        if (on < 0) throw PythonError{};
        call.factory.requires_grad = on;
      } else if ((factory && (PyUnicode_CompareWithASCIIString(name, "layout") == 0 || PyUnicode_CompareWithASCIIString(name, "pin_memory") == 0)) ||
                 (PyUnicode_CompareWithASCIIString(name, "out") == 0 && v == Py_None)) {
        // One layout, no pinned memory: accepted for programs that spell them out.
      } else {
        if (why) *why = str("got an unexpected keyword argument '", PyUnicode_AsUTF8(name), "'");
        return false;
      }
      used_kw++;
    }
    if (used_kw < nkw) {
      if (why) *why = "got multiple values for an argument";
      return false;
    }
  }
  return true;
}

}  // namespace trine::py
