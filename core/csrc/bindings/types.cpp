#include "bindings/types.h"

#include "bindings/arguments.h"

#include <structmember.h>

namespace trine::py {

PyTypeObject* dtype_type = nullptr;
PyTypeObject* device_type = nullptr;
PyTypeObject* memory_format_type = nullptr;
PyTypeObject* layout_type = nullptr;
PyTypeObject* size_type = nullptr;

namespace {

struct EnumObject {  // dtype, memory format and layout
  PyObject_HEAD
  int value;
  const char* name;
};
struct DeviceObject {
  PyObject_HEAD
  Device device;
};

PyObject* dtypes[kNumDTypes];
PyObject* formats[4];
PyObject* layout_strided;

int value_of(PyObject* o) { return reinterpret_cast<EnumObject*>(o)->value; }
DType dtype_of_object(PyObject* o) { return static_cast<DType>(value_of(o)); }

PyObject* enum_repr(PyObject* self) { return PyUnicode_FromFormat("torch.%s", reinterpret_cast<EnumObject*>(self)->name); }

Ref new_enum(PyTypeObject* type, int value, const char* name) {
  Ref r = checked(type->tp_alloc(type, 0));
  auto* e = reinterpret_cast<EnumObject*>(r.get());
  e->value = value;
  e->name = name;
  return r;
}

PyObject* enum_reduce(PyObject* self, PyObject*) { return PyUnicode_FromString(reinterpret_cast<EnumObject*>(self)->name); }

PyGetSetDef dtype_properties[] = {
    {"is_floating_point", [](PyObject* s, void*) { return boolean(is_floating(dtype_of_object(s))); }, nullptr, nullptr, nullptr},
    {"is_complex", [](PyObject* s, void*) { return boolean(is_complex(dtype_of_object(s))); }, nullptr, nullptr, nullptr},
    {"is_signed", [](PyObject* s, void*) { return boolean(is_signed(dtype_of_object(s))); }, nullptr, nullptr, nullptr},
    {"itemsize", [](PyObject* s, void*) { return PyLong_FromLong(itemsize(dtype_of_object(s))); }, nullptr, nullptr, nullptr},
    {"__module__", [](PyObject*, void*) { return PyUnicode_FromString("trine"); }, nullptr, nullptr, nullptr},
    {}};
PyMethodDef dtype_methods[] = {
    {"__reduce__", enum_reduce, METH_NOARGS, nullptr},
    {"to_real", [](PyObject* s, PyObject*) { return Py_NewRef(dtypes[static_cast<int>(to_real(dtype_of_object(s)))]); }, METH_NOARGS, nullptr},
    {"to_complex", [](PyObject* s, PyObject*) { return Py_NewRef(dtypes[static_cast<int>(to_complex(dtype_of_object(s)))]); }, METH_NOARGS, nullptr},
    {}};
PyMethodDef enum_methods[] = {{"__reduce__", enum_reduce, METH_NOARGS, nullptr}, {}};
PyGetSetDef enum_properties[] = {{"__module__", [](PyObject*, void*) { return PyUnicode_FromString("trine"); }, nullptr, nullptr, nullptr}, {}};

PyTypeObject* make_enum_type(const char* name, PyMethodDef* methods, PyGetSetDef* properties) {
  PyType_Slot slots[] = {{Py_tp_repr, reinterpret_cast<void*>(enum_repr)}, {Py_tp_methods, methods}, {Py_tp_getset, properties}, {0, nullptr}};
  PyType_Spec spec = {name, sizeof(EnumObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  return reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
}

// ---- device ------------------------------------------------------------------------------------------------------------
Device& device_of(PyObject* o) { return reinterpret_cast<DeviceObject*>(o)->device; }

PyObject* device_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* const names[] = {"type", "index", nullptr};
    PyObject *type = nullptr, *index = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:device", const_cast<char**>(names), &type, &index)) throw PythonError{};
    TRINE_CHECK_TYPE(is_device(type), "device(): argument 'type' must be str, int or device, not ", Py_TYPE(type)->tp_name);
    Device d = to_device(type);
    if (index && index != Py_None) {
      TRINE_CHECK(d.index < 0, "type (string) must not include an index because index was passed explicitly: ", d);
      long i = PyLong_AsLong(index);
      if (i == -1 && PyErr_Occurred()) throw PythonError{};
      TRINE_CHECK(i >= 0 && i < 128, "Device index must not be negative");
      d.index = static_cast<int8_t>(i);
    }
    return device_object(d).release();
  });
}

PyObject* device_repr(PyObject* self) {
  Device d = device_of(self);
  const char* type = device_type_name(d.type).c_str();
  return d.index < 0 ? PyUnicode_FromFormat("device(type='%s')", type) : PyUnicode_FromFormat("device(type='%s', index=%d)", type, d.index);
}
PyObject* device_str(PyObject* self) { return string(str_of(device_of(self))).release(); }
Py_hash_t device_hash(PyObject* self) { return static_cast<int>(device_of(self).type) * 1009 + device_of(self).index + 2; }
PyObject* device_compare(PyObject* a, PyObject* b, int op) {
  if ((op != Py_EQ && op != Py_NE) || Py_TYPE(b) != device_type) Py_RETURN_NOTIMPLEMENTED;
  return boolean((device_of(a) == device_of(b)) == (op == Py_EQ));
}
PyObject* device_reduce(PyObject* self, PyObject*) {
  Device d = device_of(self);
  const char* type = device_type_name(d.type).c_str();
  return d.index < 0 ? Py_BuildValue("(O(s))", device_type, type) : Py_BuildValue("(O(si))", device_type, type, d.index);
}
PyGetSetDef device_properties[] = {
    {"type", [](PyObject* s, void*) { return PyUnicode_FromString(device_type_name(device_of(s).type).c_str()); }, nullptr, nullptr, nullptr},
    {"index", [](PyObject* s, void*) { return device_of(s).index < 0 ? none() : PyLong_FromLong(device_of(s).index); }, nullptr, nullptr, nullptr},
    {}};
PyObject* device_enter(PyObject* self, PyObject*) {
  push_default_device(device_of(self));
  return Py_NewRef(self);
}
PyObject* device_exit(PyObject*, PyObject*) {
  pop_default_device();
  return none();
}
PyMethodDef device_methods[] = {{"__enter__", device_enter, METH_NOARGS, nullptr}, {"__exit__", device_exit, METH_VARARGS, nullptr}, {"__reduce__", device_reduce, METH_NOARGS, nullptr}, {}};

// ---- Size: a tuple that knows its product ------------------------------------------------------------------------------
PyObject* size_numel(PyObject* self, PyObject*) {
  int64_t n = 1;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); i++) n *= PyLong_AsLongLong(PyTuple_GET_ITEM(self, i));
  return PyErr_Occurred() ? nullptr : PyLong_FromLongLong(n);
}
PyObject* size_repr(PyObject* self) {
  std::string out = "torch.Size([";
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); i++) {
    if (i) out += ", ";
    Ref text(PyObject_Repr(PyTuple_GET_ITEM(self, i)));
    if (!text) return nullptr;
    out += PyUnicode_AsUTF8(text.get());
  }
  return string(out + "])").release();
}
// Slices and sums of sizes are sizes.
PyObject* as_size(PyObject* tuple) {
  if (!tuple || !PyTuple_Check(tuple)) return tuple;
  Ref owned(tuple);
  return PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(size_type), tuple, nullptr);
}
PyObject* size_subscript(PyObject* self, PyObject* key) {
  PyObject* r = PyTuple_Type.tp_as_mapping->mp_subscript(self, key);
  return PySlice_Check(key) ? as_size(r) : r;
}
PyObject* size_concat(PyObject* a, PyObject* b) { return as_size(PyTuple_Type.tp_as_sequence->sq_concat(a, b)); }
PyObject* size_repeat(PyObject* a, Py_ssize_t n) { return as_size(PyTuple_Type.tp_as_sequence->sq_repeat(a, n)); }
PyObject* size_reduce(PyObject* self, PyObject*) {
  Ref plain(PyTuple_GetSlice(self, 0, PyTuple_GET_SIZE(self)));
  return plain ? Py_BuildValue("(O(O))", size_type, plain.get()) : nullptr;
}
PyMethodDef size_methods[] = {{"numel", size_numel, METH_NOARGS, "Product of all sizes."}, {"__reduce__", size_reduce, METH_NOARGS, nullptr}, {}};

}  // namespace

PyObject* dtype_object(DType t) { return dtypes[static_cast<int>(t)]; }
PyObject* memory_format_object(MemoryFormat f) { return formats[static_cast<int>(f)]; }
PyObject* strided_layout() { return layout_strided; }

Ref device_object(Device d) {
  Ref r = checked(device_type->tp_alloc(device_type, 0));
  device_of(r.get()) = d;
  return r;
}

Ref int_tuple(DimsRef values) {
  Ref t = checked(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); i++) PyTuple_SET_ITEM(t.get(), i, checked(PyLong_FromLongLong(values[i])).release());
  return t;
}

Ref size_object(DimsRef sizes) {
  Ref t = checked(size_type->tp_alloc(size_type, static_cast<Py_ssize_t>(sizes.size())));
  for (size_t i = 0; i < sizes.size(); i++) PyTuple_SET_ITEM(t.get(), i, checked(PyLong_FromLongLong(sizes[i])).release());
  return t;
}

bool is_dtype(PyObject* o) {
  return Py_TYPE(o) == dtype_type || o == reinterpret_cast<PyObject*>(&PyFloat_Type) || o == reinterpret_cast<PyObject*>(&PyLong_Type) ||
         o == reinterpret_cast<PyObject*>(&PyBool_Type) || o == reinterpret_cast<PyObject*>(&PyComplex_Type);
}

DType to_dtype(PyObject* o) {
  if (Py_TYPE(o) == dtype_type) return dtype_of_object(o);
  if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::Double;
  if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return DType::Int64;
  if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::Bool;
  if (o == reinterpret_cast<PyObject*>(&PyComplex_Type)) return DType::ComplexDouble;
  throw_error(ErrorKind::Type, str("expected a dtype, not ", Py_TYPE(o)->tp_name));
}

bool is_device(PyObject* o) { return Py_TYPE(o) == device_type || PyUnicode_Check(o) || (PyLong_Check(o) && !PyBool_Check(o)); }

Device to_device(PyObject* o) {
  if (Py_TYPE(o) == device_type) return device_of(o);
  if (PyUnicode_Check(o)) return parse_device(PyUnicode_AsUTF8(o));
  return {DeviceType::CUDA, static_cast<int8_t>(PyLong_AsLong(o))};
}

MemoryFormat to_memory_format(PyObject* o) { return static_cast<MemoryFormat>(value_of(o)); }

void add_types(PyObject* module) {
  dtype_type = make_enum_type("trine.dtype", dtype_methods, dtype_properties);
  memory_format_type = make_enum_type("trine.memory_format", enum_methods, enum_properties);
  layout_type = make_enum_type("trine.layout", enum_methods, enum_properties);
#define X(T, E, N) dtypes[static_cast<int>(DType::E)] = new_enum(dtype_type, static_cast<int>(DType::E), N).release();
  TRINE_FORALL_DTYPES(X)
#undef X
  const char* const format_names[] = {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};
  for (int i = 0; i < 4; i++) formats[i] = new_enum(memory_format_type, i, format_names[i]).release();
  layout_strided = new_enum(layout_type, 0, "strided").release();

  PyType_Slot device_slots[] = {{Py_tp_new, reinterpret_cast<void*>(device_new)},   {Py_tp_repr, reinterpret_cast<void*>(device_repr)},
                                {Py_tp_str, reinterpret_cast<void*>(device_str)},   {Py_tp_hash, reinterpret_cast<void*>(device_hash)},
                                {Py_tp_richcompare, reinterpret_cast<void*>(device_compare)}, {Py_tp_methods, device_methods}, {Py_tp_getset, device_properties}, {0, nullptr}};
  PyType_Spec device_spec = {"trine.device", sizeof(DeviceObject), 0, Py_TPFLAGS_DEFAULT, device_slots};
  device_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&device_spec)).release());

  PyType_Slot size_slots[] = {{Py_tp_repr, reinterpret_cast<void*>(size_repr)},         {Py_mp_subscript, reinterpret_cast<void*>(size_subscript)},
                              {Py_sq_concat, reinterpret_cast<void*>(size_concat)},     {Py_sq_repeat, reinterpret_cast<void*>(size_repeat)},
                              {Py_tp_methods, size_methods}, {0, nullptr}};
  PyType_Spec size_spec = {"trine.Size", 0, 0, Py_TPFLAGS_DEFAULT, size_slots};
  Ref bases = checked(PyTuple_Pack(1, &PyTuple_Type));
  size_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpecWithBases(&size_spec, bases.get())).release());

  auto add = [&](const char* name, PyObject* o) {
    if (PyModule_AddObjectRef(module, name, o) < 0) throw PythonError{};
  };
  add("dtype", reinterpret_cast<PyObject*>(dtype_type));
  add("device", reinterpret_cast<PyObject*>(device_type));
  add("memory_format", reinterpret_cast<PyObject*>(memory_format_type));
  add("layout", reinterpret_cast<PyObject*>(layout_type));
  add("Size", reinterpret_cast<PyObject*>(size_type));
#define X(T, E, N) add(N, dtype_object(DType::E));
  TRINE_FORALL_DTYPES(X)
#undef X
  for (int i = 0; i < 4; i++) add(format_names[i], formats[i]);
  add("strided", layout_strided);
}

}  // namespace trine::py
