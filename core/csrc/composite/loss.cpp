// Losses: elementwise values and how they are reduced.
#include "batching/batched.h"
#include "composite/helpers_loss.h"
#include "dispatch/tensor_operators.h"
#include "trine/kernels.h"

namespace trine::composite {
namespace {

// Scores of class numbers as [N, C, K] and targets as [N, K].
struct Flat {
  Tensor scores, target;
  Dims result;  // shape of the losses without reduction
};

Flat flatten_classes(const char* op, const Tensor& self, const Tensor& target) {
  TRINE_CHECK_VALUE(self.dim() >= 1, op, ": Expected 1 or more dimensions (got ", self.dim(), ")");
  if (self.dim() == 1) {
    TRINE_CHECK(target.dim() == 0 || (target.dim() == 1 && target.numel() == 1), op, ": multi-target not supported, got scores ", self.sizes(), " and target ", target.sizes());
    return {trine::reshape(self, Dims{1, self.sizes()[0], 1}), trine::reshape(target, Dims{1, 1}), Dims(target.sizes())};
  }
  TRINE_CHECK_VALUE(target.dim() > 0 && self.sizes()[0] == target.sizes()[0], op, ": Expected input batch_size (", self.sizes()[0], ") to match target batch_size (",
                    target.dim() ? target.sizes()[0] : 0, "); shapes ", self.sizes(), " and ", target.sizes());
  Dims expected{self.sizes()[0]};
  for (int64_t d = 2; d < self.dim(); d++) expected.push_back(self.sizes()[d]);
  TRINE_CHECK(equal(expected, target.sizes()), op, ": Expected target size ", expected, ", got ", target.sizes());
  int64_t n = self.sizes()[0], k = product(expected) / std::max<int64_t>(n, 1);
  if (n == 0) {
    k = 1;
    for (int64_t d = 2; d < self.dim(); d++) k *= self.sizes()[d];
  }
  return {trine::reshape(self, Dims{n, self.sizes()[1], k}), trine::reshape(target, Dims{n, k}), expected};
}

void check_reduction(const char* op, int64_t reduction) { TRINE_CHECK_VALUE(reduction >= 0 && reduction <= 2, op, ": reduction must be 0 (none), 1 (mean) or 2 (sum), got ", reduction); }

}  // namespace

Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
  TRINE_CHECK(beta >= 0, "smooth_l1_loss does not support negative values for beta.");
  return reduce_loss(beta == 0 ? trine::abs(self - target) : trine::_smooth_l1_loss(self, target, beta), reduction);
}

Tensor huber_loss(const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  TRINE_CHECK(delta > 0, "huber_loss does not support non-positive values for delta.");
  return reduce_loss(trine::_huber_loss(self, target, delta), reduction);
}

Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction) {
  if (self.is_cpu() && self.numel() > 0) {
    bool inside = item(trine::amin(batching::value(trine::detach(self)))).to_double() >= 0 && item(trine::amax(batching::value(trine::detach(self)))).to_double() <= 1;
    TRINE_CHECK(inside, "binary_cross_entropy: all elements of input should be between 0 and 1");
  }
  Tensor loss = trine::_binary_cross_entropy(self, target);
  return reduce_loss(weight.defined() ? loss * weight : loss, reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target, const Tensor& weight, const Tensor& pos_weight, int64_t reduction) {
  Tensor loss;
  if (pos_weight.defined()) {
    Tensor log_weight = (pos_weight - Scalar(1)) * target + Scalar(1);
    Tensor softplus_of_minus = trine::clamp_min(-self, Scalar(0)) + trine::log1p(trine::exp(-trine::abs(self)));
    loss = (Scalar(1) - target) * self + log_weight * softplus_of_minus;
  } else {
    loss = trine::_bce_with_logits(self, target);
  }
  return reduce_loss(weight.defined() ? loss * weight : loss, reduction);
}

Tensor nll_loss_nd(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t ignore_index) {
  check_reduction("nll_loss", reduction);
  Flat flat = flatten_classes("nll_loss", self, target);
  Tensor loss = std::get<0>(trine::_nll_loss(flat.scores, flat.target, weight, reduction, ignore_index));
  return reduction == 0 ? trine::reshape(loss, flat.result) : loss;
}

Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t ignore_index, double label_smoothing) {
  check_reduction("cross_entropy_loss", reduction);
  TRINE_CHECK(label_smoothing >= 0 && label_smoothing <= 1, "cross_entropy_loss: label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  if (!equal(self.sizes(), target.sizes())) {
    Flat flat = flatten_classes("cross_entropy_loss", self, target);
    Tensor loss = std::get<0>(trine::_cross_entropy(flat.scores, flat.target, weight, reduction, ignore_index, label_smoothing));
    return reduction == 0 ? trine::reshape(loss, flat.result) : loss;
  }
  TRINE_CHECK(target.is_floating(), "cross_entropy_loss: Expected floating point type for target with class probabilities, got ", name(target.dtype()));
  TRINE_CHECK(ignore_index < 0, "cross_entropy_loss: ignore_index is not supported for floating point target");
  int64_t classes = self.dim() == 1 ? 0 : 1;
  TRINE_CHECK(!weight.defined() || (weight.dim() == 1 && weight.numel() == self.size(classes)), "cross_entropy_loss: weight tensor should be defined either for all ", self.size(classes),
              " classes or no classes but got weight tensor of shape: ", weight.defined() ? weight.sizes() : DimsRef());
  Tensor scores = trine::log_softmax(self, classes, DType::Undefined), probability = target;
  if (label_smoothing > 0) probability = target * Scalar(1 - label_smoothing) + Scalar(label_smoothing / static_cast<double>(self.size(classes)));
  Tensor loss = scores * probability;
  if (weight.defined()) {
    Dims shape(self.dim(), 1);
    shape[classes] = weight.numel();
    loss = loss * trine::reshape(weight, shape);
  }
  if (reduction == 0) return -trine::sum(loss, DimsRef(&classes, 1));
  Tensor total = -trine::sum(loss);
  return reduction == 2 ? total : total / Scalar(static_cast<double>(std::max<int64_t>(self.numel(), 1) / std::max<int64_t>(self.size(classes), 1)));
}

Tensor reduce_loss(const Tensor& loss, int64_t reduction) {
  check_reduction("loss", reduction);
  return reduction == 0 ? loss : reduction == 1 ? trine::mean(loss) : trine::sum(loss);
}

}  // namespace trine::composite
