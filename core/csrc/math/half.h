// float16 and bfloat16 <-> float32 on their bit patterns, rounding to nearest even, NaN kept.
#pragma once

#include "base.h"

namespace trine::math {

TRINE_FN float half_to_float(uint16_t h) {
  uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  uint32_t rest = static_cast<uint32_t>(h & 0x7fffu) << 13;
  // 2^112 moves the exponent's bias; multiplying lets the machine normalise subnormals. Infinity and NaN have
  // exponent 31 in half, which would become 143.
  float moved = from_bits(static_cast<int32_t>(rest)) * 0x1p112f;
  uint32_t special = rest >= 0x0f800000u ? 0x7f800000u : 0u;
  return from_bits(static_cast<int32_t>(static_cast<uint32_t>(bits(moved)) | special | sign));
}

TRINE_FN uint16_t float_to_half(float x) {
  uint32_t u = static_cast<uint32_t>(bits(x));
  uint32_t sign = (u >> 16) & 0x8000u;
  uint32_t a = u & 0x7fffffffu;
  // Normal results: move the bias, round on bit 13 with ties to even. Subnormal: adding 1/2 aligns the last place.
  uint32_t normal = (a - 0x38000000u + 0xfffu + ((a >> 13) & 1u)) >> 13;
  uint32_t small = static_cast<uint32_t>(bits(from_bits(static_cast<int32_t>(a)) + 0.5f)) - 0x3f000000u;
  uint32_t h = a < 0x38800000u ? small : normal;
  h = a >= 0x477ff000u ? 0x7c00u : h;
  h = a > 0x7f800000u ? 0x7e00u | ((a >> 13) & 0x3ffu) : h;
  return static_cast<uint16_t>(h | sign);
}

TRINE_FN float bfloat16_to_float(uint16_t b) {
  return from_bits(static_cast<int32_t>(static_cast<uint32_t>(b) << 16));
}

TRINE_FN uint16_t float_to_bfloat16(float x) {
  uint32_t u = static_cast<uint32_t>(bits(x));
  uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  return static_cast<uint16_t>(x != x ? 0x7fc0u : rounded);
}

}  // namespace trine::math
