// Error functions, gamma functions, powers. Constants: fit.py.
#pragma once

#include <cmath>

#include "exp_log.h"
#include "rounding.h"

namespace trine::math {

TRINE_FN float erf(float x) {
  float a = fabs(x), z = a * a;
  float small = x * poly(z, 1.128379166f, -0.3761262714f, 0.1128360017f, -0.02685444433f, 0.005189534558f,
                         -0.0008020832596f, 7.889086446e-5f);
  // log(erfc(a)); past 4 erf rounds to 1.
  float t = a < 4.0f ? a : 4.0f;
  float e = poly(t, 0.0001880329683f, -1.129578391f, -0.633219956f, -0.1084185116f, 0.02520821627f, -0.00420454721f,
                 0.0004413334829f, -2.168661024e-5f);
  float large = copysign(1.0f - exp(e), x);
  large = x != x ? x : large;
  return a < 1.0f ? small : large;
}
TRINE_FN double erf(double x) { return ::erf(x); }

TRINE_FN float erfc(float x) { return ::erfcf(x); }
TRINE_FN double erfc(double x) { return ::erfc(x); }

namespace detail {

template <class T>
TRINE_FN bool is_odd_integer(T y) {
  T half = y * T(0.5);
  return trunc(y) == y && trunc(half) != half;
}

template <class T>
TRINE_FN T pow_domain(T x, T y, T magnitude) {
  bool odd = is_odd_integer(y);
  T result = x < T(0) && trunc(y) != y && fabs(x) != infinity<T> ? nan<T> : magnitude;
  result = signbit(x) && odd ? -magnitude : result;
  result = x != x || y != y ? nan<T> : result;
  result = fabs(x) == T(1) && (fabs(y) == infinity<T>) ? T(1) : result;
  return x == T(1) || y == T(0) ? T(1) : result;
}

}  // namespace detail

TRINE_FN float pow(float x, float y) {
  double l = log2(static_cast<double>(fabs(x)));
  return detail::pow_domain(x, y, static_cast<float>(exp2(static_cast<double>(y) * l)));
}
TRINE_FN double pow(double x, double y) { return ::pow(x, y); }

template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
TRINE_FN T pow(T base, T exponent) {
  T result = T(1);
  if (exponent < T(0)) return base == T(1) ? T(1) : (base == T(-1) ? (exponent % T(2) != T(0) ? T(-1) : T(1)) : T(0));
  for (; exponent != T(0); exponent = static_cast<T>(exponent / T(2))) {
    if (exponent % T(2) != T(0)) result = static_cast<T>(result * base);
    base = static_cast<T>(base * base);
  }
  return result;
}

}  // namespace trine::math
