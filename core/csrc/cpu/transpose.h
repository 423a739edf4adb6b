// Transposition of a small block, for copies between memory orders.
#pragma once
#include "cpu/isa.h"

namespace trine::cpu {
// out[r][c] = in[c][r]; strides in elements.
TRINE_ISA_DECLARE(void, transpose_tile_u32, (uint32_t* out, int64_t out_stride, const uint32_t* in, int64_t in_stride, int64_t rows, int64_t cols));
}  // namespace trine::cpu
