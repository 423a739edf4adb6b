// Matrix products in float and double: dots for vectors, register tiles for the rest.
#include "cpu/gemm.h"

#include "base/parallel.h"
#include "cpu/kernels/gemm_tile.h"
#include "cpu/scratch.h"

namespace trine::cpu {
namespace {

#if defined(__AVX512F__)
// Sixteen horizontal sums at once: each level adds the two halves of neighbouring vectors.
inline __m512 sum_rows(const Vec<float>* v) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  __m512 level[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) level[i] = (__m512)v[i];
#pragma GCC unroll 4
  for (int n = 16; n > 1; n /= 2)
#pragma GCC unroll 8
    for (int i = 0; i < n / 2; ++i)
      level[i] = _mm512_add_ps(_mm512_permutex2var_ps(level[2 * i], even, level[2 * i + 1]), _mm512_permutex2var_ps(level[2 * i], odd, level[2 * i + 1]));
  return level[0];
}
#endif

// y[r * y_stride] (+)= w[r] . x + bias[r] for R rows of w.
template <class T, int R>
inline void dot_rows(int64_t k, const T* __restrict w, int64_t w_stride, const T* __restrict x, T* y, int64_t y_stride, const T* bias, bool accumulate) {
  constexpr int L = kLanes<T>;
  Vec<T> acc[R];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) acc[r] = Vec<T>{};
  int64_t p = 0;
  for (; p + L <= k; p += L) {
    Vec<T> right = load(x + p);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) acc[r] = fmadd<T>(load(w + r * w_stride + p), right, acc[r]);
  }
  T sum[R];
#if defined(__AVX512F__)
  if constexpr (R == 16 && sizeof(T) == 4) _mm512_storeu_ps(sum, sum_rows(acc));
  else
#endif
    for (int r = 0; r < R; ++r) sum[r] = sum_lanes<T>(acc[r]);
  for (; p < k; ++p)
    for (int r = 0; r < R; ++r) sum[r] += w[r * w_stride + p] * x[p];
  for (int r = 0; r < R; ++r) {
    T value = bias ? sum[r] + bias[r] : sum[r];
    y[r * y_stride] = accumulate ? y[r * y_stride] + value : value;
  }
}

template <class T>
void dots(int64_t rows, int64_t k, const T* w, int64_t w_stride, const T* x, T* y, int64_t y_stride, const T* bias, bool accumulate) {
  parallel_for(0, rows, std::max<int64_t>(16, 200000 / std::max<int64_t>(k, 1)), [=](int64_t begin, int64_t end) {
    int64_t r = begin;
    auto advance = [&](auto height) {
      constexpr int R = decltype(height)::value;
      for (; r + R <= end; r += R) dot_rows<T, R>(k, w + r * w_stride, w_stride, x, y + r * y_stride, y_stride, bias ? bias + r : nullptr, accumulate);
    };
    advance(std::integral_constant<int, 16>{});
    advance(std::integral_constant<int, 4>{});
    advance(std::integral_constant<int, 1>{});
  });
}

// y = x B for contiguous rows of B.
template <class T, int NV>
inline void combine_rows(int64_t k, const T* __restrict x, int64_t x_stride, const T* __restrict b, int64_t b_stride, T* y, const T* bias, bool accumulate) {
  Vec<T> acc[NV];
#pragma GCC unroll 8
  for (int v = 0; v < NV; ++v) acc[v] = Vec<T>{};
  for (int64_t p = 0; p < k; ++p) {
    Vec<T> left = splat(x[p * x_stride]);
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) acc[v] = fmadd<T>(left, load(b + p * b_stride + v * kLanes<T>), acc[v]);
  }
  for (int v = 0; v < NV; ++v) {
    if (bias) acc[v] += load(bias + v * kLanes<T>);
    if (accumulate) acc[v] += load(y + v * kLanes<T>);
    store(y + v * kLanes<T>, acc[v]);
  }
}

template <class T>
void combination(int64_t n, int64_t k, const T* x, int64_t x_stride, const T* b, int64_t b_stride, T* y, const T* bias, bool accumulate) {
  constexpr int64_t L = kLanes<T>;
  int64_t blocks = (n + L - 1) / L;
  parallel_for(0, blocks, std::max<int64_t>(8, 200000 / std::max<int64_t>(k * L, 1)), [=](int64_t begin, int64_t end) {
    int64_t j = begin * L, stop = std::min(n, end * L);
    for (; j + 8 * L <= stop; j += 8 * L) combine_rows<T, 8>(k, x, x_stride, b + j, b_stride, y + j, bias ? bias + j : nullptr, accumulate);
    for (; j + L <= stop; j += L) combine_rows<T, 1>(k, x, x_stride, b + j, b_stride, y + j, bias ? bias + j : nullptr, accumulate);
    for (; j < stop; ++j) {
      T sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += x[p * x_stride] * b[p * b_stride + j];
      if (bias) sum += bias[j];
      y[j] = accumulate ? y[j] + sum : sum;
    }
  });
}

template <class T> void tiny(const Gemm<T>& g) {
  for (int64_t i = 0; i < g.m; ++i) {
    T* c = g.c + i * g.c_row;
    for (int64_t j = 0; j < g.n; ++j) {
      const T* a = g.a + i * g.a_row;
      const T* b = g.b + j * g.b_col;
      T sum = 0;
      for (int64_t p = 0; p < g.k; ++p) sum += a[p * g.a_col] * b[p * g.b_row];
      if (g.row_bias) sum += g.row_bias[i];
      if (g.col_bias) sum += g.col_bias[j];
      c[j] = g.accumulate ? c[j] + sum : sum;
    }
  }
}

template <class T> void blocked(const Gemm<T>& g) {
  RowPanels rows(g.m);
  Target<T> target{g.c, g.c_row, g.n, 0, g.row_bias, g.col_bias, g.accumulate, g.negative};
  // Rows that are already contiguous are packed only when enough tiles reuse them.
  bool direct = g.b_col == 1 && rows.count <= 2;
  auto panel = [&](T* to, int64_t k0, int64_t kc, int64_t col, int64_t cols, int64_t width) -> Panel<T> {
    const T* from = g.b + k0 * g.b_row + col * g.b_col;
    if (direct && cols == width) return {from, g.b_row};
    pack_cols(to, from, g.b_row, g.b_col, kc, cols, width);
    return {to, width};
  };
  int64_t col_blocks = (g.n + kBlockN - 1) / kBlockN;
  int64_t work = g.m * g.n * g.k, threads = work < (1 << 18) ? 1 : num_threads();
  int64_t row_parts = std::clamp<int64_t>((threads + col_blocks - 1) / col_blocks, 1, rows.count), units = col_blocks * row_parts;
  parallel_for(0, units, threads == 1 ? units : 1, [&](int64_t begin, int64_t end) {
    Scratch<T> buffer(std::min(kPanelBuffer<T>, (std::min(g.k, kBlockK) * (g.n + kTileCols<T>)) + kPanelSlack));
    for (int64_t u = begin; u < end; ++u) {
      int64_t j0 = u % col_blocks * kBlockN, part = u / col_blocks;
      block_product<T>(rows, rows.count * part / row_parts, rows.count * (part + 1) / row_parts, j0, std::min(g.n, j0 + kBlockN), g.k, g.a, g.a_row, g.a_col,
                       panel, target, buffer.data());
    }
  });
}

template <class T> void product(const Gemm<T>& g) {
  if (g.negative) return blocked(g);
  if (g.m * g.n * g.k <= 256 || g.k == 0) return tiny(g);
  bool biased_columns = g.col_bias, biased_rows = g.row_bias;
  if (g.b_row == 1 && !biased_rows && (g.m == 1 || (g.m <= 4 && g.a_col == 1 && g.n * g.k > 4096)) && (g.a_col == 1)) {
    for (int64_t i = 0; i < g.m; ++i) dots<T>(g.n, g.k, g.b, g.b_col, g.a + i * g.a_row, g.c + i * g.c_row, 1, g.col_bias, g.accumulate);
    return;
  }
  if (g.m == 1 && g.b_col == 1 && !biased_rows) return combination<T>(g.n, g.k, g.a, g.a_col, g.b, g.b_row, g.c, g.col_bias, g.accumulate);
  if (g.n == 1 && g.b_row == 1 && g.a_col == 1 && !biased_columns) return dots<T>(g.m, g.k, g.a, g.a_row, g.b, g.c, g.c_row, g.row_bias, g.accumulate);
  blocked(g);
}

}  // namespace

TRINE_ISA_DEFINE(gemm_float, product<float>);
TRINE_ISA_DEFINE(gemm_double, product<double>);

}  // namespace trine::cpu
