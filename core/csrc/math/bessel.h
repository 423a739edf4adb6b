// Modified Bessel functions of the first kind, orders 0 and 1. Below 20 the power series, whose terms are all positive; above, the
// asymptotic series (Abramowitz and Stegun 9.6.10 and 9.7.1), whose terms are far below rounding there before they grow again.
#pragma once

#include <cmath>

#include "base.h"

namespace trine::math {
namespace detail {

// I_order(x) exp(-x) for x >= 0.
template <int Order> inline double bessel_scaled(double x) {
  if (x != x) return x;
  if (x < 20.0) {
    const double quarter = 0.25 * x * x;
    double term = Order == 0 ? 1.0 : 0.5 * x, sum = term;
    for (int k = 1; term > sum * 1e-17; ++k) {
      term *= quarter / (k * static_cast<double>(k + Order));
      sum += term;
    }
    return sum * ::exp(-x);
  }
  if (x == infinity<double>) return 0.0;
  const double mu = 4.0 * Order * Order;
  double term = 1.0, sum = 1.0;
  for (int k = 1; k < 40; ++k) {
    const double odd = 2.0 * k - 1.0, next = -term * (mu - odd * odd) / (8.0 * k * x);
    if (::fabs(next) < 1e-17 || ::fabs(next) > ::fabs(term)) break;
    term = next;
    sum += term;
  }
  return sum / ::sqrt(6.28318530717958647693 * x);
}

}  // namespace detail

inline double i0e(double x) { return detail::bessel_scaled<0>(::fabs(x)); }
inline double i1e(double x) { return ::copysign(detail::bessel_scaled<1>(::fabs(x)), x); }
// exp(|x|) in two halves: it may overflow before the product does.
inline double i0(double x) {
  const double half = ::exp(0.5 * ::fabs(x));
  return ::fabs(x) == infinity<double> ? infinity<double> : i0e(x) * half * half;
}
inline double i1(double x) {
  const double half = ::exp(0.5 * ::fabs(x));
  return ::fabs(x) == infinity<double> ? x : i1e(x) * half * half;
}
inline float i0(float x) { return static_cast<float>(i0(static_cast<double>(x))); }
inline float i0e(float x) { return static_cast<float>(i0e(static_cast<double>(x))); }
inline float i1(float x) { return static_cast<float>(i1(static_cast<double>(x))); }
inline float i1e(float x) { return static_cast<float>(i1e(static_cast<double>(x))); }

}  // namespace trine::math
