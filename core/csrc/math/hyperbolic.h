// Hyperbolic functions and their inverses. Constants: fit.py.
#pragma once

#include "exp_log.h"

namespace trine::math {

namespace detail {

template <class T>
TRINE_FN T sinh_small(T x) {
  T z = x * x;
  if constexpr (std::is_same_v<T, float>)
    return fmadd(x * z, poly(z, 0.1666666649f, 0.008333350597f, 0.0001983606649f, 2.817438332e-6f), x);
  else
    return fmadd(x * z,
                 poly(z, 0.166666666666666667, 0.00833333333333333356, 0.000198412698412695904, 2.75573192241202487e-6,
                      2.50521083456397622e-8, 1.60590507060897713e-10, 7.64647634661514849e-13,
                      2.84839867390782724e-15),
                 x);
}

template <class T>
TRINE_FN T tanh_small(T x) {
  T z = x * x;
  if constexpr (std::is_same_v<T, float>)
    return fmadd(x * z,
                 poly(z, -0.3333333178f, 0.1333324779f, -0.05395247545f, 0.0217344394f, -0.008267090628f,
                      0.002231064255f),
                 x);
  else
    return fmadd(x * z,
                 poly(z, -0.333333333333332997, 0.133333333333268328, -0.0539682539638785015, 0.0218694883891013336,
                      -0.00886323265276739746, 0.00359209253239126028, -0.00145554598336970604,
                      0.000588457046855944671, -0.000233412724235220487, 0.0000833600649309762092,
                      -0.0000195210259507666559),
                 x);
}

}  // namespace detail

template <class T, class = std::enable_if_t<std::is_floating_point_v<T>>>
TRINE_FN T sinh(T x) {
  T a = fabs(x), e = half_exp(a);
  return a < T(1) ? detail::sinh_small(x) : copysign(e - T(0.25) / e, x);
}

template <class T, class = std::enable_if_t<std::is_floating_point_v<T>>>
TRINE_FN T cosh(T x) {
  T e = half_exp(fabs(x));
  return e + T(0.25) / e;
}

template <class T, class = std::enable_if_t<std::is_floating_point_v<T>>>
TRINE_FN T tanh(T x) {
  // Past 20 the result rounds to 1.
  T a = fabs(x), e = detail::exp_within(T(-2) * (a > T(20) ? T(20) : a));
  T large = T(1) - T(2) * e / (T(1) + e);
  return copysign(a < T(0.55) ? detail::tanh_small(a) : large, x);
}

// The three inverses are log1p of an argument without cancellation; where its square would overflow the +-1 under
// the root no longer counts, and the logarithm of 2|x| remains.
template <class T, class = std::enable_if_t<std::is_floating_point_v<T>>>
TRINE_FN T asinh(T x) {
  T a = fabs(x);
  bool huge = a > T(0x1p28);
  T argument = huge ? a - T(1) : a + a * a / (T(1) + sqrt(fmadd(a, a, T(1))));
  return copysign(log1p(argument) + (huge ? T(0x1.62e42fefa39efp-1) : T(0)), x);
}

template <class T, class = std::enable_if_t<std::is_floating_point_v<T>>>
TRINE_FN T acosh(T x) {
  bool huge = x > T(0x1p28);
  T t = x - T(1);
  T argument = huge ? t : t + sqrt(t * (t + T(2)));
  return x < T(1) ? nan<T> : log1p(argument) + (huge ? T(0x1.62e42fefa39efp-1) : T(0));
}

template <class T, class = std::enable_if_t<std::is_floating_point_v<T>>>
TRINE_FN T atanh(T x) {
  T a = fabs(x);
  return copysign(T(0.5) * log1p(T(2) * a / (T(1) - a)), x);
}

}  // namespace trine::math
