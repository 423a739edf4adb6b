// Regularised incomplete gamma functions and the Hurwitz zeta function.
#pragma once

#include <cmath>

#include "base.h"

namespace trine::math {
namespace detail {

// log(x / a) - (x - a) / a without cancellation where x is near a.
inline double log_ratio_minus(double x, double a) {
  const double m = (x - a) / a;
  if (::fabs(m) > 0.3) return ::log(x / a) - m;
  double power = m * m, sum = 0.0;
  for (int k = 2; k < 80; ++k, power *= -m) {
    const double term = power / k;
    sum -= term;
    if (::fabs(term) < 1e-17 * ::fabs(sum)) break;
  }
  return sum;
}

// x^a exp(-x) / gamma(a + 1). For large a the logarithms would cancel, so Stirling's series is divided out first.
inline double gamma_prefactor(double a, double x) {
  if (a < 20.0) return ::exp(a * ::log(x) - x - ::lgamma(a + 1.0));
  const double z = 1.0 / (a * a);
  const double correction = (8.33333333333333333333e-2 + z * (-2.77777777777777777778e-3 + z * (7.93650793650793650794e-4 + z * (-5.95238095238095238095e-4 + z * 8.41750841750841750842e-4)))) / a;
  return ::exp(a * log_ratio_minus(x, a) - correction) / ::sqrt(6.28318530717958647693 * a);
}

// The lower function by its series, whose terms are positive: for x below about a.
inline double gamma_series(double a, double x) {
  double term = 1.0, sum = 1.0;
  for (double n = a + 1.0; term > sum * 1e-17; n += 1.0) {
    term *= x / n;
    sum += term;
  }
  return gamma_prefactor(a, x) * sum;
}

// The upper function by its continued fraction (Lentz's method): for x above about a.
inline double gamma_fraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1.0 - a, c = 1.0 / kTiny, d = 1.0 / b, h = d;
  for (double i = 1.0; i < 1e6; i += 1.0) {
    const double an = -i * (i - a);
    b += 2.0;
    d = an * d + b;
    c = b + an / c;
    if (::fabs(d) < kTiny) d = kTiny;
    if (::fabs(c) < kTiny) c = kTiny;
    d = 1.0 / d;
    const double change = d * c;
    h *= change;
    if (::fabs(change - 1.0) < 1e-16) break;
  }
  return gamma_prefactor(a, x) * a * h;
}

// The upper function for small x, where 1 - lower would cancel: gamma(a, x) / gamma(a) = 1 - x^a / gamma(a + 1) - x^a sum.
inline double upper_of_small(double a, double x) {
  double power = 1.0, sum = 0.0;
  for (int n = 1; n < 200; ++n) {
    power *= -x / n;
    const double term = power / (a + n);
    sum += term;
    if (::fabs(term) < 1e-17 * ::fabs(sum)) break;
  }
  const double exponent = a * ::log(x) - ::lgamma(a + 1.0);
  return -::expm1(exponent) - ::exp(exponent) * a * sum;
}

}  // namespace detail

// P(a, x). NaN outside of a >= 0, x >= 0.
inline double igamma(double a, double x) {
  if (a != a || x != x || a < 0.0 || x < 0.0 || (a == 0.0 && x == 0.0)) return nan<double>;
  if (a == 0.0) return 1.0;
  if (x == 0.0) return 0.0;
  if (a == infinity<double>) return x == infinity<double> ? nan<double> : 0.0;
  if (x == infinity<double>) return 1.0;
  return x <= a + 1.0 ? detail::gamma_series(a, x) : 1.0 - detail::gamma_fraction(a, x);
}
// Q(a, x) = 1 - P(a, x), computed for itself.
inline double igammac(double a, double x) {
  if (a != a || x != x || a < 0.0 || x < 0.0 || (a == 0.0 && x == 0.0)) return nan<double>;
  if (a == 0.0) return 0.0;
  if (x == 0.0) return 1.0;
  if (a == infinity<double>) return x == infinity<double> ? nan<double> : 1.0;
  if (x == infinity<double>) return 0.0;
  if (x < 1.0 && a < 1.0) return detail::upper_of_small(a, x);
  return x <= a + 1.0 ? 1.0 - detail::gamma_series(a, x) : detail::gamma_fraction(a, x);
}
inline float igamma(float a, float x) { return static_cast<float>(igamma(static_cast<double>(a), static_cast<double>(x))); }
inline float igammac(float a, float x) { return static_cast<float>(igammac(static_cast<double>(a), static_cast<double>(x))); }

// sum of (q + k)^-x over k >= 0: the first terms, then the Euler-Maclaurin formula.
inline double zeta(double x, double q) {
  if (x == 1.0) return infinity<double>;
  if (!(x > 1.0)) return nan<double>;
  if (q <= 0.0) {
    if (q == ::floor(q)) return infinity<double>;
    if (x != ::floor(x)) return nan<double>;  // a negative number to a broken power
  }
  // Bernoulli numbers B(2k) / (2k)!
  constexpr double kRatio[] = {8.33333333333333333333e-2,  -1.38888888888888888889e-3, 3.30687830687830687831e-5,  -8.26719576719576719577e-7,
                               2.08767569878680989792e-8,  -5.28419013868749318484e-10, 1.33825365306846788328e-11, -3.38968029632258286683e-13,
                               8.58606205627784456414e-15, -2.17486869855806187304e-16, 5.50900282836022951520e-18, -1.39544646858125233407e-19};
  double sum = 0.0;
  for (; q < 12.0 || q < x; q += 1.0) {
    const double term = ::pow(q, -x);
    sum += term;
    if (q > 0.0 && term < 1e-17 * sum) return sum;
  }
  double power = ::pow(q, -x);
  sum += power * q / (x - 1.0) + 0.5 * power;
  double factor = x;  // x (x + 1) ... (x + 2k)
  power /= q;
  for (int k = 0; k < 12; ++k) {
    const double term = kRatio[k] * factor * power;
    sum += term;
    if (::fabs(term) < 1e-17 * ::fabs(sum)) break;
    factor *= (x + 2 * k + 1) * (x + 2 * k + 2);
    power /= q * q;
  }
  return sum;
}
inline float zeta(float x, float q) { return static_cast<float>(zeta(static_cast<double>(x), static_cast<double>(q))); }

// The n-th derivative of digamma, n >= 1.
template <class T> inline T polygamma(T n, T x) {
  const double order = static_cast<double>(n), sign = ::fmod(order, 2.0) == 0.0 ? -1.0 : 1.0;
  return static_cast<T>(sign * ::tgamma(order + 1.0) * zeta(order + 1.0, static_cast<double>(x)));
}

}  // namespace trine::math
