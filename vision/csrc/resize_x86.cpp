#include "resize_x86.h"

#ifdef TRINE_VISION_X86

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace trine::vision {
namespace {

constexpr int kLowBits = 11;  // both parts of a 22-bit weight fit into 16 bits with their sign

// For taps 0 and 1 (lower half) and 2 and 3 (upper half): the samples of one channel side by side, widened to 16 bits.
// 0x80 makes a zero.
constexpr std::array<uint8_t, 32> pair_mask(int channels) {
  std::array<uint8_t, 32> mask{};
  for (int half = 0; half < 2; ++half) {
    for (int lane = 0; lane < 4; ++lane) {
      for (int tap = 0; tap < 2; ++tap) {
        const auto at = static_cast<size_t>(half * 16 + lane * 4 + tap * 2);
        mask[at] = lane < channels ? static_cast<uint8_t>((half * 2 + tap) * channels + lane) : 0x80;
        mask[at + 1] = 0x80;
      }
    }
  }
  return mask;
}

template <int Channels>
__attribute__((target("avx2"))) void horizontal(const uint8_t* source, const WeightTable& table, const SplitWeights& split, size_t width,
                                                uint8_t* target) {
  static constexpr std::array<uint8_t, 32> mask_bytes = pair_mask(Channels);
  const __m256i mask = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(mask_bytes.data()));
  const __m256i spread = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);  // two taps' weights to all channels
  const __m128i half = _mm_set1_epi32(1 << (kWeightBits - 1));
  const int16_t* high = split.high.data();
  const int16_t* low = split.low.data();

  for (size_t x = 0; x < width; ++x) {
    const uint8_t* at = source + static_cast<size_t>(table.first[x]) * Channels;
    const size_t groups = (static_cast<size_t>(table.count[x]) + 3) / 4;
    __m256i sum_high = _mm256_setzero_si256();
    __m256i sum_low = _mm256_setzero_si256();
    for (size_t g = 0; g < groups; ++g) {
      const __m128i samples = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + g * 4 * Channels));
      const __m256i pairs = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(samples), mask);
      const __m128i four_high = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(high + g * 4));
      const __m128i four_low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(low + g * 4));
      const __m256i weights_high = _mm256_permutevar8x32_epi32(_mm256_castsi128_si256(four_high), spread);
      const __m256i weights_low = _mm256_permutevar8x32_epi32(_mm256_castsi128_si256(four_low), spread);
      sum_high = _mm256_add_epi32(sum_high, _mm256_madd_epi16(pairs, weights_high));
      sum_low = _mm256_add_epi32(sum_low, _mm256_madd_epi16(pairs, weights_low));
    }
    high += split.groups * 4;
    low += split.groups * 4;
    const __m256i both = _mm256_add_epi32(_mm256_slli_epi32(sum_high, kLowBits), sum_low);
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
    sum = _mm_srai_epi32(_mm_add_epi32(sum, half), kWeightBits);
    const __m128i words = _mm_packs_epi32(sum, sum);
    const auto bytes = static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_packus_epi16(words, words)));
    std::memcpy(target + x * Channels, &bytes, Channels);
  }
}

}  // namespace

SplitWeights::SplitWeights(const WeightTable& table) {
  const auto taps = static_cast<size_t>(table.taps);
  const size_t outputs = table.first.size();
  groups = (taps + 3) / 4;
  high.assign(outputs * groups * 4, 0);
  low.assign(outputs * groups * 4, 0);
  for (size_t i = 0; i < outputs; ++i) {
    for (size_t t = 0; t < static_cast<size_t>(table.count[i]); ++t) {
      const int32_t weight = table.weights[i * taps + t];
      high[i * groups * 4 + t] = static_cast<int16_t>(weight >> kLowBits);
      low[i * groups * 4 + t] = static_cast<int16_t>(weight & ((1 << kLowBits) - 1));
    }
  }
}

void horizontal_split_avx2(const uint8_t* source, const WeightTable& table, const SplitWeights& split, size_t channels, size_t width,
                           uint8_t* target) {
  switch (channels) {
    case 1: return horizontal<1>(source, table, split, width, target);
    case 3: return horizontal<3>(source, table, split, width, target);
    default: return horizontal<4>(source, table, split, width, target);
  }
}

}  // namespace trine::vision

#endif
