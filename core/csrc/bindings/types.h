// Python objects of dtypes, devices, memory formats, layouts and shapes.
#pragma once
#include "bindings/python.h"
#include "tensor/tensor.h"

namespace trine::py {

extern PyTypeObject* dtype_type;
extern PyTypeObject* device_type;
extern PyTypeObject* memory_format_type;
extern PyTypeObject* layout_type;
extern PyTypeObject* size_type;

PyObject* dtype_object(DType t);  // borrowed: there is one object per dtype
PyObject* memory_format_object(MemoryFormat f);  // borrowed
PyObject* strided_layout();       // borrowed
Ref device_object(Device d);
Ref size_object(DimsRef sizes);
Ref int_tuple(DimsRef values);

bool is_dtype(PyObject* o);       // Python's float, int, bool and complex count
DType to_dtype(PyObject* o);
bool is_device(PyObject* o);      // a device, a string or an index
Device to_device(PyObject* o);
MemoryFormat to_memory_format(PyObject* o);

void add_types(PyObject* module);

}  // namespace trine::py
