// Functions of single numbers that choose between others.
#include <cmath>
#include <cstdlib>

#include "dispatch/tensor_operators.h"
#include "tensor/promotion.h"
#include "trine/kernels.h"

namespace trine::composite {
namespace {

struct Range {
  double low, high;
};

Range finite_range(DType t) {
  switch (t) {
    case DType::Half: return {-65504.0, 65504.0};
    case DType::BFloat16: return {-3.3895313892515355e38, 3.3895313892515355e38};
    case DType::Float: return {-std::numeric_limits<float>::max(), std::numeric_limits<float>::max()};
    default: return {-std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
  }
}

}  // namespace

Tensor positive(const Tensor& self) {
  TRINE_CHECK(self.dtype() != DType::Bool, "positive: the `+` operator, on a bool tensor, is not supported.");
  return self;
}

Tensor nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) {
  if (is_integral(self.dtype(), true)) return clone(self);
  if (self.is_complex()) return view_as_complex(trine::nan_to_num(view_as_real(resolve_conj(self)), nan, posinf, neginf));
  const Range range = finite_range(self.dtype());
  return nan_to_num_number(self, Scalar(nan.value_or(0.0)), Scalar(posinf.value_or(range.high)), Scalar(neginf.value_or(range.low)));
}

Tensor float_power(const Tensor& self, const Tensor& exponent) {
  const DType t = self.is_complex() || exponent.is_complex() ? DType::ComplexDouble : DType::Double;
  return pow(to(self, t), to(exponent, t));
}

Tensor polygamma(int64_t n, const Tensor& self) {
  TRINE_CHECK(n >= 0, "polygamma(n, x) does not support negative n.");
  if (n == 0) return digamma(self);
  return n == 1 ? trigamma(self) : polygamma_number(self, Scalar(n));
}

Tensor mvlgamma(const Tensor& self, int64_t p) {
  TRINE_CHECK(p >= 1, "mvlgamma: p has to be greater than or equal to 1");
  const DType t = is_floating(self.dtype()) ? self.dtype() : default_dtype();
  Tensor steps = trine::arange(Scalar(0), Scalar(p), Scalar(1), t, self.device()) * Scalar(-0.5);
  const double constant = p * (p - 1) / 4.0 * std::log(M_PI);
  return trine::sum(lgamma(unsqueeze(self, -1) + steps), std::optional<DimsRef>(Dims{-1})) + Scalar(constant);
}

Tensor ldexp(const Tensor& self, const Tensor& other) {
  Tensor product = mul(self, pow(Scalar(2.0), other));
  return is_floating(self.dtype()) && !is_floating(other.dtype()) ? to(product, self.dtype()) : product;
}

Tensor round_decimals(const Tensor& self, int64_t decimals) {
  if (decimals == 0 || is_integral(self.dtype(), true)) {
    TRINE_CHECK(decimals >= 0 || !is_integral(self.dtype(), true), "round: negative decimals are not implemented for integers");
    return trine::round(self);
  }
  // Powers of ten are soon out of the range of 16 bits.
  if (compute_type(self.dtype()) != self.dtype()) return to(trine::round(to(self, compute_type(self.dtype())), decimals), self.dtype());
  const Scalar power(std::pow(10.0, static_cast<double>(std::abs(decimals))));
  return decimals > 0 ? trine::round(self * power) / power : trine::round(self / power) * power;
}

}  // namespace trine::composite
