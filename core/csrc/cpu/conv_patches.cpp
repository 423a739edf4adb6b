#include "cpu/conv_patches.h"

#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "cpu/dense.h"
#include "cpu/gemm.h"
#include "cpu/scratch.h"

namespace trine::cpu {
namespace {

// Calls f(row of the patch matrix, output pixel, input position) for every tap of one channel group that lies inside the input.
// `row` counts (channel, kd, kh, kw), `pixel` counts (od, oh, ow).
template <class F> void for_each_tap(const ConvShape& s, int64_t row_begin, int64_t row_end, const F& f) {
  for (int64_t row = row_begin; row < row_end; ++row) {
    int64_t kw = row % s.kernel[2], kh = row / s.kernel[2] % s.kernel[1], kd = row / (s.kernel[2] * s.kernel[1]) % s.kernel[0], c = row / s.taps();
    int64_t pixel = 0;
    for (int64_t od = 0; od < s.out[0]; ++od) {
      int64_t d = od * s.stride[0] - s.padding[0] + kd * s.dilation[0];
      for (int64_t oh = 0; oh < s.out[1]; ++oh) {
        int64_t h = oh * s.stride[1] - s.padding[1] + kh * s.dilation[1];
        bool inside = d >= 0 && d < s.in[0] && h >= 0 && h < s.in[1];
        for (int64_t ow = 0; ow < s.out[2]; ++ow, ++pixel) {
          int64_t w = ow * s.stride[2] - s.padding[2] + kw * s.dilation[2];
          if (inside && w >= 0 && w < s.in[2]) f(row, pixel, c * s.in_plane() + (d * s.in[1] + h) * s.in[2] + w);
        }
      }
    }
  }
}

}  // namespace

template <class T> void conv_input_grad_patches(const ConvShape& s, const T* grad, const T* weight, T* input_grad) {
  const int64_t rows = s.group_in() * s.taps(), pixels = s.out_plane();
  std::memset(input_grad, 0, static_cast<size_t>(s.batch * s.in_channels * s.in_plane()) * sizeof(T));
  Scratch<T> patches(rows * pixels);
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t g = 0; g < s.groups; ++g) {
      const T* w = weight + g * s.group_out() * rows;
      gemm(Gemm<T>{rows, pixels, s.group_out(), w, 1, rows, grad + (n * s.out_channels + g * s.group_out()) * pixels, pixels, 1, patches.data(), pixels});
      T* to = input_grad + (n * s.in_channels + g * s.group_in()) * s.in_plane();
      // Channels write disjoint planes, so threads may share them out.
      parallel_for(0, s.group_in(), std::max<int64_t>(1, 50000 / std::max<int64_t>(s.taps() * pixels, 1)), [&](int64_t begin, int64_t end) {
        for_each_tap(s, begin * s.taps(), end * s.taps(), [&](int64_t row, int64_t pixel, int64_t at) { to[at] += patches[row * pixels + pixel]; });
      });
    }
}

template <class T> void conv_weight_grad_patches(const ConvShape& s, const T* grad, const T* input, T* weight_grad) {
  const int64_t rows = s.group_in() * s.taps(), pixels = s.out_plane();
  Scratch<T> patches(rows * pixels);
  for (int64_t g = 0; g < s.groups; ++g)
    for (int64_t n = 0; n < s.batch; ++n) {
      const T* from = input + (n * s.in_channels + g * s.group_in()) * s.in_plane();
      parallel_for(0, s.group_in(), std::max<int64_t>(1, 50000 / std::max<int64_t>(s.taps() * pixels, 1)), [&](int64_t begin, int64_t end) {
        std::memset(patches.data() + begin * s.taps() * pixels, 0, static_cast<size_t>((end - begin) * s.taps() * pixels) * sizeof(T));
        for_each_tap(s, begin * s.taps(), end * s.taps(), [&](int64_t row, int64_t pixel, int64_t at) { patches[row * pixels + pixel] = from[at]; });
      });
      Gemm<T> product{s.group_out(), rows, pixels, grad + (n * s.out_channels + g * s.group_out()) * pixels, pixels, 1, patches.data(), 1, pixels, weight_grad + g * s.group_out() * rows, rows};
      product.accumulate = n > 0;
      gemm(product);
    }
}

template <class T> void conv_naive(const ConvShape& s, const T* input, const T* weight, const T* bias, T* output) {
  const int64_t rows = s.group_in() * s.taps(), pixels = s.out_plane();
  parallel_for(0, s.batch * s.out_channels, std::max<int64_t>(1, 50000 / std::max<int64_t>(rows * pixels, 1)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t o = i % s.out_channels, n = i / s.out_channels;
      const T* from = input + (n * s.in_channels + o / s.group_out() * s.group_in()) * s.in_plane();
      T* to = output + i * pixels;
      std::fill_n(to, pixels, bias ? bias[o] : T(0));
      for_each_tap(s, 0, rows, [&](int64_t row, int64_t pixel, int64_t at) { to[pixel] = static_cast<T>(static_cast<uint64_t>(to[pixel]) + static_cast<uint64_t>(weight[o * rows + row]) * static_cast<uint64_t>(from[at])); });
    }
  });
}

template <class T> void conv_input_grad_naive(const ConvShape& s, const T* grad, const T* weight, T* input_grad) {
  const int64_t rows = s.group_in() * s.taps(), pixels = s.out_plane();
  std::fill_n(input_grad, s.batch * s.in_channels * s.in_plane(), T(0));
  for (int64_t i = 0; i < s.batch * s.out_channels; ++i) {
    int64_t o = i % s.out_channels;
    T* to = input_grad + (i / s.out_channels * s.in_channels + o / s.group_out() * s.group_in()) * s.in_plane();
    for_each_tap(s, 0, rows, [&](int64_t row, int64_t pixel, int64_t at) {
      to[at] = static_cast<T>(static_cast<uint64_t>(to[at]) + static_cast<uint64_t>(weight[o * rows + row]) * static_cast<uint64_t>(grad[i * pixels + pixel]));
    });
  }
}

void add_channel_bias(const Tensor& out, const Tensor& bias) {
  DenseOutput dense(out);
  if (!dense.tensor().is_same(out)) convert_copy(dense.tensor(), out);
  Tensor b = plain(bias);
  int64_t channels = bias.numel(), plane = channels ? out.numel() / (out.sizes()[0] * channels) : 0;
  TRINE_DISPATCH_FLOATING_COMPLEX(out.dtype(), "convolution", {
    scalar_t* to = dense.data<scalar_t>();
    for (int64_t i = 0; i < out.sizes()[0] * channels; ++i) {
      scalar_t v = b.data<scalar_t>()[i % channels];
      for (int64_t j = 0; j < plane; ++j) to[i * plane + j] = scalar_t(to[i * plane + j] + v);
    }
  });
  dense.finish();
}

#define X(T) \
  template void conv_input_grad_patches<T>(const ConvShape&, const T*, const T*, T*); \
  template void conv_weight_grad_patches<T>(const ConvShape&, const T*, const T*, T*);
X(float) X(double)
#undef X
#define X(T, E, N) \
  template void conv_naive<T>(const ConvShape&, const T*, const T*, const T*, T*); \
  template void conv_input_grad_naive<T>(const ConvShape&, const T*, const T*, T*);
TRINE_FORALL_INT(X)
#undef X

}  // namespace trine::cpu
