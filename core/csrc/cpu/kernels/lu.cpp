#include "cpu/lu.h"

#include <algorithm>
#include <cmath>

#include "cpu/kernels/lines.h"

// The helpers are inlined: how a vector travels between functions of different instruction sets does not matter here.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace trine::cpu {
namespace {

// Where the element of largest size lies; NaN is passed over.
template <class T> int64_t largest(const T* x, int64_t n) {
  using Index = decltype(Vec<T>{} > Vec<T>{});
  constexpr int64_t L = kLanes<T>;
  Vec<T> best = splat(T(-1));
  Index at{}, here{};
  for (int64_t i = 0; i < n; i += L, here += 1) {
    const Vec<T> v = n - i >= L ? load(x + i) : load_first(x + i, n - i), size = v < -v ? -v : v;
    const Index larger = size > best;
    best = larger ? size : best, at = larger ? here : at;
  }
  T size = -1;
  int64_t result = 0;
  for (int64_t l = 0; l < std::min(L, n); ++l) {
    const int64_t i = static_cast<int64_t>(at[l]) * L + l;
    if (i < n && (best[l] > size || (best[l] == size && i < result))) size = best[l], result = i;
  }
  return result;
}

// N columns at `to`, `ldc` apart, minus multiples of another; the multiples are what stands above them, at to[-1].
template <class T, int N> inline void subtract_multiples(T* to, int64_t ldc, const T* from, int64_t n) {
  constexpr int64_t L = kLanes<T>;
  Vec<T> factor[N];
  for (int c = 0; c < N; ++c) factor[c] = -splat(to[c * ldc - 1]);
  for (int64_t i = 0; i < n; i += L) {
    const int64_t left = n - i;
    if (left >= L) {
      const Vec<T> x = load(from + i);
      for (int c = 0; c < N; ++c) store(to + c * ldc + i, fmadd<T>(factor[c], x, load(to + c * ldc + i)));
    } else {
      const Vec<T> x = load_first(from + i, left);
      for (int c = 0; c < N; ++c) store_first(to + c * ldc + i, fmadd<T>(factor[c], x, load_first(to + c * ldc + i, left)), left);
    }
  }
}

template <class T> int panel(T* a, int64_t m, int64_t n, int64_t lda, int* pivots) {
  int info = 0;
  for (int64_t j = 0; j < std::min(m, n); ++j) {
    T* column = a + j * lda;
    const int64_t best = j + largest(column + j, m - j);
    pivots[j] = static_cast<int>(best) + 1;
    if (column[best] == T(0)) {
      if (info == 0) info = static_cast<int>(j) + 1;
      continue;
    }
    if (best != j)
      for (int64_t c = 0; c < n; ++c) std::swap(a[c * lda + j], a[c * lda + best]);
    const T scale = T(1) / column[j];
    const int64_t below = j + 1;
    for (int64_t i = below; i < m; ++i) column[i] *= scale;
    int64_t c = below;
    for (; c + 4 <= n; c += 4) subtract_multiples<T, 4>(a + c * lda + below, lda, column + below, m - below);
    for (; c < n; ++c) subtract_multiples<T, 1>(a + c * lda + below, lda, column + below, m - below);
  }
  return info;
}

// Row i of as many columns of B as a register has lanes is x[i]; the loops have constant bounds so that all rows stay in registers.
template <class T, bool kUpper> inline void substitute(const T* t, int64_t ldt, const T* inverse, Vec<T> (&x)[kTriangle]) {
#pragma GCC unroll 16
  for (int step = 0; step < kTriangle; ++step) {
    const int j = kUpper ? kTriangle - 1 - step : step;
    if (kUpper) x[j] *= splat(inverse[j]);
    const T* column = t + j * ldt;
#pragma GCC unroll 16
    for (int i = kUpper ? 0 : j + 1; i < (kUpper ? j : kTriangle); ++i) x[i] = fmadd<T>(-splat(column[i]), x[j], x[i]);
  }
}

template <class T, bool kUpper> void solve_block(const T* t, int64_t ldt, T* b, int64_t ldb, int64_t n, int64_t k) {
  constexpr int64_t L = kLanes<T>;
  // A triangle in the corner of the largest one, with ones on the rest of the diagonal.
  T whole[kTriangle * kTriangle], inverse[kTriangle];
  for (int64_t j = 0; j < kTriangle; ++j) {
    inverse[j] = j < n ? T(1) / t[j * ldt + j] : T(1);
    for (int64_t i = 0; i < kTriangle; ++i) whole[j * kTriangle + i] = i < n && j < n ? t[j * ldt + i] : T(0);
  }
  for (int64_t c = 0; c < k; c += L) {
    const int64_t lanes = std::min(L, k - c);
    int64_t offset[L];
    for (int64_t l = 0; l < lanes; ++l) offset[l] = (c + l) * ldb;
    Vec<T> x[kTriangle] = {};
    load_elements<T, true>(x, 1, 0, {b, offset, 1}, lanes, n);
    substitute<T, kUpper>(whole, kTriangle, inverse, x);
    store_elements<T, true>(x, 1, 0, T(1), {b, offset, 1}, lanes, n);
  }
}

template <class T> void triangle(bool upper, const T* t, int64_t ldt, T* b, int64_t ldb, int64_t n, int64_t k) {
  upper ? solve_block<T, true>(t, ldt, b, ldb, n, k) : solve_block<T, false>(t, ldt, b, ldb, n, k);
}

TRINE_ISA_DEFINE(lu_panel_float, panel<float>);
TRINE_ISA_DEFINE(lu_panel_double, panel<double>);
TRINE_ISA_DEFINE(triangle_block_float, triangle<float>);
TRINE_ISA_DEFINE(triangle_block_double, triangle<double>);

}  // namespace
}  // namespace trine::cpu
