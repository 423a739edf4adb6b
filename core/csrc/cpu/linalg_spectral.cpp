// Eigenvalues and singular values.
#include <cmath>

#include "cpu/lapack.h"
#include "trine/kernels.h"

namespace trine::cpu {
namespace {

template <class T> bool all_finite(const T* a, int64_t n) {
  using R = typename real_of<T>::type;
  const R* x = reinterpret_cast<const R*>(a);
  R sum = 0;  // a NaN or an infinity survives the multiplication by zero
  for (int64_t i = 0; i < n * int64_t(sizeof(T) / sizeof(R)); ++i) sum += x[i] * 0;
  return sum == 0;
}

[[noreturn]] void fail(const char* op, int64_t i, int64_t batch, const std::string& why) {
  throw_error(ErrorKind::LinAlg, str(op, ": ", batch > 1 ? str("(Batch element ", i, "): ") : "", "The algorithm failed to converge because ", why));
}

// The drivers with one signature for real and complex elements; a workspace size of -1 asks for the best size in the first element.
template <class T> struct HermitianEigen {
  using R = typename real_of<T>::type;
  char jobz, triangle;
  int n;
  int operator()(T* a, R* w, T* work, int lwork, R* rwork, int lrwork, int* iwork, int liwork) const {
    int info = 0;
    if constexpr (is_complex_type<T>) TRINE_LAPACK2(T, syevd, heevd)(&jobz, &triangle, &n, a, &n, w, work, &lwork, rwork, &lrwork, iwork, &liwork, &info, 1, 1);
    else TRINE_LAPACK2(T, syevd, heevd)(&jobz, &triangle, &n, a, &n, w, work, &lwork, iwork, &liwork, &info, 1, 1);
    return info;
  }
};

// Real matrices give the real and the imaginary parts of the eigenvalues in w[0..n) and w[n..2n).
template <class T> struct GeneralEigen {
  using R = typename real_of<T>::type;
  char right;
  int n;
  int operator()(T* a, T* w, T* v, T* work, int lwork, R* rwork) const {
    const char none = 'N';
    const int one = 1;
    int info = 0;
    if constexpr (is_complex_type<T>) TRINE_LAPACK(T, geev)(&none, &right, &n, a, &n, w, nullptr, &one, v, &n, work, &lwork, rwork, &info, 1, 1);
    else TRINE_LAPACK(T, geev)(&none, &right, &n, a, &n, w, w + n, nullptr, &one, v, &n, work, &lwork, &info, 1, 1);
    return info;
  }
};

template <class T> struct SingularValues {
  using R = typename real_of<T>::type;
  char jobz;
  int m, n, lda, ldu, ldvt;
  int operator()(T* a, R* s, T* u, T* vt, T* work, int lwork, R* rwork, int* iwork) const {
    int info = 0;
    if constexpr (is_complex_type<T>) TRINE_LAPACK(T, gesdd)(&jobz, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, &lwork, rwork, iwork, &info, 1);
    else TRINE_LAPACK(T, gesdd)(&jobz, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, &lwork, iwork, &info, 1);
    return info;
  }
};

// Writes eigenvalues and eigenvectors as complex numbers. A conjugate pair of a real matrix shares two columns: real part, imaginary part.
template <class C, class T> void store_eigen(const T* w, const T* v, int64_t n, C* values, C* vectors) {
  if constexpr (is_complex_type<T>) {
    std::copy(w, w + n, values);
    if (vectors) std::copy(v, v + n * n, vectors);
  } else {
    for (int64_t j = 0; j < n; ++j) values[j] = C(w[j], w[n + j]);
    for (int64_t j = 0; vectors && j < n; ++j) {
      const T *x = v + j * n, *y = x + n;
      const bool pair = w[n + j] != 0;
      for (int64_t r = 0; r < n; ++r) {
        vectors[j * n + r] = C(x[r], pair ? y[r] : 0);
        if (pair) vectors[(j + 1) * n + r] = C(x[r], -y[r]);
      }
      j += pair;
    }
  }
}

}  // namespace

void linalg_eigh_matrix(Tensor& L, Tensor& V, const Tensor& A, std::string_view uplo, bool vectors) {
  // LAPACK needs the matrix as working memory, eigenvectors wanted or not.
  Columns a = vectors ? Columns(V) : Columns::copy(A);
  if (vectors) a.fill(A);
  DenseOutput values(L);
  const int n = a.rows();
  const char jobz = vectors ? 'V' : 'N', triangle = uplo == "L" || uplo == "l" ? 'L' : 'U';
  TRINE_DISPATCH_FLOAT_COMPLEX(A.dtype(), "linalg.eigh", {
    using R = typename real_of<scalar_t>::type;
    const HermitianEigen<scalar_t> decompose{jobz, triangle, n};
    scalar_t answer{};
    R real_answer = 0;
    int whole_answer = 0;
    if (a.batch() > 0) decompose(nullptr, nullptr, &answer, -1, &real_answer, -1, &whole_answer, -1);
    const int lwork = workspace_size(answer), lrwork = workspace_size(real_answer), liwork = std::max(1, whole_answer);
    for_matrices(a.batch(), 9.0 * n * n * n, [&](int64_t i) {
      Scratch<scalar_t> work(lwork);
      Scratch<R> real(lrwork);
      Scratch<int> whole(liwork);
      const bool finite = all_finite(a.matrix<scalar_t>(i), int64_t{n} * n);
      const int info = finite ? decompose(a.matrix<scalar_t>(i), values.data<R>() + i * n, work.data(), lwork, real.data(), lrwork, whole.data(), liwork) : n - 1;
      if (info != 0) fail("linalg.eigh", i, a.batch(), str("the input matrix is ill-conditioned or has too many repeated eigenvalues (error code: ", info, ")."));
    });
  });
  values.finish();
  if (vectors) a.finish();
}

void linalg_eig_matrix(Tensor& L, Tensor& V, const Tensor& A, bool vectors) {
  const char* op = vectors ? "linalg.eig" : "linalg.eigvals";
  Columns a = Columns::copy(A);
  std::optional<Columns> v;
  if (vectors) v.emplace(V);
  DenseOutput values(L);
  const int n = a.rows();
  TRINE_DISPATCH_FLOAT_COMPLEX(A.dtype(), op, {
    using R = typename real_of<scalar_t>::type;
    using C = std::complex<R>;
    TRINE_CHECK(all_finite(a.tensor().data<scalar_t>(), a.tensor().numel()), op, ": input tensor should not contain infs or NaNs.");
    const GeneralEigen<scalar_t> decompose{vectors ? 'V' : 'N', n};
    scalar_t answer{}, unused[2]{};
    R unused_real[2]{};
    if (a.batch() > 0) decompose(a.matrix<scalar_t>(0), unused, unused, &answer, -1, unused_real);
    const int lwork = workspace_size(answer);
    for_matrices(a.batch(), 25.0 * n * n * n, [&](int64_t i) {
      Scratch<scalar_t> work(lwork), w(2 * n), columns(vectors ? int64_t{n} * n : 1);
      Scratch<R> real(2 * n);
      const int info = decompose(a.matrix<scalar_t>(i), w.data(), columns.data(), work.data(), lwork, real.data());
      if (info != 0) fail(op, i, a.batch(), str("the input matrix is ill-conditioned or has too many repeated eigenvalues (error code: ", info, ")."));
      store_eigen(w.data(), columns.data(), n, values.data<C>() + i * n, vectors ? v->matrix<C>(i) : nullptr);
    });
  });
  values.finish();
  if (v) v->finish();
}

void linalg_svd_matrix(Tensor& U, Tensor& S, Tensor& Vh, const Tensor& A, bool full, bool vectors, std::optional<std::string_view>) {
  Columns a = Columns::copy(A);
  std::optional<Columns> u, vh;
  if (vectors) u.emplace(U), vh.emplace(Vh);
  DenseOutput values(S);
  const int m = a.rows(), n = a.cols(), k = std::min(m, n), lda = a.leading(), ldu = vectors ? u->leading() : 1, ldvt = vectors ? vh->leading() : 1;
  if (k == 0 && vectors) {
    // Nothing to decompose: the bases are those of the whole space.
    if (u->batch() > 0) u->fill(eye(m, u->cols(), A.dtype(), A.device()));
    if (vh->batch() > 0) vh->fill(eye(vh->rows(), n, A.dtype(), A.device()));
  }
  const char jobz = !vectors ? 'N' : full ? 'A' : 'S';
  TRINE_DISPATCH_FLOAT_COMPLEX(A.dtype(), "linalg.svd", {
    using R = typename real_of<scalar_t>::type;
    const SingularValues<scalar_t> decompose{jobz, m, n, lda, ldu, ldvt};
    scalar_t answer{};
    R unused_real = 0;
    int unused_whole = 0;
    if (a.batch() > 0) decompose(a.matrix<scalar_t>(0), &unused_real, nullptr, nullptr, &answer, -1, &unused_real, &unused_whole);
    const int lwork = workspace_size(answer);
    const int64_t larger = std::max(m, n), smaller = k;
    const int64_t lrwork = vectors ? std::max(5 * smaller * smaller + 7 * smaller, 2 * larger * smaller + 2 * smaller * smaller + smaller) : 7 * smaller;
    for_matrices(a.batch(), 12.0 * m * n * k, [&](int64_t i) {
      Scratch<scalar_t> work(lwork);
      Scratch<R> real(is_complex_type<scalar_t> ? lrwork : 1);
      Scratch<int> whole(8 * smaller);
      if (!all_finite(a.matrix<scalar_t>(i), int64_t{m} * n)) fail("linalg.svd", i, a.batch(), "the input matrix contained non-finite values.");
      const int info = decompose(a.matrix<scalar_t>(i), values.data<R>() + i * k, vectors ? u->matrix<scalar_t>(i) : nullptr, vectors ? vh->matrix<scalar_t>(i) : nullptr, work.data(), lwork, real.data(), whole.data());
      if (info != 0) fail("linalg.svd", i, a.batch(), str("the input matrix is ill-conditioned or has too many repeated singular values (error code: ", info, ")."));
    });
  });
  values.finish();
  if (u) u->finish(), vh->finish();
}

}  // namespace trine::cpu
