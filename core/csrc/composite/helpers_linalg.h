// Linear algebra that several table entries call with different arguments.
#pragma once
#include "trine/ops.h"

namespace trine::composite {

enum class Failure { NotPositiveDefinite, SingularInverse, SingularSolve, SingularFactor, SingularLdl };
// Throws LinAlgError (RuntimeError for factors that can still be used) for the first matrix whose `info` is not 0.
void check_info(const char* op, const Tensor& info, Failure failure);

Tensor cholesky_of(const char* op, const Tensor& A, bool upper);
Tensor inverse_of(const Tensor& A);
std::tuple<Tensor, Tensor> cholesky_ex(const Tensor& A, bool upper, bool check_errors);
std::tuple<Tensor, Tensor> inv_ex(const Tensor& A, bool check_errors);
std::tuple<Tensor, Tensor, Tensor> lu_factor_ex(const char* op, const Tensor& A, bool pivot, bool check_errors);
std::tuple<Tensor, Tensor, Tensor> ldl_factor_ex(const char* op, const Tensor& A, bool hermitian, bool check_errors);
std::tuple<Tensor, Tensor> solve_ex(const Tensor& A, const Tensor& B, bool left, bool check_errors);
std::tuple<Tensor, Tensor> eigh_of(const Tensor& A, std::string_view uplo);
std::tuple<Tensor, Tensor, Tensor> svd_of(const Tensor& A, bool some, bool compute_uv);

// ord: a number, one of 'fro' and 'nuc', or (norms alone) nothing.
Tensor matrix_norm_number(const Tensor& A, const Scalar& ord, DimsRef dim, bool keepdim, DType dtype);
Tensor matrix_norm_name(const Tensor& A, std::string_view ord, DimsRef dim, bool keepdim, DType dtype);
Tensor norm_number(const Tensor& A, const std::optional<Scalar>& ord, std::optional<DimsRef> dim, bool keepdim, DType dtype);
Tensor norm_name(const Tensor& A, std::string_view ord, std::optional<DimsRef> dim, bool keepdim, DType dtype);
Tensor cond_number(const Tensor& A, const std::optional<Scalar>& p);
Tensor cond_name(const Tensor& A, std::string_view p);

// Singular values at most max(atol, rtol * the largest) count as zeros. Undefined: 0 for atol, and for rtol max(m, n) * eps unless atol is given.
Tensor pinv_of(const Tensor& A, const Tensor& atol, const Tensor& rtol, bool hermitian);
Tensor matrix_rank_of(const Tensor& A, const Tensor& atol, const Tensor& rtol, bool hermitian);
Tensor vander_batched(const Tensor& x, std::optional<int64_t> N);
Tensor tolerance(const std::optional<double>& value, const Tensor& A);

}  // namespace trine::composite
