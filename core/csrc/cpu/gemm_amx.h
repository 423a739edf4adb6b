// bfloat16 products on the tile unit (AMX) of newer x86 processors.
#pragma once
#include <cstdint>

#include "cpu/isa.h"

namespace trine::cpu {

// C[m, n] = A B + bias, all bfloat16 as raw bits, summed in float32. Rows of A and of C are contiguous, B has any strides.
struct GemmBFloat16 {
  int64_t m, n, k;
  const uint16_t* a;
  int64_t a_row;
  const uint16_t* b;
  int64_t b_row, b_col;
  uint16_t* c;
  int64_t c_row;
  const uint16_t* bias;  // [n] or nullptr
};

// False when this processor (or this build) has no tiles or the system does not grant them.
TRINE_ISA_DECLARE(bool, gemm_amx, (const GemmBFloat16& g));

}  // namespace trine::cpu
