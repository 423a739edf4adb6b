#include "autograd/formulas_reduce.h"

#include <cmath>

#include "batching/batched.h"
#include "rules/reduce.h"
#include "dispatch/tensor_operators.h"

namespace trine::autograd {
namespace {

std::optional<DimsRef> as_list(const std::optional<int64_t>& dim) { return dim ? std::optional<DimsRef>(DimsRef(&*dim, 1)) : std::nullopt; }

int64_t reduced_count(DimsRef sizes, std::optional<DimsRef> dim) {
  uint64_t mask = rules::dim_mask(dim, static_cast<int64_t>(sizes.size()));
  int64_t n = 1;
  for (size_t d = 0; d < sizes.size(); d++)
    if (mask >> d & 1) n *= sizes[d];
  return n;
}

// Product of all other elements along a dimension.
Tensor product_of_others(const Tensor& self, int64_t dim) {
  int64_t n = self.size(dim);
  Dims edge(self.sizes());
  edge[wrap_dim(dim, self.dim())] = 1;
  Tensor ones = trine::ones(edge, self.dtype(), self.device());
  const Tensor before[] = {ones, narrow(self, dim, 0, n - 1)};
  Tensor left = cumprod(cat(before, dim), dim);
  const Tensor after[] = {ones, flip(narrow(self, dim, 1, n - 1), Dims{dim})};
  Tensor right = flip(cumprod(cat(after, dim), dim), Dims{dim});
  return left * right;
}

bool has_zero(const Tensor& t) { return !t.is_meta() && t.numel() > 0 && item(any(batching::value(t) == Scalar(0))).to<bool>(); }

}  // namespace

Tensor restore_reduced(const Tensor& t, std::optional<DimsRef> dim, bool keepdim, DimsRef sizes) {
  if (keepdim || sizes.empty()) return t;
  uint64_t mask = rules::dim_mask(dim, static_cast<int64_t>(sizes.size()));
  Tensor out = t;
  for (size_t d = 0; d < sizes.size(); d++)
    if (mask >> d & 1) out = unsqueeze(out, static_cast<int64_t>(d));
  return out;
}

Tensor expand_reduced(const Tensor& grad, std::optional<DimsRef> dim, bool keepdim, DimsRef sizes) {
  if (grad.dim() == 0) return expand(grad, sizes);
  return expand(restore_reduced(grad, dim, keepdim, sizes), sizes);
}

Tensor mean_backward(const Tensor& grad, std::optional<DimsRef> dim, bool keepdim, DimsRef sizes) {
  return expand_reduced(grad / Scalar(static_cast<double>(std::max<int64_t>(reduced_count(sizes, dim), 1))), dim, keepdim, sizes);
}

Tensor prod_backward(const Tensor& grad, const Tensor& self, const Tensor& result, std::optional<int64_t> dim, bool keepdim) {
  if (self.dim() == 0) return grad;
  if (self.numel() == 0) return zeros_like(self);
  if (!has_zero(self)) {
    auto list = as_list(dim);
    return restore_reduced(grad * conj(result), list, keepdim, self.sizes()) / conj(self);
  }
  if (!dim) return reshape(grad * conj(product_of_others(reshape(self, Dims{-1}), 0)), self.sizes());
  return restore_reduced(grad, as_list(dim), keepdim, self.sizes()) * conj(product_of_others(self, *dim));
}

Tensor amax_backward(const Tensor& grad, const Tensor& self, const Tensor& result, DimsRef dim, bool keepdim) {
  Tensor extreme = restore_reduced(result, dim, keepdim, self.sizes());
  Tensor mask = bitwise_or(self == extreme, bitwise_and(isnan(self), isnan(extreme)));
  Tensor share = restore_reduced(grad, dim, keepdim, self.sizes()) / sum(mask, dim, true);
  return share * mask;
}

Tensor select_values_backward(const Tensor& grad, int64_t dim, const Tensor& indices, DimsRef sizes, bool keepdim) {
  if (sizes.empty()) return grad;
  bool missing = !keepdim;
  Tensor zero = zeros(sizes, grad.dtype(), grad.device());
  return scatter(zero, dim, missing ? unsqueeze(indices, dim) : indices, missing ? unsqueeze(grad, dim) : grad);
}

Tensor logsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result, DimsRef dim, bool keepdim) {
  return restore_reduced(grad, dim, keepdim, self.sizes()) * conj(exp(self - restore_reduced(result, dim, keepdim, self.sizes())));
}

Tensor var_backward(const Tensor& grad, const Tensor& self, std::optional<DimsRef> dim, const std::optional<Scalar>& correction, bool keepdim) {
  double freedom = static_cast<double>(reduced_count(self.sizes(), dim)) - (correction ? correction->to_double() : 1.0);
  if (freedom <= 0) return restore_reduced(grad, dim, keepdim, self.sizes()) * ((self - mean(self, dim, true)) * Scalar(INFINITY));
  return restore_reduced(grad, dim, keepdim, self.sizes()) * ((self - mean(self, dim, true)) * Scalar(2.0 / freedom));
}

Tensor std_backward(const Tensor& grad, const Tensor& self, const Tensor& result, std::optional<DimsRef> dim, const std::optional<Scalar>& correction, bool keepdim) {
  Tensor of_variance = masked_fill(grad / (result * Scalar(2.0)), result == Scalar(0.0), Scalar(0.0));
  return var_backward(of_variance, self, dim, correction, keepdim);
}

Tensor var_mean_backward(const Tensor& grad_var, const Tensor& grad_mean, const Tensor& self, std::optional<DimsRef> dim, const std::optional<Scalar>& correction, bool keepdim) {
  return var_backward(grad_var, self, dim, correction, keepdim) + mean_backward(grad_mean, dim, keepdim, self.sizes());
}

Tensor std_mean_backward(const Tensor& grad_std, const Tensor& grad_mean, const Tensor& self, const Tensor& result, std::optional<DimsRef> dim,
                         const std::optional<Scalar>& correction, bool keepdim) {
  return std_backward(grad_std, self, result, dim, correction, keepdim) + mean_backward(grad_mean, dim, keepdim, self.sizes());
}

Tensor norm_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& result, std::optional<DimsRef> dim, bool keepdim) {
  if (p == 0) return zeros_like(self);
  Tensor g = restore_reduced(grad, dim, keepdim, self.sizes()), norm = restore_reduced(result, dim, keepdim, self.sizes());
  // Direction of each element; 0 where the element is 0.
  auto direction = [&] { return self.is_complex() ? masked_fill(self / abs(self), self == Scalar(0), Scalar(0)) : sign(self); };
  if (p == 1) return direction() * g;
  if (p == 2) return masked_fill(self * (g / norm), norm == Scalar(0.0), Scalar(0.0));
  if (std::isinf(p)) {
    Tensor magnitude = abs(self);
    Tensor mask = bitwise_or(magnitude == norm, bitwise_and(isnan(magnitude), isnan(norm)));
    return direction() * (g / sum(mask, dim, true) * mask);
  }
  if (p < 1) {
    Tensor scaled = direction() * masked_fill(pow(abs(self), Scalar(p - 1)), self == Scalar(0), Scalar(0));
    return scaled * (g * pow(norm, Scalar(1 - p)));
  }
  if (p < 2) {
    Tensor scaled = direction() * pow(abs(self), Scalar(p - 1));
    return scaled * masked_fill(g / pow(norm, Scalar(p - 1)), norm == Scalar(0.0), Scalar(0.0));
  }
  Tensor scaled = self * pow(abs(self), Scalar(p - 2));
  return scaled * masked_fill(g / pow(norm, Scalar(p - 1)), norm == Scalar(0.0), Scalar(0.0));
}

Tensor reversed_cumsum(const Tensor& t, int64_t dim) {
  if (t.dim() == 0 || t.numel() <= 1) return t;
  return flip(cumsum(flip(t, Dims{dim}), dim), Dims{dim});
}

Tensor cumprod_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim) {
  if (self.dim() == 0 || self.numel() <= 1) return grad;
  if (!has_zero(self)) return reversed_cumsum(grad * conj(result), dim) / conj(self);
  // Division is impossible: for each position the products are made anew with that factor left out.
  int64_t n = self.size(dim);
  Dims edge(self.sizes());
  edge[wrap_dim(dim, self.dim())] = 1;
  Tensor one = ones(edge, self.dtype(), self.device());
  std::vector<Tensor> parts;
  for (int64_t k = 0; k < n; k++) {
    const Tensor factors[] = {narrow(self, dim, 0, k), one, narrow(self, dim, k + 1, n - k - 1)};
    Tensor products = narrow(cumprod(cat(factors, dim), dim), dim, k, n - k);
    parts.push_back(sum(narrow(grad, dim, k, n - k) * conj(products), DimsRef(&dim, 1), true));
  }
  return cat(parts, dim);
}

Tensor cummax_backward(const Tensor& grad, DimsRef sizes, const Tensor& indices, int64_t dim) {
  if (sizes.empty() || grad.numel() == 0) return grad;
  return scatter_add(zeros(sizes, grad.dtype(), grad.device()), dim, indices, grad);
}

Tensor logcumsumexp_tangent(const Tensor& self, const Tensor& tangent, int64_t dim) {
  if (self.dim() == 0 || self.numel() == 0) return tangent;
  Tensor weights = exp(self - amax(self.is_complex() ? real(self) : self, DimsRef(&dim, 1), true));
  return cumsum(weights * tangent, dim) / cumsum(weights, dim);
}

Tensor logcumsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim) {
  if (self.dim() == 0 || self.numel() == 0) return grad;
  if (self.is_complex()) return exp(flip(logcumsumexp(flip(log(grad) - conj(result), Dims{dim}), dim), Dims{dim}) + conj(self));
  // Sums of positive and of negative terms, each in the logarithm.
  Tensor magnitude = log(abs(grad));
  auto part = [&](const Tensor& mask) {
    Tensor terms = masked_fill(magnitude - result, bitwise_not(mask), Scalar(-INFINITY));
    return exp(flip(logcumsumexp(flip(terms, Dims{dim}), dim), Dims{dim}) + self);
  };
  return part(grad > Scalar(0.0)) - part(grad < Scalar(0.0));
}

}  // namespace trine::autograd
