// What trine.func's vmap asks of batched tensors.
#include "batching/batched.h"
#include "bindings/arguments.h"
#include "bindings/objects.h"

namespace trine::py {
namespace {

// _batch_levels(tensor) -> tuple of levels, empty for an ordinary tensor
PyObject* batch_levels(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    TRINE_CHECK_TYPE(is_tensor(o), "expected a Tensor, not ", Py_TYPE(o)->tp_name);
    const DimsRef levels = batching::levels(unwrap(o));
    Ref tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(levels.size())));
    for (size_t i = 0; i < levels.size(); ++i) PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), checked(PyLong_FromLongLong(levels[i])).release());
    return tuple.release();
  });
}

// _batch_value(tensor) -> the whole batch, levels in front
PyObject* batch_value(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    TRINE_CHECK_TYPE(is_tensor(o), "expected a Tensor, not ", Py_TYPE(o)->tp_name);
    return wrap(Tensor(batching::value(unwrap(o))));
  });
}

// _set_vmap_randomness(0 error, 1 different, 2 same) -> the former
PyObject* set_randomness(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    const long mode = PyLong_AsLong(o);
    if (mode == -1 && PyErr_Occurred()) throw PythonError{};
    const long before = static_cast<long>(batching::randomness);
    batching::randomness = static_cast<batching::Randomness>(mode);
    return PyLong_FromLong(before);
  });
}

}  // namespace

PyMethodDef batching_functions[] = {
    {"_batch_levels", batch_levels, METH_O, nullptr}, {"_batch_value", batch_value, METH_O, nullptr}, {"_set_vmap_randomness", set_randomness, METH_O, nullptr}, {}};

}  // namespace trine::py
