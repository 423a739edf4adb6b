// The passes of resize.cpp written with AVX2: the same sums, hence the same results.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isa.h"
#include "resize_filters.h"

#ifdef TRINE_VISION_X86

namespace trine::vision {

// How many bytes beyond the end of a row may be read (never used).
constexpr size_t kRowSlack = 32;

// The weights as two 16-bit parts, high * 2^11 + low, in groups of four taps: what `pmaddwd` multiplies.
struct SplitWeights {
  size_t groups = 0;  // of four taps
  std::vector<int16_t> high;
  std::vector<int16_t> low;

  explicit SplitWeights(const WeightTable& table);
};

// One row of `channels` (1, 3 or 4) interleaved samples.
void horizontal_split_avx2(const uint8_t* source, const WeightTable& table, const SplitWeights& split, size_t channels, size_t width,
                           uint8_t* target);

}  // namespace trine::vision

#endif
