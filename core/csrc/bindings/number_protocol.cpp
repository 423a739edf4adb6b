// a + b, a == b, -a, bool(a), int(a): the short way for plain tensors and numbers, the operators' callables for everything else.
#include "autograd/declare.h"
#include "bindings/op_function.h"
#include "trine/ops.h"

namespace trine::py {
namespace {

bool plain_tensor(PyObject* o) { return is_exact_tensor(o) && !torch_function_mode_active(); }

// A tensor or a Python number as a tensor; `number` keeps the latter. Null: something else.
const Tensor* operand(PyObject* o, Tensor& number) {
  if (plain_tensor(o)) return &unwrap(o);
  if (PyFloat_CheckExact(o) || PyLong_CheckExact(o) || PyBool_Check(o) || PyComplex_CheckExact(o)) {
    number = wrapped_number(to_scalar(o));
    return &number;
  }
  return nullptr;
}

bool acceptable(PyObject* o) { return is_tensor(o) || is_number(o) || has_torch_function(o); }

constexpr int64_t kLarge = 32 * 1024;

template <class F> Tensor unlocked_if_large(const Tensor& a, const Tensor& b, F&& f) {
  if (a.numel() < kLarge && b.numel() < kLarge) return f();
  GilRelease unlocked;
  return f();
}

template <class F> PyObject* binary(PyObject* a, PyObject* b, const char* name, F&& f) {
  return guarded([&]() -> PyObject* {
    Tensor number_a, number_b;
    const Tensor *x = operand(a, number_a), *y = operand(b, number_b);
    if (x && y) return wrap(unlocked_if_large(*x, *y, [&] { return f(*x, *y); }));
    if (!acceptable(a) || !acceptable(b)) Py_RETURN_NOTIMPLEMENTED;
    PyObject* args[] = {a, b};
    return PyObject_Vectorcall(operator_function(name), args, 2, nullptr);
  });
}

template <class F> PyObject* unary(PyObject* a, const char* name, F&& f) {
  return guarded([&]() -> PyObject* {
    if (plain_tensor(a)) {
      const Tensor& x = unwrap(a);
      return wrap(unlocked_if_large(x, x, [&] { return f(x); }));
    }
    return PyObject_Vectorcall(operator_function(name), &a, 1, nullptr);
  });
}

template <class F> PyObject* inplace(PyObject* a, PyObject* b, const char* name, F&& f) {
  return guarded([&]() -> PyObject* {
    Tensor number;
    const Tensor* y = operand(b, number);
    if (plain_tensor(a) && y) {
      f(unwrap(a), *y);
      return Py_NewRef(a);
    }
    if (!acceptable(b)) Py_RETURN_NOTIMPLEMENTED;
    PyObject* args[] = {a, b};
    return PyObject_Vectorcall(operator_function(name), args, 2, nullptr);
  });
}

#define BINARY(FN, OP, CALL) \
  PyObject* FN(PyObject* a, PyObject* b) { return binary(a, b, OP, [](const Tensor& x, const Tensor& y) { return CALL; }); }
BINARY(nb_add, "add", add(x, y))
BINARY(nb_subtract, "sub", sub(x, y))
BINARY(nb_multiply, "mul", mul(x, y))
BINARY(nb_true_divide, "div", div(x, y))
BINARY(nb_floor_divide, "floor_divide", floor_divide(x, y))
BINARY(nb_remainder, "remainder", remainder(x, y))
BINARY(nb_and, "bitwise_and", bitwise_and(x, y))
BINARY(nb_or, "bitwise_or", bitwise_or(x, y))
BINARY(nb_xor, "bitwise_xor", bitwise_xor(x, y))
BINARY(nb_lshift, "bitwise_left_shift", bitwise_left_shift(x, y))
BINARY(nb_rshift, "bitwise_right_shift", bitwise_right_shift(x, y))
#undef BINARY

PyObject* nb_power(PyObject* a, PyObject* b, PyObject*) {
  return guarded([&]() -> PyObject* {
    if (plain_tensor(a) && !is_tensor(b) && is_number(b)) return wrap(pow(unwrap(a), to_scalar(b)));
    return binary(a, b, "pow", [](const Tensor& x, const Tensor& y) { return pow(x, y); });
  });
}

PyObject* nb_matmul(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    if (plain_tensor(a) && plain_tensor(b)) return wrap(unlocked_if_large(unwrap(a), unwrap(b), [&] { return matmul(unwrap(a), unwrap(b)); }));
    if (!acceptable(a) || !acceptable(b)) Py_RETURN_NOTIMPLEMENTED;
    PyObject* args[] = {a, b};
    return PyObject_Vectorcall(operator_function("matmul"), args, 2, nullptr);
  });
}

#define INPLACE(FN, OP, CALL) \
  PyObject* FN(PyObject* a, PyObject* b) { return inplace(a, b, OP, [](const Tensor& x, const Tensor& y) { CALL; }); }
INPLACE(nb_iadd, "add_", add_(x, y))
INPLACE(nb_isub, "sub_", sub_(x, y))
INPLACE(nb_imul, "mul_", mul_(x, y))
INPLACE(nb_idiv, "div_", div_(x, y))
INPLACE(nb_ifloordiv, "floor_divide_", copy_(x, floor_divide(x, y)))
INPLACE(nb_iremainder, "remainder_", remainder_(x, y))
INPLACE(nb_iand, "bitwise_and_", bitwise_and_(x, y))
INPLACE(nb_ior, "bitwise_or_", bitwise_or_(x, y))
INPLACE(nb_ixor, "bitwise_xor_", bitwise_xor_(x, y))
#undef INPLACE
PyObject* nb_ipow(PyObject* a, PyObject* b, PyObject*) {
  return inplace(a, b, "pow_", [](const Tensor& x, const Tensor& y) { pow_(x, y); });
}

PyObject* nb_negative(PyObject* a) {
  return unary(a, "neg", [](const Tensor& x) {
    TRINE_CHECK(x.dtype() != DType::Bool, "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.");
    return neg(x);
  });
}
PyObject* nb_absolute(PyObject* a) { return unary(a, "abs", [](const Tensor& x) { return abs(x); }); }
PyObject* nb_invert(PyObject* a) {
  return unary(a, "bitwise_not", [](const Tensor& x) {
    TRINE_CHECK_TYPE(!is_floating(x.dtype()) && !is_complex(x.dtype()), "bitwise_not: the `~` operator needs an integer or bool tensor, got ", x.dtype());
    return bitwise_not(x);
  });
}
PyObject* nb_positive(PyObject* a) { return Py_NewRef(a); }

Scalar single(const Tensor& t) {
  TRINE_CHECK_VALUE(t.numel() == 1, "only one element tensors can be converted to Python scalars, got shape ", t.sizes());
  return item(t);
}

int nb_bool(PyObject* a) {
  return guarded<int>(-1, [&] {
    const Tensor& t = unwrap(a);
    TRINE_CHECK(t.numel() != 0, "Boolean value of Tensor with no values is ambiguous");
    TRINE_CHECK(t.numel() == 1, "Boolean value of Tensor with more than one value is ambiguous");
    return static_cast<int>(item(t).to<bool>());
  });
}
PyObject* nb_int(PyObject* a) {
  return guarded([&]() -> PyObject* {
    Scalar s = single(unwrap(a));
    if (s.is_integral()) return PyLong_FromLongLong(s.to_int());
    TRINE_CHECK(!s.is_complex(), "value cannot be converted to type int64_t without overflow");
    return PyLong_FromDouble(s.to_double());
  });
}
PyObject* nb_float(PyObject* a) {
  return guarded([&]() -> PyObject* {
    Scalar s = single(unwrap(a));
    TRINE_CHECK(!s.is_complex() || s.to_complex().imag() == 0, "value cannot be converted to type double without overflow");
    return PyFloat_FromDouble(s.to_double());
  });
}
PyObject* nb_index(PyObject* a) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = unwrap(a);
    TRINE_CHECK_TYPE(is_integral(t.dtype(), true) && t.numel() == 1, "only integer tensors of a single element can be converted to an index");
    return PyLong_FromLongLong(item(t).to_int());
  });
}

}  // namespace

PyNumberMethods tensor_number = {
    .nb_add = nb_add, .nb_subtract = nb_subtract, .nb_multiply = nb_multiply, .nb_remainder = nb_remainder, .nb_divmod = nullptr, .nb_power = nb_power,
    .nb_negative = nb_negative, .nb_positive = nb_positive, .nb_absolute = nb_absolute, .nb_bool = nb_bool, .nb_invert = nb_invert, .nb_lshift = nb_lshift,
    .nb_rshift = nb_rshift, .nb_and = nb_and, .nb_xor = nb_xor, .nb_or = nb_or, .nb_int = nb_int, .nb_reserved = nullptr, .nb_float = nb_float,
    .nb_inplace_add = nb_iadd, .nb_inplace_subtract = nb_isub, .nb_inplace_multiply = nb_imul, .nb_inplace_remainder = nb_iremainder, .nb_inplace_power = nb_ipow,
    .nb_inplace_lshift = nullptr, .nb_inplace_rshift = nullptr, .nb_inplace_and = nb_iand, .nb_inplace_xor = nb_ixor, .nb_inplace_or = nb_ior,
    .nb_floor_divide = nb_floor_divide, .nb_true_divide = nb_true_divide, .nb_inplace_floor_divide = nb_ifloordiv, .nb_inplace_true_divide = nb_idiv,
    .nb_index = nb_index, .nb_matrix_multiply = nb_matmul, .nb_inplace_matrix_multiply = nullptr,
};

PyObject* tensor_richcompare(PyObject* a, PyObject* b, int op) {
  switch (op) {
    case Py_LT: return binary(a, b, "lt", [](const Tensor& x, const Tensor& y) { return lt(x, y); });
    case Py_LE: return binary(a, b, "le", [](const Tensor& x, const Tensor& y) { return le(x, y); });
    case Py_EQ: return binary(a, b, "eq", [](const Tensor& x, const Tensor& y) { return eq(x, y); });
    case Py_NE: return binary(a, b, "ne", [](const Tensor& x, const Tensor& y) { return ne(x, y); });
    case Py_GT: return binary(a, b, "gt", [](const Tensor& x, const Tensor& y) { return gt(x, y); });
    default: return binary(a, b, "ge", [](const Tensor& x, const Tensor& y) { return ge(x, y); });
  }
}

}  // namespace trine::py
