// Random words to numbers, auto-vectorised once per instruction set.
#include "cpu/random_loops.h"

#include "math/math.h"

namespace trine::cpu {
namespace {

using math::bits;
using math::fmadd;
using math::from_bits;

inline uint32_t twist_word(uint32_t u, uint32_t v) {
  uint32_t y = (u & 0x80000000u) | (v & 0x7fffffffu);
  return (y >> 1) ^ ((0u - (v & 1u)) & 0x9908b0dfu);
}

// The recurrence looks 397 words ahead, so that each of the loops has only distant dependences.
void twist(uint32_t* s) {
#pragma GCC ivdep
  for (int i = 0; i < 227; i++) s[i] = s[i + 397] ^ twist_word(s[i], s[i + 1]);
#pragma GCC ivdep
  for (int i = 227; i < 454; i++) s[i] = s[i - 227] ^ twist_word(s[i], s[i + 1]);
#pragma GCC ivdep
  for (int i = 454; i < 623; i++) s[i] = s[i - 227] ^ twist_word(s[i], s[i + 1]);
  s[623] = s[396] ^ twist_word(s[623], s[0]);
}

void temper(const uint32_t* state, uint32_t* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    uint32_t y = state[i];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    out[i] = y ^ (y >> 18);
  }
}

void philox(uint64_t key, uint64_t block, uint32_t* out, int64_t blocks) {
#pragma GCC ivdep
  for (int64_t b = 0; b < blocks; b++) {
    uint64_t counter = block + static_cast<uint64_t>(b);
    uint64_t c0 = counter & 0xffffffffu, c1 = counter >> 32, c2 = 0, c3 = 0;
    uint64_t k0 = key & 0xffffffffu, k1 = key >> 32;
    for (int round = 0; round < 10; round++) {
      uint64_t p0 = uint64_t{0xD2511F53u} * c0, p1 = uint64_t{0xCD9E8D57u} * c2;
      c0 = (p1 >> 32) ^ c1 ^ k0;
      c2 = (p0 >> 32) ^ c3 ^ k1;
      c1 = p1 & 0xffffffffu;
      c3 = p0 & 0xffffffffu;
      k0 = (k0 + 0x9E3779B9u) & 0xffffffffu;
      k1 = (k1 + 0xBB67AE85u) & 0xffffffffu;
    }
    out[4 * b] = static_cast<uint32_t>(c0);
    out[4 * b + 1] = static_cast<uint32_t>(c1);
    out[4 * b + 2] = static_cast<uint32_t>(c2);
    out[4 * b + 3] = static_cast<uint32_t>(c3);
  }
}

// a * b + c with one rounding on every machine (almost: without the instruction, through double).
inline float fused(float a, float b, float c) {
#if TRINE_HAS_FMA
  return __builtin_fmaf(a, b, c);
#else
  return static_cast<float>(static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c));
#endif
}
inline double fused(double a, double b, double c) {
  double p = a * b;
  double e = math::product_error(a, b, p);
  return TRINE_HAS_FMA ? __builtin_fma(a, b, c) : (p + c) + e;
}

// Two words, the first the upper half, to a double in [0, 1): k 2^-53 by way of the exponent of 2^52, in two steps
// because k has one bit more than that leaves room for.
inline uint64_t word_pair(const uint32_t* words, int64_t i) {
  return static_cast<uint64_t>(words[2 * i] & 0x1fffffu) << 32 | words[2 * i + 1];
}
inline double pair_to_double(uint64_t k) {
  double high = from_bits(static_cast<int64_t>((k >> 32) | 0x4330000000000000u)) - 0x1p52;
  double low = from_bits(static_cast<int64_t>((k & 0xffffffffu) | 0x4330000000000000u)) - 0x1p52;
  return high * 0x1p-21 + low * 0x1p-53;
}

void uniform_f(const uint32_t* words, float* out, int64_t n, float from, float to) {
  float range = to - from;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    float u = static_cast<float>(static_cast<int32_t>(words[i] & 0xffffffu)) * 0x1p-24f;
    out[i] = fused(u, range, from);
  }
}

void uniform_d(const uint32_t* words, double* out, int64_t n, double from, double to) {
  double range = to - from;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) out[i] = fused(pair_to_double(word_pair(words, i)), range, from);
}

// Logarithm, sine and cosine of the Cephes library (S. Moshier) in single precision: PyTorch's normal numbers are made
// with these polynomials and this order of operations, and equal bits need equal steps.
inline float cephes_log(float x) {
  x = x < 0x1p-126f ? 0x1p-126f : x;
  float e = static_cast<float>((bits(x) >> 23) - 0x7e);
  x = from_bits((bits(x) & 0x007fffff) | 0x3f000000);
  bool low = x < 0.707106781186547524f;
  float again = low ? x : 0.0f;
  x = x - 1.0f;
  e = e - (low ? 1.0f : 0.0f);
  x = x + again;
  float z = x * x;
  float y = fused(7.0376836292e-2f, x, -1.1514610310e-1f);
  y = fused(y, x, 1.1676998740e-1f);
  y = fused(y, x, -1.2420140846e-1f);
  y = fused(y, x, 1.4249322787e-1f);
  y = fused(y, x, -1.6668057665e-1f);
  y = fused(y, x, 2.0000714765e-1f);
  y = fused(y, x, -2.4999993993e-1f);
  y = fused(y, x, 3.3333331174e-1f);
  y = y * x;
  y = fused(y, z, e * -2.12194440e-4f);
  y = fused(-z, 0.5f, y);
  x = x + y;
  return fused(e, 0.693359375f, x);
}

// For 0 <= x <= 2 pi.
inline void cephes_sincos(float x, float& sine, float& cosine) {
  int32_t j = (static_cast<int32_t>(x * 1.27323954473516f) + 1) & ~1;
  float y = static_cast<float>(j);
  int32_t sine_sign = static_cast<int32_t>(static_cast<uint32_t>(j & 4) << 29);
  int32_t cosine_sign = static_cast<int32_t>(static_cast<uint32_t>(~(j - 2) & 4) << 29);
  bool direct = (j & 2) == 0;
  x = fused(-0.78515625f, y, x);
  x = fused(-2.4187564849853515625e-4f, y, x);
  x = fused(-3.77489497744594108e-8f, y, x);
  float z = x * x;
  float c = fused(2.443315711809948e-5f, z, -1.388731625493765e-3f);
  c = fused(c, z, 4.166664568298827e-2f);
  c = c * z;
  c = fused(c, z, -(z * 0.5f));
  c = c + 1.0f;
  float s = fused(-1.9515295891e-4f, z, 8.3321608736e-3f);
  s = fused(s, z, -1.6666654611e-1f);
  s = s * z;
  s = fused(s, x, x);
  sine = from_bits(bits(direct ? s : c) ^ sine_sign);
  cosine = from_bits(bits(direct ? c : s) ^ cosine_sign);
}

void box_muller_f(float* data, int64_t n, float mean, float std) {
  constexpr float two_pi = static_cast<float>(2.0 * 3.14159265358979323846);
  // Radii and angles are gathered from a run of blocks into long rows: eight numbers fill half a vector.
  constexpr int64_t kRow = 256;
  alignas(64) float u1[kRow], u2[kRow], cosines[kRow], sines[kRow];
  for (int64_t start = 0; start < n; start += 2 * kRow) {
    int64_t row = (n - start) / 2 < kRow ? (n - start) / 2 : kRow;
    float* block = data + start;
    for (int64_t b = 0; b < row; b += 8)
      for (int j = 0; j < 8; j++) {
        u1[b + j] = block[2 * b + j];
        u2[b + j] = block[2 * b + 8 + j];
      }
#pragma GCC ivdep
    for (int64_t i = 0; i < row; i++) {
      float radius = math::sqrt(-2.0f * cephes_log(1.0f - u1[i]));
      float sine, cosine;
      cephes_sincos(two_pi * u2[i], sine, cosine);
      cosines[i] = fused(radius * cosine, std, mean);
      sines[i] = fused(radius * sine, std, mean);
    }
    for (int64_t b = 0; b < row; b += 8)
      for (int j = 0; j < 8; j++) {
        block[2 * b + j] = cosines[b + j];
        block[2 * b + 8 + j] = sines[b + j];
      }
  }
}

// u < p compares integers: u = k 2^-53 < p where k is below the ceiling of p 2^53.
inline int64_t bernoulli_threshold(double p) { return static_cast<int64_t>(math::ceil(p * 0x1p53)); }

template <class T> void bernoulli(const uint32_t* words, T* out, int64_t n, double p) {
  int64_t threshold = bernoulli_threshold(p);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) out[i] = static_cast<int64_t>(word_pair(words, i)) < threshold ? T(1) : T(0);
}

void exponential_f(const uint32_t* words, float* out, int64_t n, double rate) {
  double factor = -1.0 / rate;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++)
    out[i] = static_cast<float>(factor * math::log1p(-pair_to_double(word_pair(words, i))));
}

// The quotient in double is exact or one too large, and the remainder exact: both below 2^53.
void random_i64(const uint32_t* words, int64_t* out, int64_t n, uint32_t range, int64_t base) {
  double divisor = range, inverse = 1.0 / divisor;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    double w = from_bits(static_cast<int64_t>(uint64_t{words[i]} | 0x4330000000000000u)) - 0x1p52;
    double r = w - math::floor(w * inverse) * divisor;
    r = r < 0.0 ? r + divisor : r;
    r = r >= divisor ? r - divisor : r;
    out[i] = (bits(r + 0x1p52) - 0x4330000000000000) + base;
  }
}

template <class T> void masked_scale(T* out, const T* x, const uint8_t* kept, int64_t n, T scale) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) out[i] = x[i] * (kept[i] ? scale : T(0));
}

TRINE_ISA_DEFINE(mt19937_twist, twist);
TRINE_ISA_DEFINE(mt19937_temper, temper);
TRINE_ISA_DEFINE(philox_blocks, philox);
TRINE_ISA_DEFINE(uniform_float, uniform_f);
TRINE_ISA_DEFINE(uniform_double, uniform_d);
TRINE_ISA_DEFINE(box_muller_float, box_muller_f);
TRINE_ISA_DEFINE(bernoulli_bytes, bernoulli<uint8_t>);
TRINE_ISA_DEFINE(bernoulli_float, bernoulli<float>);
TRINE_ISA_DEFINE(exponential_float, exponential_f);
TRINE_ISA_DEFINE(random_int64, random_i64);
TRINE_ISA_DEFINE(masked_scale_float, masked_scale<float>);
TRINE_ISA_DEFINE(masked_scale_double, masked_scale<double>);

}  // namespace
}  // namespace trine::cpu
