// Pooling, normalisation, attention and resampling over their structured operators.
#include <cmath>

#include "autograd/declare.h"
#include "rules/pool.h"
#include "composite/helpers_nn.h"
#include "dispatch/tensor_operators.h"
#include "tensor/promotion.h"
#include "trine/kernels.h"

namespace trine::composite {
namespace {

bool needs_gradient(std::initializer_list<const Tensor*> tensors) {
  if (!grad_modes.grad && !grad_modes.forward_levels) return false;
  for (const Tensor* t : tensors)
    if (t->defined() && (t->requires_grad() || grad_modes.forward_levels)) return true;
  return false;
}

struct PoolLists {
  Dims kernel, stride, padding, dilation;
  PoolLists(const char* op, DimsRef k, DimsRef s, DimsRef p, DimsRef d, int64_t nd) {
    const size_t n = static_cast<size_t>(nd);
    kernel = rules::pool_list(op, "kernel_size", k, n);
    stride = s.empty() ? kernel : rules::pool_list(op, "stride", s, n);
    padding = rules::pool_list(op, "padding", p, n);
    dilation = rules::pool_list(op, "dilation", d, n);
  }
};

}  // namespace

Tensor max_pool_nd(const Tensor& self, DimsRef kernel_size, DimsRef stride, DimsRef padding, DimsRef dilation, bool ceil_mode, int64_t nd) {
  PoolLists l("max_pool", kernel_size, stride, padding, dilation, nd);
  if (needs_gradient({&self})) return std::get<0>(_max_pool(self, l.kernel, l.stride, l.padding, l.dilation, ceil_mode));
  return _max_pool_values(self, l.kernel, l.stride, l.padding, l.dilation, ceil_mode);
}

std::tuple<Tensor, Tensor> max_pool_indices_nd(const Tensor& self, DimsRef kernel_size, DimsRef stride, DimsRef padding, DimsRef dilation, bool ceil_mode, int64_t nd) {
  PoolLists l("max_pool", kernel_size, stride, padding, dilation, nd);
  return _max_pool(self, l.kernel, l.stride, l.padding, l.dilation, ceil_mode);
}

Tensor avg_pool_nd(const Tensor& self, DimsRef kernel_size, DimsRef stride, DimsRef padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override, int64_t nd) {
  const Dims one{1};
  PoolLists l("avg_pool", kernel_size, stride, padding, one, nd);
  return _avg_pool(self, l.kernel, l.stride, l.padding, ceil_mode, count_include_pad, divisor_override);
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  const DType type = Promotion().add(x1).add(x2).result();
  TRINE_CHECK(is_floating(type), "expected common dtype to be floating point, yet common dtype is ", legacy_name(type));
  const Dims shape = broadcast_shapes(x1.sizes(), x2.sizes(), "cosine_similarity");
  return _cosine_similarity(expand(to(x1, type), shape), expand(to(x2, type), shape), dim, eps);
}

Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean, const Tensor& running_var, bool training, double momentum, double eps) {
  TRINE_CHECK(input.dim() >= 2, "batch_norm: expected input with at least 2 dimensions, got shape ", input.sizes());
  if (!training) {
    TRINE_CHECK(running_mean.defined() && running_var.defined(), "batch_norm: running_mean and running_var must be defined in evaluation mode");
    return _batch_norm_apply(input, running_mean, running_var, weight, bias, false, eps);
  }
  auto [mean, variance] = _batch_norm_stats(input);
  if (running_mean.defined() || running_var.defined()) {
    GradMode off(false);
    const int64_t count = input.size(1) ? input.numel() / input.size(1) : 0;
    // The running variance is the unbiased one.
    const double unbiased = static_cast<double>(count) / static_cast<double>(std::max<int64_t>(count - 1, 1));
    auto move = [momentum](const Tensor& running, const Tensor& value) {
      if (running.defined()) copy_(running, running * Scalar(1.0 - momentum) + to(value, running.dtype()) * Scalar(momentum));
    };
    move(running_mean, mean);
    move(running_var, running_var.defined() ? variance * Scalar(unbiased) : variance);
  }
  return _batch_norm_apply(input, mean, variance, weight, bias, true, eps);
}

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask, double dropout_p, bool is_causal, std::optional<double> scale,
                                    bool enable_gqa) {
  const char* op = "scaled_dot_product_attention";
  TRINE_CHECK(query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2, op, ": Expected query, key, and value to all be at least 2 dimensional, but got shapes ", query.sizes(), ", ", key.sizes(),
              " and ", value.sizes());
  TRINE_CHECK(query.dtype() == key.dtype() && query.dtype() == value.dtype(), op, ": Expected query, key, and value to have the same dtype, but got ", name(query.dtype()), ", ",
              name(key.dtype()), " and ", name(value.dtype()));
  TRINE_CHECK(query.size(-1) == key.size(-1) && key.size(-2) == value.size(-2), op, ": query ", query.sizes(), ", key ", key.sizes(), " and value ", value.sizes(), " do not fit together");
  TRINE_CHECK(!is_causal || !attn_mask.defined(), op, ": Explicit attn_mask should not be set when is_causal=True");
  const double factor = scale.value_or(1.0 / std::sqrt(static_cast<double>(query.size(-1))));
  const bool same_batch = query.dim() == 4 && key.dim() == 4 && value.dim() == 4 && query.size(0) == key.size(0) && query.size(0) == value.size(0) && key.size(1) == value.size(1) &&
                          (query.size(1) == key.size(1) || (enable_gqa && key.size(1) > 0 && query.size(1) % key.size(1) == 0));
  if (same_batch && dropout_p == 0.0 && is_floating(query.dtype()) && !needs_gradient({&query, &key, &value, &attn_mask}))
    return _attention(query, key, value, attn_mask, is_causal, factor);
  Tensor k = key, v = value;
  if (enable_gqa && query.dim() >= 3 && key.size(-3) != query.size(-3)) {
    TRINE_CHECK(key.size(-3) > 0 && query.size(-3) % key.size(-3) == 0, op, ": the number of query heads ", query.size(-3), " is not a multiple of the key heads ", key.size(-3));
    auto repeat_heads = [&](const Tensor& t) {
      Dims wide(t.sizes()), flat(t.sizes());
      const size_t h = wide.size() - 3;
      const int64_t times = query.size(-3) / t.size(-3);
      wide.insert(h + 1, times);
      flat[h] *= times;
      return trine::reshape(expand(trine::unsqueeze(t, static_cast<int64_t>(h) + 1), wide), flat);
    };
    k = repeat_heads(key), v = repeat_heads(value);
  }
  // Both factors get the square root of the scale, which keeps 16-bit products in range.
  const double root = std::sqrt(std::abs(factor));
  Tensor scores = trine::matmul(query * Scalar(factor < 0 ? -root : root), trine::transpose(k, -2, -1) * Scalar(root)), mask = attn_mask;
  if (is_causal) mask = tril(ones(Dims{query.size(-2), key.size(-2)}, DType::Bool, query.device()));
  if (mask.defined()) scores = mask.dtype() == DType::Bool ? where(mask, scores, wrapped_number(-INFINITY)) : scores + mask;
  Tensor weights = trine::softmax(scores, -1);
  // A query that may see no key attends to nothing: zeros instead of 0 / 0.
  const Dims last{-1};
  if (mask.defined()) weights = where(all(scores == Scalar(-INFINITY), DimsRef(last), true), wrapped_number(0), weights);
  if (dropout_p > 0.0) weights = dropout(weights, dropout_p, true);
  return trine::matmul(weights, v);
}

Tensor resample_op(const Tensor& self, DimsRef output_size, std::string_view mode, bool align_corners, std::initializer_list<std::optional<double>> scales, bool antialias) {
  std::vector<double> given;  // 0: none
  for (const std::optional<double>& s : scales) given.push_back(s.value_or(0.0));
  Dims size;
  for (size_t d = 0; d < given.size(); ++d) size.push_back(output_size[output_size.size() == 1 ? 0 : d]);
  return _resample(self, size, mode, align_corners, std::span<const double>(given), antialias);
}

}  // namespace trine::composite
