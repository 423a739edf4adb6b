// Input of a direct convolution, copied into a zero-padded band so that every tap of every output pixel is one contiguous load.
#pragma once
#include <vector>

#include "cpu/conv_shape.h"
#include "cpu/kernels/gemm_tile.h"

namespace trine::cpu {
namespace {

// Rows of the padded input that output rows [oh0, oh1) of all output depths need, as [channel][depth][row][phase][column]. A row of
// width W is stored as `stride` phases (column x goes to phase x % stride), which turns strided taps into neighbours.
struct BandLayout {
  int64_t row0, rows, phase_width, row_pitch, plane;
  BandLayout(const ConvShape& s, int64_t oh0, int64_t oh1) {
    row0 = oh0 * s.stride[1] - s.padding[1];
    rows = (oh1 - 1 - oh0) * s.stride[1] + (s.kernel[1] - 1) * s.dilation[1] + 1;
    int64_t width = (s.out[2] - 1) * s.stride[2] + (s.kernel[2] - 1) * s.dilation[2] + 1;
    phase_width = (width + s.stride[2] - 1) / s.stride[2];
    row_pitch = phase_width * s.stride[2];
    plane = rows * row_pitch;
  }
  int64_t tap(const ConvShape& s, int64_t kh, int64_t kw) const {
    int64_t x = kw * s.dilation[2];
    return kh * s.dilation[1] * row_pitch + x % s.stride[2] * phase_width + x / s.stride[2];
  }
};

// The copy of a row: too short for the library's memcpy to pay.
template <class T> inline void copy_row(T* to, const T* from, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) store(to + i, load(from + i));
  if (i < n) store_first(to + i, load_first(from + i, n - i), n - i);
}

// to[i] = from[2 i]: every second column, for strides of 2.
template <class T> inline void copy_even(T* to, const T* from, int64_t n) {
  int64_t i = 0;
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>) {
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    for (; i < n; i += 16) {
      const int64_t left = std::min<int64_t>(n - i, 16), elements = 2 * left - 1;  // the last one has no odd neighbour that may be read
      const __mmask32 mask = static_cast<__mmask32>((uint64_t{1} << elements) - 1);
      const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), from + 2 * i), high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> 16), from + 2 * i + 16);
      _mm512_mask_storeu_ps(to + i, static_cast<__mmask16>((1u << left) - 1), _mm512_permutex2var_ps(low, even, high));
    }
    return;
  }
#endif
  for (; i < n; ++i) to[i] = from[2 * i];
}

// One input plane (nullptr stands for a plane of zeros) into dst.
template <class T> void fill_band(T* __restrict dst, const T* plane, const ConvShape& s, const BandLayout& band) {
  int64_t step = s.stride[2], pad = s.padding[2], width = s.in[2];
  for (int64_t r = 0; r < band.rows; ++r, dst += band.row_pitch) {
    int64_t y = band.row0 + r;
    if (!plane || y < 0 || y >= s.in[1]) {
      std::memset(dst, 0, band.row_pitch * sizeof(T));
      continue;
    }
    const T* row = plane + y * width;
    for (int64_t phase = 0; phase < step; ++phase) {
      T* to = dst + phase * band.phase_width;
      // Band column i of this phase is input column i * step + phase - pad.
      int64_t first = std::clamp<int64_t>((pad - phase + step - 1) / step, 0, band.phase_width);
      if (pad < phase) first = 0;
      int64_t last = std::clamp<int64_t>((width - 1 + pad - phase) / step + 1, first, band.phase_width);
      for (int64_t i = 0; i < first; ++i) to[i] = T(0);
      const T* from = row + phase - pad;
      if (step == 1) copy_row(to + first, from + first, last - first);
      else if (step == 2) copy_even(to + first, from + 2 * first, last - first);
      else for (int64_t i = first; i < last; ++i) to[i] = from[i * step];
      for (int64_t i = last; i < band.phase_width; ++i) to[i] = T(0);
    }
  }
}

}  // namespace
}  // namespace trine::cpu
