// View operators: new geometry over the storage of `self`. They run on every device.
#include <numeric>

#include "trine/kernels.h"

namespace trine::views {
namespace {

Tensor with(const Tensor& self, const Dims& sizes, const Dims& strides, int64_t offset) { return make_view(self, sizes, strides, offset); }

// Strides for `sizes` over self's memory, if no copy is needed.
std::optional<Dims> view_strides(const Tensor& self, DimsRef sizes) {
  if (self.numel() == 0) return equal(self.sizes(), sizes) ? Dims(self.strides()) : contiguous_strides(sizes);
  Dims out(sizes.size());
  int64_t view_d = static_cast<int64_t>(sizes.size()) - 1;
  int64_t base_stride = self.dim() ? self.strides().back() : 1;
  int64_t tensor_numel = 1, view_numel = 1;
  if (self.dim() == 0) {
    for (auto& s : out) s = 1;
    return out;
  }
  for (int64_t d = self.dim() - 1; d >= 0; d--) {
    tensor_numel *= self.sizes()[d];
    bool chunk_ends = d == 0 || (self.sizes()[d - 1] != 1 && self.strides()[d - 1] != tensor_numel * base_stride);
    if (!chunk_ends) continue;
    while (view_d >= 0 && (view_numel < tensor_numel || sizes[view_d] == 1)) {
      out[view_d] = view_numel * base_stride;
      view_numel *= sizes[view_d];
      view_d--;
    }
    if (view_numel != tensor_numel) return std::nullopt;
    if (d > 0) {
      base_stride = self.strides()[d - 1];
      tensor_numel = view_numel = 1;
    }
  }
  if (view_d != -1) return std::nullopt;
  return out;
}

}  // namespace

Tensor as_strided(const Tensor& self, DimsRef size, DimsRef stride, std::optional<int64_t> storage_offset) {
  int64_t offset = storage_offset.value_or(self.offset());
  TRINE_CHECK(size.size() == stride.size(), "as_strided: mismatch in length of strides and shape: ", size, " and ", stride);
  for (int64_t s : stride) TRINE_CHECK(s >= 0, "as_strided: Negative strides are not supported at the moment, got strides: ", stride);
  checked_numel(size, "as_strided");
  size_t need = storage_bytes_needed(size, stride, offset, self.itemsize());
  TRINE_CHECK(offset >= 0 && need <= self.storage()->nbytes(), "setStorage: sizes ", size, ", strides ", stride, ", storage offset ", offset, ", and itemsize ", self.itemsize(),
              " requiring a storage size of ", need, " are out of bounds for storage of size ", self.storage()->nbytes());
  return make_view(self, size, stride, offset);
}

Tensor view(const Tensor& self, DimsRef size) {
  Dims sizes = infer_size(size, self.numel(), "view");
  if (self.is_contiguous()) return with(self, sizes, contiguous_strides(sizes), self.offset());
  auto strides = view_strides(self, sizes);
  TRINE_CHECK(strides, "view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead. (shape ",
              self.sizes(), ", strides ", self.strides(), ", view ", DimsRef(sizes), ")");
  return with(self, sizes, *strides, self.offset());
}

Tensor view_dtype(const Tensor& self, DType dtype) {
  TRINE_CHECK(!self.is_conj(), "torch.Tensor.view is not supported for conjugate view tensors when converting to a different dtype.");
  TRINE_CHECK(!self.is_neg(), "torch.Tensor.view is not supported for tensors with negative bit set when converting to a different dtype.");
  int from = self.itemsize(), to = trine::itemsize(dtype);
  Dims sizes(self.sizes()), strides(self.strides());
  int64_t offset = self.offset();
  if (from != to) {
    TRINE_CHECK(self.dim() > 0, "self.dim() cannot be 0 to view ", self.dtype(), " as ", dtype, " (different element sizes)");
    TRINE_CHECK(self.strides().back() == 1, "self.stride(-1) must be 1 to view ", self.dtype(), " as ", dtype, " (different element sizes), but got ", self.strides().back());
    if (from > to) {
      int r = from / to;
      sizes.back() *= r;
      for (size_t i = 0; i + 1 < strides.size(); i++) strides[i] *= r;
      offset *= r;
    } else {
      int r = to / from;
      bool ok = sizes.back() % r == 0 && offset % r == 0;
      for (size_t i = 0; i + 1 < strides.size(); i++) {
        ok &= strides[i] % r == 0;
        strides[i] /= r;
      }
      TRINE_CHECK(ok, "view: sizes ", self.sizes(), ", strides ", self.strides(), " and storage offset ", self.offset(), " must be divisible by ", r, " to view ", self.dtype(), " as ", dtype);
      sizes.back() /= r;
      offset /= r;
    }
  }
  Tensor out = make_view(self, sizes, strides, offset);
  out.impl()->dtype = dtype;
  return out;
}

Tensor permute(const Tensor& self, DimsRef dims) {
  TRINE_CHECK(static_cast<int64_t>(dims.size()) == self.dim(), "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = ",
              self.dim(), " is not equal to len(dims) = ", dims.size());
  Dims sizes(dims.size()), strides(dims.size());
  SmallVector<bool, 8> seen(dims.size(), false);
  for (size_t i = 0; i < dims.size(); i++) {
    int64_t d = wrap_dim(dims[i], self.dim());
    TRINE_CHECK(!seen[d], "permute(): duplicate dims are not allowed.");
    seen[d] = true;
    sizes[i] = self.sizes()[d];
    strides[i] = self.strides()[d];
  }
  return with(self, sizes, strides, self.offset());
}

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  int64_t a = wrap_dim(dim0, self.dim()), b = wrap_dim(dim1, self.dim());
  Dims sizes(self.sizes()), strides(self.strides());
  if (self.dim() > 0) {
    std::swap(sizes[a], sizes[b]);
    std::swap(strides[a], strides[b]);
  }
  return with(self, sizes, strides, self.offset());
}

Tensor expand(const Tensor& self, DimsRef size, bool) {
  int64_t lead = static_cast<int64_t>(size.size()) - self.dim();
  TRINE_CHECK(lead >= 0, "expand(", legacy_name(self.dtype()), "Tensor{", self.sizes(), "}, size=", size, "): the number of sizes provided (", size.size(),
              ") must be greater or equal to the number of dimensions in the tensor (", self.dim(), ")");
  Dims sizes(size.size()), strides(size.size());
  for (int64_t i = static_cast<int64_t>(size.size()) - 1; i >= 0; i--) {
    int64_t d = i - lead;
    int64_t have = d >= 0 ? self.sizes()[d] : 1;
    int64_t stride = d >= 0 ? self.strides()[d] : (i + 1 < static_cast<int64_t>(size.size()) ? sizes[i + 1] * strides[i + 1] : 1);
    int64_t want = size[i];
    if (want == -1) {
      TRINE_CHECK(d >= 0, "expand(", size, "): The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension ", i);
      want = have;
    }
    if (have != want) {
      TRINE_CHECK(have == 1, "The expanded size of the tensor (", want, ") must match the existing size (", have, ") at non-singleton dimension ", i, ".  Target sizes: ", size,
                  ".  Tensor sizes: ", self.sizes());
      stride = 0;
    }
    sizes[i] = want;
    strides[i] = stride;
  }
  checked_numel(sizes, "expand");
  return with(self, sizes, strides, self.offset());
}

Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  TRINE_CHECK_INDEX(self.dim() > 0, "select() cannot be applied to a 0-dim tensor.");
  int64_t d = wrap_dim(dim, self.dim());
  int64_t n = self.sizes()[d];
  TRINE_CHECK_INDEX(index >= -n && index < n, "select(): index ", index, " out of range for tensor of size ", self.sizes(), " at dimension ", d);
  Dims sizes(self.sizes()), strides(self.strides());
  int64_t offset = self.offset() + (index < 0 ? index + n : index) * strides[d];
  sizes.erase(d);
  strides.erase(d);
  return with(self, sizes, strides, offset);
}

Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  TRINE_CHECK(self.dim() > 0, "slice() cannot be applied to a 0-dim tensor.");
  TRINE_CHECK_VALUE(step > 0, "slice step must be positive, got ", step);
  int64_t d = wrap_dim(dim, self.dim()), n = self.sizes()[d];
  auto clip = [n](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + n : i, 0, n); };
  int64_t b = clip(start.value_or(0)), e = clip(end.value_or(n));
  if (e < b) e = b;
  Dims sizes(self.sizes()), strides(self.strides());
  sizes[d] = (e - b + step - 1) / step;
  int64_t offset = self.offset() + b * strides[d];
  strides[d] *= step;
  return with(self, sizes, strides, offset);
}

Tensor squeeze(const Tensor& self) {
  Dims sizes, strides;
  for (int64_t d = 0; d < self.dim(); d++)
    if (self.sizes()[d] != 1) {
      sizes.push_back(self.sizes()[d]);
      strides.push_back(self.strides()[d]);
    }
  return with(self, sizes, strides, self.offset());
}

Tensor squeeze_dim(const Tensor& self, DimsRef dims) {
  SmallVector<bool, 8> drop(self.sizes().size(), false);
  for (int64_t d : dims)
    if (int64_t at = wrap_dim(d, self.dim()); self.dim() > 0) drop[at] = true;
  Dims sizes, strides;
  for (int64_t d = 0; d < self.dim(); d++)
    if (self.sizes()[d] != 1 || !drop[d]) {
      sizes.push_back(self.sizes()[d]);
      strides.push_back(self.strides()[d]);
    }
  return with(self, sizes, strides, self.offset());
}

Tensor unsqueeze(const Tensor& self, int64_t dim) {
  int64_t d = wrap_dim(dim, self.dim() + 1);
  Dims sizes(self.sizes()), strides(self.strides());
  int64_t stride = d < self.dim() ? sizes[d] * strides[d] : 1;
  sizes.insert(d, 1);
  strides.insert(d, stride);
  return with(self, sizes, strides, self.offset());
}

Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  int64_t a = wrap_dim(dim1, self.dim()), b = wrap_dim(dim2, self.dim());
  TRINE_CHECK(a != b, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  int64_t n = offset >= 0 ? std::min(self.sizes()[a], self.sizes()[b] - offset) : std::min(self.sizes()[a] + offset, self.sizes()[b]);
  n = std::max<int64_t>(n, 0);
  int64_t start = self.offset();
  if (n > 0) start += offset >= 0 ? offset * self.strides()[b] : -offset * self.strides()[a];
  Dims sizes, strides;
  for (int64_t d = 0; d < self.dim(); d++)
    if (d != a && d != b) {
      sizes.push_back(self.sizes()[d]);
      strides.push_back(self.strides()[d]);
    }
  sizes.push_back(n);
  strides.push_back(self.strides()[a] + self.strides()[b]);
  return with(self, sizes, strides, start);
}

Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  int64_t d = wrap_dim(dimension, self.dim());
  int64_t n = self.dim() ? self.sizes()[d] : 1, stride = self.dim() ? self.strides()[d] : 1;
  TRINE_CHECK(size >= 0 && size <= n, "maximum size for tensor at dimension ", d, " is ", n, " but size is ", size);
  TRINE_CHECK(step > 0, "step is ", step, " but must be > 0");
  Dims sizes(self.sizes()), strides(self.strides());
  if (self.dim()) {
    sizes[d] = (n - size) / step + 1;
    strides[d] = stride * step;
  }
  sizes.push_back(size);
  strides.push_back(stride);
  return with(self, sizes, strides, self.offset());
}

std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  int64_t d = wrap_dim(dim, self.dim(), false);
  std::vector<Tensor> out;
  out.reserve(self.sizes()[d]);
  for (int64_t i = 0; i < self.sizes()[d]; i++) out.push_back(views::select(self, d, i));
  return out;
}

std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim) {
  TRINE_CHECK(self.dim() > 0, "split expects at least a 1-dimensional tensor");
  int64_t d = wrap_dim(dim, self.dim()), n = self.sizes()[d];
  TRINE_CHECK(split_size >= 0, "split expects split_size be non-negative, but got split_size=", split_size);
  TRINE_CHECK(split_size > 0 || n == 0, "split_size can only be 0 if dimension size is 0, but got dimension size of ", n);
  std::vector<Tensor> out;
  int64_t pieces = split_size == 0 ? 1 : std::max<int64_t>((n + split_size - 1) / split_size, 1);
  for (int64_t i = 0; i < pieces; i++) out.push_back(views::slice(self, d, i * split_size, std::min(n, (i + 1) * split_size), 1));
  return out;
}

std::vector<Tensor> split_sizes(const Tensor& self, DimsRef sizes, int64_t dim) {
  TRINE_CHECK(self.dim() > 0, "split expects at least a 1-dimensional tensor");
  int64_t d = wrap_dim(dim, self.dim()), at = 0;
  std::vector<Tensor> out;
  for (int64_t n : sizes) {
    TRINE_CHECK(n >= 0, "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=", sizes);
    out.push_back(views::slice(self, d, at, at + n, 1));
    at += n;
  }
  TRINE_CHECK(at == self.sizes()[d], "split_with_sizes expects split_sizes to sum exactly to ", self.sizes()[d], " (input tensor's size at dimension ", d, "), but got split_sizes=", sizes);
  return out;
}

Tensor lazy_conj(const Tensor& self) {
  const KeySet lazy = self.impl()->keys & kLazyKeys;
  return with_lazy_keys(self, self.is_conj() ? lazy - Key::Conjugate : lazy | Key::Conjugate);
}

Tensor neg_view(const Tensor& self) {
  TRINE_CHECK_IMPLEMENTED(self.dtype() != DType::Bool, "\"neg_cpu\" not implemented for 'Bool'");
  const KeySet lazy = self.impl()->keys & kLazyKeys;
  return with_lazy_keys(self, self.is_neg() ? lazy - Key::Negative : lazy | Key::Negative);
}

Tensor view_as_real(const Tensor& self) {
  TRINE_CHECK(self.is_complex(), "view_as_real is only supported for complex tensors, got ", self.dtype());
  TRINE_CHECK(!self.is_conj(),
              "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can view it as real, use self.resolve_conj(); however, be warned that the "
              "resulting tensor will NOT alias the original.");
  Dims sizes(self.sizes()), strides(self.strides());
  for (auto& s : strides) s *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  Tensor out = make_view(self, sizes, strides, self.offset() * 2);
  out.impl()->dtype = to_real(self.dtype());
  return out;
}

Tensor view_as_complex(const Tensor& self) {
  TRINE_CHECK(self.dtype() == DType::Float || self.dtype() == DType::Double, "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: ", legacy_name(self.dtype()));
  TRINE_CHECK(self.dim() > 0 && self.sizes().back() == 2, "Tensor must have a last dimension of size 2, got shape ", self.sizes());
  TRINE_CHECK(self.strides().back() == 1, "Tensor must have a last dimension with stride 1");
  Dims sizes(self.sizes()), strides(self.strides());
  sizes.pop_back();
  strides.pop_back();
  for (auto& s : strides) {
    TRINE_CHECK(s % 2 == 0, "Tensor must have a stride divisible by 2 for all but last dimension, got strides ", self.strides());
    s /= 2;
  }
  TRINE_CHECK(self.offset() % 2 == 0, "Tensor must have a storage_offset divisible by 2, got ", self.offset());
  Tensor out = make_view(self, sizes, strides, self.offset() / 2);
  out.impl()->dtype = to_complex(self.dtype());
  return out;
}

}  // namespace trine::views

namespace trine::composite {

Tensor reshape(const Tensor& self, DimsRef shape) {
  Dims sizes = infer_size(shape, self.numel(), "reshape");
  if (self.is_contiguous() || views::view_strides(self, sizes)) return trine::view(self, sizes);
  return trine::view(clone(self, MemoryFormat::Contiguous), sizes);
}

Tensor t(const Tensor& self) {
  TRINE_CHECK(self.dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is ", self.dim(), "D");
  return self.dim() < 2 ? self : transpose(self, 0, 1);
}

Tensor movedim(const Tensor& self, DimsRef source, DimsRef destination) {
  TRINE_CHECK(source.size() == destination.size(), "movedim: Invalid source or destination dims: source (", source, " dims) should contain the same number of dims as destination (", destination, " dims)");
  Dims order(self.dim(), -1);
  SmallVector<bool, 8> used(self.sizes().size(), false);
  for (size_t i = 0; i < source.size(); i++) {
    int64_t s = wrap_dim(source[i], self.dim()), d = wrap_dim(destination[i], self.dim());
    TRINE_CHECK(!used[s], "movedim: repeated dim in `source` (", source, ")");
    TRINE_CHECK(order[d] == -1, "movedim: repeated dim in `destination` (", destination, ")");
    used[s] = true;
    order[d] = s;
  }
  int64_t next = 0;
  for (auto& o : order) {
    if (o != -1) continue;
    while (used[next]) next++;
    o = next++;
  }
  return permute(self, order);
}

Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  TRINE_CHECK(self.dim() > 0, "narrow() cannot be applied to a 0-dim tensor.");
  TRINE_CHECK(length >= 0, "narrow(): length must be non-negative.");
  int64_t n = self.size(dim);
  TRINE_CHECK_INDEX(start >= -n && start <= n, "start out of range (expected to be in range of [", -n, ", ", n, "], but got ", start, ")");
  if (start < 0) start += n;
  TRINE_CHECK(start + length <= n, "start (", start, ") + length (", length, ") exceeds dimension size (", n, ").");
  return slice(self, dim, start, start + length, 1);
}

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  int64_t a = wrap_dim(start_dim, self.dim()), b = wrap_dim(end_dim, self.dim());
  TRINE_CHECK(a <= b, "flatten() has invalid args: start_dim cannot come after end_dim");
  if (self.dim() == 0) return trine::reshape(self, Dims{1});
  if (a == b) return self;
  Dims sizes(self.sizes().subspan(0, a));
  sizes.push_back(product(self.sizes().subspan(a, b - a + 1)));
  for (int64_t d = b + 1; d < self.dim(); d++) sizes.push_back(self.sizes()[d]);
  return trine::reshape(self, sizes);
}

Tensor unflatten(const Tensor& self, int64_t dim, DimsRef sizes) {
  int64_t d = wrap_dim(dim, self.dim());
  TRINE_CHECK(!sizes.empty(), "unflatten: sizes must be non-empty");
  Dims inner = infer_size(sizes, self.size(d), "unflatten");
  Dims out(self.sizes().subspan(0, d));
  out.append(inner.begin(), inner.end());
  for (int64_t i = d + 1; i < self.dim(); i++) out.push_back(self.sizes()[i]);
  return trine::view(self, out);
}

std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  TRINE_CHECK(self.dim() > 0, "chunk expects at least a 1-dimensional tensor");
  TRINE_CHECK(chunks > 0, "chunk expects `chunks` to be greater than 0, got: ", chunks);
  int64_t n = self.size(dim), size = (n + chunks - 1) / chunks;
  if (size == 0) {
    Dims sizes(static_cast<size_t>(chunks), 0);
    return split(self, sizes, dim);
  }
  return split(self, size, dim);
}

Tensor imag(const Tensor& self) {
  TRINE_CHECK(self.is_complex(), "imag is not implemented for tensors with non-complex dtypes.");
  Tensor part = select(view_as_real(self.is_conj() ? _conj(self) : self), -1, 1);
  return self.is_conj() ? _neg_view(part) : part;
}

Tensor adjoint(const Tensor& self) {
  TRINE_CHECK(self.dim() != 1, "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.");
  return conj(self.dim() == 0 ? self : transpose(self, -2, -1));
}

Tensor sum_to_size(const Tensor& self, DimsRef size) {
  if (equal(self.sizes(), size)) return self;
  int64_t lead = self.dim() - static_cast<int64_t>(size.size());
  TRINE_CHECK(lead >= 0, "sum_to_size: size {", size, "} is not expandable to size {", self.sizes(), "}.");
  Dims dims;
  for (int64_t d = 0; d < lead; d++) dims.push_back(d);
  for (int64_t d = lead; d < self.dim(); d++) {
    int64_t want = size[d - lead];
    TRINE_CHECK(want == self.sizes()[d] || want == 1, "sum_to_size: size {", size, "} is not expandable to size {", self.sizes(), "}.");
    if (want == 1 && self.sizes()[d] != 1) dims.push_back(d);
  }
  Tensor out = dims.empty() ? self : sum(self, DimsRef(dims), true, DType::Undefined);
  return lead ? trine::view(out, size) : out;
}

}  // namespace trine::composite
