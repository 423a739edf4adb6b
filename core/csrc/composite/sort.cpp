#include <cmath>

#include "dispatch/tensor_operators.h"
#include "trine/kernels.h"

namespace trine::composite {

Tensor median(const Tensor& self) {
  if (self.numel() == 0) return trine::full(DimsRef(), Scalar(NAN), self.dtype(), self.device());
  return std::get<0>(trine::median(trine::reshape(self, Dims{-1}), 0, false));
}

Tensor nanmedian(const Tensor& self) {
  if (self.numel() == 0) return trine::full(DimsRef(), Scalar(NAN), self.dtype(), self.device());
  return std::get<0>(trine::nanmedian(trine::reshape(self, Dims{-1}), 0, false));
}

Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  TRINE_CHECK(boundaries.dim() == 1, "bucketize: boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(), ")");
  return trine::searchsorted(boundaries, self, out_int32, right);
}

}  // namespace trine::composite
