// Rows of the softmax's gradient, compiled once per instruction set.
#pragma once
#include "cpu/isa.h"

namespace trine::cpu {

// out[i] = exp(x[i] - lse) * scale
TRINE_ISA_DECLARE(void, exp_row_float, (const float* x, float lse, float scale, float* out, int64_t n));
TRINE_ISA_DECLARE(void, exp_row_double, (const double* x, double lse, double scale, double* out, int64_t n));
// out[i] = exp(x[i] - lse[i]) * scale[i]
TRINE_ISA_DECLARE(void, exp_columns_float, (const float* x, const float* lse, const float* scale, float* out, int64_t n));
TRINE_ISA_DECLARE(void, exp_columns_double, (const double* x, const double* lse, const double* scale, double* out, int64_t n));

inline void exp_row(const float* x, float lse, float scale, float* out, int64_t n) { exp_row_float(x, lse, scale, out, n); }
inline void exp_row(const double* x, double lse, double scale, double* out, int64_t n) { exp_row_double(x, lse, scale, out, n); }
inline void exp_columns(const float* x, const float* lse, const float* scale, float* out, int64_t n) { exp_columns_float(x, lse, scale, out, n); }
inline void exp_columns(const double* x, const double* lse, const double* scale, double* out, int64_t n) { exp_columns_double(x, lse, scale, out, n); }

}  // namespace trine::cpu
