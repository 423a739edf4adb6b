#include "autograd/formulas.h"

#include <numeric>

#include "autograd/record.h"
#include "batching/batched.h"

namespace trine::autograd {

Tensor maybe_multiply(const Tensor& t, const Scalar& s) { return !t.defined() || (s.is_integral() && s.to_int() == 1) ? t : t * s; }
Scalar one_minus(const Scalar& w) { return w.is_complex() ? Scalar(1.0 - std::conj(w.to_complex())) : Scalar(1.0 - w.to_double()); }

Tensor add_tangents(const Tensor& a, const Tensor& b) {
  if (!a.defined()) return b;
  return b.defined() ? add(a, b) : a;
}

Tensor pow_backward_self(const Tensor& grad, const Tensor& self, const Tensor& exponent) {
  Tensor g = grad * conj(exponent * pow(self, exponent - 1.0));
  return where(eq(exponent, wrapped_number(0.0)), zeros_like(g), g);
}

Tensor pow_backward_exponent(const Tensor& grad, const Tensor& self, const Tensor& exponent, const Tensor& result) {
  // 0 ** positive has derivative 0 although log(0) is infinite.
  Tensor zero_base = self.is_complex() ? eq(self, wrapped_number(0.0)) : bitwise_and(eq(self, wrapped_number(0.0)), ge(exponent.is_complex() ? real(exponent) : exponent, wrapped_number(0.0)));
  Tensor g = grad * conj(result * log(self));
  return where(zero_base, zeros_like(g), g);
}

Tensor abs_backward(const Tensor& grad, const Tensor& self) {
  if (!self.is_complex()) return grad * sign(self);
  Tensor r = abs(self);
  Tensor unit = where(eq(r, wrapped_number(0.0)), zeros_like(self), self / r);
  return grad * unit;
}

Tensor masked_tie(const Tensor& grad, const Tensor& self, const Tensor& other, bool larger) {
  // Equal elements share the gradient.
  Tensor half = where(eq(self, other), grad / 2.0, grad);
  return masked_fill(half, larger ? lt(self, other) : gt(self, other), Scalar(0));
}

Tensor silu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self) {
  Tensor s = sigmoid(self);
  return grad * grad_output * (s * (1.0 - s) * (2.0 + self * (1.0 - 2.0 * s)));
}

Tensor mish_backward(const Tensor& grad, const Tensor& self) {
  Tensor t = tanh(softplus(self)), s = sigmoid(self);
  return grad * (t + self * s * (1.0 - t * t));
}

Tensor gelu_tanh_backward(const Tensor& grad, const Tensor& self) {
  constexpr double beta = 0.7978845608028654, kappa = 0.044715;
  Tensor t = tanh(beta * (self + kappa * self * self * self));
  Tensor inner = beta * (1.0 + 3.0 * kappa * self * self);
  return grad * (0.5 * (1.0 + t) + 0.5 * self * (1.0 - t * t) * inner);
}

Tensor softplus_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self, const Scalar& beta, const Scalar& threshold) {
  Tensor z = self * beta, s = sigmoid(z);
  Tensor g = grad * grad_output * (s * (1.0 - s)) * beta;
  return where(gt(z, wrapped_number(threshold)), zeros_like(g), g);
}

Dims inverse_permutation(DimsRef dims) {
  Dims out(dims.size());
  for (size_t i = 0; i < dims.size(); i++) out[wrap_dim(dims[i], static_cast<int64_t>(dims.size()))] = static_cast<int64_t>(i);
  return out;
}

namespace {

Tensor zeros_shaped(const Tensor& grad, DimsRef sizes) { return batching::zeros_for(grad, sizes); }

// Zeros with the gradient in the place that `view` gives. What is written through a view has no tangent of its own: it is written likewise.
template <class View> Tensor scattered(const Tensor& grad, DimsRef sizes, View&& view) {
  Tensor out = zeros_shaped(grad, sizes);
  copy_(view(out), grad);
  if (forward_mode() && has_tangent(grad)) set_tangent(out, scattered(tangent_of(grad), sizes, view));
  return out;
}

}  // namespace

// Gradients of views are written as scatters, so that they can themselves be differentiated.
Tensor select_backward(const Tensor& grad, DimsRef sizes, int64_t dim, int64_t index) {
  return scattered(grad, sizes, [&](const Tensor& out) { return select(out, dim, index); });
}

Tensor slice_backward(const Tensor& grad, DimsRef sizes, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  return scattered(grad, sizes, [&](const Tensor& out) { return slice(out, dim, start, end, step); });
}

Tensor diagonal_backward(const Tensor& grad, DimsRef sizes, int64_t offset, int64_t dim1, int64_t dim2) {
  return scattered(grad, sizes, [&](const Tensor& out) { return diagonal(out, offset, dim1, dim2); });
}

Tensor unfold_backward(const Tensor& grad, DimsRef sizes, int64_t dimension, int64_t size, int64_t step) {
  Tensor shape = unfold(reshape(arange(Scalar(product(sizes)), DType::Int64), sizes), dimension, size, step);
  Tensor flat = zeros_shaped(grad, Dims{product(sizes)});
  return reshape(index_add(flat, 0, reshape(shape, Dims{-1}), reshape(grad, Dims{-1})), sizes);
}

namespace {
Tensor defined_or_zeros(const Tensor& grad, DimsRef sizes, std::span<const Tensor> grads) {
  if (grad.defined()) return grad;
  for (const Tensor& g : grads)
    if (g.defined()) return zeros(sizes, g.dtype(), g.device());
  return {};
}
}  // namespace

Tensor unbind_backward(std::span<const Tensor> grads, DimsRef sizes, int64_t dim) {
  int64_t d = wrap_dim(dim, static_cast<int64_t>(sizes.size()));
  Dims piece(sizes);
  piece.erase(d);
  std::vector<Tensor> list;
  for (const Tensor& g : grads) list.push_back(defined_or_zeros(g, piece, grads));
  return stack(list, d);
}

Tensor split_backward(std::span<const Tensor> grads, DimsRef, int64_t dim) { return cat(grads, dim); }

Tensor laid_out(const Tensor& t, DimsRef sizes, DimsRef strides) {
  if (t.offset() == 0 && std::ranges::equal(t.strides(), strides)) return t;
  int64_t n = product(sizes) ? 1 : 0;
  for (size_t i = 0; i < sizes.size() && n; i++) n += (sizes[i] - 1) * strides[i];
  Tensor memory = as_strided_scatter(zeros_shaped(t, Dims{n}), t, sizes, strides, 0);
  return as_strided(memory, sizes, strides, 0);
}

Tensor as_strided_backward(const Tensor& grad, DimsRef base_sizes, DimsRef base_strides, DimsRef sizes, DimsRef strides, int64_t offset) {
  // Both geometries are looked at inside one flat stretch of memory that covers them; overlapping elements add up.
  int64_t lo = std::min<int64_t>(0, offset), base_last = 0, last = offset;
  for (size_t i = 0; i < base_sizes.size(); i++) base_last += (base_sizes[i] - 1) * base_strides[i];
  for (size_t i = 0; i < sizes.size(); i++) last += (sizes[i] - 1) * strides[i];
  if (product(sizes) == 0 || product(base_sizes) == 0) return zeros_shaped(grad, base_sizes);
  int64_t n = std::max(base_last, last) - lo + 1;
  Tensor index = reshape(as_strided(arange(Scalar(n), DType::Int64), sizes, strides, offset - lo), Dims{-1});
  Tensor flat = index_add(zeros_shaped(grad, Dims{n}), 0, index, reshape(grad, Dims{-1}));
  Tensor out = as_strided(flat, base_sizes, base_strides, -lo);
  // Elements of the base that share memory share the gradient.
  Tensor probe = make_view(flat, base_sizes, base_strides, 0);
  if (!probe.is_non_overlapping_and_dense() && has_internal_overlap(probe)) {
    Tensor base_index = reshape(as_strided(arange(Scalar(n), DType::Int64), base_sizes, base_strides, -lo), Dims{-1});
    Tensor count = index_add(zeros_shaped(grad, Dims{n}), 0, base_index, ones(Dims{base_index.numel()}, grad.dtype()));
    out = out / as_strided(count, base_sizes, base_strides, -lo);
  }
  return out;
}

}  // namespace trine::autograd
