// Complex meanings. What is not here (exp, log, sqrt, sin, pow, ...) is found in the standard library, whose special
// values are those of C99's Annex G. Products are plain, without the standard's recovery of infinities from NaN, when
// the file is compiled with -fcx-fortran-rules; so they are in PyTorch.
#pragma once

#include <complex>

#include "rounding.h"
#include "special.h"
#include "trig.h"

namespace trine::math {

template <class T>
struct real_type {
  using type = T;
};
template <class R>
struct real_type<std::complex<R>> {
  using type = R;
};
template <class T>
using real_t = typename real_type<T>::type;
// The type of a float-valued argument in a loop over T.
template <class T>
using compute_t = std::conditional_t<std::is_floating_point_v<real_t<T>>, real_t<T>, double>;

template <class T>
inline constexpr bool is_complex = !std::is_same_v<T, real_t<T>>;

template <class T>
TRINE_FN real_t<T> real(T z) {
  if constexpr (is_complex<T>) return z.real();
  else return z;
}
template <class T>
TRINE_FN real_t<T> imag(T z) {
  if constexpr (is_complex<T>) return z.imag();
  else return T(0);
}
template <class T>
TRINE_FN T conjugate(T z) {
  if constexpr (is_complex<T>) return T(z.real(), -z.imag());
  else return z;
}

#define TRINE_COMPLEX(R)                                                                                        \
  TRINE_FN R abs(const std::complex<R>& z) { return hypot(z.real(), z.imag()); }                                 \
  TRINE_FN R angle(const std::complex<R>& z) { return atan2(z.imag(), z.real()); }                               \
  /* z / |z|, and 0 for 0. */                                                                                    \
  TRINE_FN std::complex<R> sign(const std::complex<R>& z) {                                                      \
    R a = abs(z);                                                                                                \
    return a == R(0) ? std::complex<R>(0, 0) : std::complex<R>(z.real() / a, z.imag() / a);                      \
  }                                                                                                              \
  inline std::complex<R> exp2(const std::complex<R>& z) { return std::exp(z * R(0x1.62e42fefa39efp-1)); }        \
  inline std::complex<R> log2(const std::complex<R>& z) { return std::log(z) / R(0x1.62e42fefa39efp-1); }        \
  inline std::complex<R> log10(const std::complex<R>& z) { return std::log10(z); }                               \
  inline std::complex<R> rsqrt(const std::complex<R>& z) { return R(1) / std::sqrt(z); }                         \
  inline std::complex<R> sigmoid(const std::complex<R>& z) { return R(1) / (R(1) + std::exp(-z)); }              \
  inline std::complex<R> expm1(const std::complex<R>& z) {                                                       \
    R x = z.real(), y = z.imag(), s = std::sin(y / R(2));                                                        \
    return {std::expm1(x) * std::cos(y) - R(2) * s * s, std::exp(x) * std::sin(y)};                              \
  }                                                                                                              \
  inline std::complex<R> log1p(const std::complex<R>& z) {                                                       \
    R x = z.real(), y = z.imag(), angle = std::atan2(y, x + R(1));                                               \
    if (!(std::abs(z) < R(0.5))) return {std::log(std::hypot(x + R(1), y)), angle};                              \
    R r = x * (R(2) + x) + y * y; /* |1 + z|^2 - 1 without cancellation */                                       \
    return {r == R(0) ? x : R(0.5) * std::log1p(r), angle};                                                      \
  }
TRINE_COMPLEX(float)
TRINE_COMPLEX(double)
#undef TRINE_COMPLEX

TRINE_FN float angle(float x) { return x != x ? x : (both(signbit(x), x != 0.0f) ? 0x1.921fb6p1f : 0.0f); }
TRINE_FN double angle(double x) { return x != x ? x : (both(signbit(x), x != 0.0) ? 0x1.921fb54442d18p1 : 0.0); }

// a + w (b - a), from whichever end is nearer, so that w = 1 gives b.
template <class T, class W>
TRINE_FN T lerp(T a, T b, W weight) {
  T w = static_cast<T>(weight), difference = b - a;
  bool near = is_complex<T> ? abs(w) < real_t<T>(0.5) : real(w) < real_t<T>(0.5);
  return near ? a + w * difference : b - difference * (T(1) - w);
}

}  // namespace trine::math
