// Indexing made of other operators: masks become positions, updates of parts become writes to views.
#include "batching/batched.h"
#include "rules/index.h"
#include "dispatch/tensor_operators.h"
#include "trine/kernels.h"

namespace trine::composite {
namespace {

bool is_mask(const Tensor& t) { return t.dtype() == DType::Bool || t.dtype() == DType::UInt8; }

// A mask of several dimensions stands for as many position tensors.
std::vector<Tensor> expand_masks(const Tensor& self, TensorList indices) {
  std::vector<Tensor> out;
  for (const Tensor& t : indices) {
    if (!t.defined() || !is_mask(t)) {
      out.push_back(t);
      continue;
    }
    for (int64_t d = 0; d < t.dim(); d++) {
      int64_t at = static_cast<int64_t>(out.size()) + d;
      TRINE_CHECK_INDEX(at < self.dim(), "too many indices for tensor of dimension ", self.dim());
      TRINE_CHECK_INDEX(self.sizes()[at] == t.sizes()[d], "The shape of the mask ", t.sizes(), " at index ", d, " does not match the shape of the indexed tensor ", self.sizes(), " at index ", at);
    }
    Tensor places = trine::nonzero(t);
    for (int64_t d = 0; d < t.dim(); d++) out.push_back(trine::select(places, 1, d));
    if (t.dim() == 0) {
      // A 0-dim mask adds a dimension of size 0 or 1, which the caller has unsqueezed for.
      TRINE_CHECK_INDEX(false, "index: a 0-dim mask needs a leading dimension of size 1");
    }
  }
  TRINE_CHECK_INDEX(static_cast<int64_t>(out.size()) <= self.dim(), "too many indices for tensor of dimension ", self.dim(), " (got ", out.size(), ")");
  return out;
}

bool any_mask(TensorList indices) {
  for (const Tensor& t : indices)
    if (t.defined() && is_mask(t)) return true;
  return false;
}

}  // namespace

Tensor index(const Tensor& self, TensorList indices) {
  if (!any_mask(indices)) return trine::_index(self, indices);
  std::vector<Tensor> places = expand_masks(self, indices);
  return trine::_index(self, places);
}

const Tensor& index_put_(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  if (!any_mask(indices)) return trine::_index_put_(self, indices, values, accumulate);
  // One mask and one value: no positions are needed.
  if (indices.size() == 1 && indices[0].dtype() == DType::Bool && values.numel() == 1 && values.dim() == 0 && values.dtype() == self.dtype() && !accumulate &&
      equal(indices[0].sizes(), self.sizes()) && !values.requires_grad() && values.is_cpu() && self.is_cpu() && !batching::is_batched(values))
    return trine::masked_fill_(self, indices[0], item(values));
  std::vector<Tensor> places = expand_masks(self, indices);
  return trine::_index_put_(self, places, values, accumulate);
}

Tensor index_put(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  if (!any_mask(indices)) return trine::_index_put(self, indices, values, accumulate);
  std::vector<Tensor> places = expand_masks(self, indices);
  return trine::_index_put(self, places, values, accumulate);
}

std::vector<Tensor> nonzero_numpy(const Tensor& self) {
  if (self.dim() == 0) return trine::unbind(trine::nonzero(trine::unsqueeze(self, 0)), 1);
  return trine::unbind(trine::nonzero(self), 1);
}

Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  TRINE_CHECK(indices.dtype() == DType::Int64, "torch.take_along_dim(): dtype of indices should be Long but got ", legacy_name(indices.dtype()));
  if (!dim) return trine::gather(trine::reshape(self, Dims{-1}), 0, trine::reshape(indices, Dims{-1}));
  TRINE_CHECK(self.dim() == indices.dim(), "torch.take_along_dim(): input and indices should have the same number of dimensions, but got ", self.dim(), " dimensions for input, and ",
              indices.dim(), " dimensions for indices");
  int64_t d = wrap_dim(*dim, self.dim());
  Dims shape = broadcast_shapes([&] { Dims s(self.sizes()); s[d] = 1; return s; }(), [&] { Dims s(indices.sizes()); s[d] = 1; return s; }(), "take_along_dim");
  Dims of_self = shape, of_index = shape;
  of_self[d] = self.sizes()[d];
  of_index[d] = indices.sizes()[d];
  return trine::gather(trine::expand(self, of_self), d, trine::expand(indices, of_index));
}

Tensor index_fill_tensor(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  TRINE_CHECK(value.dim() == 0, "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(), " dimension(s).");
  if (self.dim() == 0) return trine::index_fill(self, dim, index, item(value));
  Dims shape(self.sizes());
  shape[wrap_dim(dim, self.dim())] = index.numel();
  return trine::index_copy(self, dim, trine::remainder(index, wrapped_number(Scalar(std::max<int64_t>(self.size(dim), 1)))), trine::expand(trine::to(value, self.dtype()), shape));
}

Tensor masked_fill_tensor(const Tensor& self, const Tensor& mask, const Tensor& value) {
  TRINE_CHECK(value.dim() == 0, "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(), " dimension(s).");
  return trine::where(mask, trine::to(value, self.dtype()), self);
}

Tensor as_strided_scatter(const Tensor& self, const Tensor& src, DimsRef size, DimsRef stride, std::optional<int64_t> storage_offset) {
  if (self.numel() == 0) return trine::clone(self);
  // The copy lies in memory as self does, gaps included: size and stride speak of that memory.
  int64_t n = self.offset() + 1;
  for (int64_t d = 0; d < self.dim(); d++) n += (self.size(d) - 1) * self.stride(d);
  int64_t end = storage_offset.value_or(self.offset()) + 1;
  for (size_t d = 0; d < size.size(); d++) end += (size[d] - 1) * stride[d];
  Tensor memory = trine::clone(trine::as_strided(self, Dims{std::max(n, end)}, Dims{1}, 0));
  Tensor out = trine::as_strided(memory, self.sizes(), self.strides(), self.offset());
  trine::copy_(trine::as_strided(memory, size, stride, storage_offset ? *storage_offset : self.offset()), src);
  return out;
}

Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  Tensor out = trine::clone(self);
  trine::copy_(trine::select(out, dim, index), src);
  return out;
}

Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  Tensor out = trine::clone(self);
  trine::copy_(trine::slice(out, dim, start, end, step), src);
  return out;
}

Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2) {
  Tensor out = trine::clone(self);
  trine::copy_(trine::diagonal(out, offset, dim1, dim2), src);
  return out;
}

}  // namespace trine::composite
