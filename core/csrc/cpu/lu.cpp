#include "cpu/lu.h"

#include <algorithm>

#include "cpu/gemm.h"
#include "cpu/scratch.h"

namespace trine::cpu {

TRINE_ISA_TABLE(lu_panel_float);
TRINE_ISA_TABLE(lu_panel_double);

namespace {

int panel(float* a, int64_t m, int64_t n, int64_t lda, int* p) { return lu_panel_float(a, m, n, lda, p); }
int panel(double* a, int64_t m, int64_t n, int64_t lda, int* p) { return lu_panel_double(a, m, n, lda, p); }

// C -= A B with C [m, n], A [m, k], B [k, n], all column-major: as rows, C^T -= B^T A^T.
template <class T> void subtract_product(T* c, int64_t ldc, const T* a, int64_t lda, const T* b, int64_t ldb, int64_t m, int64_t n, int64_t k) {
  if (m == 0 || n == 0 || k == 0) return;
  Scratch<T> minus(k * n);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < k; ++i) minus[j * k + i] = -b[j * ldb + i];
  gemm(Gemm<T>{.m = n, .n = m, .k = k, .a = minus.data(), .a_row = k, .a_col = 1, .b = a, .b_row = lda, .b_col = 1, .c = c, .c_row = ldc, .accumulate = true});
}

// X of L X = B in the place of B [n, k]; L is unit lower triangular.
template <class T> void solve_lower(const T* l, int64_t ldl, T* b, int64_t ldb, int64_t n, int64_t k) {
  if (n <= 16) {
    for (int64_t c = 0; c < k; ++c)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = j + 1; i < n; ++i) b[c * ldb + i] -= l[j * ldl + i] * b[c * ldb + j];
    return;
  }
  const int64_t half = n / 2;
  solve_lower(l, ldl, b, ldb, half, k);
  subtract_product(b + half, ldb, l + half, ldl, b, ldb, n - half, k, half);
  solve_lower(l + half * ldl + half, ldl, b + half, ldb, n - half, k);
}

template <class T> void exchange_rows(T* a, int64_t lda, int64_t columns, const int* pivots, int64_t first, int64_t last) {
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t i = first; i < last; ++i) std::swap(a[c * lda + i], a[c * lda + pivots[i] - 1]);
}

// Toledo's recursion: the left half, then what it means for the right one, then that.
template <class T> int factor(T* a, int64_t m, int64_t n, int64_t lda, int* pivots) {
  const int64_t rank = std::min(m, n);
  if (rank == 0) return 0;
  if (n <= 16) return panel(a, m, n, lda, pivots);
  const int64_t left = rank / 2;
  T* right = a + left * lda;
  int info = factor(a, m, left, lda, pivots);
  exchange_rows(right, lda, n - left, pivots, 0, left);
  solve_lower(a, lda, right, lda, left, n - left);
  subtract_product(right + left, lda, a + left, lda, right, lda, m - left, n - left, left);
  const int below = factor(right + left, m - left, n - left, lda, pivots + left);
  if (info == 0 && below != 0) info = below + static_cast<int>(left);
  for (int64_t i = left; i < rank; ++i) pivots[i] += static_cast<int>(left);
  exchange_rows(a, lda, left, pivots, left, rank);
  return info;
}

}  // namespace

int lu_factor(float* a, int64_t m, int64_t n, int64_t lda, int* pivots) { return factor(a, m, n, lda, pivots); }
int lu_factor(double* a, int64_t m, int64_t n, int64_t lda, int* pivots) { return factor(a, m, n, lda, pivots); }

}  // namespace trine::cpu
