#include "tensor/tensor.h"

#include <cstring>
#include <limits>
#include <utility>

#include "tensor/inference.h"

namespace trine {

thread_local KeyModes key_modes;

namespace {
PythonRelease python_release = nullptr;
}
void set_python_release(PythonRelease fn) { python_release = fn; }

void TensorImpl::refresh() {
  int64_t n = 1;
  bool dense = true;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != n) dense = false;
    n *= sizes[i];
  }
  numel = n;
  contiguous = dense || n == 0;
}

void TensorImpl::destroy() {
  if (python_object) {
    python_release(python_object);
    python_object = nullptr;
  }
  if (autograd) destroy_autograd_meta(autograd);
  if (batch) destroy_batch_info(batch);
  delete this;
}

int64_t Tensor::size(int64_t d) const { return impl_->sizes[wrap_dim(d, dim(), false)]; }
int64_t Tensor::stride(int64_t d) const { return impl_->strides[wrap_dim(d, dim(), false)]; }

KeySet Tensor::keys() const {
  KeySet k = impl_->keys;
  // A view of a tensor that became differentiable by an in-place write is differentiable too.
  if (impl_->base) k = k | (impl_->base->keys & KeySet(Key::Autograd));
  return k;
}

namespace {

bool dense_in_order(DimsRef sizes, DimsRef strides, std::initializer_list<int> order) {
  int64_t expected = 1;
  for (int d : order) {
    if (sizes[d] != 1 && strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

// The layout a tensor "looks like": PyTorch's rule, ambiguous shapes included.
bool strides_like_channels_last(DimsRef sizes, DimsRef strides, std::initializer_list<int> order) {
  int64_t least = 0;
  if (strides[1] == 0) return false;
  for (int d : order) {
    if (sizes[d] == 0 || strides[d] < least) return false;
    if (d == 0 && least == strides[1]) return false;  // N111 is contiguous by default
    least = strides[d];
    if (sizes[d] > 1) least *= sizes[d];
  }
  return true;
}

}  // namespace

bool Tensor::is_contiguous(MemoryFormat f) const {
  switch (f) {
    case MemoryFormat::ChannelsLast: return dim() == 4 && (numel() == 0 || dense_in_order(sizes(), strides(), {1, 3, 2, 0}));
    case MemoryFormat::ChannelsLast3d: return dim() == 5 && (numel() == 0 || dense_in_order(sizes(), strides(), {1, 4, 3, 2, 0}));
    default: return impl_->contiguous;
  }
}

MemoryFormat Tensor::suggest_memory_format() const {
  if (dim() == 4 && strides_like_channels_last(sizes(), strides(), {1, 3, 2, 0})) return MemoryFormat::ChannelsLast;
  if (dim() == 5 && strides_like_channels_last(sizes(), strides(), {1, 4, 3, 2, 0})) return MemoryFormat::ChannelsLast3d;
  return MemoryFormat::Contiguous;
}

bool Tensor::is_non_overlapping_and_dense() const {
  if (impl_->contiguous) return true;
  SmallVector<int64_t, 8> order;
  for (int64_t d = 0; d < dim(); d++)
    if (sizes()[d] != 1) order.push_back(d);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return strides()[a] < strides()[b]; });
  int64_t expected = 1;
  for (int64_t d : order) {
    if (strides()[d] != expected) return false;
    expected *= sizes()[d];
  }
  return true;
}

Dims contiguous_strides(DimsRef sizes) {
  Dims s(sizes.size(), 1);
  int64_t n = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    s[i] = n;
    n *= std::max<int64_t>(sizes[i], 1);
  }
  return s;
}

Dims strides_for(DimsRef sizes, MemoryFormat format) {
  auto ordered = [&](std::initializer_list<int> order) {
    Dims s(sizes.size());
    int64_t n = 1;
    for (int d : order) {
      s[d] = n;
      n *= std::max<int64_t>(sizes[d], 1);
    }
    return s;
  };
  if (format == MemoryFormat::ChannelsLast) {
    TRINE_CHECK(sizes.size() == 4, "required rank 4 tensor to use channels_last format");
    return ordered({1, 3, 2, 0});
  }
  if (format == MemoryFormat::ChannelsLast3d) {
    TRINE_CHECK(sizes.size() == 5, "required rank 5 tensor to use channels_last_3d format");
    return ordered({1, 4, 3, 2, 0});
  }
  return contiguous_strides(sizes);
}

int64_t product(DimsRef sizes) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return n;
}

int64_t checked_numel(DimsRef sizes, const char* op) {
  int64_t n = 1;
  bool overflow = false, zero = false;
  for (int64_t s : sizes) {
    TRINE_CHECK(s >= 0, op, ": Trying to create tensor with negative dimension ", s, ": ", sizes);
    zero |= s == 0;
    overflow |= __builtin_mul_overflow(n, s, &n);
  }
  TRINE_CHECK(zero || !overflow, op, ": the number of elements of ", sizes, " overflows 64 bits");
  return zero ? 0 : n;
}

Dims infer_size(DimsRef sizes, int64_t numel, const char* op) {
  Dims out(sizes);
  int64_t known = 1, hole = -1;
  bool overflow = false;
  for (size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i] == -1) {
      TRINE_CHECK(hole < 0, op, ": only one dimension can be inferred");
      hole = static_cast<int64_t>(i);
      continue;
    }
    TRINE_CHECK(sizes[i] >= 0, op, ": invalid shape dimension ", sizes[i]);
    overflow |= __builtin_mul_overflow(known, sizes[i], &known);
  }
  if (hole >= 0 && known != 0 && numel % known == 0 && !overflow) {
    out[hole] = numel / known;
    return out;
  }
  TRINE_CHECK(hole < 0 || known != 0, op, ": cannot reshape tensor of ", numel, " elements into shape ", sizes, " because the unspecified dimension size -1 can be any value and is ambiguous");
  TRINE_CHECK(hole < 0 && known == numel && !overflow, op, ": shape '", sizes, "' is invalid for input of size ", numel);
  return out;
}

int64_t wrap_dim(int64_t dim, int64_t ndim, bool wrap_scalar) {
  int64_t n = ndim == 0 && wrap_scalar ? 1 : ndim;
  TRINE_CHECK_INDEX(n > 0, "Dimension specified as ", dim, " but tensor has no dimensions");
  TRINE_CHECK_INDEX(dim >= -n && dim < n, "Dimension out of range (expected to be in range of [", -n, ", ", n - 1, "], but got ", dim, ")");
  return dim < 0 ? dim + n : dim;
}

size_t storage_bytes_needed(DimsRef sizes, DimsRef strides, int64_t offset, int itemsize) {
  int64_t last = offset;
  for (size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i] == 0) return 0;
    int64_t span;
    bool overflow = __builtin_mul_overflow(sizes[i] - 1, strides[i], &span) || __builtin_add_overflow(last, span, &last);
    TRINE_CHECK(!overflow, "the storage size of sizes ", sizes, " with strides ", strides, " overflows 64 bits");
  }
  int64_t bytes;
  bool overflow = __builtin_add_overflow(last, int64_t{1}, &last) || __builtin_mul_overflow(last, int64_t{itemsize}, &bytes);
  TRINE_CHECK(!overflow, "the storage size of sizes ", sizes, " with strides ", strides, " overflows 64 bits");
  return static_cast<size_t>(bytes);
}

namespace {
// Everything but sizes, strides and storage.
thread_local bool inference_tensors = false;

Ptr<TensorImpl> new_impl(DType dtype, Device device) {
  auto impl = Ptr<TensorImpl>::adopt(new TensorImpl);
  impl->dtype = dtype == DType::Undefined ? default_dtype() : dtype;
  impl->device = device;
  impl->keys = backend_key(device.type);
  impl->inference = inference_tensors;
  return impl;
}
}  // namespace

bool set_inference_tensors(bool on) { return std::exchange(inference_tensors, on); }

Tensor empty(DimsRef sizes, DType dtype, Device device, MemoryFormat format) {
  auto impl = new_impl(dtype, device);
  int64_t n = checked_numel(sizes, "empty");
  impl->sizes.assign(sizes);
  impl->strides = format <= MemoryFormat::Preserve ? contiguous_strides(sizes) : strides_for(sizes, format);
  impl->numel = n;
  if (format > MemoryFormat::Preserve) impl->refresh();
  int64_t bytes;
  TRINE_CHECK(!__builtin_mul_overflow(n, int64_t{itemsize(impl->dtype)}, &bytes), "empty: the size of ", sizes, " in bytes overflows 64 bits");
  impl->storage = Storage::allocate(static_cast<size_t>(bytes), device);
  return Tensor(std::move(impl));
}

Tensor empty_strided(DimsRef sizes, DimsRef strides, DType dtype, Device device) {
  TRINE_CHECK(sizes.size() == strides.size(), "empty_strided: sizes ", sizes, " and strides ", strides, " must have the same length");
  checked_numel(sizes, "empty_strided");
  for (int64_t s : strides) TRINE_CHECK(s >= 0, "empty_strided: strides must be non-negative, got ", strides);
  auto impl = new_impl(dtype, device);
  impl->sizes.assign(sizes);
  impl->strides.assign(strides);
  impl->refresh();
  impl->storage = Storage::allocate(storage_bytes_needed(sizes, strides, 0, itemsize(impl->dtype)), device);
  return Tensor(std::move(impl));
}

namespace {

// Strides of a fresh dense tensor whose dimensions are ordered in memory as those of `like`.
Dims dense_strides_like(DimsRef sizes, DimsRef strides) {
  SmallVector<int, 8> order;
  for (size_t i = sizes.size(); i-- > 0;) order.push_back(static_cast<int>(i));
  // Stable insertion sort; expanded (stride 0) and one-element dimensions stay where they are.
  auto after = [&](int a, int b) {  // true when a must be outside b although it is now inside
    int64_t sa = strides[a], sb = strides[b];
    if (sa == 0 || sb == 0) return false;
    return sa > sb || (sa == sb && sizes[a] > sizes[b]);
  };
  for (size_t i = 1; i < order.size(); i++)
    for (size_t j = i; j > 0 && after(order[j - 1], order[j]); j--) std::swap(order[j - 1], order[j]);
  Dims out(sizes.size());
  int64_t n = 1;
  for (int d : order) {
    out[d] = n;
    n *= std::max<int64_t>(sizes[d], 1);
  }
  return out;
}

}  // namespace

Dims strides_like(const Tensor& t) {
  if (t.is_contiguous() || t.is_non_overlapping_and_dense()) return Dims(t.strides());
  return dense_strides_like(t.sizes(), t.strides());
}

Tensor empty_like(const Tensor& like, DType dtype, MemoryFormat format) {
  if (dtype == DType::Undefined) dtype = like.dtype();
  if (format != MemoryFormat::Preserve) return empty(like.sizes(), dtype, like.device(), format);
  if (like.is_contiguous()) return empty(like.sizes(), dtype, like.device());
  return empty_strided(like.sizes(), strides_like(like), dtype, like.device());
}

Tensor scalar_tensor(const Scalar& v, DType dtype, Device device) {
  Tensor t = empty({}, dtype, {});
  TRINE_DISPATCH_ALL(t.dtype(), "scalar_tensor", *t.data<scalar_t>() = v.to<scalar_t>());
  if (device.type == DeviceType::CPU) return t;
  return empty({}, dtype, device);
}

Tensor wrapped_number(const Scalar& v) {
  DType t = v.is_bool() ? DType::Bool : v.is_integral() ? DType::Int64 : v.is_floating() ? DType::Double : DType::ComplexDouble;
  Tensor out = scalar_tensor(v, t);
  out.impl()->wrapped_number = true;
  return out;
}

Tensor make_view(const Tensor& base, DimsRef sizes, DimsRef strides, int64_t offset) {
  auto impl = new_impl(base.dtype(), base.device());
  impl->sizes.assign(sizes);
  impl->strides.assign(strides);
  impl->offset = offset;
  impl->storage = base.storage();
  impl->inference = base.impl()->inference;
  impl->no_version = base.impl()->no_version;
  impl->keys = impl->keys | (base.impl()->keys & kLazyKeys);
  impl->refresh();
  return Tensor(std::move(impl));
}

Tensor with_lazy_keys(const Tensor& base, KeySet lazy) {
  Tensor view = make_view(base, base.sizes(), base.strides(), base.offset());
  view.impl()->keys = (view.impl()->keys - kLazyKeys) | lazy;
  return view;
}

Tensor from_storage(Ptr<Storage> storage, DType dtype, DimsRef sizes, DimsRef strides, int64_t offset) {
  checked_numel(sizes, "from_storage");
  size_t need = storage_bytes_needed(sizes, strides, offset, itemsize(dtype));
  TRINE_CHECK(offset >= 0 && need <= storage->nbytes(), "setStorage: sizes ", sizes, ", strides ", strides, ", storage offset ", offset,
              " require a storage of ", need, " bytes, which is out of bounds for a storage of ", storage->nbytes(), " bytes");
  auto impl = new_impl(dtype, storage->device());
  impl->sizes.assign(sizes);
  impl->strides.assign(strides);
  impl->offset = offset;
  impl->storage = std::move(storage);
  impl->refresh();
  return Tensor(std::move(impl));
}

Scalar item(const Tensor& t) {
  TRINE_CHECK(t.numel() == 1, "a Tensor with ", t.numel(), " elements cannot be converted to Scalar");
  TRINE_CHECK(!t.is_meta(), "item: a meta tensor has no values");
  TRINE_CHECK(!t.impl()->batch, "vmap: It looks like you're calling .item() on a Tensor, or use its value to decide what the program does next. Neither is possible inside vmap: there is one value for "
              "each element of the batch.");
  Scalar out;
  TRINE_DISPATCH_ALL(t.dtype(), "item", out = Scalar::load<scalar_t>(t.data()));
  if (t.is_conj()) out = Scalar(std::conj(out.to_complex()));
  if (t.is_neg()) out = out.is_complex() ? Scalar(-out.to_complex()) : out.is_floating() ? Scalar(-out.to_double()) : Scalar(-out.to_int());
  return out;
}

Dims broadcast_shapes(DimsRef a, DimsRef b, const char* op) {
  if (equal(a, b)) return Dims(a);
  size_t n = std::max(a.size(), b.size());
  Dims out(n);
  for (size_t i = 0; i < n; i++) {
    int64_t x = i < n - a.size() ? 1 : a[i - (n - a.size())];
    int64_t y = i < n - b.size() ? 1 : b[i - (n - b.size())];
    TRINE_CHECK(x == y || x == 1 || y == 1, op, ": The size of tensor a (", x, ") must match the size of tensor b (", y,
                ") at non-singleton dimension ", i, "; shapes ", a, " and ", b);
    out[i] = x == 1 ? y : x;
  }
  return out;
}

void broadcast_check(const char* op, DimsRef dst, DimsRef src) {
  bool ok = src.size() <= dst.size();
  for (size_t i = 0; ok && i < src.size(); i++) {
    int64_t want = dst[dst.size() - src.size() + i];
    ok = src[i] == want || src[i] == 1;
  }
  // PyTorch lets leading dimensions of size 1 pass.
  if (!ok && src.size() > dst.size()) {
    ok = true;
    for (size_t i = 0; i < src.size(); i++) {
      int64_t d = static_cast<int64_t>(i) - static_cast<int64_t>(src.size() - dst.size());
      ok &= d < 0 ? src[i] == 1 : (src[i] == dst[d] || src[i] == 1);
    }
  }
  TRINE_CHECK(ok, op, ": The size of tensor a must match the size of tensor b: shape ", src, " does not broadcast to ", dst);
}

Tensor expand_to(const Tensor& t, DimsRef sizes) {
  if (equal(t.sizes(), sizes)) return t;
  Dims strides(sizes.size());
  size_t lead = sizes.size() - t.sizes().size();
  for (size_t i = lead; i < sizes.size(); i++) strides[i] = t.sizes()[i - lead] == 1 && sizes[i] != 1 ? 0 : t.strides()[i - lead];
  return make_view(t, sizes, strides, t.offset());
}

bool has_internal_overlap(const Tensor& t) {
  if (t.is_contiguous()) return false;
  for (int64_t d = 0; d < t.dim(); d++)
    if (t.strides()[d] == 0 && t.sizes()[d] > 1) return true;
  return false;
}

bool may_overlap(const Tensor& a, const Tensor& b) {
  if (a.storage() != b.storage() || a.numel() == 0 || b.numel() == 0 || !a.storage()) return false;
  auto range = [](const Tensor& t) {
    int64_t lo = t.offset(), hi = lo;
    for (int64_t d = 0; d < t.dim(); d++) hi += (t.sizes()[d] - 1) * t.strides()[d];
    return std::pair(lo * t.itemsize(), (hi + 1) * t.itemsize());
  };
  auto [alo, ahi] = range(a);
  auto [blo, bhi] = range(b);
  return alo < bhi && blo < ahi;
}

void resize_impl(const Tensor& t, DimsRef sizes, DimsRef strides) {
  TensorImpl& impl = *t.impl();
  TRINE_CHECK(!impl.shape_locked || equal(sizes, impl.sizes), "resize_: this tensor's memory is shared with a Python buffer or NumPy array of shape ",
              impl.sizes, " and cannot become ", sizes);
  checked_numel(sizes, "resize_");
  size_t need = storage_bytes_needed(sizes, strides, impl.offset, itemsize(impl.dtype));
  if (!impl.storage)
    impl.storage = Storage::allocate(need, impl.device);
  else if (need > impl.storage->nbytes())
    impl.storage->resize(need);
  impl.sizes.assign(sizes);
  impl.strides.assign(strides);
  impl.refresh();
}

void resize_output(const Tensor& out, DimsRef sizes, const char* op) {
  if (equal(out.sizes(), sizes)) return;
  if (out.numel() != 0)
    warn(str(op, ": An output with one or more elements was resized since it had shape ", out.sizes(), ", which does not match the required output shape ",
             sizes, ". Resize it to zero elements first, with resize_(0), to reuse it without this warning."));
  resize_impl(out, sizes, contiguous_strides(sizes));
}

}  // namespace trine
