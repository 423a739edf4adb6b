// Rounding to quantised values, for table entries and their derivatives.
#pragma once
#include "trine/ops.h"

namespace trine::composite {

Tensor fake_quantize(const Tensor& self, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max);
Tensor fake_quantize_channels(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis, int64_t quant_min, int64_t quant_max);
// 1 where the level is within the grid, 0 elsewhere.
Tensor inside_grid(const Tensor& self, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max);
Tensor inside_grid_channels(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis, int64_t quant_min, int64_t quant_max);

}  // namespace trine::composite
