// Derivatives of sign, sinc, Bessel and logit functions, with their limits where the quotient is 0 / 0.
#pragma once
#include "trine/ops.h"

namespace trine::autograd {

Tensor sgn_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor sinc_backward(const Tensor& grad, const Tensor& self);
Tensor i1_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor i1e_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor igamma_density(const Tensor& self, const Tensor& other);  // that of the gamma distribution of shape `self`
Tensor logit_backward(const Tensor& grad, const Tensor& self);

}  // namespace trine::autograd
