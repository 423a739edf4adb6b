#pragma once
#include "dispatch/structured.h"

namespace trine::rules {

inline void check_embedding_indices(const Tensor& indices) {
  TRINE_CHECK(indices.dtype() == DType::Int64 || indices.dtype() == DType::Int32, "embedding: expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got ",
              legacy_name(indices.dtype()), " instead");
}
inline TensorSpec embedding_spec(const Tensor& weight, const Tensor& indices, bool sparse) {
  TRINE_CHECK_IMPLEMENTED(!sparse, "embedding: sparse gradients are not supported, use sparse=False");
  TRINE_CHECK(weight.dim() == 2, "embedding: 'weight' must be 2-D, got shape ", weight.sizes());
  check_embedding_indices(indices);
  TensorSpec spec(indices.sizes(), weight.dtype());
  spec.sizes.push_back(weight.sizes()[1]);
  return spec;
}
inline TensorSpec embedding_backward_spec(const Tensor& grad, const Tensor& indices, int64_t num_weights) {
  check_embedding_indices(indices);
  TRINE_CHECK(grad.dim() == indices.dim() + 1, "embedding_dense_backward: gradient of shape ", grad.sizes(), " does not fit indices of shape ", indices.sizes());
  return {Dims{num_weights, grad.size(-1)}, grad.dtype()};
}

}  // namespace trine::rules
