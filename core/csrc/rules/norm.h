// Shapes of the normalisation operators.
#pragma once
#include "dispatch/structured.h"

namespace trine::rules {

inline void check_affine(const char* op, const char* what, const Tensor& t, DimsRef shape) {
  TRINE_CHECK(!t.defined() || equal(t.sizes(), shape), op, ": Expected ", what, " of shape ", shape, ", but got ", t.defined() ? t.sizes() : shape);
}

inline TensorSpec same_layout(const Tensor& t) { return {t.sizes(), t.dtype(), t.suggest_memory_format()}; }

// Statistics of a batch of 16-bit inputs are kept in float32.
inline TensorSpec statistics_spec(const Tensor& input, Dims sizes) { return {sizes, compute_type(input.dtype())}; }

inline std::array<TensorSpec, 2> batch_norm_stats_spec(const Tensor& input) {
  return {statistics_spec(input, {input.sizes()[1]}), statistics_spec(input, {input.sizes()[1]})};
}
inline TensorSpec batch_norm_apply_spec(const Tensor& input, const Tensor& mean, const Tensor& weight, const Tensor& bias) {
  const Dims channels{input.sizes()[1]};
  check_affine("batch_norm", "running_mean", mean, channels);
  check_affine("batch_norm", "weight", weight, channels);
  check_affine("batch_norm", "bias", bias, channels);
  return same_layout(input);
}
inline std::array<TensorSpec, 3> batch_norm_grad_spec(const Tensor& input, const Tensor& mean) {
  TensorSpec channel(mean.sizes(), compute_type(input.dtype()));
  return {same_layout(input), channel, channel};
}

inline std::array<TensorSpec, 3> layer_norm_spec(const Tensor& input, DimsRef shape, const Tensor& weight, const Tensor& bias) {
  const size_t n = shape.size(), dims = static_cast<size_t>(input.dim());
  TRINE_CHECK(n >= 1, "layer_norm: Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = ", shape);
  check_affine("layer_norm", "weight", weight, shape);
  check_affine("layer_norm", "bias", bias, shape);
  TRINE_CHECK(dims >= n && equal(input.sizes().last(n), shape), "layer_norm: Given normalized_shape=", shape, ", expected input with the same last sizes, but got input of size ",
              input.sizes());
  Dims stats(input.sizes());
  for (size_t d = dims - n; d < dims; ++d) stats[d] = 1;
  return {TensorSpec(input.sizes(), input.dtype()), TensorSpec(stats, input.dtype()), TensorSpec(stats, input.dtype())};
}
inline std::array<TensorSpec, 3> layer_norm_grad_spec(const Tensor& input, DimsRef shape) {
  TensorSpec affine(shape, compute_type(input.dtype()));
  return {TensorSpec(input.sizes(), input.dtype()), affine, affine};
}

inline std::array<TensorSpec, 3> group_norm_spec(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t groups) {
  TRINE_CHECK(input.dim() >= 2, "group_norm: Expected at least 2 dimensions for input tensor but received ", input.sizes());
  const Dims channels{input.sizes()[1]};
  TRINE_CHECK(groups > 0 && channels[0] % groups == 0, "group_norm: Expected number of channels in input to be divisible by num_groups, but got input of shape ", input.sizes(),
              " and num_groups=", groups);
  check_affine("group_norm", "weight", weight, channels);
  check_affine("group_norm", "bias", bias, channels);
  const Dims stats{input.sizes()[0], groups};
  return {same_layout(input), TensorSpec(stats, input.dtype()), TensorSpec(stats, input.dtype())};
}
inline std::array<TensorSpec, 3> group_norm_grad_spec(const Tensor& input) {
  TensorSpec channel(Dims{input.sizes()[1]}, compute_type(input.dtype()));
  return {same_layout(input), channel, channel};
}

inline TensorSpec cosine_similarity_spec(const Tensor& x, int64_t dim) {
  Dims sizes;
  const int64_t along = wrap_dim(dim, x.dim());
  for (int64_t d = 0; d < x.dim(); d++)
    if (d != along) sizes.push_back(x.sizes()[d]);
  return {sizes, x.dtype()};
}

inline TensorSpec softmax_spec(const Tensor& self, int64_t dim) {
  wrap_dim(dim, self.dim());
  TRINE_CHECK_IMPLEMENTED(is_floating(self.dtype()), "softmax: not implemented for '", legacy_name(self.dtype()), "'");
  return {self.sizes(), self.dtype(), self.suggest_memory_format()};
}

}  // namespace trine::rules
