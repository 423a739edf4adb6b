// Steps of the connectionist temporal classification recursion, compiled once per instruction set. Probabilities are logarithms.
#pragma once
#include "cpu/isa.h"

namespace trine::cpu {

// out[s] = log(exp(a[s]) + exp(a[s - 1]) + exp(a[s - 2] + skip[s])) + emit[s]; skip is 0 where the step over one place is allowed, else -inf.
// The two elements before a are -inf. Run backwards over reversed lines the same step gives the other recursion.
TRINE_ISA_DECLARE(void, ctc_step_float, (const float* a, const float* skip, const float* emit, float* out, int64_t n));
TRINE_ISA_DECLARE(void, ctc_step_double, (const double* a, const double* skip, const double* emit, double* out, int64_t n));
// out[s] = exp(a[s] + b[s] - emit[s] + shift)
TRINE_ISA_DECLARE(void, ctc_occupation_float, (const float* a, const float* b, const float* emit, float shift, float* out, int64_t n));
TRINE_ISA_DECLARE(void, ctc_occupation_double, (const double* a, const double* b, const double* emit, double shift, double* out, int64_t n));

inline void ctc_step(const float* a, const float* skip, const float* emit, float* out, int64_t n) { ctc_step_float(a, skip, emit, out, n); }
inline void ctc_step(const double* a, const double* skip, const double* emit, double* out, int64_t n) { ctc_step_double(a, skip, emit, out, n); }
inline void ctc_occupation(const float* a, const float* b, const float* emit, float shift, float* out, int64_t n) { ctc_occupation_float(a, b, emit, shift, out, n); }
inline void ctc_occupation(const double* a, const double* b, const double* emit, double shift, double* out, int64_t n) { ctc_occupation_double(a, b, emit, shift, out, n); }

}  // namespace trine::cpu
