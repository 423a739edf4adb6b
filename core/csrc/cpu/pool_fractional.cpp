// Maxima over windows that begin at pseudo-random places (Graham 2014).
#include <cmath>

#include "base/parallel.h"
#include "cpu/dense.h"
#include "trine/kernels.h"

namespace trine::cpu {
namespace {

// Where the windows along one dimension begin.
template <class T> std::vector<int64_t> starts(T sample, int64_t in, int64_t out, int64_t kernel) {
  std::vector<int64_t> s(static_cast<size_t>(out));
  if (out > 1) {
    const T step = static_cast<T>(in - kernel) / static_cast<T>(out - 1);
    for (int64_t i = 0; i + 1 < out; ++i) s[static_cast<size_t>(i)] = static_cast<int64_t>((static_cast<T>(i) + sample) * step) - static_cast<int64_t>(sample * step);
  }
  if (out > 0) s[static_cast<size_t>(out - 1)] = in - kernel;
  return s;
}

}  // namespace

void fractional_max_pool(Tensor& values, Tensor& indices, const Tensor& self, DimsRef kernel_size, DimsRef output_size, const Tensor& random_samples) {
  DenseOutput out(values), at(indices);
  const Tensor x = plain(self), samples = plain(random_samples);
  const size_t nd = kernel_size.size();
  int64_t in[3] = {1, 1, 1}, to[3] = {1, 1, 1}, kernel[3] = {1, 1, 1};
  for (size_t d = 0; d < nd; ++d) {
    in[3 - nd + d] = self.size(static_cast<int64_t>(d) - static_cast<int64_t>(nd));
    to[3 - nd + d] = output_size[d];
    kernel[3 - nd + d] = kernel_size[d];
  }
  const int64_t plane = in[0] * in[1] * in[2], places = to[0] * to[1] * to[2], planes = places > 0 ? values.numel() / places : 0;
  TRINE_DISPATCH_FLOAT(self.dtype(), "fractional_max_pool", {
    parallel_for(0, planes, 1, [&](int64_t first, int64_t last) {
      for (int64_t p = first; p < last; ++p) {
        const scalar_t *from = x.data<scalar_t>() + p * plane, *sample = samples.data<scalar_t>() + p * static_cast<int64_t>(nd);
        std::vector<int64_t> begin[3] = {{0}, {0}, {0}};
        // Samples name the width first for images, the depth first for volumes.
        for (size_t d = 0; d < nd; ++d) begin[3 - nd + d] = starts<scalar_t>(sample[nd == 2 ? 1 - d : d], in[3 - nd + d], to[3 - nd + d], kernel[3 - nd + d]);
        int64_t o = p * places;
        for (int64_t a : begin[0])
          for (int64_t b : begin[1])
            for (int64_t c : begin[2]) {
              int64_t best = (a * in[1] + b) * in[2] + c;
              for (int64_t i = a; i < a + kernel[0]; ++i)
                for (int64_t j = b; j < b + kernel[1]; ++j)
                  for (int64_t k = c; k < c + kernel[2]; ++k) {
                    const int64_t place = (i * in[1] + j) * in[2] + k;
                    if (from[place] > from[best] || std::isnan(from[place])) best = place;
                  }
              out.data<scalar_t>()[o] = from[best];
              at.data<int64_t>()[o++] = best;
            }
      }
    });
  });
  out.finish();
  at.finish();
}

}  // namespace trine::cpu
