// Shapes of solvers and decompositions. Matrices of the results lie in column-major order, as LAPACK leaves them.
#pragma once
#include "dispatch/structured.h"

namespace trine::rules {

inline Dims column_major(DimsRef sizes) {
  Dims strides(sizes.size(), 1);
  const size_t d = sizes.size();
  int64_t step = 1;
  strides[d - 2] = step;
  strides[d - 1] = step *= std::max<int64_t>(1, sizes[d - 2]);
  step *= std::max<int64_t>(1, sizes[d - 1]);
  for (size_t i = d - 2; i-- > 0;) {
    strides[i] = step;
    step *= std::max<int64_t>(1, sizes[i]);
  }
  return strides;
}
inline int64_t checked_extent(int64_t n) {
  TRINE_CHECK(n <= INT32_MAX, "linalg: a matrix with ", n, " rows or columns is too large for LAPACK's 32-bit sizes");
  return n;
}

inline DimsRef batch_sizes(const Tensor& A) { return A.sizes().first(A.sizes().size() - 2); }
// [batch of A..., extents...]
inline Dims batched(const Tensor& A, std::initializer_list<int64_t> extents) {
  Dims sizes(batch_sizes(A));
  for (int64_t e : extents) sizes.push_back(e);
  return sizes;
}
inline TensorSpec matrices(const Tensor& A, int64_t rows, int64_t cols, DType dtype) {
  TensorSpec spec(batched(A, {rows, cols}), dtype);
  spec.strides = column_major(spec.sizes);
  return spec;
}
inline TensorSpec matrices_like(const Tensor& A) { return matrices(A, A.size(-2), A.size(-1), A.dtype()); }
inline TensorSpec per_matrix(const Tensor& A, DType dtype) { return TensorSpec(batched(A, {}), dtype); }
inline TensorSpec nothing(DType dtype) { return TensorSpec(Dims{0}, dtype); }

inline void check_matrix(const char* op, const Tensor& A, const char* argument = "A") {
  TRINE_CHECK(A.dim() >= 2, op, ": The input tensor ", argument, " must have at least 2 dimensions.");
}
inline void check_square(const char* op, const Tensor& A, const char* argument = "A") {
  check_matrix(op, A, argument);
  TRINE_CHECK(A.size(-1) == A.size(-2), op, ": ", argument, " must be batches of square matrices, but they are ", A.size(-2), " by ", A.size(-1), " matrices");
}
// Solvers take float32, float64 and their complex kinds.
inline void check_solvable(const char* op, const Tensor& A) {
  TRINE_CHECK(is_floating(A.dtype()) || A.is_complex(), op, ": Expected a floating point or complex tensor as input. Got ", legacy_name(A.dtype()));
  TRINE_CHECK_IMPLEMENTED(A.dtype() != DType::Half && A.dtype() != DType::BFloat16, op, ": Low precision dtypes not supported. Got ", legacy_name(A.dtype()));
}
inline void check_same_dtype(const char* op, const Tensor& A, const Tensor& B) {
  TRINE_CHECK(A.dtype() == B.dtype(), op, ": Expected A and B to have the same dtype, but found A of type ", legacy_name(A.dtype()), " and B of type ", legacy_name(B.dtype()), " instead");
}

inline std::array<TensorSpec, 2> cholesky_spec(const Tensor& A) {
  check_square("linalg.cholesky", A);
  check_solvable("linalg.cholesky", A);
  return {matrices_like(A), per_matrix(A, DType::Int32)};
}

inline std::array<TensorSpec, 3> lu_spec(const char* op, const Tensor& A, bool pivot) {
  check_matrix(op, A);
  check_solvable(op, A);
  TRINE_CHECK(pivot, op, ": LU without pivoting is not implemented on the CPU");
  return {matrices_like(A), TensorSpec(batched(A, {std::min(A.size(-2), A.size(-1))}), DType::Int32), per_matrix(A, DType::Int32)};
}

inline TensorSpec permutation_spec(const Tensor& pivots, int64_t m) {
  TRINE_CHECK(pivots.dim() >= 1 && pivots.dtype() == DType::Int32, "lu_unpack: LU_pivots must be an int32 tensor of one or more dimensions, got ", legacy_name(pivots.dtype()), " of shape ", pivots.sizes());
  Dims sizes(pivots.sizes());
  sizes.back() = m;
  return TensorSpec(sizes, DType::Int64);
}

inline std::array<TensorSpec, 2> inv_spec(const Tensor& A) {
  check_square("linalg.inv", A);
  check_solvable("linalg.inv", A);
  return {matrices_like(A), per_matrix(A, DType::Int32)};
}

// B [batch..., n, k] with left, [batch..., k, n] without; the composite has broadcast the batches.
inline std::array<TensorSpec, 4> solve_spec(const Tensor& A, const Tensor& B, bool left) {
  check_same_dtype("linalg.solve", A, B);
  const auto lu = lu_spec("linalg.solve", A, true);
  return {left ? matrices_like(B) : TensorSpec(B.sizes(), B.dtype()), lu[0], lu[1], lu[2]};
}

inline TensorSpec lu_solve_spec(const Tensor& LU, const Tensor& pivots, const Tensor& B) {
  check_same_dtype("linalg.lu_solve", LU, B);
  TRINE_CHECK(pivots.dtype() == DType::Int32, "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32");
  return matrices_like(B);
}

inline std::array<TensorSpec, 3> det_spec(const Tensor& A) {
  check_square("linalg.det", A);
  check_solvable("linalg.det", A);
  const auto lu = lu_spec("linalg.det", A, true);
  return {per_matrix(A, A.dtype()), lu[0], lu[1]};
}
inline std::array<TensorSpec, 4> slogdet_spec(const Tensor& A) {
  check_square("linalg.slogdet", A);
  check_solvable("linalg.slogdet", A);
  const auto lu = lu_spec("linalg.slogdet", A, true);
  return {per_matrix(A, A.dtype()), per_matrix(A, to_real(A.dtype())), lu[0], lu[1]};
}

inline TensorSpec triangular_spec(const Tensor& A, const Tensor& B) {
  check_same_dtype("linalg.solve_triangular", A, B);
  check_solvable("linalg.solve_triangular", A);
  return matrices_like(B);
}

inline std::array<TensorSpec, 2> qr_spec(const Tensor& A, std::string_view mode) {
  check_matrix("linalg.qr", A);
  check_solvable("linalg.qr", A);
  TRINE_CHECK(mode == "reduced" || mode == "complete" || mode == "r", "linalg.qr: qr received unrecognized mode '", mode, "' but expected one of 'reduced' (default), 'r', or 'complete'");
  const int64_t m = A.size(-2), n = A.size(-1), k = mode == "complete" ? m : std::min(m, n);
  return {mode == "r" ? nothing(A.dtype()) : matrices(A, m, k, A.dtype()), matrices(A, k, n, A.dtype())};
}
inline std::array<TensorSpec, 2> geqrf_spec(const Tensor& A) {
  check_matrix("geqrf", A, "input");
  check_solvable("geqrf", A);
  return {matrices_like(A), TensorSpec(batched(A, {std::min(A.size(-2), A.size(-1))}), A.dtype())};
}
inline TensorSpec householder_spec(const Tensor& A, const Tensor& tau) {
  const char* op = "linalg.householder_product";
  TRINE_CHECK(A.dim() >= 2, op, ": input must have at least 2 dimensions.");
  TRINE_CHECK(A.size(-2) >= A.size(-1), op, ": input.shape[-2] must be greater than or equal to input.shape[-1]");
  TRINE_CHECK(A.dim() - tau.dim() == 1, op, ": Expected tau to have one dimension less than input, but got tau.ndim equal to ", tau.dim(), " and input.ndim is equal to ", A.dim());
  TRINE_CHECK(A.size(-1) >= tau.size(-1), op, ": input.shape[-1] must be greater than or equal to tau.shape[-1]");
  TRINE_CHECK(equal(batch_sizes(A), tau.sizes().first(tau.sizes().size() - 1)), op, ": Expected batch dimensions of tau to be equal to input.shape[:-2], but got ", tau.sizes());
  TRINE_CHECK(A.dtype() == tau.dtype(), op, ": tau dtype ", legacy_name(tau.dtype()), " does not match input dtype ", legacy_name(A.dtype()));
  check_solvable(op, A);
  return matrices_like(A);
}
inline TensorSpec ormqr_spec(const Tensor& A, const Tensor& tau, const Tensor& other, bool left) {
  const char* op = "ormqr";
  TRINE_CHECK(A.dim() >= 2 && other.dim() >= 2, op, ": input and other must have at least 2 dimensions.");
  TRINE_CHECK(other.size(left ? -2 : -1) >= tau.size(-1), op, ": other.shape[", left ? -2 : -1, "] must be greater than or equal to tau.shape[-1]");
  TRINE_CHECK(other.size(left ? -2 : -1) == A.size(-2), op, ": other.shape[", left ? -2 : -1, "] must be equal to input.shape[-2]");
  TRINE_CHECK(tau.size(-1) <= A.size(-1), op, ": tau.shape[-1] must be less than or equal to input.shape[-1]");
  TRINE_CHECK(A.dim() - tau.dim() == 1 && A.dim() == other.dim(), op, ": Expected tau to have one dimension less than input and other as many, but got shapes ", A.sizes(), ", ", tau.sizes(), " and ",
              other.sizes());
  TRINE_CHECK(equal(batch_sizes(A), tau.sizes().first(tau.sizes().size() - 1)) && equal(batch_sizes(A), batch_sizes(other)), op,
              ": Expected batch dimensions of tau and other to be equal to input.shape[:-2], but got ", tau.sizes(), " and ", other.sizes());
  TRINE_CHECK(A.dtype() == tau.dtype() && A.dtype() == other.dtype(), op, ": input, tau and other must have one dtype, got ", name(A.dtype()), ", ", name(tau.dtype()), " and ", name(other.dtype()));
  check_solvable(op, A);
  return matrices_like(other);
}

inline std::array<TensorSpec, 2> eigh_spec(const Tensor& A, std::string_view uplo, bool vectors) {
  check_square("linalg.eigh", A);
  check_solvable("linalg.eigh", A);
  TRINE_CHECK(uplo == "L" || uplo == "U" || uplo == "l" || uplo == "u", "linalg.eigh: Expected UPLO argument to be 'L' or 'U', but got ", uplo);
  return {TensorSpec(batched(A, {A.size(-1)}), to_real(A.dtype())), vectors ? matrices_like(A) : nothing(A.dtype())};
}
inline std::array<TensorSpec, 2> eig_spec(const Tensor& A, bool vectors) {
  const char* op = vectors ? "linalg.eig" : "linalg.eigvals";
  check_square(op, A);
  check_solvable(op, A);
  const DType t = to_complex(A.dtype());
  return {TensorSpec(batched(A, {A.size(-1)}), t), vectors ? matrices(A, A.size(-1), A.size(-1), t) : nothing(t)};
}
inline std::array<TensorSpec, 3> svd_spec(const Tensor& A, bool full, bool vectors, const std::optional<std::string_view>& driver) {
  check_matrix("linalg.svd", A);
  check_solvable("linalg.svd", A);
  TRINE_CHECK(!driver, "linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.");
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  TensorSpec S(batched(A, {k}), to_real(A.dtype()));
  if (!vectors) return {nothing(A.dtype()), S, nothing(A.dtype())};
  return {matrices(A, m, full ? m : k, A.dtype()), S, matrices(A, full ? n : k, n, A.dtype())};
}

inline std::array<TensorSpec, 3> ldl_spec(const Tensor& A) {
  check_square("linalg.ldl_factor_ex", A);
  check_solvable("linalg.ldl_factor_ex", A);
  return {matrices_like(A), TensorSpec(batched(A, {A.size(-1)}), DType::Int32), per_matrix(A, DType::Int32)};
}
inline TensorSpec ldl_solve_spec(const Tensor& LD, const Tensor& pivots, const Tensor& B) {
  const char* op = "linalg.ldl_solve";
  check_same_dtype(op, LD, B);
  TRINE_CHECK(pivots.dtype() == DType::Int32, op, ": Expected pivots to be integers. Got ", legacy_name(pivots.dtype()));
  return matrices_like(B);
}

}  // namespace trine::rules
