// 8x8 blocks of 32-bit elements, turned in registers.
#include "cpu/transpose.h"

#include <cstring>

// The helpers are inlined: how a vector travels between functions of different instruction sets does not matter here.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace trine::cpu {
namespace {

typedef uint32_t Row __attribute__((vector_size(32)));

inline Row load(const uint32_t* p) {
  Row r;
  std::memcpy(&r, p, sizeof r);
  return r;
}
inline void store(uint32_t* p, Row r) { std::memcpy(p, &r, sizeof r); }

// Three rounds of interleaving pairs of rows that are 4, 2 and 1 apart.
inline void turn(uint32_t* out, int64_t out_stride, const uint32_t* in, int64_t in_stride) {
  Row a[8], b[8];
  for (int i = 0; i < 8; i++) a[i] = load(in + i * in_stride);
  for (int i = 0; i < 4; i++) {
    b[2 * i] = __builtin_shufflevector(a[i], a[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
    b[2 * i + 1] = __builtin_shufflevector(a[i], a[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
  }
  for (int i = 0; i < 4; i++) {
    a[2 * i] = __builtin_shufflevector(b[i], b[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
    a[2 * i + 1] = __builtin_shufflevector(b[i], b[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
  }
  for (int i = 0; i < 4; i++) {
    b[2 * i] = __builtin_shufflevector(a[i], a[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
    b[2 * i + 1] = __builtin_shufflevector(a[i], a[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i++) store(out + i * out_stride, b[i]);
}

void transpose_tile(uint32_t* out, int64_t out_stride, const uint32_t* in, int64_t in_stride, int64_t rows, int64_t cols) {
  int64_t full_rows = rows & ~int64_t{7}, full_cols = cols & ~int64_t{7};
  for (int64_t r = 0; r < full_rows; r += 8)
    for (int64_t c = 0; c < full_cols; c += 8) turn(out + r * out_stride + c, out_stride, in + c * in_stride + r, in_stride);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = r < full_rows ? full_cols : 0; c < cols; c++) out[r * out_stride + c] = in[c * in_stride + r];
}

TRINE_ISA_DEFINE(transpose_tile_u32, transpose_tile);

}  // namespace
}  // namespace trine::cpu
