// Tensor: a counted pointer to shape, strides, element type and a storage.
#pragma once
#include <optional>

#include "base/device.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/intrusive.h"
#include "base/scalar.h"
#include "base/small_vector.h"
#include "tensor/keys.h"
#include "tensor/storage.h"

namespace trine {

enum class MemoryFormat : uint8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };

class Tensor;
struct AutogradMeta;  // autograd/meta.h
void destroy_autograd_meta(AutogradMeta* meta) noexcept;
struct BatchInfo;  // batching/batched.h
void destroy_batch_info(BatchInfo* info) noexcept;

// What a view remembers about how it came to be, for in-place writes under autograd.
enum class ViewOrigin : uint8_t { Default, NoGradMode, MultipleOutputs, InferenceMode };

class TensorImpl final : public RefCounted, public Pooled {
 public:
  Dims sizes, strides;
  int64_t offset = 0;  // in elements
  int64_t numel = 0;
  Ptr<Storage> storage;
  DType dtype = DType::Float;
  Device device;
  bool contiguous = true;
  bool wrapped_number = false;   // made from a Python number: weak in type promotion
  bool inference = false;        // made in inference mode: no version, no gradient
  bool no_version = false;       // `.data` views: writes through them are not counted
  bool shape_locked = false;     // its memory belongs to Python buffers: resize_ refused
  ViewOrigin view_origin = ViewOrigin::Default;
  KeySet keys;                   // backend, Autograd when it requires grad, Conjugate and Negative of lazy views
  AutogradMeta* autograd = nullptr;
  BatchInfo* batch = nullptr;    // under vmap: the whole batch of which this shows one element's shape
  Ptr<TensorImpl> base;          // for a view: the tensor that owns the history
  void* python_object = nullptr; // the Python object of this tensor, if there is one (owned by bindings/)

  void refresh();  // recomputes numel and contiguous from sizes and strides
  void destroy();
};

// Called by destroy() for a tensor whose Python object must go with it. Set by bindings/.
using PythonRelease = void (*)(void* object);
void set_python_release(PythonRelease fn);

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Ptr<TensorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return static_cast<bool>(impl_); }
  TensorImpl* impl() const { return impl_.get(); }
  const Ptr<TensorImpl>& ptr() const { return impl_; }
  Ptr<TensorImpl> take() && { return std::move(impl_); }
  bool is_same(const Tensor& o) const { return impl_ == o.impl_; }

  DimsRef sizes() const { return impl_->sizes; }
  DimsRef strides() const { return impl_->strides; }
  int64_t dim() const { return static_cast<int64_t>(impl_->sizes.size()); }
  int64_t size(int64_t d) const;    // negative d counts from the end; throws IndexError
  int64_t stride(int64_t d) const;
  int64_t numel() const { return impl_->numel; }
  int64_t offset() const { return impl_->offset; }
  DType dtype() const { return impl_->dtype; }
  Device device() const { return impl_->device; }
  int itemsize() const { return trine::itemsize(impl_->dtype); }
  const Ptr<Storage>& storage() const { return impl_->storage; }
  KeySet keys() const;
  bool is_meta() const { return impl_->device.type == DeviceType::Meta; }
  bool is_cpu() const { return impl_->device.type == DeviceType::CPU; }
  bool is_complex() const { return trine::is_complex(dtype()); }
  // Whether the elements are the conjugates, the negatives of what lies in memory.
  bool is_conj() const { return impl_->keys.has(Key::Conjugate); }
  bool is_neg() const { return impl_->keys.has(Key::Negative); }
  bool is_lazy() const { return (impl_->keys & kLazyKeys).bits != 0; }
  bool is_floating() const { return trine::is_floating(dtype()); }

  bool is_contiguous() const { return impl_->contiguous; }
  bool is_contiguous(MemoryFormat f) const;
  MemoryFormat suggest_memory_format() const;  // ChannelsLast(3d) when strides say so, else Contiguous
  bool is_non_overlapping_and_dense() const;

  // First element. data<T>() checks nothing but is typed; use it after dispatching on dtype().
  void* data() const { return impl_->storage ? impl_->storage->data() + impl_->offset * itemsize() : nullptr; }
  template <class T> T* data() const { return static_cast<T*>(data()); }

  uint32_t version() const { return impl_->storage ? impl_->storage->version() : 0; }
  void bump_version() const {
    if (impl_->storage && !impl_->no_version && !impl_->inference) impl_->storage->bump_version();
  }
  const void* storage_id() const { return impl_->storage.get(); }

  // Autograd (defined in autograd/).
  bool requires_grad() const;
  Tensor grad() const;

 private:
  Ptr<TensorImpl> impl_;
};

using TensorList = std::span<const Tensor>;
using OptTensor = const Tensor&;  // an undefined Tensor means None

// ---- making tensors -------------------------------------------------------------------------------------------------
struct TensorOptions {
  DType dtype = DType::Undefined;  // Undefined: the default dtype
  Device device;
};
Tensor empty(DimsRef sizes, DType dtype, Device device = {}, MemoryFormat format = MemoryFormat::Contiguous);
Tensor empty_strided(DimsRef sizes, DimsRef strides, DType dtype, Device device = {});
// Uninitialised, same shape as `like`; Preserve keeps dense layouts (channels_last, transposed) as PyTorch does.
Tensor empty_like(const Tensor& like, DType dtype = DType::Undefined, MemoryFormat format = MemoryFormat::Preserve);
Dims strides_like(const Tensor& t);  // of a dense tensor in t's memory order
Tensor scalar_tensor(const Scalar& v, DType dtype, Device device = {});
Tensor wrapped_number(const Scalar& v);  // 0-dim, weak in type promotion
// The same storage with another geometry, not tracked by autograd (view operators wrap it). Lazy conjugation and negation carry over.
Tensor make_view(const Tensor& base, DimsRef sizes, DimsRef strides, int64_t offset);
Tensor with_lazy_keys(const Tensor& base, KeySet lazy);  // a view of the whole tensor with these of kLazyKeys
Tensor from_storage(Ptr<Storage> storage, DType dtype, DimsRef sizes, DimsRef strides, int64_t offset);
Scalar item(const Tensor& t);  // the one element; throws unless numel() == 1

// ---- geometry -------------------------------------------------------------------------------------------------------
Dims contiguous_strides(DimsRef sizes);
Dims strides_for(DimsRef sizes, MemoryFormat format);
int64_t product(DimsRef sizes);
int64_t checked_numel(DimsRef sizes, const char* op);  // throws for negative sizes and overflow
Dims infer_size(DimsRef sizes, int64_t numel, const char* op);  // resolves a -1 and checks the count
int64_t wrap_dim(int64_t dim, int64_t ndim, bool wrap_scalar = true);  // throws IndexError, PyTorch's text
size_t storage_bytes_needed(DimsRef sizes, DimsRef strides, int64_t offset, int itemsize);
Dims broadcast_shapes(DimsRef a, DimsRef b, const char* op);
// Throws unless `src` broadcasts to `dst`.
void broadcast_check(const char* op, DimsRef dst, DimsRef src);
Tensor expand_to(const Tensor& t, DimsRef sizes);  // broadcast view, stride 0; no autograd
bool has_internal_overlap(const Tensor& t);         // some element is visible twice
bool may_overlap(const Tensor& a, const Tensor& b);  // storages shared and byte ranges meet
// Prepares an out= tensor: same sizes, or resized (with PyTorch's warning when it was not empty).
void resize_output(const Tensor& out, DimsRef sizes, const char* op);
// Changes the geometry in place, growing the storage when needed.
void resize_impl(const Tensor& t, DimsRef sizes, DimsRef strides);

inline void append_str(std::string& out, const Dims& v) { append_str(out, DimsRef(v)); }

}  // namespace trine
