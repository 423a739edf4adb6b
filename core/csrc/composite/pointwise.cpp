// Pointwise operators that choose between others.
#include <cmath>

#include "tensor/promotion.h"
#include "dispatch/tensor_operators.h"
#include "trine/kernels.h"

namespace trine::composite {

Tensor div_rounded(const Tensor& self, const Tensor& other, std::optional<std::string_view> mode) {
  if (!mode) return div(self, other);
  if (*mode == "floor") return floor_divide(self, other);
  TRINE_CHECK(*mode == "trunc", "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", *mode, "'");
  return trunc_divide(self, other);
}

Tensor pow_scalar(const Tensor& self, const Scalar& exponent) {
  bool integral = is_integral(self.dtype(), true);
  TRINE_CHECK(!(integral && exponent.is_integral() && exponent.to_int() < 0), "Integers to negative integer powers are not allowed.");
  if (self.dtype() != DType::Bool && (!integral || exponent.is_integral())) {
    if (exponent.equals(2)) return square(self);
    if (exponent.equals(1)) return mul(self, wrapped_number(Scalar(1)));
    if (!integral && exponent.equals(0.5)) return sqrt(self);
    if (!integral && exponent.equals(-1)) return reciprocal(self);
    if (!integral && exponent.equals(3)) return mul(square(self), self);
  }
  return pow(self, wrapped_number(exponent));
}

Tensor angle(const Tensor& self) {
  if (self.is_complex()) return atan2(trine::imag(self), trine::real(self));
  return angle_real(self);
}

Tensor where_scalars(const Tensor& condition, const Scalar& self, const Scalar& other) {
  Tensor r = where(condition, wrapped_number(self), wrapped_number(other));
  DType want = Promotion().add(self).add(other).result();
  return to(r, want);
}

Tensor clamp(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  TRINE_CHECK(min || max, "clamp: At least one of 'min' or 'max' must not be None");
  if (min && max) return clamp_both(self, *min, *max);
  return min ? clamp_min(self, *min) : clamp_max(self, *max);
}

Tensor clamp_tensor(const Tensor& self, const Tensor& min, const Tensor& max) {
  TRINE_CHECK(min.defined() || max.defined(), "clamp: At least one of 'min' or 'max' must not be None");
  // Written as a choice, so that an element on a bound gives its whole gradient to self.
  auto beyond = [](const Tensor& out_of_bounds, const Tensor& bound) { return is_floating(bound.dtype()) ? bitwise_or(out_of_bounds, isnan(bound)) : out_of_bounds; };
  Tensor r = self;
  if (min.defined()) r = where(beyond(lt(r, min), min), min, r);
  if (max.defined()) r = where(beyond(gt(r, max), max), max, r);
  return r;
}

Tensor gelu(const Tensor& self, std::string_view approximate) {
  if (approximate == "none") return gelu_erf(self);
  TRINE_CHECK(approximate == "tanh", "approximate argument must be either none or tanh.");
  return gelu_tanh(self);
}

}  // namespace trine::composite
