// trine.Generator.
#include "bindings/arguments.h"
#include "bindings/objects.h"
#include "bindings/types.h"

namespace trine::py {

PyTypeObject* generator_type = nullptr;

namespace {

struct GeneratorObject {
  PyObject_HEAD
  Ptr<Generator> generator;
};
Ptr<Generator>& generator_of(PyObject* o) { return reinterpret_cast<GeneratorObject*>(o)->generator; }

PyObject* wrap_generator(const Ptr<Generator>& g) {
  Ref r = checked(generator_type->tp_alloc(generator_type, 0));
  new (&generator_of(r.get())) Ptr<Generator>(g);
  return r.release();
}

PyObject* generator_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* const names[] = {"device", "engine", nullptr};
    PyObject* device = nullptr;
    const char* engine = "mt19937";
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O$s:Generator", const_cast<char**>(names), &device, &engine)) throw PythonError{};
    std::string_view e = engine;
    TRINE_CHECK_VALUE(e == "mt19937" || e == "philox", "Generator: engine must be 'mt19937' or 'philox', got '", e, "'");
    Device d = device && device != Py_None ? to_device(device) : Device{};
    TRINE_CHECK(d.type == DeviceType::CPU, "Generator: device type ", d, " is not supported for Generator()");
    return wrap_generator(Ptr<Generator>::adopt(new Generator(Generator::kDefaultSeed, e == "philox" ? Engine::Philox : Engine::Mt19937, d)));
  });
}

void generator_dealloc(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  generator_of(o).~Ptr<Generator>();
  type->tp_free(o);
  Py_DECREF(type);
}

PyObject* g_manual_seed(PyObject* self, PyObject* value) {
  return guarded([&]() -> PyObject* {
    Ref index = checked(PyNumber_Index(value));
    // Negative seeds count back from 2**64, as in PyTorch.
    int overflow = 0;
    int64_t s = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
    uint64_t seed = static_cast<uint64_t>(s);
    if (overflow > 0) seed = PyLong_AsUnsignedLongLong(index.get());
    if (PyErr_Occurred() || overflow < 0) {
      PyErr_Clear();
      throw_error(ErrorKind::Runtime, "Overflow when unpacking long: a seed must be in [-0x8000_0000_0000_0000, 0xffff_ffff_ffff_ffff]");
    }
    Generator& g = *generator_of(self);
    std::lock_guard lock(g.mutex());
    g.manual_seed(seed);
    return Py_NewRef(self);
  });
}
PyObject* g_seed(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    Generator& g = *generator_of(self);
    std::lock_guard lock(g.mutex());
    return PyLong_FromUnsignedLongLong(g.seed());
  });
}
PyObject* g_initial_seed(PyObject* self, PyObject*) { return PyLong_FromUnsignedLongLong(generator_of(self)->initial_seed()); }
PyObject* g_get_state(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    Generator& g = *generator_of(self);
    std::lock_guard lock(g.mutex());
    return wrap(g.get_state());
  });
}
PyObject* g_set_state(PyObject* self, PyObject* state) {
  return guarded([&]() -> PyObject* {
    TRINE_CHECK_TYPE(is_tensor(state), "expected a torch.ByteTensor, but got ", Py_TYPE(state)->tp_name);
    Generator& g = *generator_of(self);
    std::lock_guard lock(g.mutex());
    g.set_state(unwrap(state));
    return Py_NewRef(self);
  });
}
PyObject* g_clone(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* { return wrap_generator(generator_of(self)->clone()); });
}
PyObject* g_reduce(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    Ref restore = checked(PyObject_GetAttrString(checked(PyImport_ImportModule("trine._C")).get(), "_rebuild_generator"));
    Ref state(g_get_state(self, nullptr));
    if (!state) throw PythonError{};
    return Py_BuildValue("(O(sO))", restore.get(), std::string(generator_of(self)->engine_name()).c_str(), state.get());
  });
}
PyObject* g_device(PyObject* self, void*) {
  return guarded([&]() -> PyObject* { return device_object(generator_of(self)->device()).release(); });
}
PyObject* g_engine(PyObject* self, void*) {
  return guarded([&]() -> PyObject* { return string(generator_of(self)->engine_name()).release(); });
}

PyMethodDef generator_methods[] = {{"manual_seed", g_manual_seed, METH_O, nullptr},   {"seed", g_seed, METH_NOARGS, nullptr},       {"initial_seed", g_initial_seed, METH_NOARGS, nullptr},
                                   {"get_state", g_get_state, METH_NOARGS, nullptr}, {"set_state", g_set_state, METH_O, nullptr}, {"clone_state", g_clone, METH_NOARGS, nullptr},
                                   {"__reduce__", g_reduce, METH_NOARGS, nullptr},   {}};
PyGetSetDef generator_properties[] = {{"device", g_device, nullptr, nullptr, nullptr}, {"engine", g_engine, nullptr, nullptr, nullptr}, {}};

PyObject* rebuild_generator(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    const char* engine;
    PyObject* state;
    if (!PyArg_ParseTuple(args, "sO", &engine, &state)) throw PythonError{};
    Ref g(wrap_generator(Ptr<Generator>::adopt(new Generator(Generator::kDefaultSeed, std::string_view(engine) == "philox" ? Engine::Philox : Engine::Mt19937))));
    return g_set_state(g.get(), state);
  });
}
PyMethodDef functions[] = {{"_rebuild_generator", rebuild_generator, METH_VARARGS, nullptr}, {}};

}  // namespace

Generator* unwrap_generator(PyObject* o) { return generator_of(o).get(); }

void add_generator_type(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(generator_new)}, {Py_tp_dealloc, reinterpret_cast<void*>(generator_dealloc)}, {Py_tp_methods, generator_methods}, {Py_tp_getset, generator_properties}, {0, nullptr}};
  PyType_Spec spec = {"trine.Generator", sizeof(GeneratorObject), 0, Py_TPFLAGS_DEFAULT, slots};
  generator_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
  if (PyModule_AddObjectRef(module, "Generator", reinterpret_cast<PyObject*>(generator_type)) < 0 || PyModule_AddFunctions(module, functions) < 0) throw PythonError{};
  Ref standard(wrap_generator(Ptr<Generator>::share(&default_generator())));
  if (PyModule_AddObjectRef(module, "default_generator", standard.get()) < 0) throw PythonError{};
}

}  // namespace trine::py
