// Tensors out of Python data.
#pragma once
#include "bindings/python.h"
#include "tensor/tensor.h"

namespace trine::py {

// Numbers, nested sequences, NumPy arrays and other array objects, tensors in sequences. dtype Undefined: inferred.
Tensor tensor_from_python(PyObject* data, DType dtype);
// Shares the memory of an object with the buffer protocol or __array_interface__; keeps it alive.
Tensor tensor_from_buffer(PyObject* o, bool writable_required);
Ref to_list(const Tensor& t);  // nested lists of numbers
Ref item_object(const Tensor& t);

extern PyMethodDef factory_functions[];

}  // namespace trine::py
