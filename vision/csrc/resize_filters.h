// Filter shapes and the fixed-point weight tables that are made of them.
#pragma once

#include <cstdint>
#include <vector>

#include "resize.h"

namespace trine::vision {

constexpr int kWeightBits = 22;  // 8-bit samples times 22-bit weights, summed: two bits of head room in 32

// Output i is  sum over t < count[i] of source[first[i] + t] * weights[i * taps + t].
struct WeightTable {
  int taps = 0;
  std::vector<int> first;
  std::vector<int> count;
  std::vector<int32_t> weights;
};

WeightTable make_weights(size_t source_size, double begin, double end, size_t target_size, ResizeFilter filter);

}  // namespace trine::vision
