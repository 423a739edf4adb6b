#include "bindings/factories.h"

#include <cstring>
#include <cmath>
#include <map>

#include "autograd/node.h"
#include "bindings/arguments.h"
#include "bindings/op_function.h"
#include "bindings/types.h"
#include "dispatch/lazy.h"
#include "tensor/promotion.h"
#include "trine/ops.h"

namespace trine::py {
namespace {

constexpr int kMaxNesting = 64;

// ---- the buffer protocol ---------------------------------------------------------------------------------------------
DType dtype_of_format(const char* format, Py_ssize_t size, std::string_view& problem) {
  std::string_view f = format ? format : "B";
  if (!f.empty() && (f[0] == '@' || f[0] == '=' || f[0] == '<')) f.remove_prefix(1);
  if (!f.empty() && (f[0] == '>' || f[0] == '!')) {
    problem = "big-endian data";
    return DType::Undefined;
  }
  if (f == "?") return DType::Bool;
  if (f == "e") return DType::Half;
  if (f == "f") return DType::Float;
  if (f == "d") return DType::Double;
  if (f == "Zf") return DType::ComplexFloat;
  if (f == "Zd") return DType::ComplexDouble;
  if (f == "B" || f == "c") return DType::UInt8;
  if (f == "b") return DType::Int8;
  if (f.size() == 1 && std::strchr("hilqn", f[0])) return size == 2 ? DType::Int16 : size == 4 ? DType::Int32 : DType::Int64;
  problem = "this element type";
  return DType::Undefined;
}

void release_view(void* context) {
  GilAcquire gil;
  auto* view = static_cast<Py_buffer*>(context);
  PyBuffer_Release(view);
  delete view;
}

bool is_numpy_like(PyObject* o) { return PyObject_CheckBuffer(o) && !PyBytes_Check(o) && !PyByteArray_Check(o); }

// ---- nested sequences ---------------------------------------------------------------------------------------------------
bool is_sequence(PyObject* o) { return PyList_Check(o) || PyTuple_Check(o) || (PySequence_Check(o) && !PyUnicode_Check(o) && !PyBytes_Check(o) && !PyMapping_Check(o)) || PyRange_Check(o); }

void infer_shape(PyObject* o, Dims& shape, int depth = 0) {
  TRINE_CHECK_VALUE(depth < kMaxNesting, "too many dimensions: sequences are nested deeper than ", kMaxNesting);
  if (is_tensor(o)) {
    shape.append(unwrap(o).sizes().begin(), unwrap(o).sizes().end());
    return;
  }
  if (is_number(o)) return;
  if (is_numpy_like(o)) {
    Tensor t = tensor_from_buffer(o, false);
    shape.append(t.sizes().begin(), t.sizes().end());
    return;
  }
  TRINE_CHECK_TYPE(!PyUnicode_Check(o), "new(): invalid data type 'str'");
  if (!is_sequence(o)) return;
  Py_ssize_t n = PySequence_Size(o);
  if (n < 0) throw PythonError{};
  shape.push_back(n);
  if (n == 0) return;
  Ref first = checked(PySequence_GetItem(o, 0));
  infer_shape(first.get(), shape, depth + 1);
}

DType number_dtype(PyObject* o) {
  if (PyBool_Check(o)) return DType::Bool;
  if (PyLong_Check(o)) return DType::Int64;
  if (PyFloat_CheckExact(o)) return default_dtype();
  if (PyComplex_CheckExact(o)) return to_complex(default_dtype());
  // NumPy scalars bring their own type.
  static const std::map<std::string_view, DType> numpy = {{"numpy.float32", DType::Float}, {"numpy.float64", DType::Double}, {"numpy.float16", DType::Half}, {"numpy.int64", DType::Int64},
      {"numpy.int32", DType::Int32}, {"numpy.int16", DType::Int16}, {"numpy.int8", DType::Int8}, {"numpy.uint8", DType::UInt8}, {"numpy.bool", DType::Bool}, {"numpy.bool_", DType::Bool},
      {"numpy.complex64", DType::ComplexFloat}, {"numpy.complex128", DType::ComplexDouble}};
  auto it = numpy.find(Py_TYPE(o)->tp_name);
  if (it != numpy.end()) return it->second;
  if (PyFloat_Check(o)) return default_dtype();
  if (PyIndex_Check(o)) return DType::Int64;
  return default_dtype();
}

DType infer_dtype(PyObject* o) {
  if (is_tensor(o)) return unwrap(o).dtype();
  if (is_number(o)) return number_dtype(o);
  if (is_numpy_like(o)) return tensor_from_buffer(o, false).dtype();
  TRINE_CHECK(is_sequence(o), "Could not infer dtype of ", Py_TYPE(o)->tp_name);
  Py_ssize_t n = PySequence_Size(o);
  if (n < 0) throw PythonError{};
  DType t = DType::Undefined;
  for (Py_ssize_t i = 0; i < n; i++) {
    Ref e = checked(PySequence_GetItem(o, i));
    DType d = infer_dtype(e.get());
    t = t == DType::Undefined ? d : promote_types(t, d);
    if (t == DType::ComplexDouble) break;
  }
  return t == DType::Undefined ? default_dtype() : t;
}

Scalar number_for(DType dtype, PyObject* o) {
  if (is_tensor(o)) return item(unwrap(o));
  int overflow = 0;
  if (PyLong_Check(o)) PyLong_AsLongLongAndOverflow(o, &overflow);
  if (!overflow) return to_scalar(o);
  TRINE_CHECK_VALUE(is_floating(dtype) || is_complex(dtype), "Overflow when unpacking long long");
  const double value = PyLong_AsDouble(o);
  if (value == -1 && PyErr_Occurred()) throw PythonError{};
  return Scalar(value);
}

void store_one(char* p, DType dtype, PyObject* o) {
  Scalar s = number_for(dtype, o);
  TRINE_CHECK_TYPE(!s.is_complex() || is_complex(dtype), "must be real number, not complex");
  if (is_integral(dtype, false)) {
    double d = s.to_double();
    int bits = itemsize(dtype) * 8;
    double low = dtype == DType::UInt8 ? 0 : -std::ldexp(1.0, bits - 1), high = std::ldexp(1.0, dtype == DType::UInt8 ? bits : bits - 1);
    TRINE_CHECK(d >= low && d < high + (bits == 64 ? 1 : 0), "value cannot be converted to type ", name(dtype), " without overflow");
  }
  TRINE_DISPATCH_ALL(dtype, "tensor", {
    scalar_t v = s.to<scalar_t>();
    std::memcpy(p, &v, sizeof v);
  });
}

void store(char* p, DType dtype, DimsRef shape, DimsRef strides, size_t d, PyObject* o) {
  int size = itemsize(dtype);
  if (d == shape.size()) {
    TRINE_CHECK_VALUE(is_number(o) || is_tensor(o) || !is_sequence(o), "expected a number at depth ", d, " of the data, got ", Py_TYPE(o)->tp_name, " (shape ", shape, ")");
    TRINE_CHECK_TYPE(is_number(o) || is_tensor(o) || PyIndex_Check(o), "new(): invalid data type '", Py_TYPE(o)->tp_name, "'");
    store_one(p, dtype, o);
    return;
  }
  if (is_tensor(o) || (is_numpy_like(o) && !is_number(o))) {
    Tensor t = is_tensor(o) ? unwrap(o) : tensor_from_buffer(o, false);
    TRINE_CHECK_VALUE(equal(t.sizes(), shape.subspan(d)), "expected sequence of shape ", shape.subspan(d), " at dim ", d, " (got ", t.sizes(), ")");
    Tensor c = resolved(contiguous(to(detach(t), dtype)));
    std::memcpy(p, c.data(), static_cast<size_t>(c.numel()) * size);
    return;
  }
  TRINE_CHECK_TYPE(is_sequence(o), "not a sequence: ", Py_TYPE(o)->tp_name, " at depth ", d);
  Ref fast = checked(PySequence_Fast(o, "not a sequence"));
  Py_ssize_t n = PySequence_Fast_GET_SIZE(fast.get());
  TRINE_CHECK_VALUE(n == shape[d], "expected sequence of length ", shape[d], " at dim ", d, " (got ", n, ")");
  PyObject** items = PySequence_Fast_ITEMS(fast.get());
  if (d + 1 == shape.size() && dtype == DType::Float) {
    auto* f = reinterpret_cast<float*>(p);
    Py_ssize_t i = 0;
    for (; i < n && PyFloat_CheckExact(items[i]); i++) f[i] = static_cast<float>(PyFloat_AS_DOUBLE(items[i]));
    if (i == n) return;
  }
  for (Py_ssize_t i = 0; i < n; i++) store(p + i * strides[d] * size, dtype, shape, strides, d + 1, items[i]);
}

Ref number_object(const char* p, DType dtype) {
  Scalar s;
  TRINE_DISPATCH_ALL(dtype, "item", s = Scalar::load<scalar_t>(p));
  if (s.is_bool()) return Ref(boolean(s.to<bool>()));
  if (s.is_integral()) return checked(PyLong_FromLongLong(s.to_int()));
  if (s.is_floating()) return checked(PyFloat_FromDouble(s.to_double()));
  return checked(PyComplex_FromDoubles(s.to_complex().real(), s.to_complex().imag()));
}

Ref list_of(const Tensor& t, const char* p, size_t d) {
  if (d == t.sizes().size()) return number_object(p, t.dtype());
  Ref list = checked(PyList_New(t.sizes()[d]));
  for (int64_t i = 0; i < t.sizes()[d]; i++) PyList_SET_ITEM(list.get(), i, list_of(t, p + i * t.strides()[d] * t.itemsize(), d + 1).release());
  return list;
}

struct FactoryArgs {
  PyObject* data = nullptr;
  DType dtype = DType::Undefined;
  std::optional<Device> device;
  bool requires_grad = false;
};

FactoryArgs parse_factory(const char* op, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  FactoryArgs out;
  TRINE_CHECK_TYPE(n <= 3, op, "(): takes at most 3 positional arguments but ", n, " were given");
  PyObject *dtype = nullptr, *device = nullptr;
  if (n > 0) out.data = args[0];
  if (n > 1) dtype = args[1];
  if (n > 2) device = args[2];
  for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); k++) {
    std::string_view name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(kwnames, k));
    PyObject* v = args[n + k];
    if (name == "data" || name == "obj")
      out.data = v;
    else if (name == "dtype")
      dtype = v;
    else if (name == "device")
      device = v;
    else if (name == "requires_grad")
      out.requires_grad = PyObject_IsTrue(v) == 1;
    else
      TRINE_CHECK_TYPE(name == "pin_memory" || name == "names" || name == "copy" || name == "layout", op, "(): got an unexpected keyword argument '", name, "'");
  }
  TRINE_CHECK_TYPE(out.data, op, "(): missing required argument 'data' (position 1)");
  if (dtype && dtype != Py_None) {
    TRINE_CHECK_TYPE(is_dtype(dtype), op, "(): argument 'dtype' must be torch.dtype, not ", Py_TYPE(dtype)->tp_name);
    out.dtype = to_dtype(dtype);
  }
  out.device = default_device();
  if (device && device != Py_None) {
    TRINE_CHECK_TYPE(is_device(device), op, "(): argument 'device' must be torch.device, not ", Py_TYPE(device)->tp_name);
    out.device = to_device(device);
  }
  return out;
}

PyObject* make_tensor(PyObject* module, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    if (torch_function_mode_active()) return ask_torch_function_mode(checked(PyObject_GetAttrString(module, "tensor")).get(), args, n, kwnames);
    FactoryArgs f = parse_factory("tensor", args, n, kwnames);
    Tensor t;
    if (is_tensor(f.data)) {
      if (PyErr_WarnEx(PyExc_UserWarning, "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or sourceTensor.detach().clone().requires_grad_(True), rather than tensor(sourceTensor).", 1) < 0)
        throw PythonError{};
      t = clone(detach(unwrap(f.data)));
      if (f.dtype != DType::Undefined) t = to(t, f.dtype);
    } else {
      t = tensor_from_python(f.data, f.dtype);
    }
    if (f.device) t = to(t, f.device);
    if (grad_modes.inference) t.impl()->inference = true;
    if (f.requires_grad) set_requires_grad(t, true);
    return wrap(t);
  });
}

PyObject* as_tensor(PyObject* module, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    if (torch_function_mode_active()) return ask_torch_function_mode(checked(PyObject_GetAttrString(module, "as_tensor")).get(), args, n, kwnames);
    FactoryArgs f = parse_factory("as_tensor", args, n, kwnames);
    Tensor t;
    if (is_tensor(f.data)) {
      if (f.dtype == DType::Undefined && !f.device) return Py_NewRef(f.data);
      t = unwrap(f.data);
      if (f.dtype != DType::Undefined) t = to(t, f.dtype);
    } else if (is_numpy_like(f.data) && !is_number(f.data)) {
      t = tensor_from_buffer(f.data, false);
      if (f.dtype != DType::Undefined) t = to(t, f.dtype);
    } else {
      t = tensor_from_python(f.data, f.dtype);
    }
    if (f.device) t = to(t, f.device);
    return wrap(t);
  });
}

PyObject* from_numpy(PyObject*, PyObject* array) {
  return guarded([&]() -> PyObject* {
    TRINE_CHECK_TYPE(PyObject_CheckBuffer(array), "expected np.ndarray (got ", Py_TYPE(array)->tp_name, ")");
    return wrap(tensor_from_buffer(array, false));
  });
}

PyObject* frombuffer(PyObject*, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* const names[] = {"buffer", "dtype", "count", "offset", "requires_grad", nullptr};
    PyObject *buffer, *dtype_arg = nullptr;
    Py_ssize_t count = -1, offset = 0;
    int requires_grad = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$Onnp:frombuffer", const_cast<char**>(names), &buffer, &dtype_arg, &count, &offset, &requires_grad)) throw PythonError{};
    TRINE_CHECK_TYPE(dtype_arg && is_dtype(dtype_arg), "frombuffer(): argument 'dtype' must be torch.dtype, not ", dtype_arg ? Py_TYPE(dtype_arg)->tp_name : "left out");
    DType dtype = to_dtype(dtype_arg);
    auto* view = new Py_buffer;
    if (PyObject_GetBuffer(buffer, view, PyBUF_SIMPLE) < 0) {
      delete view;
      throw PythonError{};
    }
    Ptr<Storage> storage = Storage::borrow(view->buf, static_cast<size_t>(view->len), {}, release_view, view);
    Py_ssize_t size = itemsize(dtype);
    TRINE_CHECK_VALUE(view->len > 0 && count != 0, "both buffer length (", view->len, ") and count (", count, ") must not be 0");
    TRINE_CHECK_VALUE(offset >= 0 && offset < view->len, "offset (", offset, " bytes) must be non-negative and no greater than buffer length (", view->len, " bytes) minus 1");
    TRINE_CHECK_VALUE(count > 0 || (view->len - offset) % size == 0, "buffer length (", view->len - offset, " bytes) after offset (", offset, " bytes) must be a multiple of element size (", size, ")");
    int64_t n = count > 0 ? count : (view->len - offset) / size;
    TRINE_CHECK_VALUE(n <= (view->len - offset) / size, "requested buffer length (", n, " * ", size, " bytes) after offset (", offset, " bytes) must not be greater than actual buffer length (", view->len, " bytes)");
    // An offset that is no multiple of the element size is taken by moving the storage's start.
    if (offset % size) {
      char* start = storage->data() + offset;
      size_t left = static_cast<size_t>(view->len - offset);
      auto* keep = new Ptr<Storage>(storage);
      storage = Storage::borrow(start, left, {}, [](void* p) { delete static_cast<Ptr<Storage>*>(p); }, keep);
      offset = 0;
    }
    Tensor t = from_storage(storage, dtype, Dims{n}, Dims{1}, offset / size);
    if (requires_grad) set_requires_grad(t, true);
    return wrap(t);
  });
}

}  // namespace

Tensor tensor_from_buffer(PyObject* o, bool writable_required) {
  auto* view = new Py_buffer;
  if (PyObject_GetBuffer(o, view, PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE) < 0) {
    if (writable_required || PyObject_GetBuffer(o, view, (PyErr_Clear(), PyBUF_STRIDES | PyBUF_FORMAT)) < 0) {
      delete view;
      throw PythonError{};
    }
    if (PyErr_WarnEx(PyExc_UserWarning, "The given NumPy array is not writable, and Trine does not support non-writable tensors: writing to the tensor would write to the array's memory. Copy the array first to protect its data.", 1) < 0) {
      PyBuffer_Release(view);
      delete view;
      throw PythonError{};
    }
  }
  struct Guard {
    Py_buffer* v;
    ~Guard() {
      if (v) {
        PyBuffer_Release(v);
        delete v;
      }
    }
  } guard{view};
  std::string_view problem;
  DType dtype = dtype_of_format(view->format, view->itemsize, problem);
  TRINE_CHECK_TYPE(dtype != DType::Undefined, "can't convert data of format '", view->format ? view->format : "?", "' (", problem, "). The supported types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint8, and bool.");
  Dims sizes, strides;
  int64_t low = 0;
  for (int d = 0; d < view->ndim; d++) {
    TRINE_CHECK_VALUE(view->strides[d] >= 0 || view->shape[d] <= 1, "At least one stride in the given numpy array is negative, and tensors with negative strides are not currently supported. (You can probably work around this by making a copy of your array with array.copy().)");
    TRINE_CHECK_VALUE(view->strides[d] % view->itemsize == 0 || view->shape[d] <= 1, "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the memory.");
    sizes.push_back(view->shape[d]);
    strides.push_back(view->strides[d] / view->itemsize);
    if (view->shape[d] > 0) low += (view->shape[d] - 1) * std::max<int64_t>(strides.back(), 0);
  }
  int64_t n = product(sizes);
  size_t bytes = n ? static_cast<size_t>(low + 1) * static_cast<size_t>(view->itemsize) : 0;
  guard.v = nullptr;
  Ptr<Storage> storage = Storage::borrow(view->buf, bytes, {}, release_view, view);
  Tensor t = from_storage(storage, dtype, sizes, n ? strides : contiguous_strides(sizes), 0);
  t.impl()->shape_locked = true;
  return t;
}

Tensor tensor_from_python(PyObject* data, DType dtype) {
  if (!is_number(data) && is_numpy_like(data)) {
    Tensor t = tensor_from_buffer(data, false);
    return dtype == DType::Undefined || dtype == t.dtype() ? clone(t, MemoryFormat::Contiguous) : to(t, dtype);
  }
  if (!is_number(data) && !is_sequence(data) && PyObject_HasAttrString(data, "__array__")) {
    Ref array = checked(PyObject_CallMethod(data, "__array__", nullptr));
    return tensor_from_python(array.get(), dtype);
  }
  TRINE_CHECK_TYPE(!PyUnicode_Check(data), "new(): invalid data type 'str'");
  TRINE_CHECK(is_number(data) || is_sequence(data) || PyIndex_Check(data), "Could not infer dtype of ", Py_TYPE(data)->tp_name);
  Dims shape;
  infer_shape(data, shape);
  if (dtype == DType::Undefined) dtype = infer_dtype(data);
  Tensor t = empty(shape, dtype);
  if (t.numel() || !shape.empty()) store(static_cast<char*>(t.data()), dtype, shape, contiguous_strides(shape), 0, data);
  return t;
}

Ref item_object(const Tensor& t) {
  if (t.impl()->batch) item(t);  // throws
  TRINE_CHECK(t.numel() == 1, "a Tensor with ", t.numel(), " elements cannot be converted to Scalar");
  TRINE_CHECK(!t.is_meta(), "item: Tensor.item() cannot be called on meta tensors");
  const Tensor values = resolved(t);
  return number_object(static_cast<const char*>(values.data()), t.dtype());
}

Ref to_list(const Tensor& t) {
  TRINE_CHECK(t.is_cpu(), "tolist: the tensor is on ", t.device());
  TRINE_CHECK(!t.impl()->batch, "vmap: tolist() is not possible inside vmap: there is one list for each element of the batch");
  const Tensor values = resolved(t);
  return list_of(values, static_cast<const char*>(values.data()), 0);
}

PyMethodDef factory_functions[] = {
    {"tensor", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(make_tensor)), METH_FASTCALL | METH_KEYWORDS, "tensor(data, *, dtype=None, device=None, requires_grad=False)\n\nA new tensor with a copy of data."},
    {"as_tensor", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(as_tensor)), METH_FASTCALL | METH_KEYWORDS, "as_tensor(data, dtype=None, device=None)\n\ndata as a tensor, without a copy where that is possible."},
    {"from_numpy", from_numpy, METH_O, "from_numpy(ndarray)\n\nA tensor that shares the array's memory."},
    {"frombuffer", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(frombuffer)), METH_VARARGS | METH_KEYWORDS, "frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False)\n\nA 1-dim tensor that shares the memory of a buffer."},
    {}};

}  // namespace trine::py
