#include "autograd/formulas_nn.h"

#include "autograd/declare.h"
#include "dispatch/tensor_operators.h"
#include "trine/ops.h"

namespace trine::autograd {
namespace {

bool recorded(std::initializer_list<const Tensor*> tensors) {
  if (!grad_modes.grad && !grad_modes.forward_levels) return false;
  for (const Tensor* t : tensors)
    if (t->defined() && (t->requires_grad() || grad_modes.forward_levels)) return true;
  return false;
}

Tensor matrix(const Tensor& t) {  // leading dimensions flattened
  if (t.dim() == 2) return t;
  return reshape(t, Dims{-1, t.size(-1)});
}

Tensor as_dtype(const Tensor& t, DType dtype) { return t.dtype() == dtype ? t : to(t, dtype); }

// Gradient of y = (x - mean(x)) / sqrt(var(x) + eps) * w + b, everything but x constant over `dims`, over differentiable operators.
// `w` is broadcast to x; the result is with respect to x.
Tensor normalized_grad(const Tensor& grad, const Tensor& x, const Tensor& w, DimsRef dims, double eps, Tensor& normalized) {
  Tensor centered = x - mean(x, dims, true);
  Tensor rstd = rsqrt(mean(centered * centered, dims, true) + Scalar(eps));
  normalized = centered * rstd;
  Tensor g = w.defined() ? grad * w : grad;
  return (g - mean(g, dims, true) - normalized * mean(g * normalized, dims, true)) * rstd;
}

Dims range(int64_t begin, int64_t end) {
  Dims d;
  for (int64_t i = begin; i < end; ++i) d.push_back(i);
  return d;
}

// A per-channel tensor shaped to broadcast over [batch, channels, ...].
Tensor per_channel(const Tensor& t, int64_t dims) {
  if (!t.defined()) return t;
  Dims shape(static_cast<size_t>(dims), 1);
  shape[1] = t.numel();
  return reshape(t, shape);
}

Dims all_but_channels(int64_t dims) {
  Dims d{0};
  for (int64_t i = 2; i < dims; ++i) d.push_back(i);
  return d;
}

}  // namespace

Tensor conj_of(const Tensor& t) { return t.is_complex() ? conj(t) : t; }
Dims last_dims(DimsRef sizes, int64_t n) { return Dims(sizes.last(static_cast<size_t>(n))); }

Tensor linear_input_grad(const Tensor& grad, const Tensor& weight) {
  if (weight.dim() == 1) return unsqueeze(grad, -1) * conj_of(weight);
  Tensor w = conj_of(weight);
  if (grad.dim() == 2) return mm(grad, w);
  Dims sizes(grad.sizes());
  sizes.back() = weight.sizes()[1];
  return reshape(mm(matrix(grad), w), sizes);
}

Tensor linear_weight_grad(const Tensor& grad, const Tensor& input, DimsRef weight_sizes) {
  Tensor x = conj_of(matrix(input));
  if (weight_sizes.size() == 1) return mv(transpose(x, 0, 1), reshape(grad, Dims{-1}));
  return mm(transpose(matrix(grad), 0, 1), x);
}

Tensor linear_bias_grad(const Tensor& grad, DimsRef bias_sizes) {
  if (grad.dim() == 1 && equal(grad.sizes(), bias_sizes)) return grad;
  return sum_to_size(grad, bias_sizes);
}

Tensor conv_bias_grad(const Tensor& grad) { return sum(grad, DimsRef(all_but_channels(grad.dim()))); }

Tensor softmax_backward(const Tensor& grad, const Tensor& output, int64_t dim, bool logarithm) {
  if (!recorded({&grad, &output})) return logarithm ? _log_softmax_grad(grad, output, dim) : _softmax_grad(grad, output, dim);
  const Dims d{dim};
  if (logarithm) return grad - exp(output) * sum(grad, DimsRef(d), true);
  return (grad - sum(grad * output, DimsRef(d), true)) * output;
}

Gradients3 batch_norm_backward(const Tensor& grad, const Tensor& input, const Tensor& mean, const Tensor& variance, const Tensor& weight, bool has_bias, bool training, double eps) {
  if (!recorded({&grad, &input, &weight})) {
    auto [dx, dw, db] = _batch_norm_grad(grad, input, mean, variance, weight, training, eps);
    return {dx, weight.defined() ? as_dtype(dw, weight.dtype()) : Tensor(), has_bias ? db : Tensor()};
  }
  const Dims dims = all_but_channels(input.dim());
  Tensor w = per_channel(weight, input.dim()), normalized, dx;
  if (training) {
    dx = normalized_grad(grad, input, w, dims, eps, normalized);
  } else {
    Tensor rstd = rsqrt(per_channel(variance, input.dim()) + Scalar(eps));
    normalized = (input - per_channel(mean, input.dim())) * rstd;
    dx = (w.defined() ? grad * w : grad) * rstd;
  }
  return {dx, weight.defined() ? sum(grad * normalized, DimsRef(dims)) : Tensor(), has_bias ? sum(grad, DimsRef(dims)) : Tensor()};
}

Gradients3 layer_norm_backward(const Tensor& grad, const Tensor& input, DimsRef shape, const Tensor& mean, const Tensor& rstd, const Tensor& weight, bool has_bias, double eps) {
  if (!recorded({&grad, &input, &weight})) {
    auto [dx, dw, db] = _layer_norm_grad(grad, input, shape, mean, rstd, weight);
    return {dx, weight.defined() ? as_dtype(dw, weight.dtype()) : Tensor(), has_bias ? db : Tensor()};
  }
  Tensor normalized, dx = normalized_grad(grad, input, weight, range(input.dim() - static_cast<int64_t>(shape.size()), input.dim()), eps, normalized);
  return {dx, weight.defined() ? sum_to_size(grad * normalized, shape) : Tensor(), has_bias ? sum_to_size(grad, shape) : Tensor()};
}

Gradients3 group_norm_backward(const Tensor& grad, const Tensor& input, const Tensor& mean, const Tensor& rstd, const Tensor& weight, bool has_bias, int64_t groups, double eps) {
  if (!recorded({&grad, &input, &weight})) {
    auto [dx, dw, db] = _group_norm_grad(grad, input, mean, rstd, weight, groups);
    return {dx, weight.defined() ? as_dtype(dw, weight.dtype()) : Tensor(), has_bias ? db : Tensor()};
  }
  const Dims grouped{input.size(0) * groups, -1}, dims = all_but_channels(input.dim());
  Tensor w = weight.defined() ? reshape(expand(per_channel(weight, input.dim()), input.sizes()), grouped) : Tensor(), normalized;
  Tensor dx = normalized_grad(reshape(grad, grouped), reshape(input, grouped), w, Dims{1}, eps, normalized);
  Tensor plain = reshape(normalized, input.sizes());
  return {reshape(dx, input.sizes()), weight.defined() ? sum(grad * plain, DimsRef(dims)) : Tensor(), has_bias ? sum(grad, DimsRef(dims)) : Tensor()};
}

Tensor fft_r2c_backward(const Tensor& grad, DimsRef dim, int64_t normalization, DimsRef self_sizes) {
  // The half spectrum is the full one cut: its gradient is the full one with zeros where it was cut.
  const int64_t last = wrap_dim(dim.back(), grad.dim());
  const int64_t n = self_sizes[static_cast<size_t>(last)], missing = n - grad.size(last);
  Tensor full = grad;
  if (missing > 0) {
    Dims sizes(grad.sizes());
    sizes[static_cast<size_t>(last)] = missing;
    const Tensor parts[] = {grad, zeros(sizes, grad.dtype(), grad.device())};
    full = cat(parts, last);
  }
  return real(_fft_c2c(full, dim, normalization, false));
}

Tensor fft_c2r_backward(const Tensor& grad, DimsRef dim, int64_t normalization, DimsRef self_sizes) {
  // Every bin but the first and the middle one stands for two of the full spectrum.
  Tensor half = _fft_r2c(grad, dim, normalization, true);
  const int64_t last = wrap_dim(dim.back(), grad.dim());
  const int64_t n = grad.size(last), bins = self_sizes[static_cast<size_t>(last)], doubled = bins - 1 - (n % 2 == 0 ? 1 : 0);
  if (doubled <= 0) return half;
  std::vector<Tensor> parts{narrow(half, last, 0, 1), narrow(half, last, 1, doubled) * Scalar(2)};
  if (1 + doubled < half.size(last)) parts.push_back(narrow(half, last, 1 + doubled, half.size(last) - 1 - doubled));
  return cat(parts, last);
}

// Of x1 . x2 / (l1 l2) with l = max(|x|, eps). As in PyTorch the limit counts for the value of a length alone, so that its slope stays x / |x|.
std::tuple<Tensor, Tensor> cosine_similarity_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, const Tensor& result, int64_t dim, double eps) {
  if (x1.dim() > 0) dim = wrap_dim(dim, x1.dim());
  auto along = [&](const Tensor& t) { return x1.dim() > 0 ? unsqueeze(t, dim) : t; };
  struct Side {
    Tensor length, unit, direction;
  };
  auto side = [&](const Tensor& x) {
    const Tensor norm = linalg_vector_norm(x, Scalar(2), Dims{dim}, true);
    const Tensor length = norm + detach(clamp_min(norm, Scalar(eps)) - norm);
    return Side{length, x / length, x / masked_fill(norm, norm == Scalar(0.0), Scalar(1))};
  };
  const Side a = side(x1), b = side(x2);
  const Tensor g = along(grad), cosine = along(result);
  return {g * (b.unit - cosine * a.direction) / a.length, g * (a.unit - cosine * b.direction) / b.length};
}

}  // namespace trine::autograd
