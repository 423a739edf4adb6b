#include "cpu/lu.h"

#include <algorithm>

#include "cpu/gemm.h"

namespace trine::cpu {

TRINE_ISA_TABLE(lu_panel_float);
TRINE_ISA_TABLE(lu_panel_double);
TRINE_ISA_TABLE(triangle_block_float);
TRINE_ISA_TABLE(triangle_block_double);

namespace {

int panel(float* a, int64_t m, int64_t n, int64_t lda, int* p) { return lu_panel_float(a, m, n, lda, p); }
int panel(double* a, int64_t m, int64_t n, int64_t lda, int* p) { return lu_panel_double(a, m, n, lda, p); }
void triangle(bool upper, const float* t, int64_t ldt, float* b, int64_t ldb, int64_t n, int64_t k) { triangle_block_float(upper, t, ldt, b, ldb, n, k); }
void triangle(bool upper, const double* t, int64_t ldt, double* b, int64_t ldb, int64_t n, int64_t k) { triangle_block_double(upper, t, ldt, b, ldb, n, k); }

// Half of n, in whole blocks.
int64_t first_half(int64_t n) { return (n / 2 + kTriangle - 1) / kTriangle * kTriangle; }

// C -= A B with C [m, n], A [m, k], B [k, n], all column-major: as rows, C^T -= B^T A^T.
template <class T> void subtract_product(T* c, int64_t ldc, const T* a, int64_t lda, const T* b, int64_t ldb, int64_t m, int64_t n, int64_t k) {
  if (m == 0 || n == 0 || k == 0) return;
  gemm(Gemm<T>{.m = n, .n = m, .k = k, .a = b, .a_row = ldb, .a_col = 1, .b = a, .b_row = lda, .b_col = 1, .c = c, .c_row = ldc, .accumulate = true, .negative = true});
}

// X of T X = B in the place of B [n, k].
template <class T> void solve_triangle(bool upper, const T* t, int64_t ldt, T* b, int64_t ldb, int64_t n, int64_t k) {
  if (n == 0 || k == 0) return;
  if (n <= kTriangle) return triangle(upper, t, ldt, b, ldb, n, k);
  const int64_t half = first_half(n), rest = n - half;
  const T* last = t + half * ldt + half;
  if (upper) {
    solve_triangle(upper, last, ldt, b + half, ldb, rest, k);
    subtract_product(b, ldb, t + half * ldt, ldt, b + half, ldb, half, k, rest);
    solve_triangle(upper, t, ldt, b, ldb, half, k);
  } else {
    solve_triangle(upper, t, ldt, b, ldb, half, k);
    subtract_product(b + half, ldb, t + half, ldt, b, ldb, rest, k, half);
    solve_triangle(upper, last, ldt, b + half, ldb, rest, k);
  }
}

// Several columns at a time: the exchanges of one column wait for one another.
template <class T> void exchange_rows(T* a, int64_t lda, int64_t columns, const int* pivots, int64_t first, int64_t last) {
  constexpr int64_t kTogether = 4;
  int64_t c = 0;
  for (; c + kTogether <= columns; c += kTogether)
    for (int64_t i = first; i < last; ++i) {
      T *x = a + c * lda + i, *y = a + c * lda + pivots[i] - 1;
      for (int64_t l = 0; l < kTogether; ++l) std::swap(x[l * lda], y[l * lda]);
    }
  for (; c < columns; ++c)
    for (int64_t i = first; i < last; ++i) std::swap(a[c * lda + i], a[c * lda + pivots[i] - 1]);
}

// Toledo's recursion: the left half, then what it means for the right one, then that.
template <class T> int factor(T* a, int64_t m, int64_t n, int64_t lda, int* pivots) {
  const int64_t rank = std::min(m, n);
  if (rank == 0) return 0;
  if (n <= kTriangle) return panel(a, m, n, lda, pivots);
  const int64_t left = std::min(first_half(n), rank);
  T* right = a + left * lda;
  int info = factor(a, m, left, lda, pivots);
  exchange_rows(right, lda, n - left, pivots, 0, left);
  solve_triangle(false, a, lda, right, lda, left, n - left);
  subtract_product(right + left, lda, a + left, lda, right, lda, m - left, n - left, left);
  const int below = factor(right + left, m - left, n - left, lda, pivots + left);
  if (info == 0 && below != 0) info = below + static_cast<int>(left);
  for (int64_t i = left; i < rank; ++i) pivots[i] += static_cast<int>(left);
  exchange_rows(a, lda, left, pivots, left, rank);
  return info;
}

template <class T> void solve(const T* lu, int64_t n, const int* pivots, T* b, int64_t k) {
  exchange_rows(b, n, k, pivots, 0, n);
  solve_triangle(false, lu, n, b, n, n, k);
  solve_triangle(true, lu, n, b, n, n, k);
}

}  // namespace

int lu_factor(float* a, int64_t m, int64_t n, int64_t lda, int* pivots) { return factor(a, m, n, lda, pivots); }
int lu_factor(double* a, int64_t m, int64_t n, int64_t lda, int* pivots) { return factor(a, m, n, lda, pivots); }
void lu_solve(const float* lu, int64_t n, const int* pivots, float* b, int64_t k) { solve(lu, n, pivots, b, k); }
void lu_solve(const double* lu, int64_t n, const int* pivots, double* b, int64_t k) { solve(lu, n, pivots, b, k); }

}  // namespace trine::cpu
