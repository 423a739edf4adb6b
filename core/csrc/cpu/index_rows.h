// Rows added to rows, compiled once per instruction set.
#pragma once
#include "cpu/isa.h"

namespace trine::cpu {

// to[i] += scale * from[i]
TRINE_ISA_DECLARE(void, add_row_float, (float* to, const float* from, float scale, int64_t n));
TRINE_ISA_DECLARE(void, add_row_double, (double* to, const double* from, double scale, int64_t n));

inline void add_row(float* to, const float* from, float scale, int64_t n) { add_row_float(to, from, scale, n); }
inline void add_row(double* to, const double* from, double scale, int64_t n) { add_row_double(to, from, scale, n); }

}  // namespace trine::cpu
