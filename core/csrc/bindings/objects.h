// What the binding files offer each other beside tensors and arguments.
#pragma once
#include "autograd/node.h"
#include "bindings/tensor_object.h"
#include "tensor/generator.h"

namespace trine::py {

// Storage handles.
void add_storage_type(PyObject* module);
Ref storage_object(const Ptr<Storage>& storage);
bool is_storage(PyObject* o);
const Ptr<Storage>& unwrap_storage(PyObject* o);

// Generators.
void add_generator_type(PyObject* module);

// Graph nodes: the Python object of a C++ node, and autograd.Function.
void add_node_types(PyObject* module);
PyObject* wrap_node(const Ptr<Node>& node);  // new reference; None for null
Ptr<TensorHook> make_tensor_hook(PyObject* callable);
PyObject* python_callable(const TensorHook& hook);

extern PyMethodDef interop_functions[];
extern PyMethodDef autograd_functions[];
extern PyMethodDef batching_functions[];
extern PyMethodDef autocast_functions[];

// Class of Tensors as Python sees results of a hook: a tensor, or None for undefined.
Tensor tensor_or_none(PyObject* o, const char* what);

}  // namespace trine::py
