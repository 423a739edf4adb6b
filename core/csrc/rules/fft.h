// Shapes and layouts of Fourier transforms: the transformed dimensions are the innermost ones of the result, as in PyTorch.
#pragma once
#include <algorithm>
#include <numeric>

#include "dispatch/structured.h"

namespace trine::rules {

inline Dims wrapped_fft_dims(const Tensor& self, DimsRef dim) {
  Dims wrapped(dim);
  for (int64_t& d : wrapped) d = wrap_dim(d, self.dim());
  return wrapped;
}

inline void sort_by_stride(int64_t* begin, int64_t* end, DimsRef strides) {
  std::stable_sort(begin, end, [&](int64_t a, int64_t b) { return strides[static_cast<size_t>(a)] > strides[static_cast<size_t>(b)]; });
}

// Strides of a result of shape `sizes`: first the dimensions that are not transformed, by their strides in the input, then `dim`.
inline Dims fft_strides(DimsRef strides, DimsRef sizes, const Dims& dim) {
  Dims order;
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d)
    if (std::find(dim.begin(), dim.end(), d) == dim.end()) order.push_back(d);
  sort_by_stride(order.begin(), order.end(), strides);
  for (int64_t d : dim) order.push_back(d);
  Dims result(sizes);
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    result[static_cast<size_t>(order[i])] = step;
    step *= sizes[static_cast<size_t>(order[i])];
  }
  return result;
}

inline void check_fft_dims(const char* op, const Tensor& self, const Dims& dim) {
  TRINE_CHECK(!dim.empty(), op, " must transform at least one axis");
  for (int64_t d : dim) TRINE_CHECK(self.sizes()[static_cast<size_t>(d)] > 0, op, ": Invalid number of data points (0) specified in shape ", self.sizes());
}

inline TensorSpec fft_c2c_spec(const Tensor& self, DimsRef dim) {
  TRINE_CHECK(self.is_complex(), "fft: expected a complex tensor, got ", name(self.dtype()));
  Dims dims = wrapped_fft_dims(self, dim);
  TensorSpec spec(self.sizes(), self.dtype());
  if (dims.empty()) {
    spec.strides = strides_like(self);
    return spec;
  }
  check_fft_dims("fft", self, dims);
  sort_by_stride(dims.begin(), dims.end(), self.strides());
  spec.strides = fft_strides(self.strides(), self.sizes(), dims);
  return spec;
}

inline TensorSpec fft_r2c_spec(const Tensor& self, DimsRef dim, bool onesided) {
  TRINE_CHECK(self.dtype() == DType::Float || self.dtype() == DType::Double, "rfft: expected a real float tensor, got ", name(self.dtype()));
  Dims dims = wrapped_fft_dims(self, dim);
  check_fft_dims("rfft", self, dims);
  TensorSpec spec(self.sizes(), to_complex(self.dtype()));
  int64_t& n = spec.sizes[static_cast<size_t>(dims.back())];
  if (onesided) n = n / 2 + 1;
  sort_by_stride(dims.begin(), dims.end() - 1, self.strides());
  spec.strides = fft_strides(self.strides(), spec.sizes, dims);
  return spec;
}

inline TensorSpec fft_c2r_spec(const Tensor& self, DimsRef dim, int64_t last_dim_size) {
  TRINE_CHECK(self.is_complex(), "irfft: expected a complex tensor, got ", name(self.dtype()));
  TRINE_CHECK(last_dim_size >= 1, "irfft: Invalid number of data points (", last_dim_size, ") specified");
  Dims dims = wrapped_fft_dims(self, dim);
  check_fft_dims("irfft", self, dims);
  const Dims last{dims.back()};
  Dims strides(self.strides());
  if (dims.size() > 1) {
    // The complex transform of the other dimensions comes first.
    dims.pop_back();
    sort_by_stride(dims.begin(), dims.end(), strides);
    strides = fft_strides(strides, self.sizes(), dims);
  }
  TensorSpec spec(self.sizes(), to_real(self.dtype()));
  spec.sizes[static_cast<size_t>(last[0])] = last_dim_size;
  spec.strides = fft_strides(strides, spec.sizes, last);
  return spec;
}

}  // namespace trine::rules
