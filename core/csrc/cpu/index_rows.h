// Rows added to rows, turned round or filled, compiled once per instruction set.
#pragma once
#include "cpu/isa.h"

namespace trine::cpu {

// to[i] += scale * from[i]
TRINE_ISA_DECLARE(void, add_row_float, (float* to, const float* from, float scale, int64_t n));
TRINE_ISA_DECLARE(void, add_row_double, (double* to, const double* from, double scale, int64_t n));

// to[i] = *element, for elements of `size` bytes.
TRINE_ISA_DECLARE(void, repeat_element, (void* to, const void* element, int64_t n, int size));
// to[n - 1 - i] = from[i], for elements of `size` bytes that do not overlap.
TRINE_ISA_DECLARE(void, reverse_row, (void* to, const void* from, int64_t n, int size));

inline void add_row(float* to, const float* from, float scale, int64_t n) { add_row_float(to, from, scale, n); }
inline void add_row(double* to, const double* from, double scale, int64_t n) { add_row_double(to, from, scale, n); }

}  // namespace trine::cpu
