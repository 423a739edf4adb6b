// Rounding to quantised values and back.
#include "composite/helpers_quantize.h"

#include "dispatch/tensor_operators.h"
#include "trine/kernels.h"

namespace trine::composite {

std::tuple<Tensor, Tensor> fake_quantize(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t quant_min, int64_t quant_max) {
  TRINE_CHECK(is_floating(self.dtype()), "fake_quantize: expected a floating point tensor, got ", legacy_name(self.dtype()));
  TRINE_CHECK(quant_min <= quant_max, "fake_quantize: `quant_min` should be less than or equal to `quant_max`, got ", quant_min, " and ", quant_max);
  const Tensor zero = to(zero_point, self.dtype()), step = to(scale, self.dtype());
  const Tensor levels = trine::round(self * to(trine::reciprocal(scale), self.dtype()) + zero);
  const Scalar low(quant_min), high(quant_max);
  return {(trine::clamp(levels, std::optional<Scalar>(low), std::optional<Scalar>(high)) - zero) * step, trine::bitwise_and(levels >= low, levels <= high)};
}

// The result is made of float32 numbers, as in PyTorch.
Tensor fake_quantize_by_tensors(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t quant_min, int64_t quant_max) {
  const Tensor y = std::get<0>(trine::_fake_quantize(self, scale, zero_point, quant_min, quant_max));
  return self.dtype() == DType::Double ? to(to(y, DType::Float), DType::Double) : y;
}

// So is the step.
Tensor fake_quantize_tensor(const Tensor& self, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max) {
  TRINE_CHECK(zero_point >= quant_min && zero_point <= quant_max, "fake_quantize_per_tensor_affine: `zero_point` must be between `quant_min` and `quant_max`, got ", zero_point);
  return fake_quantize_by_tensors(self, scalar_tensor_op(Scalar(scale), DType::Float, self.device()), scalar_tensor_op(Scalar(zero_point), DType::Int32, self.device()), quant_min, quant_max);
}

Tensor fake_quantize_channels(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis, int64_t quant_min, int64_t quant_max) {
  const int64_t d = wrap_dim(axis, self.dim());
  auto along = [&](const Tensor& values) {
    TRINE_CHECK(values.dim() == 1 && values.size(0) == self.size(d), "fake_quantize_per_channel_affine: expected scale and zero_point of ", self.size(d), " values for axis ", axis, ", got shape ", values.sizes());
    Dims shape(self.sizes().size(), 1);
    shape[static_cast<size_t>(d)] = values.size(0);
    return trine::reshape(values, shape);
  };
  return std::get<0>(trine::_fake_quantize(self, along(scale), along(zero_point), quant_min, quant_max));
}

}  // namespace trine::composite
