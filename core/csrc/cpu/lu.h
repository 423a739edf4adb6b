// LU factorisation of column-major matrices with our own products: recursive for large ones, and without calls for small ones.
#pragma once
#include <complex>
#include <cstdint>

#include "cpu/isa.h"

namespace trine::cpu {

// A panel of few columns, [m, n] with columns `lda` apart. Row exchanges are counted from 1, as LAPACK does; gives the number of the first zero
// pivot, or 0.
TRINE_ISA_DECLARE(int, lu_panel_float, (float* a, int64_t m, int64_t n, int64_t lda, int* pivots));
TRINE_ISA_DECLARE(int, lu_panel_double, (double* a, int64_t m, int64_t n, int64_t lda, int* pivots));

constexpr int kTriangle = 16;

// X of T X = B in the place of B [n, k], for an upper triangle T of at most kTriangle rows or a lower one with a unit diagonal.
TRINE_ISA_DECLARE(void, triangle_block_float, (bool upper, const float* t, int64_t ldt, float* b, int64_t ldb, int64_t n, int64_t k));
TRINE_ISA_DECLARE(void, triangle_block_double, (bool upper, const double* t, int64_t ldt, double* b, int64_t ldb, int64_t n, int64_t k));

int lu_factor(float* a, int64_t m, int64_t n, int64_t lda, int* pivots);
int lu_factor(double* a, int64_t m, int64_t n, int64_t lda, int* pivots);

// X of A X = B in the place of B [n, k], from A's factors; columns follow one another.
void lu_solve(const float* lu, int64_t n, const int* pivots, float* b, int64_t k);
void lu_solve(const double* lu, int64_t n, const int* pivots, double* b, int64_t k);

constexpr int kSmallMatrix = 24;  // up to this size a call of LAPACK costs more than it does

// LU of a small matrix of any kind, and the solution from it: plain loops.
template <class T> int lu_small(T* a, int m, int n, int* pivots) {
  auto size = [](const T& x) {
    if constexpr (std::is_floating_point_v<T>) return std::abs(x);
    else return std::abs(x.real()) + std::abs(x.imag());
  };
  int info = 0;
  for (int j = 0; j < std::min(m, n); ++j) {
    int best = j;
    for (int i = j + 1; i < m; ++i)
      if (size(a[j * m + i]) > size(a[j * m + best])) best = i;
    pivots[j] = best + 1;
    if (a[j * m + best] == T(0)) {
      if (info == 0) info = j + 1;
      continue;
    }
    if (best != j)
      for (int c = 0; c < n; ++c) std::swap(a[c * m + j], a[c * m + best]);
    const T scale = T(1) / a[j * m + j];
    for (int i = j + 1; i < m; ++i) a[j * m + i] *= scale;
    for (int c = j + 1; c < n; ++c) {
      const T factor = a[c * m + j];
      for (int i = j + 1; i < m; ++i) a[c * m + i] -= a[j * m + i] * factor;
    }
  }
  return info;
}

template <class T> void solve_small(const T* lu, int n, const int* pivots, T* b, int k) {
  for (int c = 0; c < k; ++c) {
    T* x = b + c * n;
    for (int i = 0; i < n; ++i) std::swap(x[i], x[pivots[i] - 1]);
    for (int j = 0; j < n; ++j)
      for (int i = j + 1; i < n; ++i) x[i] -= lu[j * n + i] * x[j];
    for (int j = n; j-- > 0;) {
      x[j] /= lu[j * n + j];
      for (int i = 0; i < j; ++i) x[i] -= lu[j * n + i] * x[j];
    }
  }
}

}  // namespace trine::cpu
