// Shapes of sorting and ranking results.
#pragma once
#include "dispatch/structured.h"
#include "rules/reduce.h"

namespace trine::rules {

inline std::array<TensorSpec, 2> sort_spec(const char* op, const Tensor& self, int64_t dim) {
  TRINE_CHECK(!self.is_complex(), op, " does not support complex dtypes on CPU");
  wrap_dim(dim, self.dim());
  return {TensorSpec(self.sizes(), self.dtype()), TensorSpec(self.sizes(), DType::Int64)};
}

inline std::array<TensorSpec, 2> topk_spec(const Tensor& self, int64_t k, int64_t dim) {
  auto specs = sort_spec("topk", self, dim);
  int64_t n = self.dim() == 0 ? 1 : self.size(dim);
  TRINE_CHECK(k >= 0 && k <= n, "topk: selected index k out of range: k = ", k, " for shape ", self.sizes(), " along dimension ", dim);
  if (self.dim() > 0)
    for (TensorSpec& s : specs) s.sizes[wrap_dim(dim, self.dim())] = k;
  return specs;
}

inline std::array<TensorSpec, 2> middle_spec(const char* op, const Tensor& self, int64_t dim, bool keepdim) {
  check_ordered(op, self);
  int64_t d = wrap_dim(dim, self.dim());
  TRINE_CHECK_INDEX(self.dim() == 0 || self.sizes()[d] > 0, op, "(): Expected reduction dim ", d, " to have non-zero size.");
  uint64_t mask = dim_mask(std::optional<int64_t>(dim), self.dim());
  return {reduced(self, mask, keepdim, self.dtype()), reduced(self, mask, keepdim, DType::Int64)};
}

inline std::array<TensorSpec, 2> kthvalue_spec(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  auto specs = middle_spec("kthvalue", self, dim, keepdim);
  int64_t n = self.dim() == 0 ? 1 : self.size(dim);
  TRINE_CHECK(k >= 1 && k <= n, "kthvalue(): selected number k out of range for dimension ", dim, ": k = ", k, ", shape ", self.sizes());
  return specs;
}

inline TensorSpec search_spec(const Tensor& sorted, const Tensor& self, bool out_int32) {
  TRINE_CHECK(sorted.dim() > 0, "searchsorted(): boundaries tensor should have positive dimension");
  bool rows = sorted.dim() == self.dim() && self.dim() > 0;
  for (int64_t d = 0; rows && d + 1 < self.dim(); d++) rows = sorted.sizes()[d] == self.sizes()[d];
  TRINE_CHECK(sorted.dim() == 1 || rows, "searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value tensor must match, but we got boundaries tensor ",
              sorted.sizes(), " and input value tensor ", self.sizes());
  return {self.sizes(), out_int32 ? DType::Int32 : DType::Int64};
}

}  // namespace trine::rules
