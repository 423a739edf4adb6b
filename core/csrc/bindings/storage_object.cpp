// UntypedStorage: the bytes behind tensors as a Python object.
#include <cstring>

#include "bindings/objects.h"
#include "bindings/types.h"

namespace trine::py {
namespace {

struct StorageObject {
  PyObject_HEAD
  Ptr<Storage> storage;
};
PyTypeObject* storage_type = nullptr;

Ptr<Storage>& storage_of(PyObject* o) { return reinterpret_cast<StorageObject*>(o)->storage; }

void storage_dealloc(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  storage_of(o).~Ptr<Storage>();
  type->tp_free(o);
  Py_DECREF(type);
}

PyObject* storage_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* const names[] = {"size", "device", nullptr};
    long long n = 0;
    PyObject* device = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|LO:UntypedStorage", const_cast<char**>(names), &n, &device)) throw PythonError{};
    TRINE_CHECK(n >= 0, "UntypedStorage: size must not be negative, got ", n);
    return storage_object(Storage::allocate(static_cast<size_t>(n), device && device != Py_None ? to_device(device) : Device{})).release();
  });
}

PyObject* from_buffer(PyObject*, PyObject* buffer) {
  return guarded([&]() -> PyObject* {
    auto* view = new Py_buffer;
    if (PyObject_GetBuffer(buffer, view, PyBUF_SIMPLE) < 0) {
      delete view;
      throw PythonError{};
    }
    auto release = [](void* context) {
      GilAcquire gil;
      auto* v = static_cast<Py_buffer*>(context);
      PyBuffer_Release(v);
      delete v;
    };
    return storage_object(Storage::borrow(view->buf, static_cast<size_t>(view->len), {}, release, view)).release();
  });
}

int storage_getbuffer(PyObject* self, Py_buffer* view, int flags) {
  Storage& s = *storage_of(self);
  if (s.device().type != DeviceType::CPU) {
    PyErr_SetString(PyExc_BufferError, "UntypedStorage: only CPU storages have memory that Python can see");
    return -1;
  }
  static char nothing;
  return PyBuffer_FillInfo(view, self, s.data() ? s.data() : &nothing, static_cast<Py_ssize_t>(s.nbytes()), 0, flags);
}

PyObject* s_resize(PyObject* self, PyObject* n) {
  return guarded([&]() -> PyObject* {
    long long bytes = PyLong_AsLongLong(n);
    if (bytes == -1 && PyErr_Occurred()) throw PythonError{};
    TRINE_CHECK(bytes >= 0, "resize_: size must not be negative, got ", bytes);
    storage_of(self)->resize(static_cast<size_t>(bytes));
    return Py_NewRef(self);
  });
}

PyObject* s_copy(PyObject* self, PyObject* other) {
  return guarded([&]() -> PyObject* {
    TRINE_CHECK_TYPE(is_storage(other), "copy_(): argument must be a storage, not ", Py_TYPE(other)->tp_name);
    Storage &a = *storage_of(self), &b = *storage_of(other);
    TRINE_CHECK(a.nbytes() == b.nbytes(), "copy_: storages of ", a.nbytes(), " and ", b.nbytes(), " bytes");
    if (a.nbytes()) std::memmove(a.data(), b.data(), a.nbytes());
    a.bump_version();
    return Py_NewRef(self);
  });
}

PyObject* s_clone(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    Storage& s = *storage_of(self);
    Ptr<Storage> copy = Storage::allocate(s.nbytes(), s.device());
    if (s.nbytes() && s.data()) std::memcpy(copy->data(), s.data(), s.nbytes());
    return storage_object(copy).release();
  });
}

PyObject* s_nbytes(PyObject* self, PyObject*) { return PyLong_FromSize_t(storage_of(self)->nbytes()); }
PyObject* s_data_ptr(PyObject* self, PyObject*) { return PyLong_FromVoidPtr(storage_of(self)->data()); }
PyObject* s_cdata(PyObject* self, void*) { return PyLong_FromVoidPtr(storage_of(self).get()); }
PyObject* s_device(PyObject* self, void*) {
  return guarded([&]() -> PyObject* { return device_object(storage_of(self)->device()).release(); });
}
PyObject* s_resizable(PyObject* self, PyObject*) { return boolean(storage_of(self)->resizable()); }
Py_ssize_t s_length(PyObject* self) { return static_cast<Py_ssize_t>(storage_of(self)->nbytes()); }
PyObject* s_item(PyObject* self, Py_ssize_t i) {
  Storage& s = *storage_of(self);
  if (i < 0 || static_cast<size_t>(i) >= s.nbytes() || !s.data()) {
    PyErr_SetString(PyExc_IndexError, "storage index out of range");
    return nullptr;
  }
  return PyLong_FromLong(static_cast<unsigned char>(s.data()[i]));
}
PyObject* s_repr(PyObject* self) { return PyUnicode_FromFormat("<trine.UntypedStorage of %zu bytes>", storage_of(self)->nbytes()); }
Py_hash_t s_hash(PyObject* self) { return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(storage_of(self).get()) >> 4); }
PyObject* s_compare(PyObject* a, PyObject* b, int op) {
  if ((op != Py_EQ && op != Py_NE) || !is_storage(b)) Py_RETURN_NOTIMPLEMENTED;
  return boolean((storage_of(a) == storage_of(b)) == (op == Py_EQ));
}

PyMethodDef storage_methods[] = {{"from_buffer", from_buffer, METH_O | METH_STATIC, "from_buffer(buffer)\n\nA storage over a Python buffer's memory, which it keeps alive."},
                                 {"nbytes", s_nbytes, METH_NOARGS, nullptr},
                                 {"size", s_nbytes, METH_NOARGS, nullptr},
                                 {"data_ptr", s_data_ptr, METH_NOARGS, nullptr},
                                 {"resize_", s_resize, METH_O, nullptr},
                                 {"resizable", s_resizable, METH_NOARGS, nullptr},
                                 {"copy_", s_copy, METH_O, nullptr},
                                 {"clone", s_clone, METH_NOARGS, nullptr},
                                 {}};
PyGetSetDef storage_properties[] = {{"_cdata", s_cdata, nullptr, "A number that is equal for handles of one storage.", nullptr}, {"device", s_device, nullptr, nullptr, nullptr}, {}};

}  // namespace

bool is_storage(PyObject* o) { return Py_TYPE(o) == storage_type; }
const Ptr<Storage>& unwrap_storage(PyObject* o) { return storage_of(o); }

Ref storage_object(const Ptr<Storage>& storage) {
  Ref r = checked(storage_type->tp_alloc(storage_type, 0));
  new (&storage_of(r.get())) Ptr<Storage>(storage);
  return r;
}

void add_storage_type(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(storage_new)},   {Py_tp_dealloc, reinterpret_cast<void*>(storage_dealloc)}, {Py_tp_methods, storage_methods},
                         {Py_tp_getset, storage_properties},                  {Py_tp_repr, reinterpret_cast<void*>(s_repr)},             {Py_tp_hash, reinterpret_cast<void*>(s_hash)},
                         {Py_tp_richcompare, reinterpret_cast<void*>(s_compare)}, {Py_sq_length, reinterpret_cast<void*>(s_length)},     {Py_sq_item, reinterpret_cast<void*>(s_item)},
                         {Py_bf_getbuffer, reinterpret_cast<void*>(storage_getbuffer)}, {0, nullptr}};
  PyType_Spec spec = {"trine.UntypedStorage", sizeof(StorageObject), 0, Py_TPFLAGS_DEFAULT, slots};
  storage_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
  if (PyModule_AddObjectRef(module, "UntypedStorage", reinterpret_cast<PyObject*>(storage_type)) < 0) throw PythonError{};
}

}  // namespace trine::py
