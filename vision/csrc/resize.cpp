#include "resize.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "isa.h"
#include "resize_filters.h"
#include "resize_x86.h"

namespace trine::vision {
namespace {

constexpr int32_t kHalf = 1 << (kWeightBits - 1);

TRINE_ALWAYS_INLINE uint8_t to_byte(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255)); }

// One row: target (width, Channels) from source (from_width, Channels).
template <int Channels>
void horizontal_body(const uint8_t* source, const WeightTable& table, size_t width, uint8_t* target) {
  for (size_t x = 0; x < width; ++x) {
    const uint8_t* at = source + static_cast<size_t>(table.first[x]) * Channels;
    const int32_t* weights = &table.weights[x * static_cast<size_t>(table.taps)];
    int32_t sums[Channels];
    for (int c = 0; c < Channels; ++c) sums[c] = kHalf;
    for (int t = 0, n = table.count[x]; t < n; ++t) {
      for (int c = 0; c < Channels; ++c) sums[c] += at[t * Channels + c] * weights[t];
    }
    for (int c = 0; c < Channels; ++c) target[x * Channels + static_cast<size_t>(c)] = to_byte(sums[c]);
  }
}

// One row of `length` samples from `count` rows that lie `length` apart.
TRINE_ALWAYS_INLINE void vertical_body(const uint8_t* source, const int32_t* weights, int count, size_t length, uint8_t* target) {
  constexpr size_t block = 64;
  size_t begin = 0;
  for (; begin + block <= length; begin += block) {
    int32_t sums[block];
    for (size_t i = 0; i < block; ++i) sums[i] = kHalf;
    for (int t = 0; t < count; ++t) {
      const uint8_t* row = source + static_cast<size_t>(t) * length + begin;
      for (size_t i = 0; i < block; ++i) sums[i] += row[i] * weights[t];
    }
    for (size_t i = 0; i < block; ++i) target[begin + i] = to_byte(sums[i]);
  }
  for (; begin < length; ++begin) {
    int32_t sum = kHalf;
    for (int t = 0; t < count; ++t) sum += source[static_cast<size_t>(t) * length + begin] * weights[t];
    target[begin] = to_byte(sum);
  }
}

void horizontal_any(const uint8_t* source, const WeightTable& table, size_t channels, size_t width, uint8_t* target) {
  switch (channels) {
    case 1: return horizontal_body<1>(source, table, width, target);
    case 2: return horizontal_body<2>(source, table, width, target);
    case 3: return horizontal_body<3>(source, table, width, target);
    default: return horizontal_body<4>(source, table, width, target);
  }
}

using Vertical = void (*)(const uint8_t*, const int32_t*, int, size_t, uint8_t*);

void vertical_base(const uint8_t* source, const int32_t* weights, int count, size_t length, uint8_t* target) {
  vertical_body(source, weights, count, length, target);
}

#ifdef TRINE_VISION_X86
__attribute__((target("avx2"))) void vertical_avx2(const uint8_t* source, const int32_t* weights, int count, size_t length,
                                                   uint8_t* target) {
  vertical_body(source, weights, count, length, target);
}

// All rows but the last few, behind which the vector loads would leave the picture. Returns how many.
size_t horizontal_rows_avx2(const uint8_t* source, size_t rows, size_t pitch, const WeightTable& table, size_t channels, size_t width,
                            uint8_t* target) {
  if (channels == 2 || !__builtin_cpu_supports("avx2")) return 0;
  const size_t behind = (kRowSlack + pitch - 1) / pitch;
  if (rows <= behind) return 0;
  const SplitWeights split(table);
  for (size_t y = 0; y < rows - behind; ++y) {
    horizontal_split_avx2(source + y * pitch, table, split, channels, width, target + y * width * channels);
  }
  return rows - behind;
}
#endif

Vertical choose_vertical() {
#ifdef TRINE_VISION_X86
  if (__builtin_cpu_supports("avx2")) return vertical_avx2;
#endif
  return vertical_base;
}

}  // namespace

void resize_interleaved(const uint8_t* source, ResizeSize from, size_t channels, uint8_t* target, ResizeSize to, const ResizeBox& box,
                        ResizeFilter filter) {
  static const Vertical vertical = choose_vertical();
  const bool scale_width = to.width != from.width || box.left != 0 || box.right != static_cast<double>(from.width);
  const bool scale_height = to.height != from.height || box.top != 0 || box.bottom != static_cast<double>(from.height);

  const auto across = [&](const uint8_t* rows, size_t count, uint8_t* out) {
    const WeightTable table = make_weights(from.width, box.left, box.right, to.width, filter);
    const size_t pitch = from.width * channels;
    size_t y = 0;
#ifdef TRINE_VISION_X86
    y = horizontal_rows_avx2(rows, count, pitch, table, channels, to.width, out);
#endif
    for (; y < count; ++y) { horizontal_any(rows + y * pitch, table, channels, to.width, out + y * to.width * channels); }
  };
  const auto down = [&](const WeightTable& table, const uint8_t* rows, size_t first, size_t pitch, uint8_t* out) {
    for (size_t y = 0; y < to.height; ++y) {
      vertical(rows + (static_cast<size_t>(table.first[y]) - first) * pitch, &table.weights[y * static_cast<size_t>(table.taps)],
               table.count[y], pitch, out + y * pitch);
    }
  };

  if (!scale_height) {
    if (scale_width) return across(source, from.height, target);
    std::memcpy(target, source, from.height * from.width * channels);
    return;
  }
  const WeightTable table = make_weights(from.height, box.top, box.bottom, to.height, filter);
  if (!scale_width) return down(table, source, 0, to.width * channels, target);

  // The pass that throws more away goes first. The rows' pass is the slower one: it must save twice as many lines.
  const auto saved = [](size_t before, size_t after) { return static_cast<int64_t>(before) - static_cast<int64_t>(after); };
  if (to.height < from.height && saved(from.height, to.height) > 2 * saved(from.width, to.width)) {
    std::vector<uint8_t> middle(to.height * from.width * channels);
    down(table, source, 0, from.width * channels, middle.data());
    return across(middle.data(), to.height, target);
  }
  const size_t first = static_cast<size_t>(table.first.front());
  const size_t end = static_cast<size_t>(table.first.back() + table.count.back());
  std::vector<uint8_t> middle((end - first) * to.width * channels);
  across(source + first * from.width * channels, end - first, middle.data());
  down(table, middle.data(), first, to.width * channels, target);
}

}  // namespace trine::vision
