// Operators as Python callables.
#pragma once
#include "bindings/arguments.h"

namespace trine::py {

// Calls the first overload that fits. New reference.
PyObject* call_overloads(const char* name, std::span<const OperatorInfo* const> overloads, PyObject* callable, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, bool as_method);

// The callables of all operators: fills module.ops and the methods of Tensor.
void add_operators(PyObject* module);
// The function of an operator, for number protocol and Python code in C: borrowed.
PyObject* operator_function(const char* name);

// types with a __torch_function__ -> result, or nullptr with an exception.
PyObject* call_torch_function(PyObject* callable, std::span<PyObject* const> overriding, PyObject* args_tuple, PyObject* kwargs);
// The same for a call in a region with a mode, which is asked first.
PyObject* ask_torch_function_mode(PyObject* callable, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
Ref wrap_result(const OperatorInfo& op, Value* results, PyObject* result_type);

}  // namespace trine::py
