// Depthwise convolution: every output plane comes from one input plane, so the planes are convolved one by one in registers.
#pragma once
#include "base/parallel.h"
#include "cpu/conv_direct.h"
#include "cpu/kernels/conv_band.h"
#include "cpu/scratch.h"

namespace trine::cpu {
namespace {

// What a pixel starts from and ends in: `first` (bias) or what earlier depths have left, then limits, where this is the last depth.
template <class T> struct PixelEnds {
  T first;
  bool add, last;
  T low, high;
};

template <class T, int NV>
inline void depthwise_pixels(T* out, const T* band, const T* weight, const int64_t* tap, int64_t taps, const PixelEnds<T>& ends, int64_t count) {
  Vec<T> acc[NV];
#pragma GCC unroll 4
  for (int v = 0; v < NV; ++v) acc[v] = splat(ends.first);
  for (int64_t t = 0; t < taps; ++t) {
    Vec<T> w = splat(weight[t]);
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) acc[v] = fmadd<T>(w, load(band + tap[t] + v * kLanes<T>), acc[v]);
  }
#pragma GCC unroll 4
  for (int v = 0; v < NV; ++v) {
    int64_t left = count - v * kLanes<T>;
    T* to = out + v * kLanes<T>;
    if (ends.add) acc[v] += left >= kLanes<T> ? load(to) : load_first(to, left);
    if (ends.last) acc[v] = clamped<T>(acc[v], splat(ends.low), splat(ends.high));
    if (left >= kLanes<T>) store(to, acc[v]);
    else store_first(to, acc[v], left);
  }
}

template <class T, int Taps>
void depthwise_rows(T* out, const T* band, const T* weight, const int64_t* tap, int64_t any_taps, const PixelEnds<T>& ends, int64_t rows, int64_t width, int64_t row_step) {
  const int64_t taps = Taps ? Taps : any_taps;  // a constant count lets the loop over taps unroll
  for (int64_t r = 0; r < rows; ++r, out += width, band += row_step) {
    int64_t x = 0;
    for (; x + 3 * kLanes<T> < width; x += 4 * kLanes<T>) depthwise_pixels<T, 4>(out + x, band + x, weight, tap, taps, ends, width - x);
    for (; x + kLanes<T> < width; x += 2 * kLanes<T>) depthwise_pixels<T, 2>(out + x, band + x, weight, tap, taps, ends, width - x);
    for (; x < width; x += kLanes<T>) depthwise_pixels<T, 1>(out + x, band + x, weight, tap, taps, ends, width - x);
  }
}

template <class T> void depthwise_conv(const ConvArguments<T>& args) {
  const ConvShape& s = args.shape;
  const int64_t multiplier = s.group_out(), taps = s.kernel[1] * s.kernel[2], pixels = s.out[1] * s.out[2];
  BandLayout band(s, 0, s.out[1]);
  Scratch<int64_t> tap(taps);
  for (int64_t kh = 0; kh < s.kernel[1]; ++kh)
    for (int64_t kw = 0; kw < s.kernel[2]; ++kw) tap[kh * s.kernel[2] + kw] = band.tap(s, kh, kw);
  int64_t units = s.batch * s.groups * s.out[0];
  int64_t grain = std::max<int64_t>(1, 100000 / std::max<int64_t>(pixels * s.taps() * multiplier, 1));
  parallel_for(0, units, grain, [&](int64_t begin, int64_t end) {
    Scratch<T> memory(band.plane + 8 * kPanelSlack);
    Scratch<T> scaled(args.epilogue ? taps : 0);
    std::memset(memory.data() + band.plane, 0, 8 * kPanelSlack * sizeof(T));
    for (int64_t u = begin; u < end; ++u) {
      int64_t od = u % s.out[0], channel = u / s.out[0] % s.groups;
      const T* input = args.input + u / s.out[0] * s.in_plane();
      for (int64_t kd = 0; kd < s.kernel[0]; ++kd) {
        int64_t d = od * s.stride[0] - s.padding[0] + kd * s.dilation[0];
        fill_band(memory.data(), d < 0 || d >= s.in[0] ? nullptr : input + d * s.in[1] * s.in[2], s, band);
        for (int64_t m = 0; m < multiplier; ++m) {
          int64_t oc = channel * multiplier + m;
          T* out = args.output + (u / s.out[0] * multiplier + m) * s.out_plane() + od * pixels;
          const T* weight = args.weight + oc * s.taps() + kd * taps;
          PixelEnds<T> ends{kd == 0 && args.bias ? args.bias[oc] : T(0), kd > 0, false, T(0), T(0)};
          if (const Epilogue<T>* e = args.epilogue) {
            // A channel has few weights: scaling them is cheaper than scaling its pixels.
            for (int64_t t = 0; t < taps; ++t) scaled[t] = weight[t] * e->scale[oc];
            weight = scaled.data();
            ends = {kd == 0 ? e->shift[oc] : T(0), kd > 0, kd + 1 == s.kernel[0], e->low, e->high};
          }
          auto rows = taps == 9 ? depthwise_rows<T, 9> : depthwise_rows<T, 0>;
          rows(out, memory.data(), weight, tap.data(), taps, ends, s.out[1], s.out[2], s.stride[1] * band.row_pitch);
        }
      }
    }
  });
}

}  // namespace
}  // namespace trine::cpu
