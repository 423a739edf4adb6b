// Products, distances and moments made of other operators.
#include <cmath>

#include "composite/helpers.h"
#include "dispatch/tensor_operators.h"
#include "tensor/promotion.h"
#include "trine/kernels.h"

namespace trine::composite {

Tensor trace(const Tensor& self) {
  TRINE_CHECK(self.dim() == 2, "trace: expected a matrix, but got tensor with dim ", self.dim());
  return trine::sum(diagonal(self));
}

Tensor kron(const Tensor& self, const Tensor& other) {
  // Every dimension of one lies beside the same dimension of the other; the shorter shape is filled with ones in front.
  const size_t n = static_cast<size_t>(std::max(self.dim(), other.dim()));
  Dims a(n, 1), b(n, 1), left, right, shape;
  std::copy(self.sizes().begin(), self.sizes().end(), a.end() - self.dim());
  std::copy(other.sizes().begin(), other.sizes().end(), b.end() - other.dim());
  for (size_t d = 0; d < n; ++d) {
    left.push_back(a[d]), left.push_back(1);
    right.push_back(1), right.push_back(b[d]);
    shape.push_back(a[d] * b[d]);
  }
  return trine::reshape(trine::reshape(self, left) * trine::reshape(other, right), shape);
}

Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim) {
  TRINE_CHECK(self.dim() == other.dim(), "linalg.cross: inputs must have the same number of dimensions, got shapes ", self.sizes(), " and ", other.sizes());
  TRINE_CHECK(self.size(dim) == 3 && other.size(dim) == 3, "linalg.cross: inputs dimension ", dim, " must have length 3. Got ", self.size(dim), " and ", other.size(dim));
  auto turned = [dim](const Tensor& t, int64_t by) { return trine::roll(t, Dims{-by}, Dims{dim}); };
  return turned(self, 1) * turned(other, 2) - turned(self, 2) * turned(other, 1);
}

Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  if (dim) return trine::linalg_cross(self, other, *dim);
  for (int64_t d = 0; d < self.dim(); ++d)
    if (self.size(d) == 3) return trine::linalg_cross(self, other, d);
  TRINE_CHECK(false, "cross: no dimension of size 3 in input of shape ", self.sizes());
  return self;
}

Tensor vander(const Tensor& x, std::optional<int64_t> N, bool increasing) {
  TRINE_CHECK(x.dim() == 1, "vander: x must be a one-dimensional tensor, got shape ", x.sizes());
  const int64_t n = N.value_or(x.numel());
  TRINE_CHECK(n >= 0, "vander: N must be non-negative, got ", n);
  const DType t = is_integral(x.dtype(), true) ? DType::Int64 : x.dtype();
  if (n == 0) return empty_op(Dims{x.numel(), 0}, t, x.device());
  std::vector<Tensor> columns{trine::ones_like(x, t)};
  Tensor base = to(x, t);
  for (int64_t i = 1; i < n; ++i) columns.push_back(columns.back() * base);
  if (!increasing) std::reverse(columns.begin(), columns.end());
  return trine::stack(columns, -1);
}

Tensor vander_batched(const Tensor& x, std::optional<int64_t> N) {
  TRINE_CHECK(x.dim() >= 1, "linalg.vander: x must have one dimension or more");
  const int64_t n = N.value_or(x.size(-1));
  TRINE_CHECK(n > 1, "linalg.vander: N must be greater than 1.");
  const DType t = is_integral(x.dtype(), true) ? DType::Int64 : x.dtype();
  std::vector<Tensor> columns{trine::ones_like(x, t)};
  const Tensor base = to(x, t);
  for (int64_t i = 1; i < n; ++i) columns.push_back(columns.back() * base);
  return trine::stack(columns, -1);
}

Tensor cov(const Tensor& self, int64_t correction, const Tensor& fweights, const Tensor& aweights) {
  TRINE_CHECK(self.dim() <= 2, "cov(): expected input to have two or fewer dimensions but got an input with ", self.dim(), " dimensions");
  TRINE_CHECK(self.dtype() != DType::Bool, "cov(): bool dtype is not supported for input");
  Tensor in = self.dim() < 2 ? trine::reshape(self, Dims{1, self.numel()}) : self;
  const int64_t n = in.size(1);
  Tensor w;
  if (fweights.defined()) {
    TRINE_CHECK(fweights.dim() <= 1 && is_integral(fweights.dtype(), false) && fweights.numel() == n, "cov(): expected fweights to be ", n, " whole numbers, got shape ", fweights.sizes(), " of type ",
                name(fweights.dtype()));
    w = fweights;
  }
  if (aweights.defined()) {
    TRINE_CHECK(aweights.dim() <= 1 && is_floating(aweights.dtype()) && aweights.numel() == n, "cov(): expected aweights to be ", n, " floating-point numbers, got shape ", aweights.sizes(), " of type ",
                name(aweights.dtype()));
    w = w.defined() ? w * aweights : aweights;
  }
  Tensor total = w.defined() ? trine::sum(w) : scalar_tensor_op(Scalar(n), DType::Int64, in.device());
  Tensor mean = (w.defined() ? trine::sum(in * w, std::optional<DimsRef>(Dims{1})) : trine::sum(in, std::optional<DimsRef>(Dims{1}))) / total;
  Tensor norm;
  if (w.defined() && aweights.defined() && correction != 0) norm = total - trine::sum(w * aweights) * Scalar(correction) / total;
  else norm = total - Scalar(correction);
  norm = trine::clamp(norm, std::optional<Scalar>(0), std::optional<Scalar>());
  Tensor centred = in - trine::unsqueeze(mean, 1);
  Tensor scaled = w.defined() ? centred * w : centred;
  return trine::squeeze(trine::matmul(centred, trine::transpose(conj(scaled), 0, 1)) / norm);
}

Tensor corrcoef(const Tensor& self) {
  TRINE_CHECK(self.dim() <= 2, "corrcoef(): expected input to have two or fewer dimensions but got an input with ", self.dim(), " dimensions");
  Tensor c = trine::cov(self);
  if (c.dim() == 0) return c / c;
  Tensor deviation = sqrt(trine::real(diagonal(c)));
  Tensor r = c / trine::unsqueeze(deviation, 1) / trine::unsqueeze(deviation, 0);
  if (r.is_complex()) {
    // Real and imaginary parts are limited one by one.
    Tensor parts = trine::view_as_real(trine::contiguous(trine::resolve_conj(r)));
    return trine::view_as_complex(trine::clamp(parts, std::optional<Scalar>(-1), std::optional<Scalar>(1)));
  }
  return trine::clamp(r, std::optional<Scalar>(-1), std::optional<Scalar>(1));
}

Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  TRINE_CHECK(p.to_double() > 0, "renorm: non-positive-norm not supported");
  TRINE_CHECK(maxnorm.to_double() >= 0, "renorm: expected maxnorm to be >= 0 but got ", maxnorm.to_double());
  TRINE_CHECK(self.dim() > 1, "renorm: input needs at least 2 dimensions, got ", self.dim(), " dimensions");
  const int64_t kept = wrap_dim(dim, self.dim());
  Dims others;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (d != kept) others.push_back(d);
  Tensor size = trine::linalg_vector_norm(self, p, std::optional<DimsRef>(others), true);
  return self * where(size > maxnorm, maxnorm / (size + Scalar(1e-7)), Scalar(1.0));
}

Tensor euclidean_dist(const Tensor& x1, const Tensor& x2) {
  // |a - b|^2 = |a|^2 - 2 a.b + |b|^2, as one product of longer rows.
  Tensor s1 = trine::sum(square(x1), std::optional<DimsRef>(Dims{-1}), true), s2 = trine::sum(square(x2), std::optional<DimsRef>(Dims{-1}), true);
  const std::vector<Tensor> left{x1 * Scalar(-2.0), s1, trine::ones_like(s1)}, right{x2, trine::ones_like(s2), s2};
  return sqrt(clamp_min(trine::matmul(trine::cat(left, -1), trine::transpose(trine::cat(right, -1), -2, -1)), Scalar(0)));
}

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<std::string_view> mode) {
  TRINE_CHECK(x1.dim() >= 2 && x2.dim() >= 2, "cdist only supports at least 2D tensors, got shapes ", x1.sizes(), " and ", x2.sizes());
  TRINE_CHECK(x1.size(-1) == x2.size(-1), "cdist: X1 and X2 must have the same number of columns. X1: ", x1.size(-1), " X2: ", x2.size(-1));
  TRINE_CHECK(is_floating(x1.dtype()) && is_floating(x2.dtype()), "cdist only supports floating-point dtypes, got ", name(x1.dtype()), " and ", name(x2.dtype()));
  TRINE_CHECK(p >= 0, "cdist only supports non-negative p values");
  const std::string_view how = mode.value_or("use_mm_for_euclid_dist_if_necessary");
  TRINE_CHECK(how == "use_mm_for_euclid_dist_if_necessary" || how == "use_mm_for_euclid_dist" || how == "donot_use_mm_for_euclid_dist", "cdist: ", how, " is not a valid value for compute_mode");
  const bool large = x1.size(-2) > 25 || x2.size(-2) > 25;
  if (p == 2 && x1.size(-1) > 0 && (how == "use_mm_for_euclid_dist" || (large && how == "use_mm_for_euclid_dist_if_necessary"))) return trine::_euclidean_dist(x1, x2);
  return trine::linalg_vector_norm(trine::unsqueeze(x1, -2) - trine::unsqueeze(x2, -3), Scalar(p), std::optional<DimsRef>(Dims{-1}));
}

Tensor pdist(const Tensor& self, double p) {
  TRINE_CHECK(self.dim() == 2, "pdist only supports 2D tensors, got: ", self.dim(), "D");
  TRINE_CHECK(is_floating(self.dtype()), "pdist only supports floating-point dtypes, got ", name(self.dtype()));
  TRINE_CHECK(p >= 0, "pdist only supports non-negative p values");
  Tensor pairs = trine::triu_indices(self.size(0), self.size(0), 1, DType::Int64, self.device());
  Tensor difference = index_select(self, 0, trine::select(pairs, 0, 0)) - index_select(self, 0, trine::select(pairs, 0, 1));
  return trine::linalg_vector_norm(difference, Scalar(p), std::optional<DimsRef>(Dims{-1}));
}

namespace {

// Sum (or running sum) over `dim` of (y[i] + y[i + 1]) / 2 times the widths.
Tensor trapezoids(const Tensor& y, const Tensor& width, int64_t dim, bool running) {
  const int64_t n = std::max<int64_t>(y.size(dim) - 1, 0);
  Tensor both = trine::narrow(y, dim, std::min<int64_t>(1, y.size(dim)), n) + trine::narrow(y, dim, 0, n);
  Tensor areas = width.defined() ? both * width * Scalar(0.5) : both * Scalar(0.5);
  return running ? cumsum(areas, dim) : trine::sum(areas, std::optional<DimsRef>(Dims{dim}));
}

}  // namespace

Tensor trapezoid_dx(const Tensor& y, const Scalar& dx, int64_t dim, bool running) { return trapezoids(y, Tensor(), dim, running) * dx; }

Tensor trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim, bool running) {
  const int64_t d = wrap_dim(dim, y.dim());
  Tensor points = x;
  if (x.dim() == 1) {
    TRINE_CHECK(x.size(0) == y.size(d), "trapezoid: there must be one x value for each sample point, got ", x.size(0), " for ", y.size(d));
    Dims shape(static_cast<size_t>(y.dim()), 1);
    shape[d] = x.size(0);
    points = trine::reshape(x, shape);
  }
  return trapezoids(y, trine::diff(points, 1, x.dim() == 1 ? d : dim), d, running);
}

Tensor multi_dot(TensorList tensors) {
  const size_t n = tensors.size();
  TRINE_CHECK(n >= 2, "multi_dot(): expected at least 2 tensors but got ", n);
  std::vector<Tensor> m(tensors.begin(), tensors.end());
  for (size_t i = 0; i < n; ++i) {
    const bool end = i == 0 || i + 1 == n;
    TRINE_CHECK(m[i].dim() == 2 || (end && m[i].dim() == 1), "multi_dot(): tensor ", i, " must be 2D", end ? " or 1D" : "", " but got ", m[i].dim(), "D");
  }
  const bool row = m[0].dim() == 1, column = m[n - 1].dim() == 1;
  if (row) m[0] = trine::unsqueeze(m[0], 0);
  if (column) m[n - 1] = trine::unsqueeze(m[n - 1], 1);
  for (size_t i = 0; i + 1 < n; ++i) TRINE_CHECK(m[i].size(1) == m[i + 1].size(0), "multi_dot(): tensors ", i, " and ", i + 1, " with shapes ", tensors[i].sizes(), " and ", tensors[i + 1].sizes(), " cannot be multiplied");
  // The matrix chain problem: cost[i][j] of the cheapest product of i..j, and where it is cut.
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0.0));
  std::vector<std::vector<size_t>> cut(n, std::vector<size_t>(n, 0));
  for (size_t length = 1; length < n; ++length)
    for (size_t i = 0; i + length < n; ++i) {
      const size_t j = i + length;
      cost[i][j] = std::numeric_limits<double>::infinity();
      for (size_t k = i; k < j; ++k) {
        const double c = cost[i][k] + cost[k + 1][j] + static_cast<double>(m[i].size(0)) * static_cast<double>(m[k].size(1)) * static_cast<double>(m[j].size(1));
        if (c < cost[i][j]) cost[i][j] = c, cut[i][j] = k;
      }
    }
  auto product = [&](auto&& self, size_t i, size_t j) -> Tensor { return i == j ? m[i] : mm(self(self, i, cut[i][j]), self(self, cut[i][j] + 1, j)); };
  Tensor r = product(product, 0, n - 1);
  if (row) r = trine::squeeze(r, Dims{0});
  return column ? trine::squeeze(r, Dims{-1}) : r;
}

}  // namespace trine::composite
