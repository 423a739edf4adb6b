// Fourier transforms as users call them.
#pragma once
#include "trine/ops.h"

namespace trine::composite {

using FftNorm = std::optional<std::string_view>;

// Complex to complex, real to half complex, half complex to real: over one dimension, and over several.
Tensor fft_c2c_op(const Tensor& self, std::optional<int64_t> n, int64_t dim, FftNorm norm, bool forward);
Tensor fft_r2c_op(const Tensor& self, std::optional<int64_t> n, int64_t dim, FftNorm norm, bool forward);
Tensor fft_c2r_op(const Tensor& self, std::optional<int64_t> n, int64_t dim, FftNorm norm, bool forward);
Tensor fft_c2c_nd(const Tensor& self, std::optional<DimsRef> s, std::optional<DimsRef> dim, FftNorm norm, bool forward);
Tensor fft_r2c_nd(const Tensor& self, std::optional<DimsRef> s, std::optional<DimsRef> dim, FftNorm norm, bool forward);
Tensor fft_c2r_nd(const Tensor& self, std::optional<DimsRef> s, std::optional<DimsRef> dim, FftNorm norm, bool forward);

// out= of the transforms with real results.
const Tensor& fft_store_real(const char* op, const Tensor& out, const Tensor& value);

Tensor fft_freq(const char* op, int64_t n, double d, DType dtype, std::optional<Device> device, bool half);
Tensor fft_shift(const Tensor& self, std::optional<DimsRef> dim, bool forward);

}  // namespace trine::composite
