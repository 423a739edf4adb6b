// Solutions, inverses and factors: checks, broadcasting and error messages around the decompositions.
#include "autograd/record.h"
#include "batching/batched.h"
#include "composite/helpers.h"
#include "dispatch/tensor_operators.h"
#include "rules/linalg.h"
#include "trine/kernels.h"

namespace trine::composite {
namespace {

Tensor identity(const Tensor& A) { return trine::expand(trine::eye(A.size(-1), A.size(-1), A.dtype(), A.device()), A.sizes()); }

// Both with the batch dimensions that they have together.
std::pair<Tensor, Tensor> with_common_batch(const char* op, const Tensor& A, const Tensor& B) {
  const Dims batch = broadcast_shapes(rules::batch_sizes(A), rules::batch_sizes(B), op);
  auto expanded = [&](const Tensor& t) {
    Dims sizes = batch;
    for (int64_t d : {int64_t{-2}, int64_t{-1}}) sizes.push_back(t.size(d));
    return equal(sizes, t.sizes()) ? t : trine::expand(t, sizes);
  };
  return {expanded(A), expanded(B)};
}

// B is a batch of vectors when it has the shape of A without its last dimension.
bool is_vector(const Tensor& A, const Tensor& B) { return B.dim() == 1 || (A.dim() - 1 == B.dim() && equal(B.sizes(), A.sizes().first(A.sizes().size() - 1))); }

void check_equation(const char* op, const Tensor& A, const Tensor& B, bool left) {
  TRINE_CHECK(B.dim() >= 2, op, ": The input tensor B must have at least 2 dimensions.");
  TRINE_CHECK(B.size(left ? -2 : -1) == A.size(-1), op, ": Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B", " (", A.size(-2), "x", A.size(-1), " and ", B.size(-2), "x", B.size(-1),
              ")");
}

}  // namespace

void check_info(const char* op, const Tensor& found, Failure failure) {
  const Tensor& info = batching::value(found);
  if (info.is_meta() || info.numel() == 0) return;
  const Tensor dense = info.is_contiguous() ? info : trine::contiguous(info, MemoryFormat::Contiguous);
  for (int64_t i = 0; i < dense.numel(); ++i) {
    const int code = dense.data<int>()[i];
    if (code == 0) continue;
    const std::string where = info.dim() > 0 ? str("(Batch element ", i, "): ") : "";
    switch (failure) {
      case Failure::NotPositiveDefinite:
        throw_error(ErrorKind::LinAlg, str(op, ": ", where, "The factorization could not be completed because the input is not positive-definite (the leading minor of order ", code,
                                           " is not positive-definite)."));
      case Failure::SingularInverse:
        throw_error(ErrorKind::LinAlg, str(op, ": ", where, "The diagonal element ", code, " is zero, the inversion could not be completed because the input matrix is singular."));
      case Failure::SingularSolve: throw_error(ErrorKind::LinAlg, str(op, ": ", where, "The solver failed because the input matrix is singular."));
      case Failure::SingularFactor:
        throw_error(ErrorKind::Runtime, str(op, ": ", where, "U[", code, ",", code,
                                            "] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the factorization, consider calling "
                                            "linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"));
      case Failure::SingularLdl: throw_error(ErrorKind::Runtime, str(op, ": ", where, "D[", code, ",", code, "] is zero: the input matrix is singular."));
    }
  }
}

// ---- Cholesky ----------------------------------------------------------------------------------------------------------

std::tuple<Tensor, Tensor> cholesky_ex(const Tensor& A, bool upper, bool check_errors) {
  auto result = trine::_linalg_cholesky(A, upper);
  if (check_errors) check_info("linalg.cholesky_ex", std::get<1>(result), Failure::NotPositiveDefinite);
  return result;
}

Tensor cholesky_of(const char* op, const Tensor& A, bool upper) {
  auto [L, info] = trine::_linalg_cholesky(A, upper);
  check_info(op, info, Failure::NotPositiveDefinite);
  return L;
}

Tensor cholesky_solve(const Tensor& self, const Tensor& factor, bool upper) {
  rules::check_matrix("cholesky_solve", self, "b");
  rules::check_square("cholesky_solve", factor, "u");
  TRINE_CHECK(self.size(-2) == factor.size(-2), "cholesky_solve: Incompatible matrix sizes: each A matrix is ", factor.size(-1), " by ", factor.size(-1), " but each b matrix is ", self.size(-2), " by ", self.size(-1));
  rules::check_same_dtype("cholesky_solve", self, factor);
  const Tensor h = trine::adjoint(factor);
  return trine::linalg_solve_triangular(upper ? factor : h, trine::linalg_solve_triangular(upper ? h : factor, self, false), true);
}

Tensor cholesky_inverse(const Tensor& self, bool upper) {
  rules::check_square("cholesky_inverse", self);
  rules::check_solvable("cholesky_inverse", self);
  // (L L^H)^-1 = Y^H Y with L Y = 1; written so that the result lies in column-major order.
  const Tensor Y = trine::linalg_solve_triangular(upper ? trine::adjoint(self) : self, identity(self), false);
  const Tensor turned = trine::transpose(Y, -2, -1);
  return trine::transpose(trine::matmul(turned, Y.is_complex() ? trine::conj(Y) : Y), -2, -1);
}

// ---- LU ----------------------------------------------------------------------------------------------------------------

std::tuple<Tensor, Tensor, Tensor> lu_factor_ex(const char* op, const Tensor& A, bool pivot, bool check_errors) {
  auto result = trine::_linalg_lu(A, pivot);
  if (check_errors) check_info(op, std::get<2>(result), Failure::SingularFactor);
  return result;
}

std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& A, bool pivot) {
  auto [LU, pivots, info] = lu_factor_ex("torch.linalg.lu_factor", A, pivot, true);
  return {LU, pivots};
}

std::tuple<Tensor, Tensor, Tensor> linalg_lu(const Tensor& A, bool pivot) {
  auto [LU, pivots, info] = trine::_linalg_lu(A, pivot);
  return trine::lu_unpack(LU, pivots, true, true);
}

std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& LU, const Tensor& pivots, bool unpack_data, bool unpack_pivots) {
  TRINE_CHECK(LU.dim() >= 2, "lu_unpack: LU_data must be a tensor with at least 2 dimensions, got shape ", LU.sizes());
  TRINE_CHECK(!unpack_pivots || pivots.dtype() == DType::Int32,
              "lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype. Note: this function is intended to be used with the output produced by torch.linalg.lu_factor");
  const int64_t m = LU.size(-2), n = LU.size(-1), k = std::min(m, n);
  Tensor P = trine::empty(Dims{0}, LU.dtype(), LU.device()), L = P, U = P;
  if (unpack_data) {
    L = trine::tril(n > k ? trine::narrow(LU, -1, 0, k) : LU, -1) + trine::eye(m, k, LU.dtype(), LU.device());
    U = trine::triu(m > k ? trine::narrow(LU, -2, 0, k) : LU, 0);
  }
  if (unpack_pivots) {
    const Tensor rows = trine::unsqueeze(trine::_pivots_to_permutation(pivots, m), -2);
    Dims sizes(rows.sizes());
    sizes[sizes.size() - 2] = m;
    P = trine::scatter(trine::zeros(sizes, LU.dtype(), LU.device()), -2, rows, Scalar(1));
  }
  return {P, L, U};
}

Tensor linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left, bool adjoint_of) {
  const char* op = "linalg.lu_solve";
  rules::check_square(op, LU, "LU");
  rules::check_solvable(op, LU);
  rules::check_same_dtype(op, LU, B);
  TRINE_CHECK(pivots.dim() == LU.dim() - 1 && equal(pivots.sizes(), LU.sizes().first(LU.sizes().size() - 1)), op, ": Number of pivots per batch should be same as the dimension of the matrix: pivots ", pivots.sizes(),
              ", LU ", LU.sizes());
  check_equation(op, LU, B, left);
  // X A = B is A^H X^H = B^H.
  if (!left) return trine::adjoint(trine::linalg_lu_solve(LU, pivots, trine::adjoint(B), true, !adjoint_of));
  auto [factors, b] = with_common_batch(op, LU, B);
  const Tensor rows = trine::expand(pivots, factors.sizes().first(factors.sizes().size() - 1));
  if (!autograd::records(LU)) return trine::_linalg_lu_solve(factors, rows, b, adjoint_of);
  auto [P, L, U] = trine::lu_unpack(factors, rows, true, true);
  if (adjoint_of) return trine::matmul(P, trine::linalg_solve_triangular(trine::adjoint(L), trine::linalg_solve_triangular(trine::adjoint(U), b, false), true, true, true));
  return trine::linalg_solve_triangular(U, trine::linalg_solve_triangular(L, trine::matmul(trine::transpose(P, -2, -1), b), false, true, true), true);
}

// ---- inverses and solutions ---------------------------------------------------------------------------------------------

std::tuple<Tensor, Tensor> inv_ex(const Tensor& A, bool check_errors) {
  auto result = trine::_linalg_inv(A);
  if (check_errors) check_info("linalg.inv_ex", std::get<1>(result), Failure::SingularInverse);
  return result;
}

Tensor inverse_of(const Tensor& A) {
  auto [inverse, info] = trine::_linalg_inv(A);
  check_info("linalg.inv", info, Failure::SingularInverse);
  return inverse;
}

namespace {
std::tuple<Tensor, Tensor> solve(const char* op, const Tensor& A, const Tensor& B, bool left) {
  rules::check_square("linalg.solve", A);
  rules::check_solvable("linalg.solve", A);
  rules::check_same_dtype("linalg.solve", A, B);
  const bool vector = is_vector(A, B);
  TRINE_CHECK(left || !vector, "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)");
  const Tensor matrix = vector ? trine::unsqueeze(B, -1) : B;
  check_equation("linalg.solve", A, matrix, left);
  auto [a, b] = with_common_batch("linalg.solve", A, matrix);
  auto [X, LU, pivots, info] = trine::_linalg_solve(a, b, left);
  if (op) check_info(op, info, Failure::SingularSolve);
  return {vector ? trine::squeeze(X, Dims{-1}) : X, info};
}
}  // namespace

std::tuple<Tensor, Tensor> solve_ex(const Tensor& A, const Tensor& B, bool left, bool check_errors) { return solve(check_errors ? "torch.linalg.solve_ex" : nullptr, A, B, left); }
Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left) { return std::get<0>(solve("torch.linalg.solve", A, B, left)); }

Tensor linalg_solve_triangular(const Tensor& A, const Tensor& B, bool upper, bool left, bool unitriangular) {
  const char* op = "linalg.solve_triangular";
  rules::check_square(op, A);
  rules::check_solvable(op, A);
  rules::check_same_dtype(op, A, B);
  check_equation(op, A, B, left);
  auto [a, b] = with_common_batch(op, A, B);
  return trine::_linalg_solve_triangular(a, b, upper, left, unitriangular);
}

std::tuple<Tensor, Tensor> triangular_solve(const Tensor& self, const Tensor& A, bool upper, bool transpose, bool unitriangular) {
  rules::check_matrix("triangular_solve", self, "b");
  rules::check_square("triangular_solve", A);
  rules::check_same_dtype("triangular_solve", self, A);
  TRINE_CHECK(self.size(-2) == A.size(-2), "triangular_solve: Incompatible matrix sizes: each A matrix is ", A.size(-1), " by ", A.size(-1), " but each b matrix is ", self.size(-2), " by ", self.size(-1));
  auto [a, b] = with_common_batch("triangular_solve", A, self);
  Tensor copy = trine::transpose(trine::clone(trine::transpose(a, -2, -1), MemoryFormat::Contiguous), -2, -1);
  return {trine::linalg_solve_triangular(transpose ? trine::transpose(copy, -2, -1) : copy, b, upper != transpose, true, unitriangular), copy};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(const Tensor& A, const Tensor& B, std::optional<double> rcond, std::optional<std::string_view> driver) {
  const char* op = "linalg.lstsq";
  TRINE_CHECK(A.dim() >= 2, op, ": input must have at least 2 dimensions.");
  TRINE_CHECK(B.dim() >= 1, op, ": other must have at least 1 dimension.");
  rules::check_solvable(op, A);
  rules::check_same_dtype(op, A, B);
  const int64_t difference = A.dim() - B.dim();
  TRINE_CHECK(difference == 0 || difference == 1, op, ": input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1");
  const bool vector = is_vector(A, B);
  const Tensor matrix = vector ? trine::unsqueeze(B, -1) : B;
  TRINE_CHECK(matrix.dim() >= 2 && A.size(-2) == matrix.size(-2), op, ": input.size(-2) should match other.size(", vector ? -1 : -2, ")");
  const std::string_view chosen = driver.value_or("gelsy");
  TRINE_CHECK(chosen == "gels" || chosen == "gelsy" || chosen == "gelsd" || chosen == "gelss", op, ": parameter `driver` should be one of (gels, gelsy, gelsd, gelss)");
  auto [a, b] = with_common_batch(op, A, matrix);
  const double eps = to_real(A.dtype()) == DType::Float ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  auto [X, residuals, rank, singular] = trine::_linalg_lstsq(a, b, rcond.value_or(eps * static_cast<double>(std::max(A.size(-2), A.size(-1)))), chosen);
  return {vector ? trine::squeeze(X, Dims{-1}) : X, residuals, rank, trine::detach(singular)};
}

// ---- LDL ---------------------------------------------------------------------------------------------------------------

std::tuple<Tensor, Tensor, Tensor> ldl_factor_ex(const char* op, const Tensor& A, bool hermitian, bool check_errors) {
  auto result = trine::_linalg_ldl(A, hermitian);
  if (check_errors) check_info(op, std::get<2>(result), Failure::SingularLdl);
  return result;
}

std::tuple<Tensor, Tensor> linalg_ldl_factor(const Tensor& A, bool hermitian) {
  auto [LD, pivots, info] = ldl_factor_ex("linalg.ldl_factor", A, hermitian, true);
  return {LD, pivots};
}

Tensor linalg_ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool hermitian) {
  const char* op = "linalg.ldl_solve";
  rules::check_square(op, LD, "LD");
  rules::check_solvable(op, LD);
  TRINE_CHECK(B.dim() >= 2, op, ": Expected B to have at least 2 dimensions, but it has ", B.dim(), " dimensions instead");
  TRINE_CHECK(equal(pivots.sizes(), LD.sizes().first(LD.sizes().size() - 1)), op, ": Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape ", pivots.sizes(), " instead");
  check_equation(op, LD, B, true);
  auto [factors, b] = with_common_batch(op, LD, B);
  return trine::_linalg_ldl_solve(factors, trine::expand(pivots, factors.sizes().first(factors.sizes().size() - 1)), b, hermitian);
}

// ---- determinants -------------------------------------------------------------------------------------------------------

std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& A) {
  auto [sign, logabsdet, LU, pivots] = trine::_linalg_slogdet(A);
  return {sign, logabsdet};
}

Tensor logdet(const Tensor& self) {
  rules::check_square("logdet", self);
  rules::check_solvable("logdet", self);
  auto [sign, logabsdet] = trine::linalg_slogdet(self);
  if (self.is_complex()) return trine::log(sign) + logabsdet;
  return trine::where(sign == Scalar(-1), trine::full_like(logabsdet, Scalar(std::numeric_limits<double>::quiet_NaN())), logabsdet);
}

}  // namespace trine::composite
