// Inner loops of resampling at given places, compiled once per instruction set. A tap is an element of the input that takes part in a
// result, with its weight; `count` results have `taps` taps each, stored tap by tap: offsets[k * count + i].
#pragma once
#include "cpu/isa.h"

namespace trine::cpu {

TRINE_ISA_DECLARE(void, gather_taps_float, (const float* in, const int32_t* offsets, const float* weights, int taps, float* out, int64_t count));
TRINE_ISA_DECLARE(void, gather_taps_double, (const double* in, const int32_t* offsets, const double* weights, int taps, double* out, int64_t count));
// sums[i] += grad[i] * (weighted taps)
TRINE_ISA_DECLARE(void, add_tap_products_float, (const float* in, const int32_t* offsets, const float* weights, int taps, const float* grad, float* sums, int64_t count));
TRINE_ISA_DECLARE(void, add_tap_products_double, (const double* in, const int32_t* offsets, const double* weights, int taps, const double* grad, double* sums, int64_t count));

inline void gather_taps(const float* in, const int32_t* o, const float* w, int taps, float* out, int64_t n) { gather_taps_float(in, o, w, taps, out, n); }
inline void gather_taps(const double* in, const int32_t* o, const double* w, int taps, double* out, int64_t n) { gather_taps_double(in, o, w, taps, out, n); }
inline void add_tap_products(const float* in, const int32_t* o, const float* w, int taps, const float* g, float* s, int64_t n) { add_tap_products_float(in, o, w, taps, g, s, n); }
inline void add_tap_products(const double* in, const int32_t* o, const double* w, int taps, const double* g, double* s, int64_t n) { add_tap_products_double(in, o, w, taps, g, s, n); }

}  // namespace trine::cpu
