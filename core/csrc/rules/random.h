// Shapes of random operators.
#pragma once
#include "dispatch/structured.h"

namespace trine::rules {

inline TensorSpec multinomial_draws(const Tensor& self, int64_t num_samples, bool replacement) {
  TRINE_CHECK(self.dim() == 1 || self.dim() == 2, "multinomial: expected 1 or 2 dimensions, got shape ", self.sizes());
  TRINE_CHECK(self.is_floating(), "multinomial: only supports floating-point dtypes for input, got: ", self.dtype());
  TRINE_CHECK(num_samples > 0, "multinomial: cannot sample num_samples <= 0 samples, got ", num_samples);
  TRINE_CHECK(replacement || num_samples <= self.size(-1), "multinomial: cannot sample num_samples=", num_samples, " > ", self.size(-1), " (the last size of shape ",
              self.sizes(), ") samples without replacement");
  return TensorSpec(self.dim() == 2 ? Dims{self.size(0), num_samples} : Dims{num_samples}, DType::Int64);
}

// The shape of several floating tensors of one dtype together.
inline TensorSpec broadcast_floats(const char* op, std::initializer_list<const Tensor*> tensors) {
  const Tensor& first = **tensors.begin();
  Dims sizes(first.sizes());
  for (const Tensor* t : tensors) {
    TRINE_CHECK(t->dtype() == first.dtype(), op, ": expected one dtype, got ", first.dtype(), " and ", t->dtype());
    sizes = broadcast_shapes(sizes, t->sizes(), op);
  }
  TRINE_CHECK_IMPLEMENTED(first.is_floating() && itemsize(first.dtype()) >= 4, op, ": not implemented for ", first.dtype());
  return TensorSpec(sizes, first.dtype());
}

inline TensorSpec binomial_counts(const Tensor& count, const Tensor& prob) {
  TRINE_CHECK_VALUE(count.is_floating(), "binomial: only supports floating-point dtypes for count, got: ", count.dtype());
  return broadcast_floats("binomial", {&count, &prob});
}

}  // namespace trine::rules
