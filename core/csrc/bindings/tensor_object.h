// The Python object of a tensor, and the way between the two.
#pragma once
#include "bindings/python.h"
#include "tensor/tensor.h"

namespace trine::py {

struct TensorObject {
  PyObject_HEAD
  Ptr<TensorImpl> impl;  // empty while the tensor owns the object instead
  PyObject* dict;
  PyObject* weakrefs;
};

extern PyTypeObject* tensor_type;
extern PyTypeObject* parameter_type;  // trine.nn.Parameter, once it exists: treated like a plain tensor by calls

inline bool is_exact_tensor(PyObject* o) { return Py_TYPE(o) == tensor_type || Py_TYPE(o) == parameter_type; }
inline bool is_tensor(PyObject* o) { return is_exact_tensor(o) || PyType_IsSubtype(Py_TYPE(o), tensor_type); }
// The tensor of a Python tensor object; no check.
inline const Tensor& unwrap(PyObject* o) { return *reinterpret_cast<const Tensor*>(&reinterpret_cast<TensorObject*>(o)->impl); }
// New reference: the tensor's own object, or a fresh one. None for an undefined tensor.
PyObject* wrap(const Tensor& t);
PyObject* wrap(Tensor&& t);  // hands the reference on: results of operators come this way
PyObject* wrap_as(PyTypeObject* type, const Tensor& t);  // a fresh object of a subclass; the tensor must have none

// Makes the cyclic collector look at the object: needed once it refers to other Python objects.
void track(PyObject* tensor);

void add_tensor_type(PyObject* module);

// Filled by the other binding files before the type is made.
extern PyMethodDef tensor_methods[];
extern PyGetSetDef tensor_properties[];
extern PyNumberMethods tensor_number;
PyObject* tensor_richcompare(PyObject* a, PyObject* b, int op);
PyObject* tensor_getitem(PyObject* self, PyObject* key);
int tensor_setitem(PyObject* self, PyObject* key, PyObject* value);
Py_ssize_t tensor_length(PyObject* self);
int tensor_getbuffer(PyObject* self, Py_buffer* view, int flags);
void tensor_releasebuffer(PyObject* self, Py_buffer* view);
int visit_hooks(TensorImpl* impl, visitproc visit, void* arg);
void clear_hooks(TensorImpl* impl);

}  // namespace trine::py
