#include "dispatch/tensor_operators.h"
#include "trine/kernels.h"

namespace trine::composite {

Tensor diff(const Tensor& self, int64_t n, int64_t dim, const Tensor& prepend, const Tensor& append) {
  TRINE_CHECK(self.dim() >= 1, "diff expects input to be at least one-dimensional");
  TRINE_CHECK(n >= 0, "order must be non-negative but got ", n);
  std::vector<Tensor> parts;
  if (prepend.defined()) parts.push_back(prepend);
  parts.push_back(self);
  if (append.defined()) parts.push_back(append);
  Tensor t = parts.size() == 1 ? self : trine::cat(parts, dim);
  for (int64_t i = 0; i < n && t.size(dim) > 0; i++) {
    int64_t m = t.size(dim) - 1;
    Tensor later = trine::narrow(t, dim, 1, m), earlier = trine::narrow(t, dim, 0, m);
    t = t.dtype() == DType::Bool ? trine::logical_xor(later, earlier) : later - earlier;
  }
  return t;
}

}  // namespace trine::composite
