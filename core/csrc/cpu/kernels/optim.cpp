#include "cpu/optim.h"

#include "math/math.h"

namespace trine::cpu {
namespace {

template <bool Momentum, class T> void sgd_loop(const SgdStep<T>& s, int64_t n) {
  T* __restrict param = s.param;
  const T* __restrict grad = s.grad;
  T* __restrict buffer = s.buffer;
  const T sign = s.maximize ? T(-1) : T(1), keep = s.first ? T(0) : s.momentum, take = s.first ? T(1) : s.undamped;
  const T through = s.nesterov ? T(1) : T(0), of_buffer = s.nesterov ? s.momentum : T(1);
  const bool first = s.first;
  for (int64_t i = 0; i < n; ++i) {
    T g = sign * grad[i] + s.weight_decay * param[i];
    if constexpr (Momentum) {
      // A fresh buffer holds no numbers yet, not even finite ones.
      T old = first ? T(0) : buffer[i];
      T b = keep * old + take * g;
      buffer[i] = b;
      g = through * g + of_buffer * b;
    }
    param[i] -= s.lr * g;
  }
}

template <class T> void sgd(const SgdStep<T>& s, int64_t n) {
  if (s.buffer)
    sgd_loop<true>(s, n);
  else
    sgd_loop<false>(s, n);
}

template <bool Amsgrad, class T> void adam_loop(const AdamStep<T>& s, int64_t n) {
  T* __restrict param = s.param;
  const T* __restrict grad = s.grad;
  T* __restrict mean = s.mean;
  T* __restrict square = s.square;
  T* __restrict largest = s.largest;
  const T sign = s.maximize ? T(-1) : T(1);
  const AdamStep<T> c = s;
  for (int64_t i = 0; i < n; ++i) {
    T p = param[i] * c.shrink;
    T g = sign * grad[i] + c.weight_decay * p;
    T m = mean[i] + c.one_minus_beta1 * (g - mean[i]);
    T v = c.beta2 * square[i] + c.one_minus_beta2 * g * g;
    mean[i] = m;
    square[i] = v;
    if constexpr (Amsgrad) {
      v = v > largest[i] || v != v ? v : largest[i];
      largest[i] = v;
    }
    param[i] = p - c.step_size * m / (math::sqrt(v) / c.root_correction + c.eps);
  }
}

template <class T> void adam(const AdamStep<T>& s, int64_t n) {
  if (s.largest)
    adam_loop<true>(s, n);
  else
    adam_loop<false>(s, n);
}

TRINE_ISA_DEFINE(sgd_float, sgd<float>);
TRINE_ISA_DEFINE(sgd_double, sgd<double>);
TRINE_ISA_DEFINE(adam_float, adam<float>);
TRINE_ISA_DEFINE(adam_double, adam<double>);

}  // namespace
}  // namespace trine::cpu
