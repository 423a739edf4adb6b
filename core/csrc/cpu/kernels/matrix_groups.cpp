#include "cpu/matrix_groups.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cpu/kernels/lines.h"

// The helpers are inlined: how a vector travels between functions of different instruction sets does not matter here.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace trine::cpu {
namespace {

template <class T> using Index = decltype(Vec<T>{} > Vec<T>{});

template <class T> inline Vec<T> absolute(Vec<T> x) { return x < -x ? -x : x; }
template <class T> inline Vec<T> root(Vec<T> x) {
  alignas(64) T lane[kLanes<T>];
  store(lane, x);
  for (int l = 0; l < kLanes<T>; ++l) lane[l] = std::sqrt(lane[l]);
  return load(lane);
}

// x[j][i] = y[i][j]
template <class T> void transpose(Vec<T>* x, const Vec<T>* y, int rows, int cols) {
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows; ++i) x[j * rows + i] = y[i * cols + j];
}

// `count` matrices from the first one on into registers by columns; `spare` has room for as many registers.
template <class T> void load_matrices(Vec<T>* x, GroupInput<T> in, int rows, int cols, int64_t first, int64_t count, Vec<T>* spare) {
  const int64_t size = int64_t{rows} * cols;
  int64_t offset[kLanes<T>];
  for (int64_t l = 0; l < count; ++l) offset[l] = (first + l) * size;
  load_elements<T, true>(in.by_rows ? spare : x, 1, 0, {in.data, offset, 1}, count, size);
  if (in.by_rows) transpose<T>(x, spare, rows, cols);
}

template <class T> void store_matrices(const Vec<T>* x, T* out, int64_t size, int64_t first, int64_t count) {
  int64_t offset[kLanes<T>];
  for (int64_t l = 0; l < count; ++l) offset[l] = (first + l) * size;
  store_elements<T, true>(x, 1, 0, T(1), {out, offset, 1}, count, size);
}

// Elimination of [A | B] in columns of n registers: leaves the factors and L^-1 P B.
template <class T> void eliminate(Vec<T>* x, int n, int columns, int* pivots, int64_t step, int* info, int64_t count) {
  for (int j = 0; j < n; ++j) {
    Vec<T>* column = x + j * n;
    Vec<T> best = absolute<T>(column[j]);
    Index<T> at = Index<T>{} + j;
    for (int i = j + 1; i < n; ++i) {
      const Vec<T> size = absolute<T>(column[i]);
      const Index<T> larger = size > best;
      best = larger ? size : best, at = larger ? Index<T>{} + i : at;
    }
    uint64_t rows = 0;
    for (int64_t l = 0; l < count; ++l) rows |= uint64_t{1} << at[l], pivots[l * step + j] = static_cast<int>(at[l]) + 1;
    for (int i = j + 1; i < n; ++i) {
      if (!(rows >> i & 1)) continue;
      const Index<T> here = at == i;
      for (int c = 0; c < columns; ++c) {
        const Vec<T> up = x[c * n + j], down = x[c * n + i];
        x[c * n + j] = here ? down : up, x[c * n + i] = here ? up : down;
      }
    }
    const Vec<T> pivot = column[j];
    for (int64_t l = 0; l < count; ++l)
      if (pivot[l] == 0 && info[l] == 0) info[l] = j + 1;
    // Below a pivot of zero are zeros.
    const Vec<T> scale = pivot == 0 ? Vec<T>{} : T(1) / pivot;
    for (int i = j + 1; i < n; ++i) column[i] *= scale;
    for (int c = j + 1; c < columns; ++c) {
      const Vec<T> factor = -x[c * n + j];
      for (int i = j + 1; i < n; ++i) x[c * n + i] = fmadd<T>(column[i], factor, x[c * n + i]);
    }
  }
}

template <class T> void lu(const LuGroups<T>& g, int64_t first, int64_t count, T* work) {
  const int n = g.n, k = g.x ? g.k : 0, columns = n + k;
  auto* x = reinterpret_cast<Vec<T>*>(work);
  Vec<T>*b = x + n * n, *spare = x + n * columns;
  load_matrices<T>(x, g.a, n, n, first, count, spare);
  if (g.b.data) {
    load_matrices<T>(b, g.b, n, k, first, count, spare);
  } else {
    for (int i = 0; i < n * k; ++i) b[i] = Vec<T>{};
    for (int i = 0; i < k; ++i) b[i * n + i] += T(1);
  }
  int unused[kLanes<T> * kGroupedSize];
  int* pivots = g.pivots ? g.pivots + first * n : unused;
  std::fill(g.info + first, g.info + first + count, 0);
  eliminate<T>(x, n, columns, pivots, n, g.info + first, count);
  if (g.lu) store_matrices<T>(x, g.lu, n * n, first, count);
  if (k == 0) return;
  for (Vec<T>* c = b; c < b + n * k; c += n)
    for (int j = n; j-- > 0;) {
      c[j] /= x[j * n + j];
      for (int i = 0; i < j; ++i) c[i] = fmadd<T>(-x[j * n + i], c[j], c[i]);
    }
  store_matrices<T>(b, g.x, n * k, first, count);
}

template <class T> void cholesky(const CholeskyGroups<T>& g, int64_t first, int64_t count, T* work) {
  const int n = g.n;
  auto* x = reinterpret_cast<Vec<T>*>(work);
  Vec<T>* spare = x + n * n;
  // The upper triangle by columns is the lower one by rows.
  load_matrices<T>(x, {g.a.data, g.a.by_rows != g.upper}, n, n, first, count, spare);
  int* info = g.info + first;
  std::fill(info, info + count, 0);
  for (int j = 0; j < n; ++j) {
    Vec<T>* column = x + j * n;
    for (int64_t l = 0; l < count; ++l)
      if (!(column[j][l] > 0) && info[l] == 0) info[l] = j + 1;
    column[j] = root<T>(column[j]);
    const Vec<T> scale = T(1) / column[j];
    for (int i = 0; i < j; ++i) column[i] = Vec<T>{};
    for (int i = j + 1; i < n; ++i) column[i] *= scale;
    for (int c = j + 1; c < n; ++c)
      for (int i = c; i < n; ++i) x[c * n + i] = fmadd<T>(-column[c], column[i], x[c * n + i]);
  }
  if (g.upper) transpose<T>(spare, x, n, n);
  store_matrices<T>(g.upper ? spare : x, g.factor, n * n, first, count);
}

// The columns y minus tau v (v . y), for v = (1, v[1], v[2], ...).
template <class T> void reflect(const Vec<T>* v, Vec<T> tau, int length, Vec<T>* y, int64_t stride, int columns) {
  for (int c = 0; c < columns; ++c, y += stride) {
    Vec<T> sum = y[0];
    for (int i = 1; i < length; ++i) sum = fmadd<T>(v[i], y[i], sum);
    sum *= -tau;
    y[0] += sum;
    for (int i = 1; i < length; ++i) y[i] = fmadd<T>(sum, v[i], y[i]);
  }
}

// With LAPACK's signs: R's diagonal has the sign opposite to what stood there.
template <class T> void qr(const QrGroups<T>& g, int64_t first, int64_t count, T* work) {
  const int m = g.m, n = g.n, k = std::min(m, n), rows = g.columns == m ? m : k;
  auto* x = reinterpret_cast<Vec<T>*>(work);
  Vec<T>*q = x + m * n, *spare = q + m * g.columns;
  load_matrices<T>(x, g.a, m, n, first, count, spare);
  Vec<T> tau[kGroupedSize];
  for (int j = 0; j < k; ++j) {
    Vec<T>* v = x + j * m + j;
    const int length = m - j;
    Vec<T> scale{}, below{};
    for (int i = 0; i < length; ++i) {
      const Vec<T> size = absolute<T>(v[i]);
      scale = scale < size ? size : scale;
    }
    const Vec<T> divisor = scale == 0 ? splat(T(1)) : scale;
    for (int i = 1; i < length; ++i) {
      const Vec<T> part = v[i] / divisor;
      below = fmadd<T>(part, part, below);
    }
    const Vec<T> head = v[0] / divisor, norm = divisor * root<T>(fmadd<T>(head, head, below)), beta = v[0] < 0 ? norm : -norm;
    const Index<T> nothing = below == 0;
    tau[j] = nothing ? Vec<T>{} : (beta - v[0]) / beta;
    const Vec<T> inverse = nothing ? Vec<T>{} : T(1) / (v[0] - beta);
    for (int i = 1; i < length; ++i) v[i] *= inverse;
    const Vec<T> diagonal = nothing ? v[0] : beta;
    reflect<T>(v, tau[j], length, v + m, m, n - j - 1);
    v[0] = diagonal;
  }
  if (g.q) {
    for (int i = 0; i < m * g.columns; ++i) q[i] = Vec<T>{};
    for (int i = 0; i < g.columns; ++i) q[i * m + i] += T(1);
    for (int j = std::min(k, g.columns); j-- > 0;) reflect<T>(x + j * m + j, tau[j], m - j, q + j * m + j, m, g.columns - j);
    store_matrices<T>(q, g.q, m * g.columns, first, count);
  }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < rows; ++i) spare[j * rows + i] = i <= j ? x[j * m + i] : Vec<T>{};
  store_matrices<T>(spare, g.r, rows * n, first, count);
}

template <class T> const MatrixGroups<T>* groups() {
  static const MatrixGroups<T> all{kLanes<T>, lu<T>, cholesky<T>, qr<T>};
  return &all;
}

TRINE_ISA_DEFINE(matrix_groups_float, groups<float>);
TRINE_ISA_DEFINE(matrix_groups_double, groups<double>);

}  // namespace
}  // namespace trine::cpu
