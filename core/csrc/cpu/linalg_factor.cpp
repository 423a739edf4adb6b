// Factorisations by elimination (Cholesky, LU, LDL) and what follows from them: solutions, inverses, determinants.
#include "cpu/for_groups.h"
#include "cpu/lu.h"
#include "trine/kernels.h"

namespace trine::cpu {

TRINE_ISA_TABLE(matrix_groups_float);
TRINE_ISA_TABLE(matrix_groups_double);
template <> const MatrixGroups<float>& matrix_groups<float>() { return *matrix_groups_float(); }
template <> const MatrixGroups<double>& matrix_groups<double>() { return *matrix_groups_double(); }

namespace {

constexpr int64_t kGroupedColumns = 64;  // of right sides that are eliminated together with a group of matrices

double cube(int n) { return double(n) * n * n; }

int count_exchanges(const int* pivots, int n) {
  int exchanges = 0;
  for (int i = 0; i < n; ++i) exchanges += pivots[i] != i + 1;
  return exchanges;
}

// LU in place.
template <class T> void factor(T* a, int m, int n, int* pivots, int* info) {
  const int lda = std::max(1, m);
  if (m <= kSmallMatrix && n <= kSmallMatrix) *info = lu_small(a, m, n, pivots);
  else if constexpr (is_complex_type<T>) TRINE_LAPACK(T, getrf)(&m, &n, a, &lda, pivots, info);
  else *info = lu_factor(a, m, n, lda, pivots);
}

template <class T> void solve_factored(char trans, const T* lu, int n, const int* pivots, T* b, int k) {
  if (trans == 'N' && n <= kSmallMatrix) return solve_small(lu, n, pivots, b, k);
  if constexpr (!is_complex_type<T>)
    if (trans == 'N') return lu_solve(lu, n, pivots, b, k);
  const int ld = std::max(1, n);
  int info = 0;
  TRINE_LAPACK(T, getrs)(&trans, &n, &k, lu, &ld, pivots, b, &ld, &info, 1);
}

// Factors and, with `x`, solutions of small matrices in groups; B is the identity where it is not defined.
template <class T> void solve_groups(const Tensor& A, const Tensor& B, int64_t k, T* lu, int* pivots, int* info, T* x) {
  const int n = static_cast<int>(A.size(-1));
  const GroupMatrices a(A);
  const std::optional<GroupMatrices> b = B.defined() ? std::optional(GroupMatrices(B)) : std::nullopt;
  const LuGroups<T> job{n, static_cast<int>(k), a.input<T>(), b ? b->input<T>() : GroupInput<T>{}, lu, x, pivots, info};
  for_groups(matrix_groups<T>().lu, job, A.numel() / (n * n), cube(n) + 2.0 * n * n * static_cast<double>(k), 2 * n * (n + k));
}

// Calls f(i, LU matrix, pivots, exchanges, info) after each factorisation of A into LU and pivots; `x`, where given, takes the solutions of
// A X = B from small matrices (in_groups).
template <class F> void factor_each(const char* op, const Columns& lu, const DenseOutput& pivots, const Tensor& A, F&& f, const Tensor& B = {}, const Columns* x = nullptr) {
  const int m = lu.rows(), n = lu.cols(), k = std::min(m, n);
  TRINE_DISPATCH_FLOAT_COMPLEX(A.dtype(), op, {
    if constexpr (!is_complex_type<scalar_t>)
      if (m == n && in_groups(A)) {
        Scratch<int> failed(lu.batch());
        solve_groups(A, B, x ? x->cols() : 0, lu.matrix<scalar_t>(0), pivots.data<int>(), failed.data(), x ? x->matrix<scalar_t>(0) : nullptr);
        for (int64_t i = 0; i < lu.batch(); ++i) {
          int* p = pivots.data<int>() + i * k;
          f(i, lu.matrix<scalar_t>(i), p, count_exchanges(p, k), failed[i]);
        }
        return;
      }
    lu.fill(A);
    for_matrices(lu.batch(), cube(n), [&](int64_t i) {
      int failed = 0;
      int* p = pivots.data<int>() + i * k;
      factor(lu.matrix<scalar_t>(i), m, n, p, &failed);
      f(i, lu.matrix<scalar_t>(i), p, count_exchanges(p, k), failed);
    });
  });
}

}  // namespace

void linalg_cholesky(Tensor& L, Tensor& info, const Tensor& A, bool upper) {
  Columns out(L);
  DenseOutput failed(info);
  trine::fill_(failed.tensor(), Scalar(0));
  const int n = out.rows();
  const char uplo = upper ? 'U' : 'L';
  TRINE_DISPATCH_FLOAT_COMPLEX(A.dtype(), "linalg.cholesky", {
    if constexpr (!is_complex_type<scalar_t>)
      if (in_groups(A)) {
        const GroupMatrices a(A);
        const CholeskyGroups<scalar_t> job{n, a.input<scalar_t>(), upper, out.matrix<scalar_t>(0), failed.data<int>()};
        for_groups(matrix_groups<scalar_t>().cholesky, job, out.batch(), cube(n) / 3, 2 * n * n);
        out.finish();
        failed.finish();
        return;
      }
    out.fill(A);
    for_matrices(out.batch(), cube(n), [&](int64_t i) {
      scalar_t* a = out.matrix<scalar_t>(i);
      TRINE_LAPACK(scalar_t, potrf)(&uplo, &n, a, &n, failed.data<int>() + i, 1);
      clear_triangle(a, n, n, upper);
    });
  });
  out.finish();
  failed.finish();
}

void linalg_lu(Tensor& LU, Tensor& pivots, Tensor& info, const Tensor& A, bool) {
  Columns out(LU);
  DenseOutput rows(pivots), failed(info);
  trine::fill_(failed.tensor(), Scalar(0));
  factor_each("linalg.lu_factor", out, rows, A, [&](int64_t i, auto*, int*, int, int error) { failed.data<int>()[i] = error; });
  out.finish();
  rows.finish();
  failed.finish();
}

void linalg_inv(Tensor& inverse, Tensor& info, const Tensor& A) {
  Columns out(inverse);
  DenseOutput failed(info);
  trine::fill_(failed.tensor(), Scalar(0));
  const int n = out.rows();
  TRINE_DISPATCH_FLOAT_COMPLEX(A.dtype(), "linalg.inv", {
    if constexpr (!is_complex_type<scalar_t>)
      if (in_groups(A)) {
        solve_groups<scalar_t>(A, Tensor(), n, nullptr, nullptr, failed.data<int>(), out.matrix<scalar_t>(0));
        out.finish();
        failed.finish();
        return;
      }
    const Columns factors = Columns::copy(A);
    for_matrices(out.batch(), 2 * cube(n), [&](int64_t i) {
      Scratch<int> pivots(n);
      const scalar_t* lu = factors.matrix<scalar_t>(i);
      factor(factors.matrix<scalar_t>(i), n, n, pivots.data(), failed.data<int>() + i);
      scalar_t* matrix = out.matrix<scalar_t>(i);
      std::fill(matrix, matrix + int64_t{n} * n, scalar_t(0));
      for (int64_t j = 0; j < n; ++j) matrix[j * n + j] = scalar_t(1);
      if (failed.data<int>()[i] == 0) solve_factored('N', lu, n, pivots.data(), matrix, n);
    });
  });
  out.finish();
  failed.finish();
}

// X of A X = B, or with right of X A = B: then the transposes are solved, whose columns are B's rows.
void linalg_solve_matrix(Tensor& X, Tensor& LU, Tensor& pivots, Tensor& info, const Tensor& A, const Tensor& B, bool left) {
  Columns factors(LU);
  std::optional<Columns> columns;
  std::optional<DenseOutput> transposed;
  const bool together = left && in_groups(A) && B.size(-1) >= 1 && B.size(-1) <= kGroupedColumns;
  if (left) {
    columns.emplace(X);
    if (!together) columns->fill(B);
  } else {
    transposed.emplace(X);
    if (!transposed->tensor().is_same(B)) convert_copy(transposed->tensor(), B);
  }
  DenseOutput rows(pivots), failed(info);
  trine::fill_(failed.tensor(), Scalar(0));
  const int n = factors.rows(), k = static_cast<int>(rules::checked_extent(B.size(left ? -1 : -2)));
  factor_each("linalg.solve", factors, rows, A, [&]<class T>(int64_t i, const T* lu, const int* p, int, int error) {
    failed.data<int>()[i] = error;
    if (error == 0 && k > 0 && !together) solve_factored(left ? 'N' : 'T', lu, n, p, left ? columns->matrix<T>(i) : transposed->data<T>() + i * n * k, k);
  }, B, together ? &*columns : nullptr);
  if (left) columns->finish();
  else transposed->finish();
  factors.finish();
  rows.finish();
  failed.finish();
}

void linalg_lu_solve_matrix(Tensor& X, const Tensor& LU, const Tensor& pivots, const Tensor& B, bool adjoint) {
  Columns solution(X), factors = Columns::copy(LU);
  Tensor rows = plain(pivots);
  solution.fill(B);
  const int n = factors.rows(), k = solution.cols();
  TRINE_DISPATCH_FLOAT_COMPLEX(LU.dtype(), "linalg.lu_solve", {
    for_matrices(solution.batch(), double(n) * n * k, [&](int64_t i) {
      solve_factored(adjoint ? 'C' : 'N', factors.matrix<scalar_t>(i), n, rows.data<int>() + i * n, solution.matrix<scalar_t>(i), k);
    });
  });
  solution.finish();
}

void linalg_det_lu(Tensor& result, Tensor& LU, Tensor& pivots, const Tensor& A) {
  Columns factors(LU);
  DenseOutput det(result), rows(pivots);
  trine::fill_(det.tensor(), Scalar(1));
  const int n = factors.rows();
  factor_each("linalg.det", factors, rows, A, [&]<class T>(int64_t i, const T* lu, const int*, int exchanges, int) {
    T product = T(exchanges % 2 ? -1 : 1);
    for (int64_t j = 0; j < n; ++j) product *= lu[j * n + j];
    det.data<T>()[i] = product;
  });
  det.finish();
  factors.finish();
  rows.finish();
}

void linalg_slogdet_lu(Tensor& sign, Tensor& logabsdet, Tensor& LU, Tensor& pivots, const Tensor& A) {
  Columns factors(LU);
  DenseOutput signs(sign), logs(logabsdet), rows(pivots);
  trine::fill_(signs.tensor(), Scalar(1));
  trine::fill_(logs.tensor(), Scalar(0));
  const int n = factors.rows();
  factor_each("linalg.slogdet", factors, rows, A, [&]<class T>(int64_t i, const T* lu, const int*, int exchanges, int) {
    using R = typename real_of<T>::type;
    T s = T(exchanges % 2 ? -1 : 1);
    R log = 0;
    for (int64_t j = 0; j < n; ++j) {
      const T d = lu[j * n + j];
      const R size = std::abs(d);
      s = size == 0 ? T(0) : s * (d / size);
      log += std::log(size);
    }
    signs.data<T>()[i] = s;
    logs.data<R>()[i] = log;
  });
  signs.finish();
  logs.finish();
  factors.finish();
  rows.finish();
}

// A is read in whatever of the two orders it lies.
void linalg_triangular_matrix(Tensor& X, const Tensor& A, const Tensor& B, bool upper, bool left, bool unitriangular) {
  Columns solution(X);
  solution.fill(B);
  const bool rows_first = A.is_contiguous();
  Tensor a = rows_first ? A : Columns::copy(A).tensor();
  const int m = solution.rows(), n = solution.cols(), lda = std::max(1, left ? m : n);
  const char side = left ? 'L' : 'R', uplo = upper != rows_first ? 'U' : 'L', trans = rows_first ? 'T' : 'N', diag = unitriangular ? 'U' : 'N';
  TRINE_DISPATCH_FLOAT_COMPLEX(A.dtype(), "linalg.solve_triangular", {
    const scalar_t one(1);
    for_matrices(solution.batch(), double(m) * n * lda, [&](int64_t i) {
      TRINE_LAPACK(scalar_t, trsm)(&side, &uplo, &trans, &diag, &m, &n, &one, a.data<scalar_t>() + i * lda * lda, &lda, solution.matrix<scalar_t>(i), &m, 1, 1, 1, 1);
    });
  });
  solution.finish();
}

void linalg_ldl(Tensor& LD, Tensor& pivots, Tensor& info, const Tensor& A, bool hermitian) {
  Columns out(LD);
  DenseOutput rows(pivots), failed(info);
  trine::fill_(failed.tensor(), Scalar(0));
  out.fill(A);
  const int n = out.rows();
  const char uplo = 'L';
  TRINE_DISPATCH_FLOAT_COMPLEX(A.dtype(), "linalg.ldl_factor_ex", {
    auto routine = TRINE_LAPACK(scalar_t, sytrf);
    if constexpr (is_complex_type<scalar_t>)
      if (hermitian) routine = TRINE_LAPACK2(scalar_t, sytrf, hetrf);
    int lwork = -1, unused = 0;
    scalar_t answer{};
    if (n > 0) routine(&uplo, &n, nullptr, &n, nullptr, &answer, &lwork, &unused, 1);
    lwork = workspace_size(answer);
    for_matrices(out.batch(), cube(n), [&](int64_t i) {
      Scratch<scalar_t> work(lwork);
      scalar_t* a = out.matrix<scalar_t>(i);
      routine(&uplo, &n, a, &n, rows.data<int>() + i * n, work.data(), &lwork, failed.data<int>() + i, 1);
      clear_triangle(a, n, n, false);
    });
  });
  out.finish();
  rows.finish();
  failed.finish();
}

void linalg_ldl_solve_matrix(Tensor& X, const Tensor& LD, const Tensor& pivots, const Tensor& B, bool hermitian) {
  Columns solution(X), factors = Columns::copy(LD);
  Tensor rows = plain(pivots);
  solution.fill(B);
  const int n = factors.rows(), k = solution.cols();
  const char uplo = 'L';
  TRINE_DISPATCH_FLOAT_COMPLEX(LD.dtype(), "linalg.ldl_solve", {
    auto routine = TRINE_LAPACK(scalar_t, sytrs);
    if constexpr (is_complex_type<scalar_t>)
      if (hermitian) routine = TRINE_LAPACK2(scalar_t, sytrs, hetrs);
    for_matrices(solution.batch(), double(n) * n * k, [&](int64_t i) {
      int info = 0;
      routine(&uplo, &n, &k, factors.matrix<scalar_t>(i), &n, rows.data<int>() + i * n, solution.matrix<scalar_t>(i), &n, &info, 1);
    });
  });
  solution.finish();
}

// The permutation that the row exchanges of an LU factorisation make: row i of A came from row result[i].
void pivots_to_permutation(Tensor& permutation, const Tensor& pivots, int64_t m) {
  DenseOutput out(permutation);
  Tensor rows = plain(pivots);
  const int64_t k = pivots.size(-1), batch = m > 0 ? permutation.numel() / m : 0;
  for (int64_t i = 0; i < batch; ++i) {
    int64_t* p = out.data<int64_t>() + i * m;
    for (int64_t j = 0; j < m; ++j) p[j] = j;
    for (int64_t j = 0; j < k; ++j) {
      const int64_t other = rows.data<int>()[i * k + j] - 1;
      TRINE_CHECK(other >= 0 && other < m, "lu_unpack: pivots must be between 1 and ", m, ", got ", other + 1);
      std::swap(p[j], p[other]);
    }
  }
  out.finish();
}

}  // namespace trine::cpu
