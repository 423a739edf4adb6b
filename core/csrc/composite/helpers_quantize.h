// Rounding to quantised values, for table entries.
#pragma once
#include "trine/ops.h"

namespace trine::composite {

Tensor fake_quantize_by_tensors(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t quant_min, int64_t quant_max);
Tensor fake_quantize_tensor(const Tensor& self, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max);
Tensor fake_quantize_channels(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis, int64_t quant_min, int64_t quant_max);

}  // namespace trine::composite
