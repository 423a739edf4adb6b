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

// _enter_vmap(level, size, randomness: 0 error, 1 different, 2 same)
PyObject* enter_vmap(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    long long level, size;
    int randomness;
    if (!PyArg_ParseTuple(args, "LLi", &level, &size, &randomness)) throw PythonError{};
    batching::enter({level, size, static_cast<batching::Randomness>(randomness)});
    return none();
  });
}
PyObject* leave_vmap(PyObject*, PyObject*) {
  batching::leave();
  return none();
}

// _vmaps() -> [(level, size)] of those in progress on this thread, the outermost first
PyObject* vmaps(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    Ref list = checked(PyList_New(0));
    for (const batching::Region& r : batching::regions())
      if (PyList_Append(list.get(), checked(Py_BuildValue("(LL)", static_cast<long long>(r.level), static_cast<long long>(r.size))).get()) < 0) throw PythonError{};
    return list.release();
  });
}

}  // namespace

PyMethodDef batching_functions[] = {
    {"_batch_levels", batch_levels, METH_O, nullptr}, {"_batch_value", batch_value, METH_O, nullptr}, {"_enter_vmap", enter_vmap, METH_VARARGS, nullptr},
    {"_leave_vmap", leave_vmap, METH_NOARGS, nullptr}, {"_vmaps", vmaps, METH_NOARGS, nullptr}, {}};

}  // namespace trine::py
