// Rounding to quantised values and back.
#include "composite/helpers_quantize.h"

#include "dispatch/tensor_operators.h"
#include "trine/kernels.h"

namespace trine::composite {
namespace {

void check_grid(const char* op, const Tensor& self, int64_t quant_min, int64_t quant_max) {
  TRINE_CHECK(is_floating(self.dtype()), op, ": expected a floating point tensor, got ", legacy_name(self.dtype()));
  TRINE_CHECK(quant_min <= quant_max, op, ": `quant_min` should be less than or equal to `quant_max`, got ", quant_min, " and ", quant_max);
}
void check_zero(const char* op, int64_t zero_point, int64_t quant_min, int64_t quant_max) {
  TRINE_CHECK(zero_point >= quant_min && zero_point <= quant_max, op, ": `zero_point` must be between `quant_min` and `quant_max`, got ", zero_point);
}
std::optional<Scalar> limit(int64_t v) { return std::optional<Scalar>(Scalar(v)); }

// A value for each channel, shaped to broadcast over self.
Tensor along(const Tensor& self, const Tensor& values, int64_t axis) {
  const char* op = "fake_quantize_per_channel_affine";
  const int64_t d = wrap_dim(axis, self.dim());
  TRINE_CHECK(values.dim() == 1 && values.size(0) == self.size(d), op, ": expected scale and zero_point of ", self.size(d), " values for axis ", axis, ", got shape ", values.sizes());
  Dims shape(self.sizes().size(), 1);
  shape[static_cast<size_t>(d)] = values.size(0);
  return trine::reshape(values.dtype() == self.dtype() ? values : to(values, self.dtype()), shape);
}
Tensor levels_of(const Tensor& self, const Tensor& scale, const Tensor& zero) { return trine::round(self * trine::reciprocal(scale) + zero); }

}  // namespace

Tensor fake_quantize(const Tensor& self, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max) {
  check_grid("fake_quantize_per_tensor_affine", self, quant_min, quant_max);
  check_zero("fake_quantize_per_tensor_affine", zero_point, quant_min, quant_max);
  const Tensor levels = trine::round(self * Scalar(1.0 / scale) + Scalar(zero_point));
  return (trine::clamp(levels, limit(quant_min), limit(quant_max)) - Scalar(zero_point)) * Scalar(scale);
}

Tensor inside_grid(const Tensor& self, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max) {
  const Tensor levels = trine::round(self * Scalar(1.0 / scale) + Scalar(zero_point));
  return to(trine::bitwise_and(levels >= Scalar(quant_min), levels <= Scalar(quant_max)), self.dtype());
}

Tensor fake_quantize_channels(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis, int64_t quant_min, int64_t quant_max) {
  check_grid("fake_quantize_per_channel_affine", self, quant_min, quant_max);
  const Tensor s = along(self, scale, axis), zero = along(self, zero_point, axis);
  return (trine::clamp(levels_of(self, s, zero), limit(quant_min), limit(quant_max)) - zero) * s;
}

Tensor inside_grid_channels(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis, int64_t quant_min, int64_t quant_max) {
  const Tensor levels = levels_of(self, along(self, scale, axis), along(self, zero_point, axis));
  return to(trine::bitwise_and(levels >= Scalar(quant_min), levels <= Scalar(quant_max)), self.dtype());
}

}  // namespace trine::composite
