// The inner loops of the random operators, compiled once per instruction set: random words in, numbers out.
#pragma once
#include <cstdint>

#include "cpu/isa.h"

namespace trine::cpu {

// MT19937 and Philox (see tensor/generator.h).
TRINE_ISA_DECLARE(void, mt19937_twist, (uint32_t* state));
TRINE_ISA_DECLARE(void, mt19937_temper, (const uint32_t* state, uint32_t* out, int64_t n));
TRINE_ISA_DECLARE(void, philox_blocks, (uint64_t key, uint64_t block, uint32_t* out, int64_t blocks));

// from + u (to - from), u of 24 bits from one word, or of 53 bits from two.
TRINE_ISA_DECLARE(void, uniform_float, (const uint32_t* words, float* out, int64_t n, float from, float to));
TRINE_ISA_DECLARE(void, uniform_double, (const uint32_t* words, double* out, int64_t n, double from, double to));

// Box and Muller on blocks of sixteen uniform numbers: eight radii, eight angles. n is a multiple of 16.
TRINE_ISA_DECLARE(void, box_muller_float, (float* data, int64_t n, float mean, float std));

// u < p, u of 53 bits from two words; 0 or 1 a byte, or as a float.
TRINE_ISA_DECLARE(void, bernoulli_bytes, (const uint32_t* words, uint8_t* out, int64_t n, double p));
TRINE_ISA_DECLARE(void, bernoulli_float, (const uint32_t* words, float* out, int64_t n, double p));

// -log(1 - u) / rate, u of 53 bits, rounded once from double.
TRINE_ISA_DECLARE(void, exponential_float, (const uint32_t* words, float* out, int64_t n, double rate));

// base + word mod range, range < 2^32.
TRINE_ISA_DECLARE(void, random_int64, (const uint32_t* words, int64_t* out, int64_t n, uint32_t range, int64_t base));

// x * (kept ? scale : 0), which keeps the sign of zeros and makes dropped infinities NaN.
TRINE_ISA_DECLARE(void, masked_scale_float, (float* out, const float* x, const uint8_t* kept, int64_t n, float scale));
TRINE_ISA_DECLARE(void, masked_scale_double, (double* out, const double* x, const uint8_t* kept, int64_t n, double scale));

}  // namespace trine::cpu
