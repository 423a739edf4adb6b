// Inner loops of resampling at given places, compiled once per instruction set. A tap is an element of the input that takes part in a
// result, with its weight; `count` results have `taps` taps each, stored tap by tap: offsets[k * count + i]. What lies outside of the
// input has weight and slope zero and some offset inside.
#pragma once
#include "cpu/isa.h"

namespace trine::cpu {

constexpr int64_t kGridBlock = 512;  // the most places at a time

enum class GridMode { Linear, Nearest, Cubic };
enum class GridPadding { Zeros, Border, Reflection };

// The taps along one dimension: positions, weights, and their derivatives with respect to the grid's value.
template <class T> struct LineTaps {
  int taps;
  int64_t size;
  int32_t* index;
  T *weight, *slope;
};

// What line_taps fills for the places grid[i * stride].
struct GridLine {
  GridMode mode;
  GridPadding padding;
  bool align;
};

#define TRINE_GRID_KERNELS(T)                                                                                                              \
  TRINE_ISA_DECLARE(void, line_taps_##T, (const T* grid, int64_t stride, const GridLine& how, const LineTaps<T>& to, int64_t count));      \
  /* lines[3]: depth, height, width */                                                                                                     \
  TRINE_ISA_DECLARE(void, join_taps_##T, (const LineTaps<T>* lines, int32_t* offsets, T* weights, int64_t count));                         \
  TRINE_ISA_DECLARE(void, gather_taps_##T, (const T* in, const int32_t* offsets, const T* weights, int taps, T* out, int64_t count));      \
  TRINE_ISA_DECLARE(void, scatter_taps_##T, (T* to, const int32_t* offsets, const T* weights, int taps, const T* grad, int64_t count));    \
  /* sums[k * count + i] += grad[i] * tap k of place i, without its weight */                                                              \
  TRINE_ISA_DECLARE(void, add_tap_products_##T, (const T* in, const int32_t* offsets, int taps, const T* grad, T* sums, int64_t count));   \
  /* The gradient of the grid's values along line `dim`, one every `stride`, from those sums. */                                           \
  TRINE_ISA_DECLARE(void, slope_taps_##T, (const LineTaps<T>* lines, int dim, const T* sums, T* out, int64_t stride, int64_t count))
TRINE_GRID_KERNELS(float);
TRINE_GRID_KERNELS(double);
#undef TRINE_GRID_KERNELS

}  // namespace trine::cpu
