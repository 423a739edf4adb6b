// Backward passes, modes and saved-tensor hooks, as trine.autograd calls them.

#include "autograd/record.h"
#include "autograd/tangents.h"
#include "batching/batched.h"
#include "bindings/arguments.h"
#include "bindings/objects.h"
#include "tensor/inference.h"

namespace trine::py {
namespace {

bool flag(PyObject* o) {
  int v = PyObject_IsTrue(o);
  if (v < 0) throw PythonError{};
  return v;
}

// _run_backward(tensors, grad_tensors, keep_graph, create_graph, inputs, allow_unreachable, accumulate) -> tuple
PyObject* run_backward_py(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *tensors, *grads, *inputs;
    int keep, create, allow_unreachable, accumulate;
    if (!PyArg_ParseTuple(args, "O!O!ppO!pp", &PyTuple_Type, &tensors, &PyTuple_Type, &grads, &keep, &create, &PyTuple_Type, &inputs, &allow_unreachable, &accumulate)) throw PythonError{};
    Py_ssize_t n = PyTuple_GET_SIZE(tensors);
    TRINE_CHECK(PyTuple_GET_SIZE(grads) == n, "got ", n, " tensors and ", PyTuple_GET_SIZE(grads), " gradients");
    std::vector<Edge> roots;
    std::vector<Tensor> root_grads;
    for (Py_ssize_t i = 0; i < n; i++) {
      PyObject* o = PyTuple_GET_ITEM(tensors, i);
      TRINE_CHECK_TYPE(is_tensor(o), "element ", i, " of tensors tuple is not a Tensor");
      const Tensor& t = unwrap(o);
      Edge edge = gradient_edge(t);
      TRINE_CHECK(edge.node, "element ", i, " of tensors does not require grad and does not have a grad_fn");
      PyObject* g = PyTuple_GET_ITEM(grads, i);
      if (g == Py_None) {
        TRINE_CHECK(t.numel() == 1, "grad can be implicitly created only for scalar outputs");
        root_grads.push_back(batching::expand_levels(ones_like(detach_shallow(t)), t));
      } else {
        TRINE_CHECK_TYPE(is_tensor(g), "element ", i, " of gradients tuple is not a Tensor or None");
        TRINE_CHECK(equal(unwrap(g).sizes(), t.sizes()), "Mismatch in shape: grad_output[", i, "] has a shape of ", unwrap(g).sizes(), " and output[", i, "] has a shape of ", t.sizes(), ".");
        root_grads.push_back(batching::expand_levels(unwrap(g), t));
      }
      roots.push_back(std::move(edge));
    }
    BackwardOptions options;
    options.keep_graph = keep;
    options.create_graph = create;
    options.accumulate = accumulate;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(inputs); i++) {
      PyObject* o = PyTuple_GET_ITEM(inputs, i);
      TRINE_CHECK_TYPE(is_tensor(o), "all inputs have to be Tensors, but got ", Py_TYPE(o)->tp_name);
      Edge e = gradient_edge(unwrap(o));
      TRINE_CHECK(e.node, "One of the differentiated Tensors does not require grad");
      options.inputs.push_back(std::move(e));
    }
    std::vector<Tensor> results;
    {
      GilRelease unlocked;
      results = run_backward(std::move(roots), std::move(root_grads), options);
    }
    if (accumulate || options.inputs.empty()) return none();
    Ref t = checked(PyTuple_New(static_cast<Py_ssize_t>(results.size())));
    for (size_t i = 0; i < results.size(); i++) {
      TRINE_CHECK(results[i].defined() || allow_unreachable, "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.");
      PyTuple_SET_ITEM(t.get(), i, wrap(results[i]));
    }
    return t.release();
  });
}

PyObject* is_grad_enabled(PyObject*, PyObject*) { return boolean(grad_enabled()); }
PyObject* set_grad_enabled(PyObject*, PyObject* on) {
  return guarded([&]() -> PyObject* {
    bool previous = grad_modes.grad;
    grad_modes.grad = flag(on);
    return boolean(previous);
  });
}
PyObject* is_inference(PyObject*, PyObject*) { return boolean(grad_modes.inference); }
// The three flags that inference mode changes, packed into one number, so that leaving restores what was there.
PyObject* inference_enter(PyObject*, PyObject* on) {
  return guarded([&]() -> PyObject* {
    long token = grad_modes.grad | grad_modes.inference << 1;
    bool enable = flag(on);
    grad_modes.inference = enable;
    set_inference_tensors(enable);
    if (enable) grad_modes.grad = false;
    else grad_modes.grad = true;
    return PyLong_FromLong(token);
  });
}
PyObject* inference_exit(PyObject*, PyObject* token) {
  return guarded([&]() -> PyObject* {
    long t = PyLong_AsLong(token);
    if (t == -1 && PyErr_Occurred()) throw PythonError{};
    grad_modes.grad = t & 1;
    grad_modes.inference = t >> 1 & 1;
    set_inference_tensors(grad_modes.inference);
    return none();
  });
}

PyObject* forward_level(PyObject*, PyObject* change) {
  long c = PyLong_AsLong(change);
  if (c == -1 && PyErr_Occurred()) return nullptr;
  grad_modes.forward_levels += static_cast<int>(c);
  if (grad_modes.forward_levels == 0) autograd::drop_tangents();
  return PyLong_FromLong(grad_modes.forward_levels);
}
PyObject* make_dual(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *primal, *tangent;
    if (!PyArg_ParseTuple(args, "OO:_make_dual", &primal, &tangent)) throw PythonError{};
    TRINE_CHECK_TYPE(is_tensor(primal) && is_tensor(tangent), "make_dual(): expected two Tensors");
    TRINE_CHECK(forward_mode(), "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.");
    const Tensor &p = unwrap(primal), &t = unwrap(tangent);
    TRINE_CHECK(equal(p.sizes(), t.sizes()), "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. Tensor is of size ", p.sizes(), " while the given forward gradient is of size ", t.sizes(), ".");
    TRINE_CHECK(is_differentiable(p.dtype()), "Expected primal to be floating point or complex, but got: ", p.dtype());
    Tensor dual = alias(p);
    autograd::set_tangent(dual, t);
    return wrap(dual);
  });
}
PyObject* unpack_dual(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    TRINE_CHECK_TYPE(is_tensor(o), "unpack_dual(): expected a Tensor, not ", Py_TYPE(o)->tp_name);
    const Tensor& t = unwrap(o);
    Tensor tangent = forward_mode() ? autograd::tangent_of(t) : Tensor();
    Tensor primal;
    {
      int levels = std::exchange(grad_modes.forward_levels, 0);
      primal = alias(t);
      grad_modes.forward_levels = levels;
    }
    Ref a(wrap(primal)), b(wrap(tangent));
    return PyTuple_Pack(2, a.get(), b.get());
  });
}
PyObject* drop_tangent(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    TRINE_CHECK_TYPE(is_tensor(o), "_drop_tangent(): expected a Tensor");
    if (AutogradMeta* m = unwrap(o).impl()->autograd) m->tangent = Tensor();
    return none();
  });
}

// ---- saved_tensors_hooks -----------------------------------------------------------------------------------------------------
struct HookPair {
  PyObject *pack, *unpack;
};
thread_local std::vector<HookPair> saved_hooks;

class PythonPacked final : public PackedTensor {
 public:
  PythonPacked(PyObject* object, PyObject* unpack) : object_(object), unpack_(Py_NewRef(unpack)) {}
  ~PythonPacked() override {
    if (!Py_IsInitialized()) return;
    GilAcquire gil;
    Py_DECREF(object_);
    Py_DECREF(unpack_);
  }
  Tensor unpack() override {
    GilAcquire gil;
    try {
      Ref r = checked(PyObject_CallFunctionObjArgs(unpack_, object_, nullptr));
      TRINE_CHECK_TYPE(is_tensor(r.get()), "Output of saved tensor unpack_hook expected to be a Tensor but got result of type ", Py_TYPE(r.get())->tp_name);
      return unwrap(r.get());
    } catch (const PythonError&) {
      throw_python_error();
    }
  }

 private:
  PyObject *object_, *unpack_;
};

PackedTensor* pack(const Tensor& t) {
  if (saved_hooks.empty()) return nullptr;
  GilAcquire gil;
  HookPair hooks = saved_hooks.back();
  try {
    GradMode off(false);
    Ref tensor(wrap(t));
    Ref packed = checked(PyObject_CallFunctionObjArgs(hooks.pack, tensor.get(), nullptr));
    return new PythonPacked(packed.release(), hooks.unpack);
  } catch (const PythonError&) {
    throw_python_error();
  }
}

PyObject* push_hooks(PyObject*, PyObject* args) {
  PyObject *p, *u;
  if (!PyArg_ParseTuple(args, "OO", &p, &u)) return nullptr;
  saved_hooks.push_back({Py_NewRef(p), Py_NewRef(u)});
  set_pack_hook(pack);
  Py_RETURN_NONE;
}
PyObject* pop_hooks(PyObject*, PyObject*) {
  if (saved_hooks.empty()) {
    PyErr_SetString(PyExc_RuntimeError, "no saved tensor hooks are active");
    return nullptr;
  }
  HookPair h = saved_hooks.back();
  saved_hooks.pop_back();
  Py_DECREF(h.pack);
  Py_DECREF(h.unpack);
  Py_RETURN_NONE;
}

PyObject* set_anomaly(PyObject*, PyObject* args) {
  int on, nan = 1;
  if (!PyArg_ParseTuple(args, "p|p", &on, &nan)) return nullptr;
  anomaly_mode = {static_cast<bool>(on), static_cast<bool>(nan)};
  Py_RETURN_NONE;
}
PyObject* anomaly_enabled(PyObject*, PyObject*) { return Py_BuildValue("(OO)", anomaly_mode.enabled ? Py_True : Py_False, anomaly_mode.check_nan ? Py_True : Py_False); }

std::string python_trace() {
  GilAcquire gil;
  try {
    Ref module = checked(PyImport_ImportModule("traceback"));
    Ref lines = checked(PyObject_CallMethod(module.get(), "format_stack", nullptr));
    Ref empty = string("");
    Ref text = checked(PyUnicode_Join(empty.get(), lines.get()));
    return PyUnicode_AsUTF8(text.get());
  } catch (const PythonError&) {
    PyErr_Clear();
    return {};
  }
}
const bool trace_set = (set_trace_function(python_trace), true);

}  // namespace

PyMethodDef autograd_functions[] = {
    {"_run_backward", run_backward_py, METH_VARARGS, nullptr},
    {"is_grad_enabled", is_grad_enabled, METH_NOARGS, "is_grad_enabled()\n\nWhether operators are recorded for a backward pass."},
    {"_set_grad_enabled", set_grad_enabled, METH_O, nullptr},
    {"is_inference_mode_enabled", is_inference, METH_NOARGS, nullptr},
    {"_inference_mode_enter", inference_enter, METH_O, nullptr},
    {"_inference_mode_exit", inference_exit, METH_O, nullptr},
    {"_set_forward_level", forward_level, METH_O, nullptr},
    {"_make_dual", make_dual, METH_VARARGS, nullptr},
    {"_unpack_dual", unpack_dual, METH_O, nullptr},
    {"_drop_tangent", drop_tangent, METH_O, nullptr},
    {"_push_saved_tensors_hooks", push_hooks, METH_VARARGS, nullptr},
    {"_pop_saved_tensors_hooks", pop_hooks, METH_NOARGS, nullptr},
    {"_set_anomaly", set_anomaly, METH_VARARGS, nullptr},
    {"_anomaly_mode", anomaly_enabled, METH_NOARGS, nullptr},
    {}};

}  // namespace trine::py
