// Decompositions by orthogonal transformations: QR and products of Householder reflections, and least squares.
#include "cpu/for_groups.h"
#include "trine/kernels.h"

namespace trine::cpu {
namespace {

double flops(int m, int n) { return double(m) * n * std::min(m, n); }

template <class T> int qr_workspace(int m, int n) {
  int lwork = -1, info = 0;
  const int lda = std::max(1, m);
  T answer{};
  TRINE_LAPACK(T, geqrf)(&m, &n, nullptr, &lda, nullptr, &answer, &lwork, &info);
  return workspace_size(answer);
}
template <class T> void householder_qr(T* a, int m, int n, T* tau, T* work, int lwork) {
  int info = 0;
  const int lda = std::max(1, m);
  TRINE_LAPACK(T, geqrf)(&m, &n, a, &lda, tau, work, &lwork, &info);
}

template <class T> int product_workspace(int m, int n, int k) {
  int lwork = -1, info = 0;
  const int lda = std::max(1, m);
  T answer{};
  TRINE_LAPACK2(T, orgqr, ungqr)(&m, &n, &k, nullptr, &lda, nullptr, &answer, &lwork, &info);
  return workspace_size(answer);
}
// The first n columns of the product of k reflections, in the place of the reflections.
template <class T> void householder_columns(T* a, int m, int n, int k, const T* tau, T* work, int lwork) {
  int info = 0;
  const int lda = std::max(1, m);
  TRINE_LAPACK2(T, orgqr, ungqr)(&m, &n, &k, a, &lda, tau, work, &lwork, &info);
}

}  // namespace

void linalg_qr(Tensor& Q, Tensor& R, const Tensor& A, std::string_view mode) {
  const bool only_r = mode == "r";
  const int m = static_cast<int>(rules::checked_extent(A.size(-2))), n = static_cast<int>(rules::checked_extent(A.size(-1))), k = std::min(m, n);
  Columns r(R);
  std::optional<Columns> q;
  if (!only_r) {
    q.emplace(Q);
    if (n == 0 && m > 0) q->fill(eye(m, q->cols(), A.dtype(), A.device()));
  }
  TRINE_DISPATCH_FLOAT_COMPLEX(A.dtype(), "linalg.qr", {
    const int columns = only_r ? 0 : q->cols(), used = std::min(k, columns);
    if constexpr (!is_complex_type<scalar_t>)
      if (in_groups(A)) {
        const GroupMatrices a(A);
        const QrGroups<scalar_t> job{m, n, columns, a.input<scalar_t>(), q ? q->matrix<scalar_t>(0) : nullptr, r.matrix<scalar_t>(0)};
        for_groups(matrix_groups<scalar_t>().qr, job, r.batch(), 4 * flops(m, n), 2 * m * (n + columns));
        r.finish();
        if (q) q->finish();
        return;
      }
    const Columns work = Columns::copy(A);
    const int lwork = k > 0 ? std::max(qr_workspace<scalar_t>(m, n), only_r ? 1 : product_workspace<scalar_t>(m, columns, used)) : 1;
    for_matrices(work.batch(), 2 * flops(m, n), [&](int64_t i) {
      Scratch<scalar_t> space(lwork), tau(k);
      scalar_t* a = work.matrix<scalar_t>(i);
      householder_qr(a, m, n, tau.data(), space.data(), lwork);
      scalar_t* upper = r.matrix<scalar_t>(i);
      for (int64_t j = 0; j < n; ++j)
        for (int64_t row = 0; row < r.rows(); ++row) upper[j * r.rows() + row] = row <= j ? a[j * m + row] : scalar_t(0);
      if (only_r) return;
      scalar_t* basis = q->matrix<scalar_t>(i);
      std::copy(a, a + int64_t{m} * std::min(n, columns), basis);
      householder_columns(basis, m, columns, used, tau.data(), space.data(), lwork);
    });
  });
  r.finish();
  if (q) q->finish();
}

void geqrf(Tensor& a, Tensor& tau, const Tensor& A) {
  Columns out(a);
  DenseOutput factors(tau);
  out.fill(A);
  const int m = out.rows(), n = out.cols(), k = std::min(m, n);
  TRINE_DISPATCH_FLOAT_COMPLEX(A.dtype(), "geqrf", {
    const int lwork = k > 0 ? qr_workspace<scalar_t>(m, n) : 1;
    for_matrices(out.batch(), flops(m, n), [&](int64_t i) {
      Scratch<scalar_t> space(lwork);
      householder_qr(out.matrix<scalar_t>(i), m, n, factors.data<scalar_t>() + i * k, space.data(), lwork);
    });
  });
  out.finish();
  factors.finish();
}

void householder_product(Tensor& Q, const Tensor& A, const Tensor& tau) {
  Columns out(Q);
  Tensor factors = plain(tau);
  out.fill(A);
  const int m = out.rows(), n = out.cols(), k = static_cast<int>(tau.size(-1));
  TRINE_DISPATCH_FLOAT_COMPLEX(A.dtype(), "linalg.householder_product", {
    const int lwork = n > 0 ? product_workspace<scalar_t>(m, n, k) : 1;
    for_matrices(out.batch(), flops(m, n), [&](int64_t i) {
      Scratch<scalar_t> space(lwork);
      householder_columns(out.matrix<scalar_t>(i), m, n, k, factors.data<scalar_t>() + i * k, space.data(), lwork);
    });
  });
  out.finish();
}

void ormqr(Tensor& out, const Tensor& A, const Tensor& tau, const Tensor& other, bool left, bool transpose) {
  Columns result(out), reflections = Columns::copy(A);
  Tensor factors = plain(tau);
  result.fill(other);
  const int m = result.rows(), n = result.cols(), k = static_cast<int>(tau.size(-1)), lda = reflections.leading();
  const char side = left ? 'L' : 'R';
  TRINE_DISPATCH_FLOAT_COMPLEX(A.dtype(), "ormqr", {
    const char trans = !transpose ? 'N' : is_complex_type<scalar_t> ? 'C' : 'T';
    auto routine = TRINE_LAPACK2(scalar_t, ormqr, unmqr);
    int lwork = -1, info = 0;
    scalar_t answer{};
    if (result.batch() > 0) routine(&side, &trans, &m, &n, &k, nullptr, &lda, nullptr, nullptr, &m, &answer, &lwork, &info, 1, 1);
    lwork = workspace_size(answer);
    for_matrices(result.batch(), double(m) * n * k, [&](int64_t i) {
      Scratch<scalar_t> space(lwork);
      int failed = 0;
      routine(&side, &trans, &m, &n, &k, reflections.matrix<scalar_t>(i), &lda, factors.data<scalar_t>() + i * k, result.matrix<scalar_t>(i), &m, space.data(), &lwork, &failed, 1, 1);
    });
  });
  result.finish();
}

namespace {

// One least-squares problem; a [m, n] and b [max(m, n), k] are overwritten. lwork = -1 asks for the workspace instead.
template <class T> struct LeastSquares {
  using R = typename real_of<T>::type;
  std::string_view driver;
  int m, n, k;
  R rcond;

  int solve(T* a, T* b, int* rank, R* singular, T* work, int lwork, R* rwork, int* iwork) const {
    int info = 0;
    const int lda = std::max(1, m), ldb = std::max({1, m, n});
    if (driver == "gels") {
      const char trans = 'N';
      TRINE_LAPACK(T, gels)(&trans, &m, &n, &k, a, &lda, b, &ldb, work, &lwork, &info, 1);
    } else if (driver == "gelsy") {
      if constexpr (is_complex_type<T>) TRINE_LAPACK(T, gelsy)(&m, &n, &k, a, &lda, b, &ldb, iwork, &rcond, rank, work, &lwork, rwork, &info);
      else TRINE_LAPACK(T, gelsy)(&m, &n, &k, a, &lda, b, &ldb, iwork, &rcond, rank, work, &lwork, &info);
    } else if (driver == "gelsd") {
      if constexpr (is_complex_type<T>) TRINE_LAPACK(T, gelsd)(&m, &n, &k, a, &lda, b, &ldb, singular, &rcond, rank, work, &lwork, rwork, iwork, &info);
      else TRINE_LAPACK(T, gelsd)(&m, &n, &k, a, &lda, b, &ldb, singular, &rcond, rank, work, &lwork, iwork, &info);
    } else {
      if constexpr (is_complex_type<T>) TRINE_LAPACK(T, gelss)(&m, &n, &k, a, &lda, b, &ldb, singular, &rcond, rank, work, &lwork, rwork, &info);
      else TRINE_LAPACK(T, gelss)(&m, &n, &k, a, &lda, b, &ldb, singular, &rcond, rank, work, &lwork, &info);
    }
    return info;
  }

  // LAPACK's upper bounds for the divide-and-conquer driver, which are the largest of all.
  int64_t real_space() const {
    const int64_t k_min = std::min(m, n), levels = 32, leaf = 26;
    return 10 * k_min + 2 * k_min * leaf + 8 * k_min * levels + 3 * leaf * std::max<int64_t>(k, 1) + std::max((leaf + 1) * (leaf + 1), n * (1 + int64_t{k}) + 2 * int64_t{k}) + 5 * int64_t{std::max(m, n)} + 1;
  }
  int64_t whole_space() const { return std::max<int64_t>({1, int64_t{n}, int64_t{3} * std::min(m, n) * 32 + int64_t{11} * std::min(m, n)}); }
};

}  // namespace

// A [batch..., m, n] and B [batch..., m, k] agree in their batch.
std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq_matrix(const Tensor& A, const Tensor& B, double rcond, std::string_view driver) {
  const int m = static_cast<int>(rules::checked_extent(A.size(-2))), n = static_cast<int>(rules::checked_extent(A.size(-1))), k = static_cast<int>(rules::checked_extent(B.size(-1)));
  const Dims batch(rules::batch_sizes(A));
  const int64_t count = product(batch), tall = std::max(m, n);
  const bool ranks = driver != "gels", values = driver == "gelsd" || driver == "gelss";
  Columns a = Columns::copy(A);
  Columns b(allocate(rules::matrices(A, tall, k, A.dtype()), A.device()));
  if (b.tensor().numel() > 0) trine::fill_(b.tensor(), Scalar(0)), trine::copy_(narrow(b.tensor(), -2, 0, m), B);
  Tensor rank = empty(ranks ? batch : Dims{0}, DType::Int64), singular = empty(values ? rules::batched(A, {std::min(m, n)}) : Dims{0}, to_real(A.dtype()));
  if (ranks) trine::fill_(rank, Scalar(0));
  if (values) trine::fill_(singular, Scalar(0));
  TRINE_DISPATCH_FLOAT_COMPLEX(A.dtype(), "linalg.lstsq", {
    using R = typename real_of<scalar_t>::type;
    const LeastSquares<scalar_t> problem{driver, m, n, k, static_cast<R>(rcond)};
    scalar_t answer{};
    int unused_rank = 0, unused_iwork = 0;
    R unused_real = 0;
    const bool work_to_do = m > 0 && n > 0;
    if (work_to_do) problem.solve(nullptr, nullptr, &unused_rank, &unused_real, &answer, -1, &unused_real, &unused_iwork);
    const int lwork = workspace_size(answer);
    for_matrices(work_to_do ? count : 0, 4 * flops(m, n), [&](int64_t i) {
      Scratch<scalar_t> work(lwork);
      Scratch<R> real(problem.real_space());
      Scratch<int> whole(problem.whole_space());
      std::fill(whole.data(), whole.data() + problem.whole_space(), 0);
      scalar_t none{};
      int r = 0;
      const int info = problem.solve(a.matrix<scalar_t>(i), k > 0 ? b.matrix<scalar_t>(i) : &none, &r, values ? singular.data<R>() + i * std::min(m, n) : nullptr, work.data(), lwork, real.data(), whole.data());
      if (info != 0) throw_error(ErrorKind::LinAlg, str("linalg.lstsq: ", count > 1 ? str("(Batch element ", i, "): ") : "", "The least squares solution could not be computed because ",
                                                        info < 0 ? "the input has NaN or infinite elements" : "the input matrix does not have full rank", " (error code: ", info, ")."));
      if (ranks) rank.data<int64_t>()[i] = r;
    });
  });
  Tensor solution = narrow(b.tensor(), -2, 0, n), residuals = empty(Dims{0}, to_real(A.dtype()));
  // The rows below the solution hold what is left of B in the space that A does not reach.
  bool full = m > n && driver != "gelsy";
  if (full && ranks)
    for (int64_t i = 0; i < count; ++i) full = full && rank.data<int64_t>()[i] == n;
  if (full) {
    Tensor rest = narrow(b.tensor(), -2, n, m - n);
    Tensor squares = A.is_complex() ? add(mul(real(rest), real(rest)), mul(imag(rest), imag(rest))) : mul(rest, rest);
    const int64_t rows = -2;
    residuals = sum(squares, std::optional<DimsRef>(DimsRef(&rows, 1)));
  }
  return {solution, residuals, rank, singular};
}

}  // namespace trine::cpu
