// x[key] and x[key] = value for every key that PyTorch takes.
#include "autograd/declare.h"
#include "bindings/factories.h"
#include "bindings/op_function.h"
#include "trine/ops.h"

namespace trine::py {
namespace {

struct Plan {
  Tensor view;                  // ints, slices, None and Ellipsis applied
  std::vector<Tensor> indices;  // tensor indices by dimension of `view`, undefined where there is none
  bool has_indices = false;
};

int64_t as_index(PyObject* o) {
  Ref i = checked(PyNumber_Index(o));
  int64_t v = PyLong_AsLongLong(i.get());
  if (v == -1 && PyErr_Occurred()) throw PythonError{};
  return v;
}

std::optional<int64_t> slice_bound(PyObject* o) {
  if (o == Py_None) return std::nullopt;
  return as_index(o);
}

// A list is a tuple of indices only in NumPy's very old form; like PyTorch we take it as one index tensor unless it holds slices or the like.
bool treat_list_as_tuple(PyObject* key) {
  if (!PyList_Check(key)) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(key); i++) {
    PyObject* o = PyList_GET_ITEM(key, i);
    if (o == Py_Ellipsis || o == Py_None || PySlice_Check(o)) return true;
  }
  return false;
}

// How many dimensions of the tensor an index consumes.
int64_t consumed(PyObject* o) {
  if (o == Py_None || o == Py_Ellipsis || PyBool_Check(o)) return 0;
  if (is_tensor(o)) {
    const Tensor& t = unwrap(o);
    if (t.dtype() == DType::Bool || t.dtype() == DType::UInt8) return t.dim();
  }
  return 1;
}

Plan apply_key(const Tensor& self, PyObject* key) {
  Plan plan;
  plan.view = self;
  SmallVector<PyObject*, 8> items;
  Ref tuple;
  if (treat_list_as_tuple(key)) {
    tuple = checked(PyList_AsTuple(key));
    key = tuple.get();
  }
  if (PyTuple_Check(key))
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) items.push_back(PyTuple_GET_ITEM(key, i));
  else
    items.push_back(key);
  // Sequences become tensors first: how many dimensions they take depends on their dtype.
  SmallVector<Ref, 8> owned;
  auto is_array = [](PyObject* o) { return PySequence_Check(o) && PyObject_CheckBuffer(o); };  // NumPy's arrays claim to be integers too
  for (PyObject*& o : items)
    if (!is_tensor(o) && o != Py_None && o != Py_Ellipsis && !PySlice_Check(o) && (!PyIndex_Check(o) || is_array(o)) && !PyBool_Check(o)) {
      Tensor t = tensor_from_python(o, DType::Undefined);
      if (t.numel() == 0 && !is_integral(t.dtype(), true)) t = to(t, DType::Int64);
      owned.push_back(Ref(wrap(t)));
      o = owned.back().get();
    }
  int64_t taken = 0;
  bool ellipsis = false;
  for (PyObject* o : items) {
    taken += consumed(o);
    TRINE_CHECK_INDEX(!(ellipsis && o == Py_Ellipsis), "an index can only have a single ellipsis ('...')");
    ellipsis |= o == Py_Ellipsis;
  }
  TRINE_CHECK_INDEX(taken <= self.dim(), "too many indices for tensor of dimension ", self.dim());
  int64_t dim = 0;
  auto put_index = [&](Tensor t) {
    plan.indices.resize(static_cast<size_t>(dim));
    plan.indices.push_back(std::move(t));
    plan.has_indices = true;
  };
  for (PyObject* o : items) {
    if (PyBool_Check(o)) {
      plan.view = unsqueeze(plan.view, dim);
      Tensor mask = scalar_tensor(Scalar(o == Py_True), DType::Bool);
      put_index(unsqueeze(mask, 0));
      dim++;
    } else if (PySlice_Check(o)) {
      auto* s = reinterpret_cast<PySliceObject*>(o);
      int64_t step = slice_bound(s->step).value_or(1);
      TRINE_CHECK_VALUE(step > 0, "step must be greater than zero");
      auto start = slice_bound(s->start), stop = slice_bound(s->stop);
      if (start || stop || step != 1) plan.view = slice(plan.view, dim, start, stop, step);
      dim++;
    } else if (o == Py_Ellipsis) {
      dim += self.dim() - taken;
    } else if (o == Py_None) {
      plan.view = unsqueeze(plan.view, dim);
      dim++;
    } else if (is_tensor(o)) {
      const Tensor& t = unwrap(o);
      TRINE_CHECK_INDEX(is_integral(t.dtype(), true), "tensors used as indices must be long, int, byte or bool tensors");
      if (t.dim() == 0 && is_integral(t.dtype(), false) && t.is_cpu()) {
        plan.view = select(plan.view, dim, item(t).to_int());
      } else if (t.dim() == 0 && t.dtype() == DType::Bool) {
        plan.view = unsqueeze(plan.view, dim);
        put_index(unsqueeze(t, 0));
        dim++;
      } else {
        put_index(t);
        dim += consumed(o);
      }
    } else {
      int64_t i = as_index(o);
      int64_t n = plan.view.sizes()[dim];
      TRINE_CHECK_INDEX(i >= -n && i < n, "index ", i, " is out of bounds for dimension ", dim, " with size ", n);
      plan.view = select(plan.view, dim, i);
    }
  }
  return plan;
}

// Masks of several dimensions stand for several indices: dimensions after them move on by themselves in `index`.
Tensor value_tensor(PyObject* value, const Tensor& like) {
  if (is_tensor(value)) return unwrap(value);
  if (is_number(value)) return scalar_tensor(to_scalar(value), like.dtype());
  return tensor_from_python(value, like.dtype());
}

// NumPy and PyTorch drop leading dimensions of size 1 from the assigned value.
Tensor drop_leading_ones(const Tensor& value, int64_t dims) {
  Tensor v = value;
  while (v.dim() > dims && v.sizes()[0] == 1) v = select(v, 0, 0);
  return v;
}

bool overridden(PyObject* self, PyObject* key, PyObject* value, SmallVector<PyObject*, 2>& who) {
  if (has_torch_function(self)) who.push_back(self);
  auto look = [&](PyObject* o) {
    if (o && !PyLong_Check(o) && !PySlice_Check(o) && !PyTuple_Check(o) && has_torch_function(o)) who.push_back(o);
  };
  look(key);
  if (PyTuple_Check(key))
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) look(PyTuple_GET_ITEM(key, i));
  look(value);
  return !who.empty() || torch_function_mode_active();
}

PyObject* method_of_tensor(const char* name) {
  return PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_type), name);
}

}  // namespace

PyObject* tensor_getitem(PyObject* self, PyObject* key) {
  return guarded([&]() -> PyObject* {
    if (is_exact_tensor(self) && PyLong_CheckExact(key) && !torch_function_mode_active()) {
      const Tensor& t = unwrap(self);
      int64_t i = PyLong_AsLongLong(key);
      if (i == -1 && PyErr_Occurred()) throw PythonError{};
      TRINE_CHECK_INDEX(t.dim() > 0, "invalid index of a 0-dim tensor. Use `tensor.item()` in Python to convert a 0-dim tensor to a number");
      int64_t n = t.sizes()[0];
      TRINE_CHECK_INDEX(i >= -n && i < n, "index ", i, " is out of bounds for dimension 0 with size ", n);
      return wrap(select(t, 0, i));
    }
    SmallVector<PyObject*, 2> who;
    if (overridden(self, key, nullptr, who)) {
      Ref f = checked(method_of_tensor("__getitem__")), args = checked(PyTuple_Pack(2, self, key)), kwargs = checked(PyDict_New());
      return call_torch_function(f.get(), who, args.get(), kwargs.get());
    }
    const Tensor& t = unwrap(self);
    TRINE_CHECK_INDEX(t.dim() > 0 || !PyLong_Check(key) || PyBool_Check(key), "invalid index of a 0-dim tensor. Use `tensor.item()` in Python to convert a 0-dim tensor to a number");
    Plan plan = apply_key(t, key);
    if (plan.has_indices) return wrap(index(plan.view, plan.indices));
    if (plan.view.is_same(t)) return wrap(alias(t));
    return wrap(plan.view);
  });
}

int tensor_setitem(PyObject* self, PyObject* key, PyObject* value) {
  return guarded<int>(-1, [&] {
    TRINE_CHECK_TYPE(value, "Tensor does not support deleting items");
    SmallVector<PyObject*, 2> who;
    if (overridden(self, key, value, who)) {
      Ref f = checked(method_of_tensor("__setitem__")), args = checked(PyTuple_Pack(3, self, key, value)), kwargs = checked(PyDict_New());
      Ref r = checked(call_torch_function(f.get(), who, args.get(), kwargs.get()));
      return 0;
    }
    const Tensor& t = unwrap(self);
    Plan plan = apply_key(t, key);
    if (!plan.has_indices) {
      if (!is_tensor(value) && is_number(value)) {
        fill_(plan.view, to_scalar(value));
        return 0;
      }
      copy_(plan.view, drop_leading_ones(value_tensor(value, t), plan.view.dim()));
      return 0;
    }
    Tensor v = value_tensor(value, t);
    if (v.dtype() != t.dtype()) {
      TRINE_CHECK(v.dim() == 0 || !is_tensor(value) || v.numel() == 1, "Index put requires the source and destination dtypes match, got ", legacy_name(t.dtype()), " for the destination and ", legacy_name(v.dtype()), " for the source.");
      v = to(v, t.dtype());
    }
    index_put_(plan.view, plan.indices, v, false);
    return 0;
  });
}

Py_ssize_t tensor_length(PyObject* self) {
  return guarded<Py_ssize_t>(-1, [&]() -> Py_ssize_t {
    const Tensor& t = unwrap(self);
    TRINE_CHECK_TYPE(t.dim() > 0, "len() of a 0-d tensor");
    return t.sizes()[0];
  });
}

}  // namespace trine::py
