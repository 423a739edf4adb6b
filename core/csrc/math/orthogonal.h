// Classical orthogonal polynomials of degree n by their three-term recurrences (Abramowitz and Stegun 22.7), computed in double. The
// degree is cut to an integer; below zero every polynomial is 0.
#pragma once

#include <cmath>

#include "base.h"

namespace trine::math {
namespace detail {

// step(k, p_k, p_k-1) gives p_k+1. A NaN stays one, so the rest is saved.
template <class Step> inline double polynomial(double n, double first, double second, Step step) {
  if (!(n > -1.0)) return 0.0;
  if (n < 1.0) return first;
  const double last = ::trunc(n);
  double previous = first, current = second;
  for (double k = 1.0; k < last && current == current; k += 1.0) {
    const double next = step(k, current, previous);
    previous = current;
    current = next;
  }
  return current;
}

inline bool is_odd(double n) { return ::fmod(::trunc(n), 2.0) != 0.0; }

// The four kinds of Chebyshev polynomials share a recurrence and differ in the polynomial of degree 1, 2 x + offset (the first kind:
// x). Inside (-1, 1) degrees past 6 have closed forms in the angle whose cosine is x.
template <class Closed> inline double chebyshev(double x, double n, double linear, Closed closed) {
  if (n >= 7.0 && ::fabs(x) < 1.0) return closed(::trunc(n), ::acos(x));
  return polynomial(n, 1.0, linear, [x](double, double current, double previous) { return 2.0 * x * current - previous; });
}

}  // namespace detail

inline double chebyshev_t(double x, double n) {
  if (n >= 1.0 && ::fabs(x) == 1.0) return x < 0.0 && detail::is_odd(n) ? -1.0 : 1.0;
  return detail::chebyshev(x, n, x, [](double k, double angle) { return ::cos(k * angle); });
}
inline double chebyshev_u(double x, double n) {
  if (n >= 1.0 && ::fabs(x) == 1.0) return (x < 0.0 && detail::is_odd(n) ? -1.0 : 1.0) * (::trunc(n) + 1.0);
  return detail::chebyshev(x, n, 2.0 * x, [](double k, double angle) { return ::sin((k + 1.0) * angle) / ::sin(angle); });
}
inline double chebyshev_v(double x, double n) {
  if (n >= 1.0 && x == 1.0) return 1.0;
  if (n >= 1.0 && x == -1.0) return (detail::is_odd(n) ? -1.0 : 1.0) * (2.0 * ::trunc(n) + 1.0);
  return detail::chebyshev(x, n, 2.0 * x - 1.0, [](double k, double angle) { return ::cos((k + 0.5) * angle) / ::cos(0.5 * angle); });
}
inline double chebyshev_w(double x, double n) {
  if (n >= 1.0 && x == 1.0) return 2.0 * ::trunc(n) + 1.0;
  if (n >= 1.0 && x == -1.0) return detail::is_odd(n) ? -1.0 : 1.0;
  return detail::chebyshev(x, n, 2.0 * x + 1.0, [](double k, double angle) { return ::sin((k + 0.5) * angle) / ::sin(0.5 * angle); });
}
inline double shifted_chebyshev_t(double x, double n) { return chebyshev_t(2.0 * x - 1.0, n); }
inline double shifted_chebyshev_u(double x, double n) { return chebyshev_u(2.0 * x - 1.0, n); }
inline double shifted_chebyshev_v(double x, double n) { return chebyshev_v(2.0 * x - 1.0, n); }
inline double shifted_chebyshev_w(double x, double n) { return chebyshev_w(2.0 * x - 1.0, n); }

inline double hermite_h(double x, double n) {
  return detail::polynomial(n, 1.0, 2.0 * x, [x](double k, double current, double previous) { return 2.0 * (x * current - k * previous); });
}
inline double hermite_he(double x, double n) {
  return detail::polynomial(n, 1.0, x, [x](double k, double current, double previous) { return x * current - k * previous; });
}
inline double laguerre_l(double x, double n) {
  return detail::polynomial(n, 1.0, 1.0 - x, [x](double k, double current, double previous) { return ((2.0 * k + 1.0 - x) * current - k * previous) / (k + 1.0); });
}
inline double legendre_p(double x, double n) {
  return detail::polynomial(n, 1.0, x, [x](double k, double current, double previous) { return ((2.0 * k + 1.0) * x * current - k * previous) / (k + 1.0); });
}

#define TRINE_IN_DOUBLE(NAME) \
  inline float NAME(float x, float n) { return static_cast<float>(NAME(static_cast<double>(x), static_cast<double>(n))); }
TRINE_IN_DOUBLE(chebyshev_t)
TRINE_IN_DOUBLE(chebyshev_u)
TRINE_IN_DOUBLE(chebyshev_v)
TRINE_IN_DOUBLE(chebyshev_w)
TRINE_IN_DOUBLE(shifted_chebyshev_t)
TRINE_IN_DOUBLE(shifted_chebyshev_u)
TRINE_IN_DOUBLE(shifted_chebyshev_v)
TRINE_IN_DOUBLE(shifted_chebyshev_w)
TRINE_IN_DOUBLE(hermite_h)
TRINE_IN_DOUBLE(hermite_he)
TRINE_IN_DOUBLE(laguerre_l)
TRINE_IN_DOUBLE(legendre_p)
#undef TRINE_IN_DOUBLE

}  // namespace trine::math
