// Shapes of the losses of class numbers: scores [N, C, K], target [N, K].
#pragma once
#include "dispatch/structured.h"

namespace trine::rules {

inline void check_classes(const char* op, const Tensor& self, const Tensor& target, const Tensor& weight) {
  TRINE_CHECK(target.dtype() == DType::Int64 || target.dtype() == DType::UInt8, op, ": expected scalar type Long but found ", legacy_name(target.dtype()));
  TRINE_CHECK_IMPLEMENTED(is_floating(self.dtype()), op, ": not implemented for '", legacy_name(self.dtype()), "'");
  TRINE_CHECK(!weight.defined() || (weight.dim() <= 1 && weight.numel() == self.sizes()[1]), op, ": weight tensor should be defined either for all ", self.sizes()[1],
              " classes or no classes but got weight tensor of shape: ", weight.defined() ? weight.sizes() : DimsRef());
  TRINE_CHECK(!weight.defined() || weight.dtype() == self.dtype(), op, ": expected scalar type ", legacy_name(self.dtype()), " but found ", weight.defined() ? legacy_name(weight.dtype()) : "");
}
inline std::array<TensorSpec, 2> nll_spec(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction) {
  check_classes("nll_loss", self, target, weight);
  return {TensorSpec(reduction == 0 ? target.sizes() : DimsRef(), self.dtype()), TensorSpec(Dims{}, self.dtype())};
}
inline TensorSpec nll_backward_spec(const Tensor& grad_output, DimsRef sizes) { return {sizes, grad_output.dtype()}; }
inline std::array<TensorSpec, 3> cross_entropy_spec(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction) {
  auto nll = nll_spec(self, target, weight, reduction);
  // Kept in the type the backward pass computes in.
  return {nll[0], TensorSpec(Dims{}, compute_type(self.dtype())), TensorSpec(target.sizes(), compute_type(self.dtype()))};
}

}  // namespace trine::rules
