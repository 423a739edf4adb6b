#include "bindings/tensor_object.h"

#include "trine/ops.h"
#include <structmember.h>

namespace trine::py {

PyTypeObject* tensor_type = nullptr;
PyTypeObject* parameter_type = nullptr;

namespace {

PyTypeObject* meta_type = nullptr;

TensorObject* object_of(PyObject* o) { return reinterpret_cast<TensorObject*>(o); }

// Plain tensor objects come and go by the thousand: their memory is kept.
constexpr int kKeep = 512;
PyObject* kept[kKeep];
int kept_count = 0;

PyObject* allocate_plain() {
  if (kept_count) {
    PyObject* o = kept[--kept_count];
    return PyObject_Init(o, tensor_type);
  }
  return reinterpret_cast<PyObject*>(PyObject_GC_New(TensorObject, tensor_type));
}

void initialise(PyObject* o, Tensor t) {
  TensorObject* self = object_of(o);
  if (t.defined()) t.impl()->python_object = o;
  new (&self->impl) Ptr<TensorImpl>(std::move(t).take());
  self->dict = nullptr;
  self->weakrefs = nullptr;
}

// An object that carries state (attributes, a subclass) must survive as long as its tensor does: the tensor takes it over.
bool hand_over(PyObject* o) {
  TensorObject* self = object_of(o);
  TensorImpl* impl = self->impl.get();
  if (!impl || impl->use_count() <= 1) return false;
  if (!self->dict && Py_TYPE(o) == tensor_type && !self->weakrefs) return false;
  Py_SET_REFCNT(o, 1);
#ifdef Py_REF_DEBUG
  _Py_IncRefTotal();
#endif
  self->impl.leak();  // impl->python_object stays set; the tensor owns the object from here
  if (impl->release_count()) impl->destroy();
  return true;
}

void tensor_dealloc(PyObject* o) {
  TensorObject* self = object_of(o);
  PyTypeObject* type = Py_TYPE(o);
  if (hand_over(o)) return;
  if (type->tp_del || type->tp_finalize) {
    if (PyObject_CallFinalizerFromDealloc(o) < 0) return;
  }
  PyObject_GC_UnTrack(o);
  if (self->weakrefs) PyObject_ClearWeakRefs(o);
  if (self->impl) {
    self->impl->python_object = nullptr;
    self->impl.reset();
  }
  Py_CLEAR(self->dict);
  if (type == tensor_type && kept_count < kKeep) {
    kept[kept_count++] = o;
    Py_DECREF(type);
    return;
  }
  PyObject_GC_Del(o);
  Py_DECREF(type);
}

// The tensor is gone and owned its object.
void release_object(void* object) {
  if (!Py_IsInitialized()) return;
  GilAcquire gil;
  Py_DECREF(static_cast<PyObject*>(object));
}

int tensor_traverse(PyObject* o, visitproc visit, void* arg) {
  TensorObject* self = object_of(o);
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(self->dict);
  if (self->impl && self->impl->use_count() == 1) return visit_hooks(self->impl.get(), visit, arg);
  return 0;
}

int tensor_clear(PyObject* o) {
  TensorObject* self = object_of(o);
  if (self->impl && self->impl->use_count() > 1) return 0;  // the graph still needs this tensor and its attributes
  if (self->impl) clear_hooks(self->impl.get());
  Py_CLEAR(self->dict);
  return 0;
}

int tensor_setattr(PyObject* o, PyObject* name, PyObject* value) {
  int r = PyObject_GenericSetAttr(o, name, value);
  if (object_of(o)->dict) track(o);
  return r;
}

PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs);
Py_hash_t tensor_hash(PyObject* o) {
  return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(o) >> 4);
}

// Subclasses written in Python deallocate like the base: their instances may be handed over to the tensor.
int meta_init(PyObject* cls, PyObject* args, PyObject* kwargs) {
  if (PyType_Type.tp_init(cls, args, kwargs) < 0) return -1;
  reinterpret_cast<PyTypeObject*>(cls)->tp_dealloc = tensor_dealloc;
  return 0;
}

PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    // Tensor(), Tensor(2, 3), Tensor([1., 2.]), Tensor(tensor): the old constructor.
    if (kwargs && PyDict_Size(kwargs)) throw_error(ErrorKind::Type, "new(): Tensor() takes no keyword arguments; use trine.tensor(data, dtype=..., device=...)");
    Py_ssize_t n = PyTuple_GET_SIZE(args);
    Tensor t;
    PyObject* first = n ? PyTuple_GET_ITEM(args, 0) : nullptr;
    if (n == 1 && is_tensor(first)) {
      t = detach(unwrap(first));
    } else if (n == 1 && !PyLong_Check(first) && Py_TYPE(first)->tp_as_number != nullptr && !PySequence_Check(first)) {
      throw_error(ErrorKind::Type, str("new(): data must be a sequence (got ", Py_TYPE(first)->tp_name, ")"));
    } else if (n == 1 && !PyLong_Check(first) && Py_TYPE(first)->tp_name != std::string_view("trine.Size") && Py_TYPE(first)->tp_name != std::string_view("Size")) {
      Ref module = checked(PyImport_ImportModule("trine._C"));
      Ref factory = checked(PyObject_GetAttrString(module.get(), "tensor"));
      Ref dtype = checked(PyObject_CallMethod(module.get(), "get_default_dtype", nullptr));
      Ref made = checked(PyObject_CallFunctionObjArgs(factory.get(), first, dtype.get(), nullptr));
      t = detach(unwrap(made.get()));
    } else {
      Dims sizes;
      PyObject* list = n == 1 && PyTuple_Check(first) ? first : args;
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list); i++) {
        int64_t v = PyLong_AsLongLong(PyTuple_GET_ITEM(list, i));
        if (v == -1 && PyErr_Occurred()) throw PythonError{};
        sizes.push_back(v);
      }
      t = empty(n == 0 ? DimsRef(Dims{0}) : DimsRef(sizes), default_dtype());
    }
    return wrap_as(type, t);
  });
}

}  // namespace

void track(PyObject* o) {
  if (!PyObject_GC_IsTracked(o)) PyObject_GC_Track(o);
}

PyObject* wrap(const Tensor& t) { return wrap(Tensor(t)); }

PyObject* wrap(Tensor&& t) {
  if (!t.defined()) return none();
  if (void* existing = t.impl()->python_object) {
    PyObject* o = static_cast<PyObject*>(existing);
    TensorObject* self = object_of(o);
    if (self->impl) return Py_NewRef(o);
    self->impl = t.ptr();  // taken back from the tensor: its reference becomes the caller's
    return o;
  }
  PyObject* o = allocate_plain();
  if (!o) throw PythonError{};
  initialise(o, std::move(t));
  return o;
}

PyObject* wrap_as(PyTypeObject* type, const Tensor& t) {
  if (type == tensor_type) return wrap(t);
  if (t.impl()->python_object) {
    Tensor alias = detach(t);
    return wrap_as(type, alias);
  }
  PyObject* o = type->tp_alloc(type, 0);
  if (!o) throw PythonError{};
  initialise(o, t);
  return o;
}

void add_tensor_type(PyObject* module) {
  set_python_release(release_object);
  PyType_Slot meta_slots[] = {{Py_tp_base, &PyType_Type}, {Py_tp_init, reinterpret_cast<void*>(meta_init)}, {0, nullptr}};
  PyType_Spec meta_spec = {"trine._TensorMeta", static_cast<int>(PyType_Type.tp_basicsize), static_cast<int>(PyType_Type.tp_itemsize), Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, meta_slots};
  meta_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&meta_spec)).release());

  static PyMemberDef members[] = {{"__dictoffset__", T_PYSSIZET, offsetof(TensorObject, dict), READONLY, nullptr},
                                  {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weakrefs), READONLY, nullptr},
                                  {}};
  const PyNumberMethods& nb = tensor_number;
  PyType_Slot slots[] = {
      {Py_tp_new, reinterpret_cast<void*>(tensor_new)},
      {Py_tp_dealloc, reinterpret_cast<void*>(tensor_dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(tensor_traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(tensor_clear)},
      {Py_tp_setattro, reinterpret_cast<void*>(tensor_setattr)},
      {Py_tp_hash, reinterpret_cast<void*>(tensor_hash)},
      {Py_tp_richcompare, reinterpret_cast<void*>(tensor_richcompare)},
      {Py_tp_members, members},
      {Py_tp_methods, tensor_methods},
      {Py_tp_getset, tensor_properties},
      {Py_mp_subscript, reinterpret_cast<void*>(tensor_getitem)},
      {Py_mp_ass_subscript, reinterpret_cast<void*>(tensor_setitem)},
      {Py_mp_length, reinterpret_cast<void*>(tensor_length)},
      {Py_bf_getbuffer, reinterpret_cast<void*>(tensor_getbuffer)},
      {Py_bf_releasebuffer, reinterpret_cast<void*>(tensor_releasebuffer)},
      {Py_nb_add, reinterpret_cast<void*>(nb.nb_add)},
      {Py_nb_subtract, reinterpret_cast<void*>(nb.nb_subtract)},
      {Py_nb_multiply, reinterpret_cast<void*>(nb.nb_multiply)},
      {Py_nb_true_divide, reinterpret_cast<void*>(nb.nb_true_divide)},
      {Py_nb_floor_divide, reinterpret_cast<void*>(nb.nb_floor_divide)},
      {Py_nb_remainder, reinterpret_cast<void*>(nb.nb_remainder)},
      {Py_nb_power, reinterpret_cast<void*>(nb.nb_power)},
      {Py_nb_matrix_multiply, reinterpret_cast<void*>(nb.nb_matrix_multiply)},
      {Py_nb_and, reinterpret_cast<void*>(nb.nb_and)},
      {Py_nb_or, reinterpret_cast<void*>(nb.nb_or)},
      {Py_nb_xor, reinterpret_cast<void*>(nb.nb_xor)},
      {Py_nb_lshift, reinterpret_cast<void*>(nb.nb_lshift)},
      {Py_nb_rshift, reinterpret_cast<void*>(nb.nb_rshift)},
      {Py_nb_negative, reinterpret_cast<void*>(nb.nb_negative)},
      {Py_nb_positive, reinterpret_cast<void*>(nb.nb_positive)},
      {Py_nb_absolute, reinterpret_cast<void*>(nb.nb_absolute)},
      {Py_nb_invert, reinterpret_cast<void*>(nb.nb_invert)},
      {Py_nb_bool, reinterpret_cast<void*>(nb.nb_bool)},
      {Py_nb_int, reinterpret_cast<void*>(nb.nb_int)},
      {Py_nb_float, reinterpret_cast<void*>(nb.nb_float)},
      {Py_nb_index, reinterpret_cast<void*>(nb.nb_index)},
      {Py_nb_inplace_add, reinterpret_cast<void*>(nb.nb_inplace_add)},
      {Py_nb_inplace_subtract, reinterpret_cast<void*>(nb.nb_inplace_subtract)},
      {Py_nb_inplace_multiply, reinterpret_cast<void*>(nb.nb_inplace_multiply)},
      {Py_nb_inplace_true_divide, reinterpret_cast<void*>(nb.nb_inplace_true_divide)},
      {Py_nb_inplace_floor_divide, reinterpret_cast<void*>(nb.nb_inplace_floor_divide)},
      {Py_nb_inplace_remainder, reinterpret_cast<void*>(nb.nb_inplace_remainder)},
      {Py_nb_inplace_power, reinterpret_cast<void*>(nb.nb_inplace_power)},
      {Py_nb_inplace_and, reinterpret_cast<void*>(nb.nb_inplace_and)},
      {Py_nb_inplace_or, reinterpret_cast<void*>(nb.nb_inplace_or)},
      {Py_nb_inplace_xor, reinterpret_cast<void*>(nb.nb_inplace_xor)},
      {0, nullptr}};
  PyType_Spec spec = {"trine.Tensor", sizeof(TensorObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  tensor_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
  Py_SET_TYPE(reinterpret_cast<PyObject*>(tensor_type), meta_type);
  if (PyModule_AddObjectRef(module, "Tensor", reinterpret_cast<PyObject*>(tensor_type)) < 0) throw PythonError{};
  if (PyModule_AddObjectRef(module, "_TensorMeta", reinterpret_cast<PyObject*>(meta_type)) < 0) throw PythonError{};
}

}  // namespace trine::py
