// Shapes of attention, resampling and Fourier transforms.
#pragma once
#include "dispatch/structured.h"

namespace trine::rules {

inline TensorSpec attention_spec(const Tensor& query, const Tensor& key, const Tensor& value) {
  TRINE_CHECK(query.dim() == 4 && key.dim() == 4 && value.dim() == 4, "scaled_dot_product_attention: expected 4D tensors, got shapes ", query.sizes(), ", ", key.sizes(), " and ",
              value.sizes());
  return {Dims{query.sizes()[0], query.sizes()[1], query.sizes()[2], value.sizes()[3]}, query.dtype()};
}

inline TensorSpec resample_spec(const Tensor& self, DimsRef output_size) {
  TRINE_CHECK(self.dim() == static_cast<int64_t>(output_size.size()) + 2, "interpolate: input of shape ", self.sizes(), " needs an output size of ", self.dim() - 2, " values, got ",
              output_size);
  Dims sizes{self.sizes()[0], self.sizes()[1]};
  for (size_t d = 0; d < output_size.size(); ++d) {
    TRINE_CHECK(self.sizes()[d + 2] > 0 && output_size[d] > 0, "interpolate: Input and output sizes should be greater than 0, but got input ", self.sizes(), " output ", output_size);
    sizes.push_back(output_size[d]);
  }
  return {sizes, self.dtype(), self.suggest_memory_format()};
}

inline void check_fft_dims(const char* op, const Tensor& self, DimsRef dim) {
  TRINE_CHECK(!dim.empty(), op, ": at least one dimension must be transformed");
  for (int64_t d : dim)
    TRINE_CHECK(self.sizes()[static_cast<size_t>(wrap_dim(d, self.dim()))] > 0, op, ": Invalid number of data points (0) specified in shape ", self.sizes());
}
inline TensorSpec fft_c2c_spec(const Tensor& self, DimsRef dim) {
  TRINE_CHECK(self.is_complex(), "fft: expected a complex tensor, got ", name(self.dtype()));
  if (!dim.empty()) check_fft_dims("fft", self, dim);
  return {self.sizes(), self.dtype()};
}
inline TensorSpec fft_r2c_spec(const Tensor& self, DimsRef dim) {
  TRINE_CHECK(self.dtype() == DType::Float || self.dtype() == DType::Double, "rfft: expected a real float tensor, got ", name(self.dtype()));
  check_fft_dims("rfft", self, dim);
  TensorSpec spec(self.sizes(), to_complex(self.dtype()));
  int64_t& n = spec.sizes[static_cast<size_t>(wrap_dim(dim.back(), self.dim()))];
  n = n / 2 + 1;
  return spec;
}
inline TensorSpec fft_c2r_spec(const Tensor& self, DimsRef dim, int64_t last_dim_size) {
  TRINE_CHECK(self.is_complex(), "irfft: expected a complex tensor, got ", name(self.dtype()));
  TRINE_CHECK(last_dim_size >= 1, "irfft: Invalid number of data points (", last_dim_size, ") specified");
  check_fft_dims("irfft", self, dim);
  TensorSpec spec(self.sizes(), to_real(self.dtype()));
  spec.sizes[static_cast<size_t>(wrap_dim(dim.back(), self.dim()))] = last_dim_size;
  return spec;
}

}  // namespace trine::rules
