#include "cpu/ctc.h"

#include <limits>

#include "math/math.h"

namespace trine::cpu {
namespace {

template <class T> void step(const T* a, const T* skip, const T* emit, T* out, int64_t n) {
  constexpr T lowest = std::numeric_limits<T>::lowest();
  for (int64_t s = 0; s < n; ++s) {
    const T x = a[s], y = a[s - 1], z = a[s - 2] + skip[s];
    T top = x > y ? x : y;
    top = top > z ? top : z;
    top = top < lowest ? T(0) : top;  // three impossible ways stay impossible instead of becoming NaN
    out[s] = math::log(math::exp(x - top) + math::exp(y - top) + math::exp(z - top)) + top + emit[s];
  }
}

template <class T> void occupation(const T* a, const T* b, const T* emit, T shift, T* out, int64_t n) {
  for (int64_t s = 0; s < n; ++s) {
    const T both = a[s] + b[s];
    out[s] = both < std::numeric_limits<T>::lowest() ? T(0) : math::exp(both - emit[s] + shift);
  }
}

TRINE_ISA_DEFINE(ctc_step_float, step<float>);
TRINE_ISA_DEFINE(ctc_step_double, step<double>);
TRINE_ISA_DEFINE(ctc_occupation_float, occupation<float>);
TRINE_ISA_DEFINE(ctc_occupation_double, occupation<double>);

}  // namespace
}  // namespace trine::cpu
