#include "cpu/grid_sample.h"

namespace trine::cpu {
namespace {

template <class T> void gather(const T* in, const int32_t* offsets, const T* weights, int taps, T* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = in[offsets[i]] * weights[i];
  for (int k = 1; k < taps; ++k) {
    const int32_t* o = offsets + k * count;
    const T* w = weights + k * count;
    for (int64_t i = 0; i < count; ++i) out[i] += in[o[i]] * w[i];
  }
}

template <class T> void add_products(const T* in, const int32_t* offsets, const T* weights, int taps, const T* grad, T* sums, int64_t count) {
  for (int k = 0; k < taps; ++k) {
    const int32_t* o = offsets + k * count;
    const T* w = weights + k * count;
    for (int64_t i = 0; i < count; ++i) sums[i] += in[o[i]] * w[i] * grad[i];
  }
}

TRINE_ISA_DEFINE(gather_taps_float, gather<float>);
TRINE_ISA_DEFINE(gather_taps_double, gather<double>);
TRINE_ISA_DEFINE(add_tap_products_float, add_products<float>);
TRINE_ISA_DEFINE(add_tap_products_double, add_products<double>);

}  // namespace
}  // namespace trine::cpu
