#include "autograd/formulas_index.h"

#include "autograd/record.h"
#include "batching/batched.h"
#include "dispatch/tensor_operators.h"

namespace trine::autograd {
namespace {
Tensor zeros_of(const Tensor& grad, DimsRef sizes) { return batching::zeros_for(grad, sizes); }

// The gradients of source combined into positions of self, given the operators that work on those positions: what stands there, one for
// each element of source; self with values added; self multiplied by factors; self with zeros written there.
template <class Take, class Add, class Multiply, class Clear> struct ReducedAt {
  Take take;
  Add add;
  Multiply multiply;
  Clear clear;

  std::tuple<Tensor, Tensor> backward(const Tensor& grad, const Tensor& self, const Tensor& source, std::string_view reduce, bool include_self, const Tensor& result) const {
    Tensor to_self, to_source;
    if (reduce == "sum") {
      to_self = grad;
      to_source = take(grad);
    } else if (reduce == "mean") {
      Tensor count = add(include_self ? ones_like(grad) : zeros_like(grad), ones_like(source));
      to_self = grad / masked_fill(count, count == Scalar(0.0), Scalar(1.0));
      to_source = take(to_self);
    } else if (reduce == "prod") {
      // A single zero among the factors is left out of the product; the others' derivatives are zero then.
      Tensor nonzero = masked_fill(self, self == Scalar(0.0), Scalar(1));
      to_self = grad * conj(multiply(nonzero, source) / nonzero);
      Tensor zero = source == Scalar(0.0);
      Tensor zeros = add(zeros_like(self), to(zero, self.dtype()));
      Tensor alone = zero & (take(zeros) == Scalar(1.0));
      Tensor without = multiply(self, masked_fill(source, alone, Scalar(1)));
      to_source = where(alone, take(grad * conj(without)), take(grad * conj(result)) / conj(masked_fill(source, zero, Scalar(1))));
    } else {
      // Equal extremes share; as in PyTorch self counts even where it takes no part.
      Tensor self_is = to(self == result, grad.dtype()), source_is = to(source == take(result), grad.dtype());
      Tensor share = grad / clamp_min(add(self_is, source_is), Scalar(1));
      to_self = self_is * share;
      to_source = source_is * take(share);
    }
    return {include_self ? to_self : clear(to_self), to_source};
  }
};
template <class Take, class Add, class Multiply, class Clear> ReducedAt(Take, Add, Multiply, Clear) -> ReducedAt<Take, Add, Multiply, Clear>;  // clang 14 does not find it
}  // namespace

Tensor index_backward(const Tensor& grad, DimsRef sizes, TensorList indices) {
  if (!grad.requires_grad()) {
    Tensor out = zeros_of(grad, sizes);
    _index_put_(out, indices, grad, true);
    return out;
  }
  return _index_put(zeros_of(grad, sizes), indices, grad, true);
}

Tensor gather_backward(const Tensor& grad, DimsRef sizes, int64_t dim, const Tensor& index) {
  return scatter_add(zeros_of(grad, sizes), dim, index, grad);
}

Tensor index_select_backward(const Tensor& grad, DimsRef sizes, int64_t dim, const Tensor& index) {
  if (sizes.empty()) return reshape(grad, sizes);
  return index_add(zeros_of(grad, sizes), dim, index, grad);
}

Tensor index_grad_of_source(const Tensor& grad, int64_t dim, const Tensor& index, DimsRef source_sizes) {
  if (grad.dim() == 0) return expand(reshape(grad, DimsRef()), source_sizes);
  Tensor out = index_select(grad, dim, index);
  return equal(out.sizes(), source_sizes) ? out : reshape(out, source_sizes);
}

Tensor take_backward(const Tensor& grad, DimsRef sizes, const Tensor& index) { return put(zeros_of(grad, sizes), index, grad, true); }

Tensor masked_select_backward(const Tensor& grad, DimsRef sizes, const Tensor& mask) {
  Dims shape = broadcast_shapes(sizes, mask.sizes(), "masked_select");
  return sum_to_size(masked_scatter(zeros_of(grad, shape), mask, grad), sizes);
}

Tensor masked_scatter_backward(const Tensor& grad, const Tensor& mask, DimsRef source_sizes) {
  Tensor used = masked_select(grad, mask);
  int64_t wanted = product(source_sizes);
  if (used.numel() < wanted) {
    const Tensor parts[] = {used, zeros_of(grad, Dims{wanted - used.numel()})};
    used = cat(parts);
  }
  return reshape(used, source_sizes);
}

std::tuple<Tensor, Tensor> scatter_reduce_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce, bool include_self,
                                                   const Tensor& result) {
  return ReducedAt{
      [&](const Tensor& t) { return gather(t, dim, index); },
      [&](const Tensor& to, const Tensor& values) { return scatter_add(to, dim, index, values); },
      [&](const Tensor& to, const Tensor& factors) { return scatter_reduce(to, dim, index, factors, "prod", include_self); },
      [&](const Tensor& t) { return scatter(t, dim, index, Scalar(0)); },
  }.backward(grad, self, src, reduce, include_self, result);
}

std::tuple<Tensor, Tensor> index_reduce_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce, bool include_self,
                                                 const Tensor& result) {
  return ReducedAt{
      [&](const Tensor& t) { return index_grad_of_source(t, dim, index, source.sizes()); },
      [&](const Tensor& to, const Tensor& values) { return index_add(to, dim, index, values); },
      [&](const Tensor& to, const Tensor& factors) { return index_reduce(to, dim, index, factors, "prod", include_self); },
      [&](const Tensor& t) { return index_fill(t, dim, index, Scalar(0)); },
  }.backward(grad, self, source, reduce, include_self, result);
}

std::vector<Tensor> cat_backward(const Tensor& grad, std::span<const Dims> sizes, int64_t dim) {
  std::vector<Tensor> out;
  int64_t at = 0;
  for (const Dims& s : sizes) {
    // Empty vectors are joined with anything.
    if (s.size() == 1 && s[0] == 0) {
      out.push_back(zeros_of(grad, s));
      continue;
    }
    int64_t n = s[wrap_dim(dim, static_cast<int64_t>(s.size()))];
    out.push_back(narrow(grad, dim, at, n));
    at += n;
  }
  return out;
}

Dims negated(DimsRef pad) {
  Dims out(pad);
  for (int64_t& p : out) p = -p;
  return out;
}

Tensor embedding_double_backward(const Tensor& grad, const Tensor& indices, int64_t padding_idx, DimsRef sizes) {
  Tensor rows = index_select(grad, 0, reshape(indices, Dims{-1}));
  if (padding_idx >= 0) rows = masked_fill(rows, unsqueeze(reshape(indices, Dims{-1}) == Scalar(padding_idx), 1), Scalar(0));
  return reshape(rows, sizes);
}

Tensor embedding_bag_backward(const Tensor& grad, const Tensor& indices, const Tensor& offset2bag, const Tensor& bag_size, const Tensor& max_indices, const Tensor& per_sample_weights, int64_t num_weights,
                              bool scale_grad_by_freq, int64_t mode, int64_t padding_idx) {
  if (mode == 2) {
    const Tensor nowhere = max_indices < Scalar(0);  // empty bags
    return scatter_add(zeros(Dims{num_weights, grad.size(1)}, grad.dtype(), grad.device()), 0, to(masked_fill(max_indices, nowhere, Scalar(0)), DType::Int64), masked_fill(grad, nowhere, Scalar(0)));
  }
  if (!records(grad) && !records(per_sample_weights)) return _embedding_bag_dense_backward(grad, indices, offset2bag, bag_size, per_sample_weights, num_weights, scale_grad_by_freq, mode, padding_idx);
  Tensor rows = index_select(grad, 0, offset2bag);
  if (mode == 1) rows = rows / unsqueeze(to(index_select(clamp(bag_size, std::optional<Scalar>(1), std::optional<Scalar>()), 0, offset2bag), grad.dtype()), -1);
  if (per_sample_weights.defined()) rows = rows * unsqueeze(per_sample_weights, -1);
  return embedding_dense_backward(rows, indices, num_weights, padding_idx, scale_grad_by_freq);
}

Tensor embedding_bag_weights_backward(const Tensor& grad, const Tensor& weight, const Tensor& indices, const Tensor& offset2bag, int64_t padding_idx) {
  const int64_t last = -1;
  Tensor products = sum(index_select(grad, 0, offset2bag) * index_select(weight, 0, indices), std::optional<DimsRef>(DimsRef(&last, 1)));
  return masked_fill(products, indices == Scalar(padding_idx), Scalar(0));
}

}  // namespace trine::autograd
