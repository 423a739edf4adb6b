// The state of autocast, as trine.amp calls it.
#include "autocast/autocast.h"
#include "bindings/objects.h"
#include "bindings/types.h"

namespace trine::py {
namespace {

PyObject* is_enabled(PyObject*, PyObject*) { return PyBool_FromLong(autocast::state().enabled); }

PyObject* set_enabled(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    TRINE_CHECK_TYPE(PyBool_Check(o), "enabled must be a bool (got ", Py_TYPE(o)->tp_name, ")");
    autocast::set_enabled(o == Py_True);
    Py_RETURN_NONE;
  });
}

PyObject* get_dtype(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* { return Py_NewRef(dtype_object(autocast::state().dtype)); });
}

PyObject* set_dtype(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    autocast::state().dtype = to_dtype(o);
    Py_RETURN_NONE;
  });
}

PyObject* is_cache_enabled(PyObject*, PyObject*) { return PyBool_FromLong(autocast::state().cache); }

PyObject* set_cache_enabled(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    TRINE_CHECK_TYPE(PyBool_Check(o), "enabled must be a bool (got ", Py_TYPE(o)->tp_name, ")");
    autocast::state().cache = o == Py_True;
    Py_RETURN_NONE;
  });
}

PyObject* clear_cache(PyObject*, PyObject*) {
  autocast::clear_cache();
  Py_RETURN_NONE;
}

PyObject* increment(PyObject*, PyObject*) { return PyLong_FromLong(++autocast::state().nesting); }
PyObject* decrement(PyObject*, PyObject*) { return PyLong_FromLong(--autocast::state().nesting); }

}  // namespace

PyMethodDef autocast_functions[] = {
    {"is_autocast_cpu_enabled", is_enabled, METH_NOARGS, "is_autocast_cpu_enabled()\n\nWhether autocast is on for the CPU in this thread."},
    {"set_autocast_cpu_enabled", set_enabled, METH_O, "set_autocast_cpu_enabled(enabled)\n\nSwitches autocast for the CPU in this thread."},
    {"get_autocast_cpu_dtype", get_dtype, METH_NOARGS, "get_autocast_cpu_dtype()\n\nThe dtype that autocast computes matrix products and convolutions in."},
    {"set_autocast_cpu_dtype", set_dtype, METH_O, "set_autocast_cpu_dtype(dtype)\n\nSets the dtype that autocast computes matrix products and convolutions in."},
    {"is_autocast_cache_enabled", is_cache_enabled, METH_NOARGS, "is_autocast_cache_enabled()\n\nWhether a weight is cast once in an autocast region."},
    {"set_autocast_cache_enabled", set_cache_enabled, METH_O, "set_autocast_cache_enabled(enabled)\n\nSwitches the cache of cast weights."},
    {"clear_autocast_cache", clear_cache, METH_NOARGS, "clear_autocast_cache()\n\nForgets the cast weights."},
    {"autocast_increment_nesting", increment, METH_NOARGS, "autocast_increment_nesting()\n\nEnters an autocast region; gives the depth."},
    {"autocast_decrement_nesting", decrement, METH_NOARGS, "autocast_decrement_nesting()\n\nLeaves an autocast region; gives the depth."},
    {}};

}  // namespace trine::py
