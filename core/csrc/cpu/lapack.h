// LAPACK and BLAS through OpenBLAS. Matrices lie in column-major order there; sizes have 32 bits.
#pragma once
#include <complex>
#include <optional>

#include "base/parallel.h"
#include "cpu/dense.h"
#include "cpu/scratch.h"
#include "rules/linalg.h"
#include "trine/kernels.h"

// Fortran's symbols as scipy-openblas32 exports them, for float, double, complex float and complex double.
#define TRINE_LAPACK_REAL(NAME, ...) \
  void scipy_s##NAME##_(__VA_ARGS__); \
  void scipy_d##NAME##_(__VA_ARGS__);
#define TRINE_LAPACK_COMPLEX(NAME, ...) \
  void scipy_c##NAME##_(__VA_ARGS__); \
  void scipy_z##NAME##_(__VA_ARGS__);
#define TRINE_LAPACK_ALL(NAME, ...) TRINE_LAPACK_REAL(NAME, __VA_ARGS__) TRINE_LAPACK_COMPLEX(NAME, __VA_ARGS__)

extern "C" {
using Int = const int*;
using Char = const char*;
TRINE_LAPACK_ALL(potrf, Char uplo, Int n, void* a, Int lda, int* info, size_t)
TRINE_LAPACK_ALL(getrf, Int m, Int n, void* a, Int lda, int* pivots, int* info)
TRINE_LAPACK_ALL(getrs, Char trans, Int n, Int nrhs, const void* a, Int lda, const int* pivots, void* b, Int ldb, int* info, size_t)
TRINE_LAPACK_ALL(trsm, Char side, Char uplo, Char trans, Char diag, Int m, Int n, const void* alpha, const void* a, Int lda, void* b, Int ldb, size_t, size_t, size_t, size_t)
TRINE_LAPACK_ALL(geqrf, Int m, Int n, void* a, Int lda, void* tau, void* work, Int lwork, int* info)
TRINE_LAPACK_REAL(orgqr, Int m, Int n, Int k, void* a, Int lda, const void* tau, void* work, Int lwork, int* info)
TRINE_LAPACK_COMPLEX(ungqr, Int m, Int n, Int k, void* a, Int lda, const void* tau, void* work, Int lwork, int* info)
TRINE_LAPACK_REAL(ormqr, Char side, Char trans, Int m, Int n, Int k, const void* a, Int lda, const void* tau, void* c, Int ldc, void* work, Int lwork, int* info, size_t, size_t)
TRINE_LAPACK_COMPLEX(unmqr, Char side, Char trans, Int m, Int n, Int k, const void* a, Int lda, const void* tau, void* c, Int ldc, void* work, Int lwork, int* info, size_t, size_t)
TRINE_LAPACK_REAL(syevd, Char jobz, Char uplo, Int n, void* a, Int lda, void* w, void* work, Int lwork, int* iwork, Int liwork, int* info, size_t, size_t)
TRINE_LAPACK_COMPLEX(heevd, Char jobz, Char uplo, Int n, void* a, Int lda, void* w, void* work, Int lwork, void* rwork, Int lrwork, int* iwork, Int liwork, int* info, size_t, size_t)
TRINE_LAPACK_REAL(geev, Char jobvl, Char jobvr, Int n, void* a, Int lda, void* wr, void* wi, void* vl, Int ldvl, void* vr, Int ldvr, void* work, Int lwork, int* info, size_t, size_t)
TRINE_LAPACK_COMPLEX(geev, Char jobvl, Char jobvr, Int n, void* a, Int lda, void* w, void* vl, Int ldvl, void* vr, Int ldvr, void* work, Int lwork, void* rwork, int* info, size_t, size_t)
TRINE_LAPACK_REAL(gesdd, Char jobz, Int m, Int n, void* a, Int lda, void* s, void* u, Int ldu, void* vt, Int ldvt, void* work, Int lwork, int* iwork, int* info, size_t)
TRINE_LAPACK_COMPLEX(gesdd, Char jobz, Int m, Int n, void* a, Int lda, void* s, void* u, Int ldu, void* vt, Int ldvt, void* work, Int lwork, void* rwork, int* iwork, int* info, size_t)
TRINE_LAPACK_ALL(gels, Char trans, Int m, Int n, Int nrhs, void* a, Int lda, void* b, Int ldb, void* work, Int lwork, int* info, size_t)
TRINE_LAPACK_REAL(gelsy, Int m, Int n, Int nrhs, void* a, Int lda, void* b, Int ldb, int* jpvt, const void* rcond, int* rank, void* work, Int lwork, int* info)
TRINE_LAPACK_COMPLEX(gelsy, Int m, Int n, Int nrhs, void* a, Int lda, void* b, Int ldb, int* jpvt, const void* rcond, int* rank, void* work, Int lwork, void* rwork, int* info)
TRINE_LAPACK_REAL(gelsd, Int m, Int n, Int nrhs, void* a, Int lda, void* b, Int ldb, void* s, const void* rcond, int* rank, void* work, Int lwork, int* iwork, int* info)
TRINE_LAPACK_COMPLEX(gelsd, Int m, Int n, Int nrhs, void* a, Int lda, void* b, Int ldb, void* s, const void* rcond, int* rank, void* work, Int lwork, void* rwork, int* iwork, int* info)
TRINE_LAPACK_REAL(gelss, Int m, Int n, Int nrhs, void* a, Int lda, void* b, Int ldb, void* s, const void* rcond, int* rank, void* work, Int lwork, int* info)
TRINE_LAPACK_COMPLEX(gelss, Int m, Int n, Int nrhs, void* a, Int lda, void* b, Int ldb, void* s, const void* rcond, int* rank, void* work, Int lwork, void* rwork, int* info)
TRINE_LAPACK_ALL(sytrf, Char uplo, Int n, void* a, Int lda, int* pivots, void* work, Int lwork, int* info, size_t)
TRINE_LAPACK_ALL(sytrs, Char uplo, Int n, Int nrhs, const void* a, Int lda, const int* pivots, void* b, Int ldb, int* info, size_t)
TRINE_LAPACK_COMPLEX(hetrf, Char uplo, Int n, void* a, Int lda, int* pivots, void* work, Int lwork, int* info, size_t)
TRINE_LAPACK_COMPLEX(hetrs, Char uplo, Int n, Int nrhs, const void* a, Int lda, const int* pivots, void* b, Int ldb, int* info, size_t)
}

// The routine of an element type: TRINE_LAPACK(T, potrf)(...), and where the complex one has another name TRINE_LAPACK2(T, orgqr, ungqr)(...).
#define TRINE_LAPACK2(T, REAL_NAME, COMPLEX_NAME) \
  ::trine::cpu::lapack_routine<T>(scipy_s##REAL_NAME##_, scipy_d##REAL_NAME##_, scipy_c##COMPLEX_NAME##_, scipy_z##COMPLEX_NAME##_)
#define TRINE_LAPACK(T, NAME) TRINE_LAPACK2(T, NAME, NAME)

namespace trine::cpu {

template <class T> constexpr bool is_complex_type = false;
template <class R> constexpr bool is_complex_type<std::complex<R>> = true;
template <class T> struct real_of { using type = T; };
template <class R> struct real_of<std::complex<R>> { using type = R; };

template <class T, class S, class D, class C, class Z> constexpr auto lapack_routine(S s, D d, C c, Z z) {
  if constexpr (std::is_same_v<T, float>) return s;
  else if constexpr (std::is_same_v<T, double>) return d;
  else if constexpr (std::is_same_v<T, cfloat>) return c;
  else return z;
}

// Workspace sizes come back in the first element of a one-element work array.
template <class T> int workspace_size(const T& answer) { return std::max(1, static_cast<int>(std::real(answer))); }

void prepare_lapack();  // once: gives OpenBLAS our threads

// Matrices [batch..., rows, cols] as LAPACK wants them: `out` itself when each of its matrices is column-major and they follow one another,
// otherwise a temporary that finish() copies back.
class Columns {
 public:
  explicit Columns(const Tensor& out) : Columns(out, out.dtype()) {}
  Columns(const Tensor& out, DType dtype) : out_(out) {
    const Dims strides = rules::column_major(out.sizes());
    dense_ = out.dtype() == dtype && equal(strides, out.strides()) ? out : empty_strided(out.sizes(), strides, dtype);
    rows_ = static_cast<int>(rules::checked_extent(out.size(-2)));
    cols_ = static_cast<int>(rules::checked_extent(out.size(-1)));
  }
  // A column-major copy.
  static Columns copy(const Tensor& in) {
    Columns c(empty_strided(in.sizes(), rules::column_major(in.sizes()), in.dtype()));
    c.fill(in);
    return c;
  }
  void fill(const Tensor& in) const {
    if (!dense_.is_same(in)) cpu::copy_(dense_, in, false);
  }
  int rows() const { return rows_; }
  int cols() const { return cols_; }
  int leading() const { return std::max(1, rows_); }
  int64_t batch() const { return rows_ && cols_ ? dense_.numel() / (int64_t{rows_} * cols_) : 0; }
  template <class T> T* matrix(int64_t i) const { return dense_.data<T>() + i * rows_ * cols_; }
  const Tensor& tensor() const { return dense_; }
  void finish() const {
    if (!dense_.is_same(out_)) convert_copy(out_, dense_);
  }

 private:
  Tensor out_, dense_;
  int rows_, cols_;
};

// Calls f(i) for every matrix of a batch, on several threads when there is enough to do; `work` is the number of operations per matrix.
template <class F> void for_matrices(int64_t batch, double work, F&& f) {
  prepare_lapack();
  if (batch == 1) return f(int64_t{0});
  const int64_t grain = std::max<int64_t>(1, static_cast<int64_t>(30000 / (work + 100)));
  parallel_for(0, batch, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

// Zeros in one triangle of a column-major matrix, the diagonal not included.
template <class T> void clear_triangle(T* a, int rows, int cols, bool lower) {
  for (int64_t j = 0; j < cols; ++j)
    for (int64_t i = lower ? j + 1 : 0; i < (lower ? rows : std::min<int64_t>(j, rows)); ++i) a[j * rows + i] = T(0);
}

}  // namespace trine::cpu
