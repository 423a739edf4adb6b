// Shapes of the pooling operators: [batch,] channels, then one to three pooled dimensions.
#pragma once
#include "dispatch/structured.h"

namespace trine::rules {

inline Dims pool_list(const char* op, const char* what, DimsRef list, size_t nd) {
  TRINE_CHECK(list.size() == nd || list.size() == 1, op, ": ", what, " must be one int or ", nd, " ints, got ", list);
  Dims out;
  for (size_t d = 0; d < nd; ++d) out.push_back(list[list.size() == 1 ? 0 : d]);
  return out;
}

inline int64_t pooled_length(const char* op, int64_t in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation, bool ceil_mode) {
  TRINE_CHECK(kernel > 0, op, ": kernel size should be greater than zero, but got ", kernel);
  TRINE_CHECK(stride > 0, op, ": stride should be greater than zero, but got ", stride);
  TRINE_CHECK(dilation > 0, op, ": dilation should be greater than zero, but got ", dilation);
  TRINE_CHECK(padding >= 0, op, ": pad must be non-negative, but got pad: ", padding);
  TRINE_CHECK(2 * padding <= dilation * (kernel - 1) + 1, op, ": pad should be at most half of effective kernel size, but got pad=", padding, ", kernel_size=", kernel,
              " and dilation=", dilation);
  int64_t room = in + 2 * padding - dilation * (kernel - 1) - 1 + (ceil_mode ? stride - 1 : 0);
  int64_t out = (room >= 0 ? room / stride : -((-room + stride - 1) / stride)) + 1;
  // The last window must start inside the input or its left padding.
  if (ceil_mode && (out - 1) * stride >= in + padding) --out;
  return out;
}

// The shape after pooling the last `nd` dimensions of `self`.
inline Dims pooled_sizes(const char* op, const Tensor& self, DimsRef kernel, DimsRef stride, DimsRef padding, DimsRef dilation, bool ceil_mode) {
  const size_t nd = kernel.size(), dims = static_cast<size_t>(self.dim());
  TRINE_CHECK(dims == nd + 1 || dims == nd + 2, op, ": Expected ", nd + 1, "D or ", nd + 2, "D input, got shape ", self.sizes());
  for (size_t d = dims - nd - 1; d < dims; ++d)
    TRINE_CHECK(self.sizes()[d] > 0, op, ": expected input with non-zero size for non-batch dimensions, but got shape ", self.sizes());
  Dims out(self.sizes());
  for (size_t d = 0; d < nd; ++d) {
    int64_t& n = out[dims - nd + d];
    n = pooled_length(op, n, kernel[d], stride[d], padding[d], dilation[d], ceil_mode);
    TRINE_CHECK(n > 0, op, ": Output size is too small for input ", self.sizes(), ", kernel_size ", kernel, ", stride ", stride, ", padding ", padding);
  }
  return out;
}

inline TensorSpec pool_spec(const Tensor& self, Dims sizes, DType dtype) { return {sizes, dtype, self.suggest_memory_format()}; }

inline TensorSpec max_pool_values_spec(const Tensor& self, DimsRef kernel, DimsRef stride, DimsRef padding, DimsRef dilation, bool ceil_mode) {
  return pool_spec(self, pooled_sizes("max_pool", self, kernel, stride, padding, dilation, ceil_mode), self.dtype());
}
inline std::array<TensorSpec, 2> max_pool_spec(const Tensor& self, DimsRef kernel, DimsRef stride, DimsRef padding, DimsRef dilation, bool ceil_mode) {
  Dims sizes = pooled_sizes("max_pool", self, kernel, stride, padding, dilation, ceil_mode);
  return {pool_spec(self, sizes, self.dtype()), pool_spec(self, sizes, DType::Int64)};
}
inline TensorSpec avg_pool_spec(const Tensor& self, DimsRef kernel, DimsRef stride, DimsRef padding, bool ceil_mode, std::optional<int64_t> divisor) {
  TRINE_CHECK(!divisor || *divisor != 0, "avg_pool: divisor must be not zero");
  Dims ones(kernel.size(), 1);
  return pool_spec(self, pooled_sizes("avg_pool", self, kernel, stride, padding, ones, ceil_mode), self.dtype());
}

inline Dims adaptive_sizes(const char* op, const Tensor& self, DimsRef output_size) {
  const size_t nd = output_size.size(), dims = static_cast<size_t>(self.dim());
  TRINE_CHECK(dims == nd + 1 || dims == nd + 2, op, ": Expected ", nd + 1, "D or ", nd + 2, "D tensor, but got shape ", self.sizes());
  Dims out(self.sizes());
  for (size_t d = 0; d < nd; ++d) {
    TRINE_CHECK(self.sizes()[dims - nd + d] > 0, op, ": Expected input to have non-zero size for non-batch dimensions, but got shape ", self.sizes());
    TRINE_CHECK(output_size[d] >= 0, op, ": elements of output_size must be greater than or equal to 0, got ", output_size);
    out[dims - nd + d] = output_size[d];
  }
  return out;
}
inline TensorSpec adaptive_avg_pool_spec(const Tensor& self, DimsRef output_size) { return pool_spec(self, adaptive_sizes("adaptive_avg_pool", self, output_size), self.dtype()); }
inline std::array<TensorSpec, 2> adaptive_max_pool_spec(const Tensor& self, DimsRef output_size) {
  Dims sizes = adaptive_sizes("adaptive_max_pool", self, output_size);
  return {pool_spec(self, sizes, self.dtype()), pool_spec(self, sizes, DType::Int64)};
}

}  // namespace trine::rules
