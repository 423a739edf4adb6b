// Gradient formulas of matrix products, convolutions, normalisation, attention and transforms.
#pragma once
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "tensor/tensor.h"

namespace trine::autograd {

using Gradients3 = std::tuple<Tensor, Tensor, Tensor>;

Tensor conj_of(const Tensor& t);  // the tensor itself when it is real
Dims last_dims(DimsRef sizes, int64_t n);
inline std::optional<std::span<const double>> keep_span(const std::optional<std::vector<double>>& v) {
  return v ? std::optional<std::span<const double>>(*v) : std::nullopt;
}

Tensor linear_input_grad(const Tensor& grad, const Tensor& weight);
Tensor linear_weight_grad(const Tensor& grad, const Tensor& input, DimsRef weight_sizes);
Tensor linear_bias_grad(const Tensor& grad, DimsRef bias_sizes);
Tensor conv_bias_grad(const Tensor& grad);

// The fused operator, or the same over differentiable operators when this gradient is recorded itself.
Tensor softmax_backward(const Tensor& grad, const Tensor& output, int64_t dim, bool logarithm);
Gradients3 batch_norm_backward(const Tensor& grad, const Tensor& input, const Tensor& mean, const Tensor& variance, const Tensor& weight, bool has_bias, bool training, double eps);
Gradients3 layer_norm_backward(const Tensor& grad, const Tensor& input, DimsRef shape, const Tensor& mean, const Tensor& rstd, const Tensor& weight, bool has_bias, double eps);
Gradients3 group_norm_backward(const Tensor& grad, const Tensor& input, const Tensor& mean, const Tensor& rstd, const Tensor& weight, bool has_bias, int64_t groups, double eps);

Tensor fft_r2c_backward(const Tensor& grad, DimsRef dim, int64_t normalization, DimsRef self_sizes);
Tensor fft_c2r_backward(const Tensor& grad, DimsRef dim, int64_t normalization, DimsRef self_sizes);

std::tuple<Tensor, Tensor> cosine_similarity_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, const Tensor& result, int64_t dim, double eps);

}  // namespace trine::autograd
