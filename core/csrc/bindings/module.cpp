// The extension module trine._C.
#include "autograd/node.h"
#include "base/allocator.h"
#include "base/isa.h"
#include "base/build.h"
#include "base/denormal.h"
#include "base/numeric_modes.h"
#include "base/parallel.h"
#include "bindings/arguments.h"
#include "bindings/factories.h"
#include "bindings/objects.h"
#include "bindings/op_function.h"
#include "bindings/types.h"
#include "trine/ops.h"
#include "trine_build.h"

namespace trine::py {
namespace {

PyObject* get_default(PyObject*, PyObject*) { return Py_NewRef(dtype_object(default_dtype())); }
PyObject* set_default(PyObject*, PyObject* d) {
  return guarded([&]() -> PyObject* {
    TRINE_CHECK_TYPE(is_dtype(d), "set_default_dtype(): expected a dtype, not ", Py_TYPE(d)->tp_name);
    TRINE_CHECK_TYPE(is_floating(to_dtype(d)), "only floating-point types are supported as the default type");
    set_default_dtype(to_dtype(d));
    return none();
  });
}
PyObject* get_threads(PyObject*, PyObject*) { return PyLong_FromLong(num_threads()); }
PyObject* set_threads(PyObject*, PyObject* n) {
  return guarded([&]() -> PyObject* {
    TRINE_CHECK_TYPE(PyLong_Check(n) && !PyBool_Check(n), "set_num_threads expects an int, but got ", Py_TYPE(n)->tp_name);
    long v = PyLong_AsLong(n);
    if (v == -1 && PyErr_Occurred()) throw PythonError{};
    TRINE_CHECK(v > 0, "set_num_threads expects a positive integer");
    set_num_threads(static_cast<int>(v));
    return none();
  });
}
PyObject* set_bfloat16_products(PyObject*, PyObject* mode) {
  numeric_modes.bfloat16_products = mode == Py_True;
  return none();
}
PyObject* set_deterministic(PyObject*, PyObject* mode) {
  numeric_modes.deterministic = mode == Py_True;
  return none();
}
PyObject* set_fill_uninitialized(PyObject*, PyObject* mode) {
  numeric_modes.fill_uninitialized = mode == Py_True;
  return none();
}
PyObject* flush_denormal(PyObject*, PyObject* mode) { return boolean(set_flush_denormal(mode == Py_True)); }
PyObject* stats(PyObject*, PyObject*) {
  MemoryStats s = memory_stats();
  return Py_BuildValue("{s:L,s:L,s:L,s:L}", "allocated_bytes", static_cast<long long>(s.allocated_bytes), "peak_bytes", static_cast<long long>(s.peak_bytes), "cached_bytes",
                       static_cast<long long>(s.cached_bytes), "allocations", static_cast<long long>(s.allocations));
}
PyObject* reset_peak(PyObject*, PyObject*) {
  reset_peak_memory_stats();
  return none();
}
PyObject* empty_cache_py(PyObject*, PyObject*) {
  empty_cache();
  return none();
}
PyObject* inject_fault(PyObject*, PyObject* n) {
  long long v = PyLong_AsLongLong(n);
  if (v == -1 && PyErr_Occurred()) return nullptr;
  inject_allocation_fault(v);
  return none();
}
PyObject* isa(PyObject*, PyObject*) { return PyLong_FromLong(isa_level()); }

PyObject* get_operator(PyObject*, PyObject* name) {
  const char* text = PyUnicode_AsUTF8(name);
  if (!text) return nullptr;
  PyObject* f = operator_function(text);
  if (!f) return PyErr_Format(PyExc_AttributeError, "Trine has no operator '%s'", text);
  return Py_NewRef(f);
}
PyObject* get_operator_method(PyObject*, PyObject* name) { return PyObject_GetAttr(reinterpret_cast<PyObject*>(tensor_type), name); }

PyObject* set_parameter_class(PyObject*, PyObject* cls) {
  if (!PyType_Check(cls) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls), tensor_type)) {
    PyErr_SetString(PyExc_TypeError, "_set_parameter_class: expected a subclass of Tensor");
    return nullptr;
  }
  parameter_type = reinterpret_cast<PyTypeObject*>(Py_NewRef(cls));
  return none();
}

// __torch_function__ of classes that are plain tensors to every operator.
PyObject* disabled_torch_function(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *func, *types, *call_args = nullptr, *kwargs = nullptr;
    if (!PyArg_ParseTuple(args, "OO|OO", &func, &types, &call_args, &kwargs)) throw PythonError{};
    struct Off {
      bool saved = std::exchange(torch_function_enabled, false);
      ~Off() { torch_function_enabled = saved; }
    } off;
    Ref empty = call_args ? Ref::borrow(call_args) : checked(PyTuple_New(0));
    return PyObject_Call(func, empty.get(), kwargs && PyDict_Check(kwargs) ? kwargs : nullptr);
  });
}
PyObject* set_torch_function_enabled(PyObject*, PyObject* on) {
  int v = PyObject_IsTrue(on);
  if (v < 0) return nullptr;
  return boolean(std::exchange(torch_function_enabled, v != 0));
}
PyObject* push_mode(PyObject*, PyObject* mode) {
  push_torch_function_mode(mode);
  return none();
}
PyObject* pop_mode(PyObject*, PyObject*) {
  Ref mode = pop_torch_function_mode();
  return mode ? mode.release() : none();
}
PyObject* mode_active(PyObject*, PyObject*) { return boolean(torch_function_mode_active()); }
PyObject* get_device(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* { return device_object(default_device().value_or(Device{})).release(); });
}
PyObject* set_device(PyObject*, PyObject* device) {
  return guarded([&]() -> PyObject* {
    TRINE_CHECK_TYPE(device == Py_None || is_device(device), "set_default_device(): argument 'device' must be torch.device, not ", Py_TYPE(device)->tp_name);
    set_default_device(device == Py_None ? std::nullopt : std::optional(to_device(device)));
    return none();
  });
}
PyObject* has_torch_function_py(PyObject*, PyObject* args) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
    PyObject* o = PyTuple_GET_ITEM(args, i);
    if (has_torch_function(o)) Py_RETURN_TRUE;
  }
  Py_RETURN_FALSE;
}
PyObject* handle_torch_function_py(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *func, *relevant, *call_args, *kwargs;
    if (!PyArg_ParseTuple(args, "OOO!O", &func, &relevant, &PyTuple_Type, &call_args, &kwargs)) throw PythonError{};
    Ref fast = checked(PySequence_Fast(relevant, "expected a sequence"));
    SmallVector<PyObject*, 4> who;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); i++)
      if (has_torch_function(PySequence_Fast_GET_ITEM(fast.get(), i))) who.push_back(PySequence_Fast_GET_ITEM(fast.get(), i));
    Ref dict = PyDict_Check(kwargs) ? Ref::borrow(kwargs) : checked(PyDict_New());
    return call_torch_function(func, who, call_args, dict.get());
  });
}

PyObject* register_device(PyObject*, PyObject* name) {
  return guarded([&]() -> PyObject* {
    const char* text = PyUnicode_AsUTF8(name);
    if (!text) throw PythonError{};
    register_private_device(text);
    return none();
  });
}

void warn_in_python(const std::string& message) {
  GilAcquire gil;
  if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 1) < 0) throw_python_error();
}

PyMethodDef functions[] = {
    {"get_default_dtype", get_default, METH_NOARGS, nullptr},
    {"set_default_dtype", set_default, METH_O, nullptr},
    {"get_num_threads", get_threads, METH_NOARGS, nullptr},
    {"_set_flush_denormal", flush_denormal, METH_O, nullptr},
    {"_set_bfloat16_products", set_bfloat16_products, METH_O, nullptr},
    {"_set_deterministic", set_deterministic, METH_O, nullptr},
    {"_set_fill_uninitialized", set_fill_uninitialized, METH_O, nullptr},
    {"set_num_threads", set_threads, METH_O, nullptr},
    {"memory_stats", stats, METH_NOARGS, "memory_stats()\n\nBytes in use, their peak, bytes kept for reuse, and the number of allocations."},
    {"reset_peak_memory_stats", reset_peak, METH_NOARGS, nullptr},
    {"empty_cache", empty_cache_py, METH_NOARGS, "empty_cache()\n\nGives memory kept for reuse back to the system."},
    {"_inject_allocation_fault", inject_fault, METH_O, nullptr},
    {"_isa_level", isa, METH_NOARGS, nullptr},
    {"_operator", get_operator, METH_O, nullptr},
    {"_operator_method", get_operator_method, METH_O, nullptr},
    {"_set_parameter_class", set_parameter_class, METH_O, nullptr},
    {"_disabled_torch_function_impl", disabled_torch_function, METH_VARARGS, nullptr},
    {"_set_torch_function_enabled", set_torch_function_enabled, METH_O, nullptr},
    {"_push_torch_function_mode", push_mode, METH_O, nullptr},
    {"_pop_torch_function_mode", pop_mode, METH_NOARGS, nullptr},
    {"_torch_function_mode_active", mode_active, METH_NOARGS, nullptr},
    {"get_default_device", get_device, METH_NOARGS, nullptr},
    {"set_default_device", set_device, METH_O, nullptr},
    {"_has_torch_function", has_torch_function_py, METH_VARARGS, nullptr},
    {"_handle_torch_function", handle_torch_function_py, METH_VARARGS, nullptr},
    {"_register_private_device", register_device, METH_O, nullptr},
    {}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "trine._C", "The native core of Trine.", -1, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace trine::py

PyMODINIT_FUNC PyInit__C() {
  using namespace trine::py;
  return guarded([&]() -> PyObject* {
    Ref module = checked(PyModule_Create(&definition));
    PyObject* m = module.get();
    add_types(m);
    add_tensor_type(m);
    add_storage_type(m);
    add_generator_type(m);
    add_node_types(m);
    add_operators(m);
    if (PyModule_AddFunctions(m, factory_functions) < 0 || PyModule_AddFunctions(m, interop_functions) < 0 || PyModule_AddFunctions(m, autograd_functions) < 0 || PyModule_AddFunctions(m, batching_functions) < 0 || PyModule_AddFunctions(m, autocast_functions) < 0) throw PythonError{};
    if (PyModule_AddObjectRef(m, "_LinAlgError", linalg_error()) < 0) throw PythonError{};
    if (PyModule_AddStringConstant(m, "__version__", TRINE_VERSION) < 0 || PyModule_AddStringConstant(m, "_build_stamp", TRINE_BUILD_STAMP) < 0 ||
        PyModule_AddStringConstant(m, "_library_stamp", trine::build_stamp()) < 0 || PyModule_AddIntConstant(m, "_has_onednn", TRINE_HAVE_DNNL) < 0)
      throw PythonError{};
    trine::set_warning_handler(warn_in_python);
    return module.release();
  });
}
