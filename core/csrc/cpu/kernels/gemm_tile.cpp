// The register tiles: a block of rows times a panel of columns, summed in registers over the whole depth.
#include "cpu/kernels/gemm_tile.h"

namespace trine::cpu {
namespace {

template <class T, int MR, int NV, bool KContiguous>
inline void tile_product(int64_t k, Rows<T> a, const T* __restrict b, int64_t b_stride, Vec<T> (&acc)[MR][NV]) {
  const int64_t s = a.stride, s3 = 3 * s;
  const T* a0 = a.data;
  const T* a1 = a0 + 4 * s;
  const T* a2 = a0 + 8 * s;
  for (int64_t p = 0; p < k; ++p) {
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) __builtin_prefetch(b + 16 * b_stride + v * kLanes<T>);
    Vec<T> column[NV];
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) column[v] = load(b + v * kLanes<T>);
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
      T element;
      if constexpr (KContiguous) {
        // Three bases and two multiples of the stride address twelve rows; more would not fit the integer registers.
        const T* base = i < 4 ? a0 : i < 8 ? a1 : a2;
        element = base[(i & 3) == 0 ? 0 : (i & 3) == 1 ? s : (i & 3) == 2 ? 2 * s : s3];
      } else {
        element = a0[i];
      }
      Vec<T> x = splat(element);
#pragma GCC unroll 4
      for (int v = 0; v < NV; ++v) acc[i][v] = fmadd<T>(x, column[v], acc[i][v]);
    }
    if constexpr (KContiguous) ++a0, ++a1, ++a2;
    else a0 += s;
    b += b_stride;
  }
}

// `add` carries the sums of earlier blocks of k in the target; biases join the first block.
template <class T, int MR, int NV, bool KContiguous>
void tile(int64_t k, Rows<T> a, const T* b, int64_t b_stride, const Target<T>& c, int64_t row, int64_t col, int64_t cols, bool add, bool bias) {
  Vec<T> acc[MR][NV];
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) acc[i][v] = Vec<T>{};
  tile_product<T, MR, NV, KContiguous>(k, a, b, b_stride, acc);
  if (c.negative) {
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < NV; ++v) acc[i][v] = -acc[i][v];
  }
  if (bias && c.row_bias) {
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
      Vec<T> x = splat(c.row_bias[row + i]);
#pragma GCC unroll 4
      for (int v = 0; v < NV; ++v) acc[i][v] += x;
    }
  }
  int64_t inside = col % c.segment;
  T* out = c.data + col / c.segment * c.segment_stride + inside + row * c.row_stride;
  if (inside + cols <= c.segment) {
    const T* extra = bias && c.col_bias ? c.col_bias + col : nullptr;
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) {
      int64_t n = cols - v * kLanes<T>;
      if (n >= kLanes<T>) {
        Vec<T> x = extra ? load(extra + v * kLanes<T>) : Vec<T>{};
#pragma GCC unroll 16
        for (int i = 0; i < MR; ++i) {
          T* to = out + i * c.row_stride + v * kLanes<T>;
          acc[i][v] += x;
          store(to, add ? acc[i][v] + load(to) : acc[i][v]);
        }
      } else {
        Vec<T> x = extra ? load_first(extra + v * kLanes<T>, n) : Vec<T>{};
#pragma GCC unroll 16
        for (int i = 0; i < MR; ++i) {
          T* to = out + i * c.row_stride + v * kLanes<T>;
          acc[i][v] += x;
          store_first(to, add ? acc[i][v] + load_first(to, n) : acc[i][v], n);
        }
      }
    }
    return;
  }
  alignas(64) T spill[MR][NV * kLanes<T>];
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) store(&spill[i][v * kLanes<T>], acc[i][v]);
  for (int64_t done = 0; done < cols;) {
    int64_t at = (col + done) % c.segment, run = std::min(cols - done, c.segment - at);
    T* to = c.data + (col + done) / c.segment * c.segment_stride + at + row * c.row_stride;
    for (int i = 0; i < MR; ++i, to += c.row_stride) {
      const T* from = &spill[i][done];
      if (bias && c.col_bias) {
        const T* extra = c.col_bias + col + done;
        for (int64_t j = 0; j < run; ++j) to[j] = (add ? to[j] : T(0)) + (from[j] + extra[j]);
      } else if (add) {
        for (int64_t j = 0; j < run; ++j) to[j] += from[j];
      } else {
        for (int64_t j = 0; j < run; ++j) to[j] = from[j];
      }
    }
    done += run;
  }
}


template <class T, int NV, bool KContiguous, int... I>
constexpr std::array<TileFn<T>, sizeof...(I)> tile_row(std::integer_sequence<int, I...>) { return {tile<T, I + 1, NV, KContiguous>...}; }

template <class T> TileFn<T> choose_tile(int64_t rows, int64_t vecs, bool k_contiguous) {
  using Heights = std::make_integer_sequence<int, kTileRows>;
  static constexpr std::array<TileFn<T>, kTileRows> table[2][kTileVecs] = {
      {tile_row<T, 1, false>(Heights{}), tile_row<T, 2, false>(Heights{})}, {tile_row<T, 1, true>(Heights{}), tile_row<T, 2, true>(Heights{})}};
  return table[k_contiguous][vecs - 1][rows - 1];
}

}  // namespace

namespace TRINE_ISA {
TileFn<float> float_tile(int64_t rows, int64_t vecs, bool k_contiguous) { return choose_tile<float>(rows, vecs, k_contiguous); }
TileFn<double> double_tile(int64_t rows, int64_t vecs, bool k_contiguous) { return choose_tile<double>(rows, vecs, k_contiguous); }
}  // namespace TRINE_ISA

}  // namespace trine::cpu
