// Matrix products in terms of mm, bmm, mv and dot.
#include "composite/helpers_nn.h"
#include "dispatch/tensor_operators.h"
#include "trine/kernels.h"

namespace trine::composite {
namespace {

int64_t product_of(DimsRef sizes) { return product(sizes); }
Dims joined(DimsRef a, std::initializer_list<int64_t> rest) {
  Dims d(a);
  for (int64_t n : rest) d.push_back(n);
  return d;
}

}  // namespace

Tensor add_product(const Tensor& self, const Tensor& product, const Scalar& given_beta, const Scalar& given_alpha) {
  // The factors take the type of the product: they never promote it.
  auto typed = [&](const Scalar& s) { return is_integral(product.dtype(), true) && !s.is_integral() ? Scalar(s.to_int()) : s; };
  const Scalar beta = typed(given_beta), alpha = typed(given_alpha);
  Tensor scaled = alpha.equals(1) ? product : mul(product, wrapped_number(alpha));
  // beta = 0 ignores self, NaN and all.
  if (beta.equals(0)) return equal(scaled.sizes(), broadcast_shapes(self.sizes(), scaled.sizes(), "addmm")) ? scaled : trine::expand(scaled, broadcast_shapes(self.sizes(), scaled.sizes(), "addmm"));
  TRINE_CHECK(equal(broadcast_shapes(self.sizes(), scaled.sizes(), "addmm"), scaled.sizes()), "addmm: self of shape ", self.sizes(), " cannot be expanded to the product's shape ", scaled.sizes());
  return add(beta.equals(1) ? self : mul(self, wrapped_number(beta)), scaled);
}

Tensor outer(const Tensor& self, const Tensor& vec2) {
  TRINE_CHECK(self.dim() == 1 && vec2.dim() == 1, "outer: Expected 1-D arguments self and vec2, but got shapes ", self.sizes(), " and ", vec2.sizes());
  return mul(trine::unsqueeze(self, 1), vec2);
}

Tensor inner(const Tensor& self, const Tensor& other) {
  if (self.dim() == 0 || other.dim() == 0) return mul(self, other);
  TRINE_CHECK(self.size(-1) == other.size(-1), "inner: the last dimension must match on both input tensors but got shapes ", self.sizes(), " and ", other.sizes());
  const Dims last{-1};
  return trine::tensordot(self, other, last, last);
}

Tensor matmul(const Tensor& self, const Tensor& other) {
  const int64_t d1 = self.dim(), d2 = other.dim();
  TRINE_CHECK(d1 > 0 && d2 > 0, "matmul: both arguments need to be at least 1D, but they are ", d1, "D and ", d2, "D");
  if (d1 == 2 && d2 == 2) return mm(self, other);
  if (d1 == 1 && d2 == 1) return dot(self, other);
  if (d1 == 2 && d2 == 1) return mv(self, other);
  if (d1 == 1 && d2 == 2) return trine::squeeze(mm(trine::unsqueeze(self, 0), other), Dims{0});
  if (d2 <= 2) {
    // Leading dimensions are rows of one matrix.
    Tensor rows = trine::reshape(self, Dims{-1, self.size(-1)});
    if (self.numel() == 0) rows = trine::reshape(self, Dims{product_of(self.sizes().first(self.sizes().size() - 1)), self.size(-1)});
    Dims lead(self.sizes().first(self.sizes().size() - 1));
    if (d2 == 1) return trine::reshape(mv(rows, other), lead);
    return trine::reshape(mm(rows, other), joined(lead, {other.size(1)}));
  }
  Tensor a = d1 == 1 ? trine::unsqueeze(self, 0) : self, b = d2 == 1 ? trine::unsqueeze(other, 1) : other;
  DimsRef batch_a = a.sizes().first(a.sizes().size() - 2), batch_b = b.sizes().first(b.sizes().size() - 2);
  TRINE_CHECK(a.size(-1) == b.size(-2), "matmul: shapes ", self.sizes(), " and ", other.sizes(), " cannot be multiplied (", a.size(-1), " and ", b.size(-2), " must agree)");
  Dims batch = broadcast_shapes(batch_a, batch_b, "matmul");
  const int64_t n = a.size(-2), k = a.size(-1), m = b.size(-1), count = product_of(batch);
  Tensor a3 = trine::reshape(expand(a, joined(batch, {n, k})), Dims{count, n, k}), b3 = trine::reshape(expand(b, joined(batch, {k, m})), Dims{count, k, m});
  Dims sizes = batch;
  if (d1 > 1) sizes.push_back(n);
  if (d2 > 1) sizes.push_back(m);
  return trine::reshape(bmm(a3, b3), sizes);
}

Tensor tensordot(const Tensor& self, const Tensor& other, DimsRef dims_self, DimsRef dims_other) {
  TRINE_CHECK(dims_self.size() == dims_other.size(), "tensordot: both dimension lists should have same length, got ", dims_self, " and ", dims_other);
  auto split = [](const Tensor& t, DimsRef contracted, bool last) {
    Dims used, order, rest;
    std::vector<bool> seen(static_cast<size_t>(t.dim()), false);
    for (int64_t d : contracted) {
      d = wrap_dim(d, t.dim());
      TRINE_CHECK(!seen[static_cast<size_t>(d)], "tensordot: dimension ", d, " appears twice in ", contracted);
      seen[static_cast<size_t>(d)] = true;
      used.push_back(d);
    }
    for (int64_t d = 0; d < t.dim(); ++d)
      if (!seen[static_cast<size_t>(d)]) rest.push_back(d);
    order = last ? rest : used;
    for (int64_t d : last ? used : rest) order.push_back(d);
    Dims free_sizes;
    for (int64_t d : rest) free_sizes.push_back(t.sizes()[static_cast<size_t>(d)]);
    int64_t k = 1;
    for (int64_t d : used) k *= t.sizes()[static_cast<size_t>(d)];
    Tensor moved = trine::permute(t, order);
    int64_t free = product_of(free_sizes);
    return std::pair(trine::reshape(moved, last ? Dims{free, k} : Dims{k, free}), free_sizes);
  };
  for (size_t i = 0; i < dims_self.size(); ++i)
    TRINE_CHECK(self.size(dims_self[i]) == other.size(dims_other[i]), "tensordot: contracted dimensions need to match, but first has size ", self.size(dims_self[i]), " in dim ", dims_self[i],
                " and second has size ", other.size(dims_other[i]), " in dim ", dims_other[i]);
  auto [a, free_a] = split(self, dims_self, true);
  auto [b, free_b] = split(other, dims_other, false);
  Dims sizes = free_a;
  for (int64_t n : free_b) sizes.push_back(n);
  return trine::reshape(mm(a, b), sizes);
}

}  // namespace trine::composite
