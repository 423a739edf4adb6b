// Attributes and small methods of Tensor that are no operators.
#include <cstring>

#include "autograd/record.h"
#include "bindings/arguments.h"
#include "bindings/factories.h"
#include "bindings/objects.h"
#include "bindings/types.h"
#include "trine/ops.h"

namespace trine::py {
namespace {

template <class F> PyObject* get(PyObject* self, F&& f) {
  return guarded([&]() -> PyObject* { return f(unwrap(self)); });
}
template <class F> int set(F&& f) {
  return guarded<int>(-1, [&] {
    f();
    return 0;
  });
}

#define GETTER(FN, EXPR) \
  PyObject* FN(PyObject* self, void*) { \
    return get(self, [](const Tensor& t) -> PyObject* { return EXPR; }); \
  }
GETTER(get_shape, size_object(t.sizes()).release())
GETTER(get_dtype, Py_NewRef(dtype_object(t.dtype())))
GETTER(get_device, device_object(t.device()).release())
GETTER(get_layout, (static_cast<void>(t), Py_NewRef(strided_layout())))
GETTER(get_ndim, PyLong_FromLongLong(t.dim()))
GETTER(get_requires_grad, boolean(t.requires_grad()))
GETTER(get_grad, wrap(t.grad()))
GETTER(get_grad_fn, wrap_node(grad_fn(t)))
GETTER(get_is_leaf, boolean(is_leaf(t)))
GETTER(get_retains_grad, boolean(t.impl()->autograd && t.impl()->autograd->retains_grad))
GETTER(get_version, PyLong_FromUnsignedLong(t.version()))
GETTER(get_output_nr, PyLong_FromUnsignedLong(t.impl()->autograd ? t.impl()->autograd->output : 0))
GETTER(get_base, t.impl()->base ? wrap(Tensor(t.impl()->base)) : none())
GETTER(get_itemsize, PyLong_FromLong(t.itemsize()))
GETTER(get_nbytes, PyLong_FromLongLong(t.numel() * t.itemsize()))
GETTER(get_is_cpu, boolean(t.is_cpu()))
GETTER(get_is_meta, boolean(t.is_meta()))
GETTER(get_is_cuda, boolean(t.device().type == DeviceType::CUDA))
GETTER(get_false, (static_cast<void>(t), boolean(false)))
GETTER(get_none, (static_cast<void>(t), none()))
GETTER(get_T, wrap([&] {
         Dims order;
         for (int64_t d = t.dim(); d-- > 0;) order.push_back(d);
         return permute(t, order);
       }()))
GETTER(get_mT, wrap([&] {
         TRINE_CHECK(t.dim() >= 2, "tensor.mT is only supported on matrices or batches of matrices. Got ", t.dim(), "-D tensor.");
         return transpose(t, -2, -1);
       }()))
GETTER(get_H, wrap([&] {
         TRINE_CHECK(t.dim() == 2 || t.dim() == 0, "tensor.H is only supported on matrices (2-D tensors). Got ", t.dim(), "-D tensor.");
         return adjoint(t);
       }()))
GETTER(get_mH, wrap([&] {
         TRINE_CHECK(t.dim() != 1, "tensor.mH is only supported on matrices or batches of matrices. Got 1-D tensor.");
         return adjoint(t);
       }()))
GETTER(get_real, wrap(real(t)))
GETTER(get_imag, wrap(imag(t)))
#undef GETTER

// `.data`: the same memory, outside autograd; writes through it are not counted as versions.
PyObject* get_data(PyObject* self, void*) {
  return get(self, [&](const Tensor& t) {
    Tensor d = detach_shallow(t);
    d.impl()->no_version = true;
    return Py_TYPE(self) == tensor_type || Py_TYPE(self) == parameter_type ? wrap(d) : wrap_as(Py_TYPE(self), d);
  });
}

int set_data(PyObject* self, PyObject* value, void*) {
  return set([&] {
    TRINE_CHECK_TYPE(value && is_tensor(value), "Variable data has to be a tensor, but got ", value ? Py_TYPE(value)->tp_name : "nothing");
    const Tensor &t = unwrap(self), &v = unwrap(value);
    TensorImpl& a = *t.impl();
    const TensorImpl& b = *v.impl();
    a.sizes = b.sizes;
    a.strides = b.strides;
    a.offset = b.offset;
    a.storage = b.storage;
    a.dtype = b.dtype;
    a.device = b.device;
    a.keys = (a.keys & KeySet(Key::Autograd)) | backend_key(b.device.type) | (b.keys & kLazyKeys);
    a.refresh();
    if (a.autograd) a.autograd->accumulator = nullptr;  // it remembers the old shape
  });
}

int set_requires_grad_property(PyObject* self, PyObject* value, void*) {
  return set([&] {
    int on = value ? PyObject_IsTrue(value) : -1;
    if (on < 0) throw PythonError{};
    set_requires_grad(unwrap(self), on);
  });
}

int set_grad_property(PyObject* self, PyObject* value, void*) {
  return set([&] {
    const Tensor& t = unwrap(self);
    if (!value || value == Py_None) {
      if (t.impl()->autograd) t.impl()->autograd->grad = Tensor();
      return;
    }
    TRINE_CHECK_TYPE(is_tensor(value), "assigned grad expected to be a Tensor or None but got grad of type ", Py_TYPE(value)->tp_name);
    const Tensor& g = unwrap(value);
    TRINE_CHECK(self != value, "can't assign Variable as its own grad");
    TRINE_CHECK(g.dtype() == t.dtype(), "assigned grad has data of a different type: ", g.dtype(), " for a tensor of ", t.dtype());
    TRINE_CHECK(g.device().type == t.device().type, "assigned grad has data located on a different device");
    TRINE_CHECK(equal(g.sizes(), t.sizes()), "assigned grad has data of a different size: ", g.sizes(), " for a tensor of ", t.sizes());
    autograd_meta(t).grad = g;
  });
}

PyObject* m_size(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return get(self, [&](const Tensor& t) -> PyObject* {
    PyObject* dim = n ? args[0] : kwnames && PyTuple_GET_SIZE(kwnames) ? args[0] : nullptr;
    if (!dim || dim == Py_None) return size_object(t.sizes()).release();
    int64_t d = PyLong_AsLongLong(dim);
    if (d == -1 && PyErr_Occurred()) throw PythonError{};
    return PyLong_FromLongLong(t.size(d));
  });
}

PyObject* m_stride(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return get(self, [&](const Tensor& t) -> PyObject* {
    PyObject* dim = n ? args[0] : kwnames && PyTuple_GET_SIZE(kwnames) ? args[0] : nullptr;
    if (!dim || dim == Py_None) return int_tuple(t.strides()).release();
    int64_t d = PyLong_AsLongLong(dim);
    if (d == -1 && PyErr_Occurred()) throw PythonError{};
    return PyLong_FromLongLong(t.stride(d));
  });
}

#define METHOD(FN, EXPR) \
  PyObject* FN(PyObject* self, PyObject*) { \
    return get(self, [&](const Tensor& t) -> PyObject* { return EXPR; }); \
  }
METHOD(m_dim, PyLong_FromLongLong(t.dim()))
METHOD(m_numel, PyLong_FromLongLong(t.numel()))
METHOD(m_element_size, PyLong_FromLong(t.itemsize()))
METHOD(m_offset, PyLong_FromLongLong(t.offset()))
METHOD(m_data_ptr, PyLong_FromVoidPtr(t.data()))
METHOD(m_item, item_object(t).release())
METHOD(m_tolist, to_list(t).release())
METHOD(m_storage, storage_object(t.storage()).release())
METHOD(m_is_floating, boolean(t.is_floating()))
METHOD(m_is_complex, boolean(t.is_complex()))
METHOD(m_is_signed, boolean(is_signed(t.dtype())))
METHOD(m_is_inference, boolean(t.impl()->inference))
METHOD(m_is_dense, boolean(t.is_non_overlapping_and_dense()))
METHOD(m_wrapped_number, boolean(t.impl()->wrapped_number))
#undef METHOD

PyObject* m_is_contiguous(PyObject* self, PyObject* args, PyObject* kwargs) {
  return get(self, [&](const Tensor& t) -> PyObject* {
    static const char* const names[] = {"memory_format", nullptr};
    PyObject* format = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:is_contiguous", const_cast<char**>(names), &format)) throw PythonError{};
    TRINE_CHECK_TYPE(!format || Py_TYPE(format) == memory_format_type, "is_contiguous(): argument 'memory_format' must be torch.memory_format");
    return boolean(t.is_contiguous(format ? to_memory_format(format) : MemoryFormat::Contiguous));
  });
}

PyObject* m_requires_grad_(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* const names[] = {"requires_grad", nullptr};
    int on = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p:requires_grad_", const_cast<char**>(names), &on)) throw PythonError{};
    set_requires_grad(unwrap(self), on);
    return Py_NewRef(self);
  });
}

PyObject* m_detach_(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = unwrap(self);
    TRINE_CHECK(!t.impl()->base, "Can't detach views in-place. Use detach() instead.");
    if (AutogradMeta* m = t.impl()->autograd) {
      m->grad_fn.reset();
      m->requires_grad = false;
      m->output = 0;
      t.impl()->keys = t.impl()->keys - Key::Autograd;
    }
    return Py_NewRef(self);
  });
}

PyObject* m_set_(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *source = nullptr, *size = nullptr, *stride = nullptr;
    long long offset = 0;
    if (!PyArg_ParseTuple(args, "|OLOO:set_", &source, &offset, &size, &stride)) throw PythonError{};
    const Tensor& t = unwrap(self);
    autograd::check_inplace(t, "set_");
    TensorImpl& impl = *t.impl();
    auto ints = [](PyObject* o) {
      Dims out;
      Ref fast = checked(PySequence_Fast(o, "set_(): sizes and strides must be sequences of ints"));
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); i++) {
        out.push_back(PyLong_AsLongLong(PySequence_Fast_GET_ITEM(fast.get(), i)));
        if (PyErr_Occurred()) throw PythonError{};
      }
      return out;
    };
    Ptr<Storage> storage;
    Dims sizes{0}, strides{1};
    if (!source) {
      storage = Storage::allocate(0, impl.device);
    } else if (is_storage(source)) {
      storage = unwrap_storage(source);
      if (size) {
        sizes = ints(size);
        strides = stride ? ints(stride) : contiguous_strides(sizes);
      } else {
        sizes = Dims{static_cast<int64_t>(storage->nbytes() / static_cast<size_t>(t.itemsize())) - offset};
      }
    } else {
      TRINE_CHECK_TYPE(is_tensor(source), "set_(): argument 'source' must be Storage or Tensor, not ", Py_TYPE(source)->tp_name);
      const Tensor& s = unwrap(source);
      TRINE_CHECK(s.dtype() == t.dtype(), "set_: the source has dtype ", s.dtype(), " but self has ", t.dtype());
      storage = s.storage();
      sizes = Dims(s.sizes());
      strides = Dims(s.strides());
      offset = s.offset();
    }
    TRINE_CHECK(sizes.size() == strides.size(), "set_: sizes ", DimsRef(sizes), " and strides ", DimsRef(strides), " must have the same length");
    for (int64_t s : strides) TRINE_CHECK(s >= 0, "set_: strides must be non-negative, got ", DimsRef(strides));
    Tensor checked_view = from_storage(storage, t.dtype(), sizes, strides, offset);
    impl.sizes = sizes;
    impl.strides = strides;
    impl.offset = offset;
    impl.storage = storage;
    impl.refresh();
    return Py_NewRef(self);
  });
}

// ---- hooks ----------------------------------------------------------------------------------------------------------------
PyObject* m_register_hook(PyObject* self, PyObject* callable) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = unwrap(self);
    TRINE_CHECK(t.requires_grad(), "cannot register a hook on a tensor that doesn't require gradient");
    Ptr<TensorHook> hook = make_tensor_hook(callable);
    if (Ptr<Node> fn = grad_fn(t)) {
      auto& hooks = fn->extras().tensor_hooks;
      hooks.emplace_back(t.impl()->autograd->output, hook);
      return PyLong_FromVoidPtr(hook.get());
    }
    AutogradMeta& m = autograd_meta(t);
    m.hooks.emplace_back(m.next_hook_id++, hook);
    track(self);
    return PyLong_FromVoidPtr(hook.get());
  });
}

PyObject* m_register_post_hook(PyObject* self, PyObject* callable) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = unwrap(self);
    TRINE_CHECK(t.requires_grad() && is_leaf(t), "post accumulate grad hooks cannot be registered on non-leaf tensors");
    AutogradMeta& m = autograd_meta(t);
    Ptr<TensorHook> hook = make_tensor_hook(callable);
    m.after_accumulate.emplace_back(m.next_hook_id++, hook);
    track(self);
    return PyLong_FromVoidPtr(hook.get());
  });
}

PyObject* m_remove_hook(PyObject* self, PyObject* id) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = unwrap(self);
    void* wanted = PyLong_AsVoidPtr(id);
    if (!wanted && PyErr_Occurred()) throw PythonError{};
    auto drop = [&](auto& list) {
      for (size_t i = 0; i < list.size(); i++)
        if (list[i].second.get() == wanted) {
          auto keep = list[i].second;
          list.erase(list.begin() + static_cast<long>(i));
          return;
        }
    };
    if (AutogradMeta* m = t.impl()->autograd) {
      drop(m->hooks);
      drop(m->after_accumulate);
      if (m->grad_fn && m->grad_fn->has_extras()) drop(m->grad_fn->extras().tensor_hooks);
    }
    return none();
  });
}

PyObject* m_retain_grad(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = unwrap(self);
    TRINE_CHECK(t.requires_grad(), "can't retain_grad on Tensor that has requires_grad=False");
    Ptr<Node> fn = grad_fn(t);
    AutogradMeta& m = autograd_meta(t);
    if (!fn || m.retains_grad) return none();
    m.retains_grad = true;
    fn->extras().retained.emplace_back(m.output, t.impl());
    return none();
  });
}

PyObject* m_make_subclass(PyObject*, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* const names[] = {"cls", "data", "require_grad", nullptr};
    PyObject *cls, *data;
    int requires_grad = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|p:_make_subclass", const_cast<char**>(names), &cls, &data, &requires_grad)) throw PythonError{};
    TRINE_CHECK_TYPE(PyType_Check(cls) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls), tensor_type), "_make_subclass(): cls must be a subclass of Tensor");
    TRINE_CHECK_TYPE(is_tensor(data), "_make_subclass(): data must be a Tensor, not ", Py_TYPE(data)->tp_name);
    Tensor t = detach_shallow(unwrap(data));
    set_requires_grad(t, requires_grad);
    return wrap_as(reinterpret_cast<PyTypeObject*>(cls), t);
  });
}

PyObject* m_as_subclass(PyObject* self, PyObject* cls) {
  return guarded([&]() -> PyObject* {
    TRINE_CHECK_TYPE(PyType_Check(cls) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls), tensor_type), "as_subclass(): cls must be a subclass of Tensor");
    Tensor t = alias(unwrap(self));
    return wrap_as(reinterpret_cast<PyTypeObject*>(cls), t);
  });
}

#define FAST(F) reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(F))

}  // namespace

PyMethodDef tensor_methods[] = {
    {"size", FAST(m_size), METH_FASTCALL | METH_KEYWORDS, "size(dim=None)\n\nThe shape, or the size of one dimension."},
    {"stride", FAST(m_stride), METH_FASTCALL | METH_KEYWORDS, "stride(dim=None)\n\nSteps between elements, in elements."},
    {"dim", m_dim, METH_NOARGS, "dim()\n\nNumber of dimensions."},
    {"ndimension", m_dim, METH_NOARGS, "ndimension()\n\nNumber of dimensions."},
    {"numel", m_numel, METH_NOARGS, "numel()\n\nNumber of elements."},
    {"nelement", m_numel, METH_NOARGS, "nelement()\n\nNumber of elements."},
    {"element_size", m_element_size, METH_NOARGS, "element_size()\n\nBytes of an element."},
    {"storage_offset", m_offset, METH_NOARGS, "storage_offset()\n\nFirst element's place in the storage, in elements."},
    {"data_ptr", m_data_ptr, METH_NOARGS, "data_ptr()\n\nAddress of the first element."},
    {"item", m_item, METH_NOARGS, "item()\n\nThe only element as a Python number."},
    {"tolist", m_tolist, METH_NOARGS, "tolist()\n\nNested lists of Python numbers."},
    {"untyped_storage", m_storage, METH_NOARGS, "untyped_storage()\n\nThe bytes behind the tensor."},
    {"is_floating_point", m_is_floating, METH_NOARGS, nullptr},
    {"is_complex", m_is_complex, METH_NOARGS, nullptr},
    {"is_signed", m_is_signed, METH_NOARGS, nullptr},
    {"is_inference", m_is_inference, METH_NOARGS, nullptr},
    {"_is_dense", m_is_dense, METH_NOARGS, "True when the elements fill one stretch of memory without gaps or repeats."},
    {"_is_wrapped_number", m_wrapped_number, METH_NOARGS, nullptr},
    {"is_contiguous", FAST(m_is_contiguous), METH_VARARGS | METH_KEYWORDS, "is_contiguous(memory_format=torch.contiguous_format)"},
    {"requires_grad_", FAST(m_requires_grad_), METH_VARARGS | METH_KEYWORDS, "requires_grad_(requires_grad=True)"},
    {"detach_", m_detach_, METH_NOARGS, "detach_()\n\nCuts the tensor off from its history."},
    {"set_", m_set_, METH_VARARGS, "set_(source=None, storage_offset=0, size=None, stride=None)\n\nMakes the tensor look at another storage."},
    {"_register_hook", m_register_hook, METH_O, nullptr},
    {"_register_post_accumulate_grad_hook", m_register_post_hook, METH_O, nullptr},
    {"_remove_hook", m_remove_hook, METH_O, nullptr},
    {"retain_grad", m_retain_grad, METH_NOARGS, "retain_grad()\n\nMakes a non-leaf tensor keep its gradient."},
    {"_make_subclass", FAST(m_make_subclass), METH_VARARGS | METH_KEYWORDS | METH_STATIC, nullptr},
    {"as_subclass", m_as_subclass, METH_O, "as_subclass(cls)\n\nThe same tensor as an instance of a subclass."},
    {}};

PyGetSetDef tensor_properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"shape", get_shape, nullptr, "The size of each dimension.", nullptr},
    {"dtype", get_dtype, nullptr, nullptr, nullptr},
    {"device", get_device, nullptr, nullptr, nullptr},
    {"layout", get_layout, nullptr, nullptr, nullptr},
    {"ndim", get_ndim, nullptr, nullptr, nullptr},
    {"requires_grad", get_requires_grad, set_requires_grad_property, nullptr, nullptr},
    {"grad", get_grad, set_grad_property, nullptr, nullptr},
    {"_grad", get_grad, set_grad_property, nullptr, nullptr},
    {"grad_fn", get_grad_fn, nullptr, nullptr, nullptr},
    {"is_leaf", get_is_leaf, nullptr, nullptr, nullptr},
    {"retains_grad", get_retains_grad, nullptr, nullptr, nullptr},
    {"data", get_data, set_data, nullptr, nullptr},
    {"_version", get_version, nullptr, nullptr, nullptr},
    {"output_nr", get_output_nr, nullptr, nullptr, nullptr},
    {"_base", get_base, nullptr, nullptr, nullptr},
    {"itemsize", get_itemsize, nullptr, nullptr, nullptr},
    {"nbytes", get_nbytes, nullptr, nullptr, nullptr},
    {"is_cpu", get_is_cpu, nullptr, nullptr, nullptr},
    {"is_meta", get_is_meta, nullptr, nullptr, nullptr},
    {"is_cuda", get_is_cuda, nullptr, nullptr, nullptr},
    {"is_sparse", get_false, nullptr, nullptr, nullptr},
    {"is_quantized", get_false, nullptr, nullptr, nullptr},
    {"is_mkldnn", get_false, nullptr, nullptr, nullptr},
    {"is_nested", get_false, nullptr, nullptr, nullptr},
    {"name", get_none, nullptr, nullptr, nullptr},
    {"T", get_T, nullptr, nullptr, nullptr},
    {"mT", get_mT, nullptr, nullptr, nullptr},
    {"H", get_H, nullptr, nullptr, nullptr},
    {"mH", get_mH, nullptr, nullptr, nullptr},
    {"real", get_real, [](PyObject* s, PyObject* v, void*) { return set([&] { copy_(real(unwrap(s)), is_tensor(v) ? unwrap(v) : tensor_from_python(v, DType::Undefined)); }); }, nullptr, nullptr},
    {"imag", get_imag, [](PyObject* s, PyObject* v, void*) { return set([&] { copy_(imag(unwrap(s)), is_tensor(v) ? unwrap(v) : tensor_from_python(v, DType::Undefined)); }); }, nullptr, nullptr},
    {}};

}  // namespace trine::py
