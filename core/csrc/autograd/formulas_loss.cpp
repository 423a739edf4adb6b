#include "autograd/formulas_loss.h"

#include "autograd/declare.h"
#include "dispatch/tensor_operators.h"

namespace trine::autograd {
namespace {

// target [N, K] -> [N, K] of weights, 0 where it does not count.
Tensor target_weights(const Tensor& target, const Tensor& weight, int64_t ignore_index, const Tensor& like) {
  Tensor ignored = target == Scalar(ignore_index), safe = masked_fill(target, ignored, Scalar(0));
  Tensor w = weight.defined() ? reshape(index_select(weight, 0, reshape(safe, Dims{-1})), target.sizes()) : ones(target.sizes(), like.dtype(), like.device());
  return masked_fill(w, ignored, Scalar(0));
}

// The gradient of each element's loss, [N, K] or a number that broadcasts.
Tensor per_element(const Tensor& grad, const Tensor& total_weight, int64_t reduction) { return reduction == 1 ? grad / total_weight : grad; }

}  // namespace

Tensor nll_double_backward(const Tensor& grad, const Tensor& target, const Tensor& weight, const Tensor& total_weight, int64_t reduction, int64_t ignore_index, DimsRef grad_output_sizes) {
  Tensor classes = to(target, DType::Int64);
  Tensor safe = masked_fill(classes, classes == Scalar(ignore_index), Scalar(0));
  Tensor picked = -squeeze(gather(grad, 1, unsqueeze(safe, 1)), DimsRef(Dims{1})) * target_weights(classes, weight, ignore_index, grad);
  if (reduction == 0) return reshape(picked, grad_output_sizes);
  Tensor total = sum(picked);
  return reduction == 1 ? total / total_weight : total;
}

Tensor cross_entropy_backward(const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight, const Tensor& total_weight, const Tensor& logsumexp, int64_t reduction,
                              int64_t ignore_index, double label_smoothing) {
  if (!grad_enabled()) return _cross_entropy_backward(grad, self, target, weight, total_weight, logsumexp, reduction, ignore_index, label_smoothing);
  // Written over differentiable operators, for second derivatives.
  const double classes = static_cast<double>(self.sizes()[1]);
  Tensor numbers = to(target, DType::Int64);
  Tensor of_target = target_weights(numbers, weight, ignore_index, self) * Scalar(1 - label_smoothing);
  Tensor counts = to(ne(numbers, wrapped_number(Scalar(ignore_index))), self.dtype());
  Tensor safe = masked_fill(numbers, numbers == Scalar(ignore_index), Scalar(0));
  Tensor constant = scatter_add(zeros(self.sizes(), self.dtype(), self.device()), 1, unsqueeze(safe, 1), unsqueeze(of_target, 1));
  Tensor scale = of_target;
  if (label_smoothing > 0) {
    Tensor w = weight.defined() ? weight : ones(Dims{self.sizes()[1]}, self.dtype(), self.device());
    Tensor spread = w * Scalar(label_smoothing / classes);
    constant = constant + reshape(spread, Dims{1, self.sizes()[1], 1}) * unsqueeze(counts, 1);
    scale = scale + sum(spread) * counts;
  }
  Tensor upstream = per_element(grad, to(total_weight, self.dtype()), reduction);
  if (upstream.dim() > 0) upstream = unsqueeze(upstream, 1);
  return upstream * (softmax(self, 1, DType::Undefined) * unsqueeze(scale, 1) - constant);
}

}  // namespace trine::autograd
