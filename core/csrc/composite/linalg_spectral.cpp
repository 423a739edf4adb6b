// What follows from eigenvalues and singular values: norms, condition, rank, pseudo-inverses; powers and exponentials of matrices.
#include <cmath>

#include "autograd/record.h"
#include "batching/batched.h"
#include "composite/helpers.h"
#include "dispatch/tensor_operators.h"
#include "rules/linalg.h"
#include "trine/kernels.h"

namespace trine::composite {
namespace {

Tensor largest(const Tensor& t) { return trine::amax(t, Dims{-1}, true); }
double epsilon(DType t) { return to_real(t) == DType::Float ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon(); }

}  // namespace

// ---- eigenvalues and singular values -------------------------------------------------------------------------------------

std::tuple<Tensor, Tensor> eigh_of(const Tensor& A, std::string_view uplo) { return trine::_linalg_eigh(A, uplo, true); }
// Derivatives of the values need the vectors.
Tensor linalg_eigvalsh(const Tensor& A, std::string_view uplo) { return std::get<0>(trine::_linalg_eigh(A, uplo, autograd::records(A))); }
Tensor linalg_eigvals(const Tensor& A) { return std::get<0>(trine::_linalg_eig(A, autograd::records(A))); }
Tensor linalg_svdvals(const Tensor& A, std::optional<std::string_view> driver) { return std::get<1>(trine::_linalg_svd(A, false, autograd::records(A), driver)); }

std::tuple<Tensor, Tensor, Tensor> svd_of(const Tensor& A, bool some, bool compute_uv) {
  rules::check_matrix("svd", A);
  if (!compute_uv) {
    auto zeros_of = [&](int64_t n) { return trine::zeros(rules::batched(A, {n, n}), A.dtype(), A.device()); };
    return {zeros_of(A.size(-2)), trine::linalg_svdvals(A), zeros_of(A.size(-1))};
  }
  auto [U, S, Vh] = trine::_linalg_svd(A, !some, true);
  return {U, S, trine::adjoint(Vh)};
}

// ---- norms ---------------------------------------------------------------------------------------------------------------

namespace {

struct MatrixDims {
  int64_t row, col;
};
MatrixDims matrix_dims(const char* op, const Tensor& A, DimsRef dim) {
  rules::check_matrix(op, A);
  TRINE_CHECK(dim.size() == 2, op, ": dim must be a 2-tuple. Got ", dim);
  const MatrixDims d{wrap_dim(dim[0], A.dim()), wrap_dim(dim[1], A.dim())};
  TRINE_CHECK(d.row != d.col, op, ": dims must be different. Got (", dim[0], ", ", dim[1], ")");
  return d;
}
Tensor norm_input(const char* op, const Tensor& A, DType dtype) {
  TRINE_CHECK(is_floating(A.dtype()) || A.is_complex(), op, ": Expected a floating point or complex tensor as input. Got ", legacy_name(A.dtype()));
  if (dtype == DType::Undefined) return A;
  TRINE_CHECK(is_floating(dtype) || is_complex(dtype), op, ": dtype should be floating point or complex, but got ", legacy_name(dtype));
  TRINE_CHECK(!A.is_complex() || is_complex(dtype), op, ": dtype should be complex for complex inputs, but got ", legacy_name(dtype));
  return to(A, dtype);
}
// Singular values of the matrices in two dimensions of A, in a new last dimension.
Tensor singular_values(const Tensor& A, MatrixDims d) { return trine::linalg_svdvals(trine::movedim(A, Dims{d.row, d.col}, Dims{-2, -1})); }
Tensor keep_dims(const Tensor& norm, MatrixDims d, bool keepdim) {
  if (!keepdim) return norm;
  return trine::unsqueeze(trine::unsqueeze(norm, std::min(d.row, d.col)), std::max(d.row, d.col));
}

}  // namespace

Tensor matrix_norm_number(const Tensor& self, const Scalar& ord, DimsRef dim, bool keepdim, DType dtype) {
  const char* op = "linalg.matrix_norm";
  const double p = ord.to<double>(), size = std::abs(p);
  const MatrixDims d = matrix_dims(op, self, dim);
  TRINE_CHECK(size == 1 || size == 2 || std::isinf(size), op, ": Order ", p, " not supported.");
  const Tensor A = norm_input(op, self, dtype);
  if (size == 2) {
    const Tensor S = singular_values(A, d);
    return keep_dims(p > 0 ? trine::amax(S, Dims{-1}, false) : trine::amin(S, Dims{-1}, false), d, keepdim);
  }
  // Sums of absolute values along the columns (1) or the rows (infinity), then the extreme of them.
  const int64_t summed = size == 1 ? d.row : d.col, other = size == 1 ? d.col : d.row;
  const Tensor sums = trine::linalg_vector_norm(A, Scalar(1), Dims{summed}, keepdim);
  const int64_t at = keepdim || other < summed ? other : other - 1;
  return p > 0 ? trine::amax(sums, Dims{at}, keepdim) : trine::amin(sums, Dims{at}, keepdim);
}

Tensor matrix_norm_name(const Tensor& self, std::string_view ord, DimsRef dim, bool keepdim, DType dtype) {
  const char* op = "linalg.matrix_norm";
  const MatrixDims d = matrix_dims(op, self, dim);
  TRINE_CHECK(ord == "fro" || ord == "nuc", op, ": Order ", ord, " not supported.");
  const Tensor A = norm_input(op, self, dtype);
  if (ord == "fro") return trine::linalg_vector_norm(A, Scalar(2), Dims{d.row, d.col}, keepdim);
  return keep_dims(trine::sum(singular_values(A, d), std::optional<DimsRef>(Dims{-1}), false), d, keepdim);
}

Tensor norm_number(const Tensor& A, const std::optional<Scalar>& ord, std::optional<DimsRef> dim, bool keepdim, DType dtype) {
  if (dim) TRINE_CHECK(dim->size() == 1 || dim->size() == 2, "linalg.norm: If dim is specified, it must be of length 1 or 2. Got ", *dim);
  if (ord && !dim) TRINE_CHECK(A.dim() == 1 || A.dim() == 2, "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ", A.dim(), "D.");
  if (ord && (dim ? dim->size() == 2 : A.dim() == 2)) return matrix_norm_number(A, *ord, dim ? *dim : DimsRef(Dims{0, 1}), keepdim, dtype);
  return trine::linalg_vector_norm(A, ord.value_or(Scalar(2)), dim, keepdim, dtype);
}

Tensor norm_name(const Tensor& A, std::string_view ord, std::optional<DimsRef> dim, bool keepdim, DType dtype) {
  if (dim) TRINE_CHECK(dim->size() == 1 || dim->size() == 2, "linalg.norm: If dim is specified, it must be of length 1 or 2. Got ", *dim);
  else TRINE_CHECK(A.dim() == 1 || A.dim() == 2, "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ", A.dim(), "D.");
  const Dims all{0, 1};
  return matrix_norm_name(A, ord, dim ? *dim : DimsRef(all), keepdim, dtype);
}

namespace {
// norm(A) norm(A^-1), infinite where A is singular.
template <class Ord> Tensor cond_by_inverse(const Tensor& A, const Ord& ord) {
  const Dims last{-2, -1};
  auto [inverse, info] = trine::_linalg_inv(A);
  return trine::masked_fill(trine::linalg_matrix_norm(A, ord, last) * trine::linalg_matrix_norm(inverse, ord, last), info != Scalar(0), Scalar(INFINITY));
}
}  // namespace

Tensor cond_number(const Tensor& A, const std::optional<Scalar>& p) {
  TRINE_CHECK(A.dim() >= 2, "linalg.cond: The input tensor must have at least 2 dimensions.");
  if (!p || std::abs(p->to<double>()) == 2) {
    const Tensor S = trine::linalg_svdvals(A);
    const Tensor high = trine::select(S, -1, 0), low = trine::select(S, -1, -1);
    return p && p->to<double>() == -2 ? low / high : high / low;
  }
  rules::check_square(str("linalg.cond(ord=", p->to<double>(), ")").c_str(), A);
  return cond_by_inverse(A, *p);
}

Tensor cond_name(const Tensor& A, std::string_view p) {
  TRINE_CHECK(A.dim() >= 2, "linalg.cond: The input tensor must have at least 2 dimensions.");
  TRINE_CHECK(p == "fro" || p == "nuc", "linalg.cond: got an invalid norm type: ", p);
  rules::check_square(str("linalg.cond(ord=", p, ")").c_str(), A);
  if (p == "nuc") {
    const Tensor S = trine::linalg_svdvals(A);
    return trine::sum(S, std::optional<DimsRef>(Dims{-1}), false) * trine::sum(trine::reciprocal(S), std::optional<DimsRef>(Dims{-1}), false);
  }
  return cond_by_inverse(A, p);
}

// ---- rank and pseudo-inverse ----------------------------------------------------------------------------------------------

Tensor tolerance(const std::optional<double>& value, const Tensor& A) {
  return value ? scalar_tensor_op(Scalar(*value), to_real(A.dtype()), A.device()) : Tensor();
}

namespace {
// Which values (the sizes of singular or eigenvalues) count, in the shape of `values`.
Tensor counted(const char* op, const Tensor& A, const Tensor& values, const Tensor& atol, const Tensor& rtol) {
  for (const Tensor* t : {&atol, &rtol}) TRINE_CHECK(!t->defined() || !t->is_complex(), op, ": atol and rtol tensors of complex type are not supported. Got ", t->defined() ? legacy_name(t->dtype()) : "");
  const Tensor relative = rtol.defined() ? rtol : Tensor();
  const Tensor top = largest(values);
  Tensor limit;
  if (relative.defined()) limit = trine::unsqueeze(relative, -1) * top;
  else if (!atol.defined()) limit = top * Scalar(epsilon(A.dtype()) * static_cast<double>(std::max(A.size(-2), A.size(-1))));
  if (atol.defined()) {
    const Tensor absolute = trine::unsqueeze(atol, -1);
    limit = limit.defined() ? trine::maximum(limit, to(absolute, limit.dtype())) : absolute;
  }
  return values > limit;
}
}  // namespace

Tensor matrix_rank_of(const Tensor& A, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  const char* op = "linalg.matrix_rank";
  rules::check_matrix(op, A);
  rules::check_solvable(op, A);
  if (A.size(-1) == 0 || A.size(-2) == 0) return trine::zeros(rules::batched(A, {}), DType::Int64, A.device());
  const Tensor values = hermitian ? trine::abs(trine::linalg_eigvalsh(A)) : trine::linalg_svdvals(A);
  return trine::sum(counted(op, A, values, atol, rtol), std::optional<DimsRef>(Dims{-1}), false);
}

Tensor pinv_of(const Tensor& A, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  TRINE_CHECK(A.dim() >= 2 && (is_floating(A.dtype()) || A.is_complex()), "linalg.pinv: expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types, got ", legacy_name(A.dtype()), " of shape ",
              A.sizes());
  if (A.numel() == 0) return trine::zeros(rules::batched(A, {A.size(-1), A.size(-2)}), A.dtype(), A.device());
  if (hermitian) {
    rules::check_square("linalg.pinv", A);
    auto [L, V] = trine::_linalg_eigh(A, "L", true);
    const Tensor keep = counted("linalg.pinv", A, trine::abs(L), atol, rtol);
    return trine::matmul(V * trine::unsqueeze(trine::where(keep, trine::reciprocal(L), trine::zeros_like(L)), -2), trine::adjoint(V));
  }
  auto [U, S, Vh] = trine::_linalg_svd(A, false, true);
  const Tensor keep = counted("linalg.pinv", A, S, atol, rtol);
  return trine::matmul(trine::adjoint(Vh) * trine::unsqueeze(trine::where(keep, trine::reciprocal(S), trine::zeros_like(S)), -2), trine::adjoint(U));
}

// ---- powers and the exponential ---------------------------------------------------------------------------------------------

Tensor linalg_matrix_power(const Tensor& self, int64_t n) {
  rules::check_square("linalg.matrix_power", self);
  if (n == 0) return trine::clone(trine::expand(trine::eye(self.size(-1), self.size(-1), self.dtype(), self.device()), self.sizes()), MemoryFormat::Contiguous);
  Tensor base = n < 0 ? inverse_of(self) : self, result;
  for (uint64_t rest = static_cast<uint64_t>(std::abs(n)); rest; rest >>= 1) {
    if (rest & 1) result = result.defined() ? trine::matmul(result, base) : base;
    if (rest > 1) base = trine::matmul(base, base);
  }
  return result.is_same(self) || n == -1 ? trine::clone(result, MemoryFormat::Contiguous) : result;
}

// Scaling, the [13/13] Padé approximant and squaring (Higham 2005): A is halved until its 1-norm is at most 5.37.
Tensor linalg_matrix_exp(const Tensor& A) {
  rules::check_square("linalg.matrix_exp", A);
  if (A.dtype() == DType::Half || A.dtype() == DType::BFloat16) return to(trine::linalg_matrix_exp(to(A, DType::Float)), A.dtype());
  rules::check_solvable("linalg.matrix_exp", A);
  if (A.numel() == 0) return trine::clone(A, MemoryFormat::Contiguous);
  constexpr double b[] = {64764752532480000., 32382376266240000., 7771770303897600., 1187353796428800., 129060195264000., 10559470521600., 670442572800.,
                          33522128640.,       1323241920.,        40840800.,         960960.,           16380.,           182.,            1.};
  const DType real_type = to_real(A.dtype());
  const Tensor norm = trine::linalg_matrix_norm(A, Scalar(1), Dims{-2, -1}, true);
  const Tensor halvings = trine::clamp(trine::ceil(trine::log2(norm / Scalar(5.371920351148152))), std::optional<Scalar>(0), std::optional<Scalar>(real_type == DType::Float ? 128 : 1024));
  const Tensor X = A * trine::exp2(-halvings), I = trine::eye(A.size(-1), A.size(-1), A.dtype(), A.device());
  const Tensor X2 = trine::matmul(X, X), X4 = trine::matmul(X2, X2), X6 = trine::matmul(X4, X2);
  auto combine = [&](int top, bool identity) {
    Tensor t = X6 * Scalar(b[top]) + X4 * Scalar(b[top - 2]) + X2 * Scalar(b[top - 4]);
    return identity ? t + I * Scalar(b[top - 6]) : t;
  };
  const Tensor odd = trine::matmul(X, trine::matmul(X6, combine(13, false)) + combine(7, true)), even = trine::matmul(X6, combine(12, false)) + combine(6, true);
  Tensor result = trine::linalg_solve(even - odd, even + odd);
  const int64_t most = A.is_meta() ? 0 : item(trine::amax(batching::value(halvings))).to<int64_t>();
  for (int64_t i = 0; i < most; ++i) result = trine::where(halvings > Scalar(i), trine::matmul(result, result), result);
  return trine::contiguous(result, MemoryFormat::Contiguous);
}

// ---- tensors as matrices -----------------------------------------------------------------------------------------------------

Tensor linalg_tensorinv(const Tensor& self, int64_t ind) {
  TRINE_CHECK(ind > 0, "linalg.tensorinv: Expected a strictly positive integer for 'ind', but got ", ind);
  const size_t at = static_cast<size_t>(std::min<int64_t>(ind, self.dim()));
  const DimsRef front = self.sizes().first(at), back = self.sizes().subspan(at);
  const int64_t rows = product(front), cols = product(back);
  TRINE_CHECK(rows == cols, "linalg.tensorinv: Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got ", cols, " != ", rows);
  auto [inverse, info] = trine::_linalg_inv(trine::reshape(self, Dims{rows, cols}));
  check_info("linalg.tensorinv", info, Failure::SingularInverse);
  Dims sizes(back);
  for (int64_t n : front) sizes.push_back(n);
  return trine::reshape(inverse, sizes);
}

Tensor linalg_tensorsolve(const Tensor& self, const Tensor& other, std::optional<DimsRef> dims) {
  Tensor A = self;
  if (dims) {
    Dims destination;
    for (size_t i = dims->size(); i-- > 0;) destination.push_back(-1 - static_cast<int64_t>(i));
    A = trine::movedim(self, *dims, destination);
  }
  TRINE_CHECK(A.dim() >= other.dim(), "linalg.tensorsolve: self has fewer dimensions than other: ", A.sizes(), " and ", other.sizes());
  const DimsRef result = A.sizes().subspan(static_cast<size_t>(other.dim()));
  const int64_t cols = product(result), rows = other.numel();
  TRINE_CHECK(rows == cols && A.numel() == rows * cols, "linalg.tensorsolve: Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got ", cols, " != ", rows);
  return trine::reshape(trine::linalg_solve(trine::reshape(A, Dims{rows, cols}), trine::reshape(other, Dims{rows})), result);
}

Tensor linalg_vecdot(const Tensor& x, const Tensor& y, int64_t dim) {
  TRINE_CHECK((is_floating(x.dtype()) || x.is_complex()), "linalg.vecdot: Expected a floating point or complex tensor as input. Got ", legacy_name(x.dtype()));
  return trine::sum((x.is_complex() ? trine::conj(x) : x) * y, std::optional<DimsRef>(DimsRef(&dim, 1)), false);
}

}  // namespace trine::composite
