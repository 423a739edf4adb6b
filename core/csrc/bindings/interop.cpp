// Memory shared with others: the buffer protocol and DLPack.
#include <cstring>
#include <string>

#include "bindings/objects.h"
#include "bindings/types.h"
#include "trine/ops.h"

namespace trine::py {
namespace {

const char* buffer_format(DType t) {
  static const char* const formats[] = {"?", "B", "b", "h", "i", "q", "e", nullptr, "f", "d", "Zf", "Zd"};
  return formats[static_cast<int>(t)];
}

// ---- DLPack (the C structures of dlpack.h, version 0.8: a stable ABI) ------------------------------------------------------
struct DLDevice {
  int32_t device_type, device_id;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor*);
};
enum : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };

struct Exported {
  DLManagedTensor managed;
  Tensor tensor;
  Dims shape, strides;
};

DLDataType dl_type(DType t) {
  uint8_t bits = static_cast<uint8_t>(itemsize(t) * 8);
  if (t == DType::Bool) return {kBool, 8, 1};
  if (t == DType::UInt8) return {kUInt, 8, 1};
  if (t == DType::BFloat16) return {kBfloat, 16, 1};
  if (is_integral(t, false)) return {kInt, bits, 1};
  return {is_complex(t) ? kComplex : kFloat, bits, 1};
}

DType from_dl(DLDataType d) {
  TRINE_CHECK(d.lanes == 1, "from_dlpack: vector types of ", int(d.lanes), " lanes are not supported");
  for (int i = 0; i < kNumDTypes; i++) {
    DLDataType t = dl_type(static_cast<DType>(i));
    if (t.code == d.code && t.bits == d.bits) return static_cast<DType>(i);
  }
  throw_error(ErrorKind::Buffer, str("from_dlpack: no dtype for DLPack code ", int(d.code), " with ", int(d.bits), " bits"));
}

void delete_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, "dltensor")) return;  // consumed: the consumer calls the deleter
  auto* m = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
  if (m && m->deleter) m->deleter(m);
}

PyObject* dlpack_export(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    TRINE_CHECK_TYPE(is_tensor(o), "_dlpack_export: expected a Tensor, not ", Py_TYPE(o)->tp_name);
    const Tensor& t = unwrap(o);
    TRINE_CHECK_KIND_(Buffer, !t.requires_grad(), "Can't export tensors that require gradient, use tensor.detach()");
    TRINE_CHECK_KIND_(Buffer, t.is_cpu(), "Can't export tensors on ", t.device());
    TRINE_CHECK(!t.impl()->batch, "vmap: a batched tensor cannot be exported as an array");
    TRINE_CHECK_KIND_(Buffer, !t.is_conj(), "Can't export tensors with the conjugate bit set");
    TRINE_CHECK_KIND_(Buffer, !t.is_neg(), "Can't export tensors with the negative bit set");
    auto* e = new Exported{{}, detach_shallow(t), Dims(t.sizes()), Dims(t.strides())};
    for (size_t d = 0; d < e->shape.size(); d++)
      if (e->shape[d] < 2) e->strides[d] = 1;
    e->managed.dl_tensor = {t.data(), {1, 0}, static_cast<int32_t>(t.dim()), dl_type(t.dtype()), e->shape.data(), e->strides.data(), 0};
    e->managed.manager_ctx = e;
    e->managed.deleter = [](DLManagedTensor* m) {
      GilAcquire gil;
      delete static_cast<Exported*>(m->manager_ctx);
    };
    PyObject* capsule = PyCapsule_New(&e->managed, "dltensor", delete_capsule);
    if (!capsule) delete e;
    return capsule;
  });
}

PyObject* dlpack_import(PyObject*, PyObject* capsule) {
  return guarded([&]() -> PyObject* {
    TRINE_CHECK_TYPE(PyCapsule_CheckExact(capsule), "from_dlpack: expected a DLPack capsule, not ", Py_TYPE(capsule)->tp_name);
    TRINE_CHECK(PyCapsule_IsValid(capsule, "dltensor"), "from_dlpack: a DLPack capsule can be consumed only once");
    auto* m = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
    const DLTensor& d = m->dl_tensor;
    TRINE_CHECK_KIND_(Buffer, d.device.device_type == 1 || d.device.device_type == 3, "from_dlpack: the data is on DLPack device type ", d.device.device_type, "; only CPU memory can be taken");
    DType dtype = from_dl(d.dtype);
    Dims sizes(DimsRef(d.shape, static_cast<size_t>(d.ndim)));
    Dims strides = d.strides ? Dims(DimsRef(d.strides, static_cast<size_t>(d.ndim))) : contiguous_strides(sizes);
    for (int64_t s : strides) TRINE_CHECK_KIND_(Buffer, s >= 0, "from_dlpack: negative strides are not supported, got ", DimsRef(strides));
    size_t bytes = storage_bytes_needed(sizes, strides, 0, itemsize(dtype));
    auto release = [](void* p) {
      auto* managed = static_cast<DLManagedTensor*>(p);
      if (managed->deleter) managed->deleter(managed);
    };
    Ptr<Storage> storage = Storage::borrow(static_cast<char*>(d.data) + d.byte_offset, bytes, {}, release, m);
    if (PyCapsule_SetName(capsule, "used_dltensor") < 0) throw PythonError{};
    Tensor t = from_storage(storage, dtype, sizes, strides, 0);
    t.impl()->shape_locked = true;
    return wrap(t);
  });
}

}  // namespace

int tensor_getbuffer(PyObject* self, Py_buffer* view, int flags) {
  return guarded<int>(-1, [&] {
    view->obj = nullptr;
    const Tensor& t = unwrap(self);
    const char* format = buffer_format(t.dtype());
    TRINE_CHECK_KIND_(Buffer, t.is_cpu(), "a tensor on ", t.device(), " has no memory that Python can see");
    TRINE_CHECK(!t.impl()->batch, "vmap: numpy() is not possible inside vmap: there is one array for each element of the batch");
    TRINE_CHECK_KIND_(Buffer, !t.requires_grad(), "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.");
    TRINE_CHECK_KIND_(Buffer, !t.is_conj(), "Can't call numpy() on Tensor that has conjugate bit set. Use tensor.resolve_conj().numpy() instead.");
    TRINE_CHECK_KIND_(Buffer, !t.is_neg(), "Can't call numpy() on Tensor that has negative bit set. Use tensor.resolve_neg().numpy() instead.");
    TRINE_CHECK_KIND_(Buffer, format || !(flags & PyBUF_FORMAT), "the buffer protocol has no format for ", t.dtype());
    bool strided = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
    bool dense = (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS || (flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS;
    TRINE_CHECK_KIND_(Buffer, (strided && !dense) || t.is_contiguous(), "the tensor is not contiguous: strides ", t.strides(), " for shape ", t.sizes());
    auto* arrays = new Dims[2];
    arrays[0] = Dims(t.sizes());
    arrays[1] = Dims(t.strides());
    for (auto& s : arrays[1]) s *= t.itemsize();
    static char nothing;
    view->buf = t.data() ? t.data() : &nothing;
    view->len = t.numel() * t.itemsize();
    view->readonly = 0;
    view->itemsize = t.itemsize();
    view->format = flags & PyBUF_FORMAT ? const_cast<char*>(format) : nullptr;
    view->ndim = static_cast<int>(t.dim());
    view->shape = flags & PyBUF_ND ? reinterpret_cast<Py_ssize_t*>(arrays[0].data()) : nullptr;
    view->strides = strided ? reinterpret_cast<Py_ssize_t*>(arrays[1].data()) : nullptr;
    view->suboffsets = nullptr;
    view->internal = arrays;
    t.impl()->shape_locked = true;  // a resize would move the memory away under the buffer's user
    view->obj = Py_NewRef(self);
    return 0;
  });
}

void tensor_releasebuffer(PyObject*, Py_buffer* view) { delete[] static_cast<Dims*>(view->internal); }

PyMethodDef interop_functions[] = {{"_dlpack_export", dlpack_export, METH_O, nullptr}, {"_dlpack_import", dlpack_import, METH_O, nullptr}, {}};

}  // namespace trine::py
