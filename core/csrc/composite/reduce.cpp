// Reductions made of other operators.
#include "rules/reduce.h"
#include "dispatch/tensor_operators.h"
#include "trine/kernels.h"

namespace trine::composite {

Tensor nanmean(const Tensor& self, std::optional<DimsRef> dim, bool keepdim, DType dtype) {
  TRINE_CHECK(is_differentiable(self.dtype()), "trine::nanmean(): expected input to have floating point or complex dtype but got ", name(self.dtype()));
  return trine::nansum(self, dim, keepdim, dtype) / trine::sum(trine::bitwise_not(trine::isnan(self)), dim, keepdim, DType::Undefined);
}

std::tuple<Tensor, Tensor> aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  if (dim) return {trine::amin(self, DimsRef(&*dim, 1), keepdim), trine::amax(self, DimsRef(&*dim, 1), keepdim)};
  TRINE_CHECK(self.numel() > 0, "trine::aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.");
  return {trine::amin(self, DimsRef(), keepdim), trine::amax(self, DimsRef(), keepdim)};
}

}  // namespace trine::composite
