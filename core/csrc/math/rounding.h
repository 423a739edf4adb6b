// Rounding, division with its remainders, ordering, signs.
#pragma once

#include "base.h"

namespace trine::math {

#define TRINE_ROUNDING(name, builtin_float, builtin_double)                        \
  TRINE_FN float name(float x) { return builtin_float(x); }                         \
  TRINE_FN double name(double x) { return builtin_double(x); }                      \
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>>               \
  TRINE_FN T name(T x) {                                                            \
    return x;                                                                       \
  }
TRINE_ROUNDING(floor, __builtin_floorf, __builtin_floor)
TRINE_ROUNDING(ceil, __builtin_ceilf, __builtin_ceil)
TRINE_ROUNDING(trunc, __builtin_truncf, __builtin_trunc)
TRINE_ROUNDING(round, __builtin_rintf, __builtin_rint)  // half to even, the default rounding mode
#undef TRINE_ROUNDING

TRINE_FN float frac(float x) { return x - trunc(x); }
TRINE_FN double frac(double x) { return x - trunc(x); }

template <class T>
TRINE_FN T abs(T x) {
  if constexpr (std::is_floating_point_v<T>) return fabs(x);
  if constexpr (std::is_unsigned_v<T>) return x;
  return x < T(0) ? static_cast<T>(T(0) - x) : x;
}

// -1, 0 or 1; NaN gives 0.
template <class T>
TRINE_FN T sign(T x) {
  return static_cast<T>(static_cast<T>(x > T(0)) - static_cast<T>(x < T(0)));
}

// maximum and minimum hand on NaN, fmax and fmin prefer the number.
template <class A, class B>
TRINE_FN common_t<A, B> maximum(A a_, B b_) {
  using T = common_t<A, B>;
  T a = static_cast<T>(a_), b = static_cast<T>(b_);
  T larger = a > b ? a : b;
  return a != a ? a : larger;
}
template <class A, class B>
TRINE_FN common_t<A, B> minimum(A a_, B b_) {
  using T = common_t<A, B>;
  T a = static_cast<T>(a_), b = static_cast<T>(b_);
  T smaller = a < b ? a : b;
  return a != a ? a : smaller;
}
template <class A, class B>
TRINE_FN common_t<A, B> fmax(A a_, B b_) {
  using T = common_t<A, B>;
  T a = static_cast<T>(a_), b = static_cast<T>(b_);
  return either(b != b, a > b) ? a : b;
}
template <class A, class B>
TRINE_FN common_t<A, B> fmin(A a_, B b_) {
  using T = common_t<A, B>;
  T a = static_cast<T>(a_), b = static_cast<T>(b_);
  return either(b != b, a < b) ? a : b;
}
template <class T, class L, class H>
TRINE_FN T clamp(T x, L lo, H hi) {
  return minimum(maximum(x, static_cast<T>(lo)), static_cast<T>(hi));
}

template <class T>
TRINE_FN T relu(T x) {
  return x < T(0) ? T(0) : x;  // NaN stays
}
template <class T>
TRINE_FN T heaviside(T x, T at_zero) {
  return x == T(0) ? at_zero : (x > T(0) ? T(1) : T(0));  // 0 of NaN, as in PyTorch
}

namespace detail {

// x - trunc(x / y) y, exact while the quotient is below 2^52; beyond it NaN (see exact.h).
TRINE_FN double fmod_near(double x, double y) {
  double a = fabs(x), b = fabs(y);
  double q = __builtin_trunc(a / b);
  double p = q * b;
  double r = (a - p) - product_error(q, b, p);
  r = r < 0.0 ? r + b : r;
  r = r >= b ? r - b : r;
  r = q < 0x1p52 ? r : nan<double>;
  return copysign(a < b ? a : r, x);
}

}  // namespace detail

// The remainder with the sign of x (C's fmod); integers divided by zero give 0. A zero y and an infinite x make
// the quotient infinite or NaN, and so the result NaN.
TRINE_FN double fmod(double x, double y) { return detail::fmod_near(x, y); }
TRINE_FN float fmod(float x, float y) { return static_cast<float>(fmod(static_cast<double>(x), static_cast<double>(y))); }

template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
TRINE_FN T fmod(T x, T y) {
  bool unsafe = y == T(0) || (std::is_signed_v<T> && y == T(-1));
  return static_cast<T>(unsafe ? T(0) : x % (unsafe ? T(1) : y));
}

namespace detail {

// On the sign bits: a product would underflow.
template <class T>
TRINE_FN bool opposite_signs(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return (bits(a) ^ bits(b)) < 0;
  else return std::is_signed_v<T> && static_cast<T>(a ^ b) < T(0);
}

template <class T>
TRINE_FN T with_sign_of_divisor(T r, T y) {
  return both(r != T(0), opposite_signs(r, y)) ? static_cast<T>(r + y) : r;
}

// floor(x / y) from the remainder r = fmod(x, y): x / y itself may round up to the next integer.
template <class T>
TRINE_FN T floored_quotient(T x, T y, T r) {
  T q = (x - r) / y;
  q = both(r != T(0), opposite_signs(r, y)) ? q - T(1) : q;
  T down = floor(q);
  T nearest = q - down > T(0.5) ? down + T(1) : down;
  T result = q != T(0) ? nearest : copysign(T(0), x / y);
  return y == T(0) ? x / y : result;
}

}  // namespace detail

// The remainder with the sign of y (Python's %).
template <class T>
TRINE_FN T remainder(T x, T y) {
  return detail::with_sign_of_divisor(fmod(x, y), y);
}

template <class T>
TRINE_FN T divide_trunc(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) return trunc(x / y);
  else {
    bool minus = std::is_signed_v<T> && y == T(-1);
    return minus ? static_cast<T>(T(0) - x) : (y == T(0) ? T(0) : static_cast<T>(x / (y == T(0) || minus ? T(1) : y)));
  }
}

// Python's //.
template <class T>
TRINE_FN T divide_floor(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    return detail::floored_quotient(x, y, fmod(x, y));
  } else {
    T q = divide_trunc(x, y), r = fmod(x, y);
    return both(r != T(0), detail::opposite_signs(r, y)) ? static_cast<T>(q - T(1)) : q;
  }
}

// The neighbour of x in the direction of y.
template <class T, class = std::enable_if_t<std::is_floating_point_v<T>>>
TRINE_FN T nextafter(T x, T y) {
  auto i = bits(x);
  using I = decltype(i);
  T step = from_bits(static_cast<I>(i + ((y > x) == (x > T(0)) ? I(1) : I(-1))));
  T from_zero = copysign(from_bits(I(1)), y);
  T result = x == y ? y : (x == T(0) ? from_zero : step);
  return x != x ? x : (y != y ? y : result);
}

// sqrt(x^2 + y^2) without overflow on the way.
TRINE_FN float hypot(float x, float y) {
  double a = static_cast<double>(x), b = static_cast<double>(y);
  float r = static_cast<float>(__builtin_sqrt(a * a + b * b));
  return either(fabs(x) == infinity<float>, fabs(y) == infinity<float>) ? infinity<float> : r;
}
TRINE_FN double hypot(double x, double y) {
  double a = fabs(x), b = fabs(y);
  double large = a > b ? a : b, small = a > b ? b : a;
  // A power of two near 1 / large, kept normal; large then lies in [2^-51, 2).
  int64_t e = bits(large) >> 52;
  e = e < 1 ? 1 : (e > 2045 ? 2045 : e);
  double down = from_bits((2046 - e) << 52), up = from_bits(e << 52);
  double l = large * down, s = small * down;
  double ll = l * l;
  double r = __builtin_sqrt(ll + fmadd(s, s, product_error(l, l, ll))) * up;
  r = either(a != a, b != b) ? nan<double> : r;
  return either(a == infinity<double>, b == infinity<double>) ? infinity<double> : r;
}

// Shifts by a negative count or the whole width give what an endless shift would.
template <class T>
TRINE_FN T shift_left(T x, T count) {
  using U = std::make_unsigned_t<T>;
  constexpr T width = static_cast<T>(sizeof(T) * 8);
  bool outside = count < T(0) || count >= width;
  return outside ? T(0) : static_cast<T>(static_cast<U>(static_cast<U>(x) << (outside ? T(0) : count)));
}
template <class T>
TRINE_FN T shift_right(T x, T count) {
  constexpr T last = static_cast<T>(sizeof(T) * 8 - std::is_signed_v<T>);
  bool outside = count < T(0) || count >= last;
  return std::is_signed_v<T> ? static_cast<T>(x >> (outside ? last : count))
                             : (outside ? T(0) : static_cast<T>(x >> (outside ? T(0) : count)));
}

template <class T>
TRINE_FN T gcd(T a, T b) {
  a = abs(a);
  b = abs(b);
  while (b != T(0)) {
    T rest = static_cast<T>(a % b);
    a = b;
    b = rest;
  }
  return a;
}
template <class T>
TRINE_FN T lcm(T a, T b) {
  T g = gcd(a, b);
  return g == T(0) ? T(0) : abs(static_cast<T>(a / g * b));
}

}  // namespace trine::math
