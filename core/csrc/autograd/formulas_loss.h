// Gradients of losses.
#pragma once
#include "trine/ops.h"

namespace trine::autograd {

Tensor nll_double_backward(const Tensor& grad, const Tensor& target, const Tensor& weight, const Tensor& total_weight, int64_t reduction, int64_t ignore_index, DimsRef grad_output_sizes);
Tensor cross_entropy_backward(const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight, const Tensor& total_weight, const Tensor& logsumexp, int64_t reduction,
                              int64_t ignore_index, double label_smoothing);

}  // namespace trine::autograd
