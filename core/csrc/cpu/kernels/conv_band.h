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
      if (step == 1) std::memcpy(to + first, from + first, (last - first) * sizeof(T));
      else if (step == 2) for (int64_t i = first; i < last; ++i) to[i] = from[2 * i];
      else for (int64_t i = first; i < last; ++i) to[i] = from[i * step];
      for (int64_t i = last; i < band.phase_width; ++i) to[i] = T(0);
    }
  }
}

}  // namespace
}  // namespace trine::cpu
