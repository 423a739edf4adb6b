// The register tile that every dense product of ours is made of, and the blocked loop around it. Private to the files of this folder:
// they are compiled once per instruction set, so nothing here may have external linkage (hence the anonymous namespaces).
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "cpu/epilogue.h"
#include "cpu/kernels/vec.h"

namespace trine::cpu {

// Where the product goes: column j lies at (j / segment) * segment_stride + j % segment, row i adds i * row_stride. Matrices have one
// segment; a convolution has one per image.
template <class T> struct Target {
  T* data;
  int64_t row_stride, segment, segment_stride;
  const T* row_bias = nullptr;
  const T* col_bias = nullptr;
  bool accumulate = false;
  bool negative = false;                  // of the product
  const Epilogue<T>* epilogue = nullptr;  // its residual lies relative to `data`
};

// Rows of the left factor as they lie in memory: packing them was measured to gain less than it costs. Either k runs contiguously
// (stride = distance of rows) or the rows do (stride = distance of k).
template <class T> struct Rows {
  const T* data;
  int64_t stride;
};

template <class T> using TileFn = void (*)(int64_t, Rows<T>, const T*, int64_t, const Target<T>&, int64_t, int64_t, int64_t, bool, bool);

// Defined in gemm_tile.cpp: the tile of `rows` x `vecs` vectors.
namespace TRINE_ISA {
TileFn<float> float_tile(int64_t rows, int64_t vecs, bool k_contiguous);
TileFn<double> double_tile(int64_t rows, int64_t vecs, bool k_contiguous);
}  // namespace TRINE_ISA

namespace {

#if defined(__AVX512F__)
constexpr int kTileRows = 12;  // 12 x 2 accumulators + 2 columns + 1 broadcast of the 32 registers
#else
constexpr int kTileRows = 6;
#endif
constexpr int kTileVecs = 2;
template <class T> constexpr int kTileCols = kTileVecs * kLanes<T>;


template <class T> TileFn<T> tile_function(int64_t rows, int64_t vecs, bool k_contiguous) {
  if constexpr (sizeof(T) == 4) return TRINE_ISA::float_tile(rows, vecs, k_contiguous);
  else return TRINE_ISA::double_tile(rows, vecs, k_contiguous);
}

// Rows are cut into panels of nearly equal height: 16 rows as 8 + 8, not 12 + 4.
struct RowPanels {
  int64_t count, tall, height;  // the first `tall` panels have `height` rows, the others one less
  explicit RowPanels(int64_t m) : count((m + kTileRows - 1) / kTileRows), tall(0), height(0) {
    if (count) height = (m + count - 1) / count, tall = m - (height - 1) * count;
  }
  int64_t rows(int64_t p) const { return p < tall ? height : height - 1; }
  int64_t begin(int64_t p) const { return p * height - std::max<int64_t>(p - tall, 0); }
};

constexpr int64_t kBlockK = 384;   // a row panel of this depth stays in the first cache
constexpr int64_t kBlockN = 480;   // columns packed at a time stay in the second

// One column panel of a matrix: dst[p][j] for j < cols, zero up to `width`.
template <class T> void pack_cols(T* __restrict dst, const T* __restrict b, int64_t row_stride, int64_t col_stride, int64_t k, int64_t cols, int64_t width) {
  if (col_stride == 1 && cols == kTileCols<T> && width == cols) {
    for (int64_t p = 0; p < k; ++p, b += row_stride, dst += width)
      for (int v = 0; v < kTileVecs; ++v) store(dst + v * kLanes<T>, load(b + v * kLanes<T>));
    return;
  }
  if (col_stride == 1) {
    for (int64_t p = 0; p < k; ++p, b += row_stride, dst += width) {
      std::memcpy(dst, b, cols * sizeof(T));
      for (int64_t j = cols; j < width; ++j) dst[j] = T(0);
    }
    return;
  }
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    if (cols == width && col_stride < (int64_t(1) << 26)) {
      __m512i index = _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), _mm512_set1_epi32(static_cast<int>(col_stride)));
      for (int64_t p = 0; p < k; ++p, b += row_stride, dst += width)
        for (int64_t j = 0; j < width; j += 16)
          _mm512_storeu_si512(dst + j, _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), 0xffff, index, b + j * col_stride, 4));
      return;
    }
  }
#endif
  for (int64_t j = 0; j < cols; ++j) {
    const T* from = b + j * col_stride;
    for (int64_t p = 0; p < k; ++p) dst[p * width + j] = from[p * row_stride];
  }
  for (int64_t j = cols; j < width; ++j)
    for (int64_t p = 0; p < k; ++p) dst[p * width + j] = T(0);
}

template <class T> inline int64_t panel_width(int64_t cols) { return (cols + kLanes<T> - 1) / kLanes<T> * kLanes<T>; }

// Where a column panel lies: as it is in memory, or packed.
template <class T> struct Panel {
  const T* data;
  int64_t stride;
};
constexpr int64_t kPanelSlack = 64;  // elements after the packed panels that whole-vector stores may touch
template <class T> constexpr int64_t kPanelBuffer = kBlockK * kBlockN + kPanelSlack;

template <class T> inline Vec<T> clamped(Vec<T> x, Vec<T> low, Vec<T> high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

// Columns [j0, j1) of `count` rows from `row` on.
template <class T> void finish_rows(const Target<T>& c, int64_t row, int64_t count, int64_t j0, int64_t j1) {
  const Epilogue<T>& e = *c.epilogue;
  const Vec<T> low = splat(e.low), high = splat(e.high);
  for (int64_t i = row; i < row + count; ++i) {
    const Vec<T> scale = splat(e.scale[i]), shift = splat(e.shift[i]);
    for (int64_t j = j0; j < j1;) {
      const int64_t inside = j % c.segment, run = std::min(j1 - j, c.segment - inside), at = j / c.segment * c.segment_stride + inside + i * c.row_stride;
      T* to = c.data + at;
      const T* residual = e.residual ? e.residual + at : nullptr;
      for (int64_t x = 0; x < run; x += kLanes<T>) {
        const int64_t left = run - x;
        const bool whole = left >= kLanes<T>;
        Vec<T> y = fmadd<T>(whole ? load(to + x) : load_first(to + x, left), scale, shift);
        if (residual) y += whole ? load(residual + x) : load_first(residual + x, left);
        y = clamped<T>(y, low, high);
        if (whole) store(to + x, y);
        else store_first(to + x, y, left);
      }
      j += run;
    }
  }
}

// C[rows p0..p1 of panels, j0:j1] = A B for at most kBlockN columns. `a` is A's first row; one of its strides is 1.
// `panel(buffer, k0, kc, col, cols, width)` gives the column panel [k0, k0 + kc) x [col, col + cols), packed into the buffer or not.
template <class T, class MakePanel>
void block_product(const RowPanels& rows, int64_t p0, int64_t p1, int64_t j0, int64_t j1, int64_t k, const T* a, int64_t row_stride, int64_t col_stride,
                   const MakePanel& panel, const Target<T>& c, T* buffer) {
  const bool k_contiguous = col_stride == 1;
  for (int64_t k0 = 0; k0 < k || k0 == 0; k0 += kBlockK) {
    int64_t kc = std::min(kBlockK, k - k0);
    Panel<T> panels[kBlockN / kTileCols<T> + 1];
    T* to = buffer;
    int64_t count = 0;
    for (int64_t j = j0; j < j1; j += kTileCols<T>) {
      int64_t cols = std::min<int64_t>(kTileCols<T>, j1 - j), width = panel_width<T>(cols);
      panels[count++] = panel(to, k0, kc, j, cols, width);
      to += width * kc;
    }
    for (int64_t p = p0; p < p1; ++p) {
      int64_t row = rows.begin(p);
      Rows<T> left{a + row * row_stride + k0 * col_stride, k_contiguous ? row_stride : col_stride};
      TileFn<T> full = tile_function<T>(rows.rows(p), kTileVecs, k_contiguous);
      for (int64_t j = j0, i = 0; j < j1; j += kTileCols<T>, ++i) {
        int64_t cols = std::min<int64_t>(kTileCols<T>, j1 - j);
        TileFn<T> fn = cols > kLanes<T> ? full : tile_function<T>(rows.rows(p), 1, k_contiguous);
        fn(kc, left, panels[i].data, panels[i].stride, c, row, j, cols, c.accumulate || k0 > 0, k0 == 0);
      }
      if (c.epilogue && k0 + kBlockK >= k) finish_rows(c, row, rows.rows(p), j0, j1);
    }
  }
}

}  // namespace
}  // namespace trine::cpu
