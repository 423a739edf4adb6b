// Shapes of the matrix products.
#pragma once
#include "dispatch/structured.h"

namespace trine::rules {

inline void same_dtype(const char* op, const Tensor& a, const Tensor& b) {
  TRINE_CHECK(a.dtype() == b.dtype(), op, ": expected both tensors to have the same dtype, but got: ", name(a.dtype()), " and ", name(b.dtype()), " (shapes ", a.sizes(), " and ",
              b.sizes(), ")");
  TRINE_CHECK(a.dtype() != DType::Bool, op, ": not implemented for 'Bool'");
}

inline TensorSpec mm_spec(const Tensor& self, const Tensor& mat2) {
  TRINE_CHECK(self.dim() == 2, "mm: self must be a matrix, got shape ", self.sizes());
  TRINE_CHECK(mat2.dim() == 2, "mm: mat2 must be a matrix, got shape ", mat2.sizes());
  TRINE_CHECK(self.sizes()[1] == mat2.sizes()[0], "mm: mat1 and mat2 shapes cannot be multiplied (", self.sizes()[0], "x", self.sizes()[1], " and ", mat2.sizes()[0], "x",
              mat2.sizes()[1], ")");
  same_dtype("mm", self, mat2);
  return {Dims{self.sizes()[0], mat2.sizes()[1]}, self.dtype()};
}

inline TensorSpec bmm_spec(const Tensor& self, const Tensor& mat2) {
  TRINE_CHECK(self.dim() == 3 && mat2.dim() == 3, "bmm: batch1 and batch2 must be 3D tensors, got shapes ", self.sizes(), " and ", mat2.sizes());
  TRINE_CHECK(self.sizes()[0] == mat2.sizes()[0] && self.sizes()[2] == mat2.sizes()[1], "bmm: Expected size for first two dimensions of batch2 tensor to be: [", self.sizes()[0], ", ",
              self.sizes()[2], "] but got: [", mat2.sizes()[0], ", ", mat2.sizes()[1], "].");
  same_dtype("bmm", self, mat2);
  return {Dims{self.sizes()[0], self.sizes()[1], mat2.sizes()[2]}, self.dtype()};
}

inline TensorSpec mv_spec(const Tensor& self, const Tensor& vec) {
  TRINE_CHECK(self.dim() == 2 && vec.dim() == 1, "mv: expected a matrix and a vector, got shapes ", self.sizes(), " and ", vec.sizes());
  TRINE_CHECK(self.sizes()[1] == vec.sizes()[0], "mv: size mismatch, got input (", self.sizes()[0], "x", self.sizes()[1], "), vec (", vec.sizes()[0], ")");
  same_dtype("mv", self, vec);
  return {Dims{self.sizes()[0]}, self.dtype()};
}

inline TensorSpec dot_spec(const Tensor& self, const Tensor& tensor) {
  TRINE_CHECK(self.dim() == 1 && tensor.dim() == 1, "dot: 1D tensors expected, but got ", self.dim(), "D and ", tensor.dim(), "D tensors");
  TRINE_CHECK(self.numel() == tensor.numel(), "dot: inconsistent tensor size, expected tensor ", self.sizes(), " and src ", tensor.sizes(), " to have the same number of elements");
  same_dtype("dot", self, tensor);
  return {Dims{}, self.dtype()};
}

inline TensorSpec linear_spec(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  TRINE_CHECK(weight.dim() == 1 || weight.dim() == 2, "linear: weight must have 1 or 2 dimensions, got shape ", weight.sizes());
  TRINE_CHECK(input.dim() >= 1, "linear: input must have at least 1 dimension, got shape ", input.sizes());
  const size_t last = static_cast<size_t>(input.dim() - 1);
  int64_t features = weight.sizes()[static_cast<size_t>(weight.dim() - 1)];
  TRINE_CHECK(input.sizes()[last] == features, "linear: mat1 and mat2 shapes cannot be multiplied: input ", input.sizes(), ", weight ", weight.sizes(), " (the last sizes must agree)");
  same_dtype("linear", input, weight);
  if (bias.defined()) {
    same_dtype("linear", input, bias);
    TRINE_CHECK(weight.dim() == 2 ? bias.dim() == 1 && bias.sizes()[0] == weight.sizes()[0] : bias.numel() == 1, "linear: bias of shape ", bias.sizes(), " does not fit weight ",
                weight.sizes());
  }
  TensorSpec spec(input.sizes(), input.dtype());
  if (weight.dim() == 2) spec.sizes[last] = weight.sizes()[0];
  else spec.sizes.pop_back();
  return spec;
}

}  // namespace trine::rules
