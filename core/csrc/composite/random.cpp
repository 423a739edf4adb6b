// Random operators over other random operators.
#include <cmath>

#include "batching/batched.h"
#include "composite/helpers.h"
#include "tensor/generator.h"
#include "dispatch/tensor_operators.h"
#include "trine/kernels.h"

namespace trine::composite {
namespace {

// A tensor that `fill` draws the numbers of, for each element of a vmap with randomness="different" others.
template <class Fill> Tensor drawn(const char* op, DimsRef size, DType dtype, std::optional<Device> device, const Fill& fill) {
  const batching::Draw d = batching::draw(op, size);
  Tensor all = empty_op(d.sizes, dtype, device);
  fill(all);
  return batching::make(all, d.levels);
}

void check_probability(const char* op, double p) { TRINE_CHECK(p >= 0 && p <= 1, op, ": dropout probability has to be between 0 and 1, but got ", p); }

// One coin for a whole channel: the shape [N, C, 1, 1, ...].
Tensor channel_noise(const char* op, const Tensor& input, double p) {
  TRINE_CHECK(input.dim() >= 2, op, ": feature dropout requires at least 2 dimensions in the input, got shape ", input.sizes());
  Dims sizes(static_cast<size_t>(input.dim()), 1);
  sizes[0] = input.size(0);
  sizes[1] = input.size(1);
  return drawn(op, sizes, input.dtype(), input.device(), [&](const Tensor& t) { bernoulli_(t, 1.0 - p); });
}

// Klambauer et al., "Self-normalizing neural networks" (2017): dropped units take the value that keeps mean and variance.
Tensor alpha_mix(const Tensor& input, const Tensor& noise, double p) {
  constexpr double alpha = 1.7580993408473766;
  double a = 1.0 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
  Tensor shift = (noise + Scalar(-1)) * Scalar(alpha * a) + Scalar(alpha * a * p);
  return input * (noise * Scalar(a)) + shift;
}

}  // namespace

Tensor rand_op(DimsRef size, Generator* generator, DType dtype, std::optional<Device> device) {
  return drawn("rand", size, dtype, device, [&](const Tensor& t) { uniform_(t, 0.0, 1.0, generator); });
}

Tensor randn_op(DimsRef size, Generator* generator, DType dtype, std::optional<Device> device) { return normal_numbers(0.0, 1.0, size, generator, dtype, device); }

Tensor normal_numbers(double mean, double std, DimsRef size, Generator* generator, DType dtype, std::optional<Device> device) {
  return drawn("normal", size, dtype, device, [&](const Tensor& t) { normal_(t, mean, std, generator); });
}

Tensor randint_low(int64_t low, int64_t high, DimsRef size, Generator* generator, DType dtype, std::optional<Device> device) {
  return drawn("randint", size, dtype == DType::Undefined ? DType::Int64 : dtype, device, [&](const Tensor& t) { random_(t, low, high, generator); });
}

Tensor randint_high(int64_t high, DimsRef size, Generator* generator, DType dtype, std::optional<Device> device) {
  return randint_low(0, high, size, generator, dtype, device);
}

Tensor randperm_op(int64_t n, Generator* generator, DType dtype, std::optional<Device> device) {
  TRINE_CHECK(n >= 0, "randperm: n must be non-negative, got ", n);
  return drawn("randperm", Dims{n}, dtype == DType::Undefined ? DType::Int64 : dtype, device, [&](const Tensor& t) {
    for (const Tensor& permutation : unbind(view(t, Dims{n ? t.numel() / n : 0, n}))) randperm_(permutation, generator);
  });
}

Tensor normal_tensor_float(const Tensor& mean, double std, Generator* generator) {
  return normal_(empty_like_op(mean), 0.0, std, generator) + detach(mean);
}

Tensor normal_float_tensor(double mean, const Tensor& std, Generator* generator) {
  TRINE_CHECK(!std.is_complex(), "normal expects standard deviation to be non-complex");
  TRINE_CHECK(std.is_meta() || is_nonnegative(std), "normal: expects all elements of std >= 0.0");
  return normal_(empty_like_op(std), 0.0, 1.0, generator) * detach(std) + Scalar(mean);
}

Tensor normal_tensor_tensor(const Tensor& mean, const Tensor& std, Generator* generator) {
  TRINE_CHECK(!std.is_complex(), "normal expects standard deviation to be non-complex");
  TRINE_CHECK(std.is_meta() || is_nonnegative(std), "normal: expects all elements of std >= 0.0");
  Tensor noise = normal_numbers(0.0, 1.0, broadcast_shapes(mean.sizes(), std.sizes(), "normal"), generator, mean.dtype(), mean.device());
  return noise * detach(std) + detach(mean);
}

Tensor dropout_op(const Tensor& input, double p, bool train) {
  check_probability("dropout", p);
  if (p == 0 || !train || input.numel() == 0) return input;
  if (p == 1) return input * Scalar(0);
  TRINE_CHECK_IMPLEMENTED(!input.is_complex(), "dropout: not implemented for '", legacy_name(input.dtype()), "'");
  return std::get<0>(dropout_with_mask(input, p));
}

std::tuple<Tensor, Tensor> native_dropout_op(const Tensor& input, double p, std::optional<bool> train) {
  check_probability("native_dropout", p);
  if (input.numel() == 0 || !train.value_or(true)) return {clone(input), ones_like(input, DType::Bool)};
  if (p == 1) return {input * Scalar(0), zeros_like(input, DType::Bool)};
  return dropout_with_mask(input, p);
}

Tensor feature_dropout_op(const Tensor& input, double p, bool train) {
  check_probability("feature_dropout", p);
  if (p == 0 || !train || input.numel() == 0) return input;
  if (p == 1) return input * Scalar(0);
  return input * (channel_noise("feature_dropout", input, p) / Scalar(1.0 - p));
}

Tensor alpha_dropout_op(const Tensor& input, double p, bool train) {
  check_probability("alpha_dropout", p);
  if (p == 0 || !train || input.numel() == 0) return input;
  if (p == 1) return input * Scalar(0);
  return alpha_mix(input, bernoulli_(empty_like_op(input), 1.0 - p), p);
}

Tensor feature_alpha_dropout_op(const Tensor& input, double p, bool train) {
  check_probability("feature_alpha_dropout", p);
  if (p == 0 || !train || input.numel() == 0) return input;
  if (p == 1) return input * Scalar(0);
  return alpha_mix(input, channel_noise("feature_alpha_dropout", input, p), p);
}

}  // namespace trine::composite
