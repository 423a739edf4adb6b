// Graph nodes as Python sees them, hooks, and autograd.Function.
#include "bindings/python.h"
#include <structmember.h>

#include <map>
#include <string>

#include "autograd/record.h"
#include "bindings/arguments.h"
#include "bindings/objects.h"

namespace trine::py {
namespace {

// ---- hooks ----------------------------------------------------------------------------------------------------------------
class PythonTensorHook final : public TensorHook {
 public:
  explicit PythonTensorHook(PyObject* callable) : callable_(Py_NewRef(callable)) {}
  ~PythonTensorHook() override {
    if (!Py_IsInitialized()) return;
    GilAcquire gil;
    Py_CLEAR(callable_);
  }
  Tensor call(const Tensor& grad) override {
    GilAcquire gil;
    if (!callable_) return {};
    return guarded_call([&] {
      Ref g(wrap(grad));
      Ref r = checked(PyObject_CallFunctionObjArgs(callable_, g.get(), nullptr));
      Tensor out = tensor_or_none(r.get(), "a hook");
      if (out.defined()) TRINE_CHECK(equal(out.sizes(), grad.sizes()), "hook '", Py_TYPE(callable_)->tp_name, "' has changed the size of value: ", out.sizes(), " instead of ", grad.sizes());
      return out;
    });
  }
  template <class F> static auto guarded_call(F&& f) -> decltype(f()) {
    try {
      return f();
    } catch (const PythonError&) {
      throw_python_error();
    }
  }
  void* python_callable() const override { return callable_; }
  void drop() { Py_CLEAR(callable_); }

 private:
  PyObject* callable_;
};

Ref tensor_tuple(const std::vector<Tensor>& list) {
  Ref t = checked(PyTuple_New(static_cast<Py_ssize_t>(list.size())));
  for (size_t i = 0; i < list.size(); i++) PyTuple_SET_ITEM(t.get(), i, wrap(list[i]));
  return t;
}

class PythonNodeHook final : public NodeHook {
 public:
  explicit PythonNodeHook(PyObject* callable) : callable_(Py_NewRef(callable)) {}
  ~PythonNodeHook() override {
    if (!Py_IsInitialized()) return;
    GilAcquire gil;
    Py_DECREF(callable_);
  }
  void call(std::vector<Tensor>& grads, const std::vector<Tensor>* results_grads) override {
    GilAcquire gil;
    PythonTensorHook::guarded_call([&] {
      Ref in = tensor_tuple(grads);
      Ref r = results_grads ? checked(PyObject_CallFunctionObjArgs(callable_, in.get(), tensor_tuple(*results_grads).get(), nullptr)) : checked(PyObject_CallFunctionObjArgs(callable_, in.get(), nullptr));
      if (r.get() == Py_None) return;
      if (is_tensor(r.get())) {
        TRINE_CHECK(grads.size() == 1, "a hook returned one tensor where ", grads.size(), " gradients were given");
        grads[0] = unwrap(r.get());
        return;
      }
      Ref fast = checked(PySequence_Fast(r.get(), "a hook must return None, a Tensor or a tuple of Tensors"));
      TRINE_CHECK(static_cast<size_t>(PySequence_Fast_GET_SIZE(fast.get())) == grads.size(), "hook has returned an incorrect number of values (got ", PySequence_Fast_GET_SIZE(fast.get()), ", but expected ", grads.size(), ")");
      for (size_t i = 0; i < grads.size(); i++) grads[i] = tensor_or_none(PySequence_Fast_GET_ITEM(fast.get(), i), "a hook");
    });
  }

 private:
  PyObject* callable_;
};

// ---- C++ nodes --------------------------------------------------------------------------------------------------------------
struct NodeObject {
  PyObject_HEAD
  Ptr<Node> node;
};
PyTypeObject* node_base_type = nullptr;
PyTypeObject* function_base_type = nullptr;

// autograd.Function: the Python object is the context of forward and backward and, once recorded, the grad_fn.
class PythonNode;
struct FunctionObject {
  PyObject_HEAD
  PyObject* dict;
  PyObject* weakrefs;
  PythonNode* node;  // weak: the node owns this object
  PyObject* to_save;
  PyObject* dirty;
  PyObject* non_differentiable;
  PyObject* needs_input_grad;
  PyObject* cls;     // the Function subclass
  bool materialize;
  std::vector<SavedTensor>* saved;
  std::vector<bool>* tensor_inputs;
};
FunctionObject* function_of(PyObject* o) { return reinterpret_cast<FunctionObject*>(o); }

class PythonNode final : public Node {
 public:
  explicit PythonNode(PyObject* context) : context_(Py_NewRef(context)) { python_object = context; }
  ~PythonNode() override {
    if (!Py_IsInitialized()) return;
    GilAcquire gil;
    function_of(context_)->node = nullptr;
    Py_DECREF(context_);
  }
  const char* name() const override { return Py_TYPE(context_)->tp_name; }
  bool takes_undefined_grads() const override { return true; }
  void apply(std::span<Tensor> grads, std::span<Tensor> out) override {
    GilAcquire gil;
    PythonTensorHook::guarded_call([&] {
      FunctionObject* f = function_of(context_);
      Ref args = checked(PyTuple_New(static_cast<Py_ssize_t>(grads.size() + 1)));
      PyTuple_SET_ITEM(args.get(), 0, Py_NewRef(context_));
      for (size_t i = 0; i < grads.size(); i++) {
        Tensor g = grads[i];
        if (!g.defined() && f->materialize) g = zeros(inputs[i].sizes, inputs[i].dtype, inputs[i].device);
        PyTuple_SET_ITEM(args.get(), i + 1, wrap(g));
      }
      Ref backward = checked(PyObject_GetAttrString(f->cls, "backward"));
      Ref r = checked(PyObject_Call(backward.get(), args.get(), nullptr));
      if (!PyTuple_Check(r.get())) r = checked(PyTuple_Pack(1, r.get()));
      Py_ssize_t n = PyTuple_GET_SIZE(r.get()), want = static_cast<Py_ssize_t>(f->tensor_inputs->size());
      for (Py_ssize_t i = want; i < n; i++)
        TRINE_CHECK(PyTuple_GET_ITEM(r.get(), i) == Py_None, "function ", name(), " returned an incorrect number of gradients (expected ", want, ", got ", n, ")");
      TRINE_CHECK(n >= want, "function ", name(), " returned an incorrect number of gradients (expected ", want, ", got ", n, ")");
      size_t edge = 0;
      for (Py_ssize_t i = 0; i < want; i++) {
        PyObject* o = PyTuple_GET_ITEM(r.get(), i);
        if (!(*f->tensor_inputs)[static_cast<size_t>(i)]) {
          TRINE_CHECK(o == Py_None, "function ", name(), " returned a gradient different from None at position ", i + 1, ", but the corresponding forward input was not a Variable");
          continue;
        }
        Tensor g = tensor_or_none(o, name());
        if (edges[edge].node || needs_everything) out[edge] = g;
        edge++;
      }
    });
  }
  void release() override {
    GilAcquire gil;
    FunctionObject* f = function_of(context_);
    if (f->saved)
      for (SavedTensor& s : *f->saved) s.release();
  }
  PyObject* context() const { return context_; }

 private:
  PyObject* context_;
};

Ref next_functions(const Node& n) {
  Ref t = checked(PyTuple_New(static_cast<Py_ssize_t>(n.edges.size())));
  for (size_t i = 0; i < n.edges.size(); i++) {
    Ref node(wrap_node(n.edges[i].node));
    PyTuple_SET_ITEM(t.get(), i, checked(Py_BuildValue("(OI)", node.get(), n.edges[i].input)).release());
  }
  return t;
}

Node& node_of(PyObject* o) {
  if (PyType_IsSubtype(Py_TYPE(o), function_base_type)) {
    TRINE_CHECK(function_of(o)->node, "Attribute of an autograd.Function that was not recorded, or whose results are gone");
    return *function_of(o)->node;
  }
  return *reinterpret_cast<NodeObject*>(o)->node;
}

void node_dealloc(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  auto* self = reinterpret_cast<NodeObject*>(o);
  if (self->node) self->node->python_object = nullptr;
  self->node.~Ptr<Node>();
  type->tp_free(o);
  Py_DECREF(type);
}

PyObject* node_next(PyObject* self, void*) {
  return guarded([&]() -> PyObject* { return next_functions(node_of(self)).release(); });
}
PyObject* node_name(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* { return PyUnicode_FromString(node_of(self).name()); });
}
PyObject* node_sequence(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* { return PyLong_FromUnsignedLongLong(node_of(self).sequence); });
}
PyObject* node_variable(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    auto* a = dynamic_cast<AccumulateGrad*>(&node_of(self));
    if (!a) {
      PyErr_SetString(PyExc_AttributeError, "only AccumulateGrad nodes have a variable");
      return nullptr;
    }
    return wrap(a->variable);
  });
}
PyObject* node_metadata(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    NodeExtras& e = node_of(self).extras();
    if (!e.python_metadata) e.python_metadata = checked(PyDict_New()).release();
    return Py_NewRef(static_cast<PyObject*>(e.python_metadata));
  });
}
template <class Pick> PyObject* register_node_hook(PyObject* self, PyObject* callable, Pick pick) {
  return guarded([&]() -> PyObject* {
    NodeExtras& e = node_of(self).extras();
    int64_t id = e.next_hook_id++;
    pick(e).emplace_back(id, Ptr<NodeHook>(Ptr<PythonNodeHook>::adopt(new PythonNodeHook(callable))));
    return PyLong_FromLongLong(id);
  });
}
PyObject* node_register_hook(PyObject* self, PyObject* f) {
  return register_node_hook(self, f, [](NodeExtras& e) -> auto& { return e.post_hooks; });
}
PyObject* node_register_prehook(PyObject* self, PyObject* f) {
  return register_node_hook(self, f, [](NodeExtras& e) -> auto& { return e.pre_hooks; });
}
PyObject* node_remove_hook(PyObject* self, PyObject* id) {
  return guarded([&]() -> PyObject* {
    int64_t wanted = PyLong_AsLongLong(id);
    NodeExtras& e = node_of(self).extras();
    for (auto* list : {&e.post_hooks, &e.pre_hooks})
      for (size_t i = 0; i < list->size(); i++)
        if ((*list)[i].first == wanted) list->erase(list->begin() + static_cast<long>(i));
    return none();
  });
}
PyObject* node_repr(PyObject* self) { return PyUnicode_FromFormat("<%s object at %p>", Py_TYPE(self)->tp_name, self); }
Py_hash_t node_hash(PyObject* self) { return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(self) >> 4); }

#define NODE_METHODS \
  {"name", node_name, METH_NOARGS, nullptr}, {"_sequence_nr", node_sequence, METH_NOARGS, nullptr}, {"_register_hook", node_register_hook, METH_O, nullptr}, \
      {"_register_prehook", node_register_prehook, METH_O, nullptr}, {"_remove_hook", node_remove_hook, METH_O, nullptr}
PyMethodDef node_methods[] = {NODE_METHODS, {}};
PyGetSetDef node_properties[] = {{"next_functions", node_next, nullptr, nullptr, nullptr}, {"variable", node_variable, nullptr, nullptr, nullptr}, {"metadata", node_metadata, nullptr, nullptr, nullptr}, {}};

PyTypeObject* node_type(const char* name) {
  static auto* types = new std::map<std::string, PyTypeObject*>;
  auto it = types->find(name);
  if (it != types->end()) return it->second;
  auto* stable = new std::string(std::string("trine.autograd.") + name);  // Python takes what precedes the last dot for the module
  PyType_Slot slots[] = {{0, nullptr}};
  PyType_Spec spec = {stable->c_str(), sizeof(NodeObject), 0, Py_TPFLAGS_DEFAULT, slots};
  Ref bases = checked(PyTuple_Pack(1, node_base_type));
  return (*types)[name] = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpecWithBases(&spec, bases.get())).release());
}

// ---- autograd.Function --------------------------------------------------------------------------------------------------------
PyObject* function_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* o = type->tp_alloc(type, 0);
  if (o) function_of(o)->materialize = true;
  return o;
}

int function_traverse(PyObject* o, visitproc visit, void* arg) {
  FunctionObject* f = function_of(o);
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(f->dict);
  Py_VISIT(f->to_save);
  Py_VISIT(f->dirty);
  Py_VISIT(f->non_differentiable);
  Py_VISIT(f->needs_input_grad);
  Py_VISIT(f->cls);
  return 0;
}
int function_clear(PyObject* o) {
  FunctionObject* f = function_of(o);
  Py_CLEAR(f->dict);
  Py_CLEAR(f->to_save);
  Py_CLEAR(f->dirty);
  Py_CLEAR(f->non_differentiable);
  Py_CLEAR(f->needs_input_grad);
  return 0;
}
void function_dealloc(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  FunctionObject* f = function_of(o);
  PyObject_GC_UnTrack(o);
  if (f->weakrefs) PyObject_ClearWeakRefs(o);
  function_clear(o);
  Py_CLEAR(f->cls);
  delete f->saved;
  delete f->tensor_inputs;
  type->tp_free(o);
  Py_DECREF(type);
}

int set_slot(PyObject*& slot, PyObject* value) {
  PyObject* old = slot;
  slot = Py_XNewRef(value);
  Py_XDECREF(old);
  return 0;
}

PyObject* f_save_for_backward(PyObject* self, PyObject* args) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
    PyObject* o = PyTuple_GET_ITEM(args, i);
    if (o != Py_None && !is_tensor(o)) return PyErr_Format(PyExc_TypeError, "save_for_backward can only save variables, but argument %zd is of type %s", i, Py_TYPE(o)->tp_name);
  }
  set_slot(function_of(self)->to_save, args);
  Py_RETURN_NONE;
}
PyObject* f_mark_dirty(PyObject* self, PyObject* args) {
  set_slot(function_of(self)->dirty, args);
  Py_RETURN_NONE;
}
PyObject* f_mark_non_differentiable(PyObject* self, PyObject* args) {
  set_slot(function_of(self)->non_differentiable, args);
  Py_RETURN_NONE;
}
PyObject* f_set_materialize(PyObject* self, PyObject* on) {
  function_of(self)->materialize = PyObject_IsTrue(on) == 1;
  Py_RETURN_NONE;
}

PyObject* f_saved_tensors(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    FunctionObject* f = function_of(self);
    if (!f->saved) return f->to_save ? Py_NewRef(f->to_save) : PyTuple_New(0);
    TRINE_CHECK(f->node, "saved_tensors: the graph of this Function is gone");
    Ref t = checked(PyTuple_New(static_cast<Py_ssize_t>(f->saved->size())));
    for (size_t i = 0; i < f->saved->size(); i++) PyTuple_SET_ITEM(t.get(), i, wrap((*f->saved)[i].unpack(f->node)));
    return t.release();
  });
}
PyObject* f_needs_input_grad(PyObject* self, void*) {
  PyObject* o = function_of(self)->needs_input_grad;
  return Py_NewRef(o ? o : Py_None);
}
PyObject* f_dirty(PyObject* self, void*) {
  PyObject* o = function_of(self)->dirty;
  return Py_NewRef(o ? o : Py_None);
}

bool contains(PyObject* tuple, PyObject* o) {
  for (Py_ssize_t i = 0; tuple && i < PyTuple_GET_SIZE(tuple); i++)
    if (PyTuple_GET_ITEM(tuple, i) == o) return true;
  return false;
}

PyObject* function_apply(PyObject* cls, PyObject* args) {
  return guarded([&]() -> PyObject* {
    Ref context_cls = optional_attribute(cls, "_backward_cls");
    if (!context_cls) context_cls = Ref::borrow(cls);
    Ref context = checked(PyObject_CallNoArgs(context_cls.get()));
    FunctionObject* f = function_of(context.get());
    set_slot(f->cls, cls);
    Py_ssize_t n = PyTuple_GET_SIZE(args);
    f->tensor_inputs = new std::vector<bool>(static_cast<size_t>(n));
    std::vector<Tensor> inputs;
    bool any = false, tangents = false;
    Ref needs = checked(PyTuple_New(n));
    for (Py_ssize_t i = 0; i < n; i++) {
      PyObject* o = PyTuple_GET_ITEM(args, i);
      bool wants = false;
      if (is_tensor(o)) {
        (*f->tensor_inputs)[static_cast<size_t>(i)] = true;
        inputs.push_back(unwrap(o));
        wants = unwrap(o).requires_grad();
        tangents |= forward_mode() && autograd::has_tangent(unwrap(o));
      }
      any |= wants;
      PyTuple_SET_ITEM(needs.get(), i, boolean(wants));
    }
    f->needs_input_grad = needs.release();
    bool record = any && grad_enabled();

    // The user's forward, outside autograd.
    Ref outputs;
    {
      GradMode off(false);
      int levels = std::exchange(grad_modes.forward_levels, 0);
      struct Restore {
        int levels;
        ~Restore() { grad_modes.forward_levels = levels; }
      } restore{levels};
      Ref forward = checked(PyObject_GetAttrString(cls, "forward"));
      Ref setup = checked(PyObject_GetAttrString(cls, "setup_context"));
      if (optional_attribute(setup.get(), "_is_default")) {
        Ref call_args = checked(PyTuple_New(n + 1));
        PyTuple_SET_ITEM(call_args.get(), 0, Py_NewRef(context.get()));
        for (Py_ssize_t i = 0; i < n; i++) PyTuple_SET_ITEM(call_args.get(), i + 1, Py_NewRef(PyTuple_GET_ITEM(args, i)));
        outputs = checked(PyObject_Call(forward.get(), call_args.get(), nullptr));
      } else {
        outputs = checked(PyObject_Call(forward.get(), args, nullptr));
        Ref done = checked(PyObject_CallFunctionObjArgs(setup.get(), context.get(), args, outputs.get(), nullptr));
      }
    }
    bool single = !PyTuple_Check(outputs.get());
    Ref tuple = single ? checked(PyTuple_Pack(1, outputs.get())) : outputs;
    Py_ssize_t count = PyTuple_GET_SIZE(tuple.get());

    Ptr<PythonNode> node;
    if (record) {
      node = Ptr<PythonNode>::adopt(new PythonNode(context.get()));
      for (const Tensor& t : inputs) node->add_edges(t);
      f->node = node.get();
    }
    Ref results = checked(PyTuple_New(count));
    for (Py_ssize_t i = 0; i < count; i++) {
      PyObject* o = PyTuple_GET_ITEM(tuple.get(), i);
      if (!is_tensor(o)) {
        TRINE_CHECK_TYPE(!record || o == Py_None || !PyObject_HasAttrString(o, "grad_fn"), cls ? reinterpret_cast<PyTypeObject*>(cls)->tp_name : "", ".forward: expected to return a tensor");
        if (record) node->inputs.push_back({Dims{}, DType::Float, Device{}});
        PyTuple_SET_ITEM(results.get(), i, Py_NewRef(o));
        continue;
      }
      Tensor t = unwrap(o);
      bool is_input = false;
      for (const Tensor& in : inputs) is_input |= in.is_same(t);
      bool dirty = contains(f->dirty, o);
      Ref result = Ref::borrow(o);
      if (dirty) t.bump_version();
      if (record && !contains(f->non_differentiable, o) && is_differentiable(t.dtype())) {
        if (dirty) {
          autograd::check_inplace(t, node->name());
          autograd::rebase_history(t, node);
        } else {
          if (is_input || t.requires_grad()) {
            t = detach_shallow(t);
            result = Ref(wrap(t));
          }
          autograd::set_history(t, node, static_cast<uint32_t>(i));
        }
      } else if (record) {
        node->add_input(t);
        if (is_input && !dirty) result = Ref(wrap(detach_shallow(t)));
      }
      PyTuple_SET_ITEM(results.get(), i, result.release());
    }
    if (record && f->to_save) {
      f->saved = new std::vector<SavedTensor>(static_cast<size_t>(PyTuple_GET_SIZE(f->to_save)));
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(f->to_save); i++) {
        PyObject* o = PyTuple_GET_ITEM(f->to_save, i);
        if (o == Py_None) continue;
        Py_ssize_t output = -1;
        for (Py_ssize_t k = 0; k < count; k++)
          if (PyTuple_GET_ITEM(tuple.get(), k) == o) output = k;
        if (output >= 0 && is_tensor(PyTuple_GET_ITEM(results.get(), output)) && unwrap(PyTuple_GET_ITEM(results.get(), output)).requires_grad())
          (*f->saved)[static_cast<size_t>(i)].save_output(unwrap(PyTuple_GET_ITEM(results.get(), output)), static_cast<uint32_t>(output));
        else
          (*f->saved)[static_cast<size_t>(i)].save(unwrap(o));
      }
      Py_CLEAR(f->to_save);
    }
    if (tangents) {
      Ref jvp = checked(PyObject_GetAttrString(cls, "jvp"));
      Ref call_args = checked(PyTuple_New(n + 1));
      PyTuple_SET_ITEM(call_args.get(), 0, Py_NewRef(context.get()));
      for (Py_ssize_t i = 0; i < n; i++) {
        PyObject* o = PyTuple_GET_ITEM(args, i);
        PyTuple_SET_ITEM(call_args.get(), i + 1, is_tensor(o) ? wrap(autograd::tangent_of(unwrap(o))) : none());
      }
      Ref r = checked(PyObject_Call(jvp.get(), call_args.get(), nullptr));
      if (!PyTuple_Check(r.get())) r = checked(PyTuple_Pack(1, r.get()));
      TRINE_CHECK(PyTuple_GET_SIZE(r.get()) == count, "jvp of ", reinterpret_cast<PyTypeObject*>(cls)->tp_name, " returned ", PyTuple_GET_SIZE(r.get()), " tangents for ", count, " outputs");
      for (Py_ssize_t i = 0; i < count; i++) {
        PyObject* o = PyTuple_GET_ITEM(results.get(), i);
        if (is_tensor(o)) autograd::set_tangent(unwrap(o), tensor_or_none(PyTuple_GET_ITEM(r.get(), i), "jvp"));
      }
    }
    return single ? Py_NewRef(PyTuple_GET_ITEM(results.get(), 0)) : results.release();
  });
}

PyMethodDef function_methods[] = {NODE_METHODS,
                                  {"save_for_backward", f_save_for_backward, METH_VARARGS, nullptr},
                                  {"save_for_forward", f_save_for_backward, METH_VARARGS, nullptr},
                                  {"mark_dirty", f_mark_dirty, METH_VARARGS, nullptr},
                                  {"mark_non_differentiable", f_mark_non_differentiable, METH_VARARGS, nullptr},
                                  {"set_materialize_grads", f_set_materialize, METH_O, nullptr},
                                  {"apply", function_apply, METH_VARARGS | METH_CLASS, nullptr},
                                  {}};
PyGetSetDef function_properties[] = {{"saved_tensors", f_saved_tensors, nullptr, nullptr, nullptr},
                                     {"saved_variables", f_saved_tensors, nullptr, nullptr, nullptr},
                                     {"needs_input_grad", f_needs_input_grad, nullptr, nullptr, nullptr},
                                     {"dirty_tensors", f_dirty, nullptr, nullptr, nullptr},
                                     {"next_functions", node_next, nullptr, nullptr, nullptr},
                                     {"metadata", node_metadata, nullptr, nullptr, nullptr},
                                     {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                                     {}};

}  // namespace

Tensor tensor_or_none(PyObject* o, const char* what) {
  if (o == Py_None) return {};
  TRINE_CHECK_TYPE(is_tensor(o), what, ": expected Variable or None (got ", Py_TYPE(o)->tp_name, ")");
  return unwrap(o);
}

Ptr<TensorHook> make_tensor_hook(PyObject* callable) { return Ptr<PythonTensorHook>::adopt(new PythonTensorHook(callable)); }

int visit_hooks(TensorImpl* impl, visitproc visit, void* arg) {
  if (!impl->autograd) return 0;
  for (auto* list : {&impl->autograd->hooks, &impl->autograd->after_accumulate})
    for (auto& [id, hook] : *list)
      if (hook->use_count() == 1) Py_VISIT(static_cast<PyObject*>(hook->python_callable()));
  return 0;
}

void clear_hooks(TensorImpl* impl) {
  if (!impl->autograd) return;
  impl->autograd->hooks.clear();
  impl->autograd->after_accumulate.clear();
}

PyObject* wrap_node(const Ptr<Node>& node) {
  if (!node) return none();
  if (node->python_object) return Py_NewRef(static_cast<PyObject*>(node->python_object));
  PyTypeObject* type = node_type(node->name());
  Ref r = checked(type->tp_alloc(type, 0));
  new (&reinterpret_cast<NodeObject*>(r.get())->node) Ptr<Node>(node);
  node->python_object = r.get();
  return r.release();
}

void add_node_types(PyObject* module) {
  PyType_Slot node_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(node_dealloc)}, {Py_tp_methods, node_methods}, {Py_tp_getset, node_properties},
                              {Py_tp_repr, reinterpret_cast<void*>(node_repr)}, {Py_tp_hash, reinterpret_cast<void*>(node_hash)}, {0, nullptr}};
  PyType_Spec node_spec = {"trine.autograd.graph.Node", sizeof(NodeObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, node_slots};
  node_base_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&node_spec)).release());

  static PyMemberDef members[] = {{"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, dict), READONLY, nullptr}, {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weakrefs), READONLY, nullptr}, {}};
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(function_new)},           {Py_tp_dealloc, reinterpret_cast<void*>(function_dealloc)},
                         {Py_tp_traverse, reinterpret_cast<void*>(function_traverse)}, {Py_tp_clear, reinterpret_cast<void*>(function_clear)},
                         {Py_tp_methods, function_methods}, {Py_tp_getset, function_properties}, {Py_tp_members, members}, {Py_tp_hash, reinterpret_cast<void*>(node_hash)}, {0, nullptr}};
  PyType_Spec spec = {"trine._C._FunctionBase", sizeof(FunctionObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  function_base_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
  if (PyModule_AddObjectRef(module, "_FunctionBase", reinterpret_cast<PyObject*>(function_base_type)) < 0) throw PythonError{};
  if (PyModule_AddObjectRef(module, "_NodeBase", reinterpret_cast<PyObject*>(node_base_type)) < 0) throw PythonError{};
}

}  // namespace trine::py
