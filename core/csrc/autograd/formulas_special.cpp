#include "autograd/formulas_special.h"

#include <cmath>

#include "dispatch/tensor_operators.h"

namespace trine::autograd {
namespace {

// `value` where self is not zero; `at_zero` where it is.
Tensor unless_zero(const Tensor& self, const Tensor& value, double at_zero) { return where(self == Scalar(0.0), Scalar(at_zero), value); }
// self, with ones in place of its zeros, so that neither the quotient nor its derivative is NaN.
Tensor divisor(const Tensor& self) { return masked_fill(self, self == Scalar(0.0), Scalar(1)); }

}  // namespace

Tensor sgn_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  if (!self.is_complex()) return zeros_like(grad);
  // Only what turns the number changes its sign: the part of grad along it is taken away.
  Tensor along = to(real(grad * conj(result)), grad.dtype()) * result;
  Tensor magnitude = abs(self);
  return masked_fill((grad - along) / divisor(magnitude), magnitude == Scalar(0.0), Scalar(0));
}

Tensor sinc_backward(const Tensor& grad, const Tensor& self) {
  Tensor x = divisor(self) * Scalar(M_PI);
  return unless_zero(self, grad * conj((x * cos(x) - sin(x)) / (x * x) * Scalar(M_PI)), 0.0);
}

Tensor i1_backward(const Tensor& grad, const Tensor& self, const Tensor& result) { return grad * unless_zero(self, i0(self) - result / divisor(self), 0.5); }

Tensor i1e_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  return grad * unless_zero(self, special_i0e(self) - result * (sign(self) + reciprocal(divisor(self))), 0.5);
}

Tensor igamma_density(const Tensor& self, const Tensor& other) { return exp((self - 1.0) * log(other) - other - lgamma(self)); }

Tensor logit_backward(const Tensor& grad, const Tensor& self) {
  Tensor inside = (self >= Scalar(0.0)) & (self <= Scalar(1.0));
  return where(inside, grad / (self * (Scalar(1.0) - self)), Scalar(NAN));
}

}  // namespace trine::autograd
