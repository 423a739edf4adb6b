// LAPACK drivers through OpenBLAS. The library works on column-major matrices: a row-major matrix is its transpose, so operands are copied.
#include <complex>

#include "cpu/dense.h"
#include "cpu/scratch.h"
#include "trine/kernels.h"

extern "C" {
// Fortran's symbols as scipy-openblas32 exports them; integers have 32 bits.
void scipy_sgesv_(const int* n, const int* nrhs, float* a, const int* lda, int* pivots, float* b, const int* ldb, int* info);
void scipy_dgesv_(const int* n, const int* nrhs, double* a, const int* lda, int* pivots, double* b, const int* ldb, int* info);
void scipy_cgesv_(const int* n, const int* nrhs, void* a, const int* lda, int* pivots, void* b, const int* ldb, int* info);
void scipy_zgesv_(const int* n, const int* nrhs, void* a, const int* lda, int* pivots, void* b, const int* ldb, int* info);
void scipy_openblas_set_num_threads(int n);
}

namespace trine::cpu {
namespace {

int gesv(int n, int m, float* a, int* p, float* b) { int info = 0; scipy_sgesv_(&n, &m, a, &n, p, b, &n, &info); return info; }
int gesv(int n, int m, double* a, int* p, double* b) { int info = 0; scipy_dgesv_(&n, &m, a, &n, p, b, &n, &info); return info; }
int gesv(int n, int m, cfloat* a, int* p, cfloat* b) { int info = 0; scipy_cgesv_(&n, &m, a, &n, p, b, &n, &info); return info; }
int gesv(int n, int m, cdouble* a, int* p, cdouble* b) { int info = 0; scipy_zgesv_(&n, &m, a, &n, p, b, &n, &info); return info; }

// OpenBLAS would start threads of its own beside ours.
void single_threaded() {
  static const bool once = (scipy_openblas_set_num_threads(1), true);
  static_cast<void>(once);
}

template <class T> void transpose(T* to, const T* from, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) to[j * rows + i] = from[i * cols + j];
}

}  // namespace

// A [batch..., n, n] and B [batch..., n, k] agree in their batch dimensions (the composite broadcasts them).
void linalg_solve_matrix(Tensor& out, const Tensor& A, const Tensor& B) {
  if (out.numel() == 0) return;
  single_threaded();
  Tensor a = plain(A), b = plain(B);
  DenseOutput y(out);
  const size_t d = static_cast<size_t>(B.dim());
  const int64_t n = B.sizes()[d - 2], k = B.sizes()[d - 1], batch = out.numel() / (n * k);
  TRINE_CHECK(n <= INT32_MAX && k <= INT32_MAX, "linalg.solve: matrices of shape ", A.sizes(), " are too large for LAPACK's 32-bit sizes");
  TRINE_DISPATCH_FLOAT_COMPLEX(out.dtype(), "linalg.solve", {
    Scratch<scalar_t> factors(n * n), columns(n * k);
    Scratch<int> pivots(n);
    for (int64_t i = 0; i < batch; ++i) {
      transpose(factors.data(), a.data<scalar_t>() + i * n * n, n, n);
      transpose(columns.data(), b.data<scalar_t>() + i * n * k, n, k);
      int info = gesv(static_cast<int>(n), static_cast<int>(k), factors.data(), pivots.data(), columns.data());
      if (info != 0 && batch > 1) throw_error(ErrorKind::Runtime, str("linalg.solve: (Batch element ", i, "): The solver failed because the input matrix is singular."));
      if (info != 0) throw_error(ErrorKind::Runtime, "linalg.solve: The solver failed because the input matrix is singular.");
      transpose(y.data<scalar_t>() + i * n * k, columns.data(), k, n);
    }
  });
  y.finish();
}

}  // namespace trine::cpu
