// Bessel functions of orders 0 and 1.
//
// Modified, first kind: below 20 the power series, whose terms are all positive; above, the asymptotic series (Abramowitz and Stegun
// 9.6.10 and 9.7.1), whose terms are far below rounding there before they grow again. Second kind: to 2 the series (9.6.11 and 9.6.13),
// above a fit in Chebyshev polynomials of 2 / x (fit.py).
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

// Sum of the Chebyshev series c on [0, 1] (Clenshaw's recurrence).
template <int N> inline double chebyshev_series(double x, const double (&c)[N]) {
  const double twice = 4.0 * x - 2.0;
  double current = 0.0, previous = 0.0;
  for (int k = N - 1; k > 0; --k) {
    const double next = twice * current - previous + c[k];
    previous = current;
    current = next;
  }
  return 0.5 * twice * current - previous + c[0];
}

// K_order(x) for 0 <= x <= 2. `mean` is the mean of the digamma function at k + 1 and at k + 1 + order.
template <int Order> inline double bessel_second_small(double x) {
  const double quarter = 0.25 * x * x, logarithm = ::log(0.5 * x);
  double term = Order == 0 ? 1.0 : 0.5 * x, mean = Order == 0 ? -0.577215664901532861 : -0.0772156649015328607;
  double sum = term * (mean - logarithm);
  for (int k = 1; k < 16 && term > 1e-19; ++k) {
    const double a = k, b = k + Order;
    term *= quarter / (a * b);
    mean += 0.5 / a + 0.5 / b;
    sum += term * (mean - logarithm);
  }
  return Order == 0 ? sum : 1.0 / x - sum;
}

// K_order(x) exp(x) for x > 2.
template <int Order> inline double bessel_second_large(double x) {
  static constexpr double order0[] = {
      1.2201515410329777, -0.031448101311964501, 0.0015698838857300534, -0.00012849549581627803, 1.3949813718876499e-5, -1.8317555227191195e-6,
      2.7668136394450151e-7, -4.6604898976879477e-8, 8.5740340174142261e-9, -1.6975345093890615e-9, 3.5773972814003284e-10, -7.957489244477397e-11,
      1.8559491149549266e-11, -4.5145978833745192e-12, 1.1403405882073442e-12, -2.9800969231481784e-13, 8.0328907750683744e-14, -2.2275133267462964e-14,
      6.340076476276646e-15, -1.8485933779209072e-15, 5.5120559994043334e-16, -1.6782311257549006e-16, 5.2103917776435541e-17, -1.6475805939842633e-17};
  static constexpr double order1[] = {
      1.3603130952422213, 0.10392373657681724, -0.0028578168596227794, 0.00019521551847135163, -1.936197974166083e-5, 2.4064849478372171e-6,
      -3.5019606030878125e-7, 5.7410841254500493e-8, -1.0345762465678097e-8, 2.0150497551970346e-9, -4.1903547593419256e-10, 9.2183151876053141e-11,
      -2.129967838427791e-11, 5.1396396734823435e-12, -1.2891739609498229e-12, 3.3484196660522431e-13, -8.9767051820101461e-14, 2.4771544242195987e-14,
      -7.0198370892147689e-15, 2.0387031662398609e-15, -6.0570472706430178e-16, 1.8380935752430454e-16, -5.6894628491936484e-17, 1.7940510478863573e-17};
  return chebyshev_series(2.0 / x, Order == 0 ? order0 : order1) / ::sqrt(x);
}

template <int Order> inline double bessel_second(double x, bool scaled) {
  if (!(x > 0.0)) return x == 0.0 ? infinity<double> : nan<double>;
  if (x <= 2.0) return bessel_second_small<Order>(x) * (scaled ? ::exp(x) : 1.0);
  return bessel_second_large<Order>(x) * (scaled ? 1.0 : ::exp(-x));
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

inline double bessel_k0(double x) { return detail::bessel_second<0>(x, false); }
inline double bessel_k1(double x) { return detail::bessel_second<1>(x, false); }
inline double bessel_k0e(double x) { return detail::bessel_second<0>(x, true); }
inline double bessel_k1e(double x) { return detail::bessel_second<1>(x, true); }
inline float bessel_k0(float x) { return static_cast<float>(bessel_k0(static_cast<double>(x))); }
inline float bessel_k1(float x) { return static_cast<float>(bessel_k1(static_cast<double>(x))); }
inline float bessel_k0e(float x) { return static_cast<float>(bessel_k0e(static_cast<double>(x))); }
inline float bessel_k1e(float x) { return static_cast<float>(bessel_k1e(static_cast<double>(x))); }

inline double bessel_j0(double x) { return ::j0(x); }
inline double bessel_j1(double x) { return ::j1(x); }
inline double bessel_y0(double x) { return x < 0.0 ? nan<double> : ::y0(x); }
inline double bessel_y1(double x) { return x < 0.0 ? nan<double> : ::y1(x); }
inline float bessel_j0(float x) { return static_cast<float>(bessel_j0(static_cast<double>(x))); }
inline float bessel_j1(float x) { return static_cast<float>(bessel_j1(static_cast<double>(x))); }
inline float bessel_y0(float x) { return static_cast<float>(bessel_y0(static_cast<double>(x))); }
inline float bessel_y1(float x) { return static_cast<float>(bessel_y1(static_cast<double>(x))); }

inline double spherical_bessel_j0(double x) {
  if (x == 0.0) return 1.0;
  return ::fabs(x) == infinity<double> ? 0.0 : ::sin(x) / x;
}
inline float spherical_bessel_j0(float x) { return static_cast<float>(spherical_bessel_j0(static_cast<double>(x))); }

// Airy's Ai: between -3 and 2 Maclaurin's series, outside its asymptotic forms (Abramowitz and Stegun 10.4.59 and 10.4.60) with fitted
// factors in place of the divergent series.
inline double airy_ai(double x) {
  static constexpr double decay[] = {
      0.9844053049171552, -0.014792784850104199, 0.00073271774654267143, -6.1259542341782499e-5, 6.8347669755726903e-6, -9.2372297354039816e-7,
      1.4362253404380519e-7, -2.489319422322096e-8, 4.7097934400543278e-9, -9.5838637081127321e-10, 2.0745855483677592e-10, -4.737267332192277e-11,
      1.1336099808224235e-11, -2.8277067823193508e-12, 7.3207120951255976e-13, -1.9599793911089722e-13, 5.4101162570683922e-14, -1.5356466802223836e-14,
      4.4723403933000248e-15, -1.3338094674756682e-15, 4.066582046456231e-16, -1.265583225645289e-16, 4.0151263340158711e-17};
  static constexpr double even[] = {
      0.99856996263109124, -0.0013951995769053717, 3.2678415064002465e-5, -1.9404091544431854e-6, 1.8869330795558387e-7, -2.5081398395940354e-8,
      4.1476652353303162e-9, -8.0708394653594458e-10, 1.7827924805699563e-10, -4.3617052732019037e-11, 1.1611854273657649e-11, -3.3197780872798538e-12,
      1.0089771012367245e-12, -3.2341424638014314e-13, 1.0863397834635641e-13, -3.8039355986385352e-14, 1.382553936868321e-14, -5.1967854399516065e-15,
      2.0139656226370208e-15, -8.0257541099841254e-16, 3.2812807447958266e-16, -1.3735972268163479e-16, 5.8772538763500812e-17, -2.5663608322486589e-17};
  static constexpr double odd[] = {
      0.019651659306147871, -0.00037769834827008375, 1.6026559415322604e-5, -1.3119608980540305e-6, 1.5777333692859496e-7, -2.4510346198235125e-8,
      4.5794294335751485e-9, -9.8459538899783686e-10, 2.3657770454710626e-10, -6.2237504562729651e-11, 1.7659796977735666e-11, -5.3439121966103677e-12,
      1.7094574166911662e-12, -5.740565257433585e-13, 2.0123294510019286e-13, -7.3295634130350158e-14, 2.7632073064933604e-14, -1.0747051122140543e-14,
      4.3002969457196572e-15, -1.7660454600202257e-15, 7.4284450641692286e-16, -3.1944649971533368e-16, 1.4021952580244942e-16, -6.273563649590444e-17,
      2.8573809090418217e-17};
  if (x != x) return x;
  if (::fabs(x) == infinity<double>) return 0.0;
  if (x >= -3.0 && x <= 2.0) {
    // f'' = x f, g'' = x g, f(0) = 1, g'(0) = 1.
    const double cube = x * x * x;
    double f = 1.0, g = x, sum = 0.355028053887817239 - 0.258819403792806798 * x;
    for (double k = 3.0; k < 60.0 && ::fabs(f) + ::fabs(g) > 1e-18; k += 3.0) {
      f *= cube / (k * (k - 1.0));
      g *= cube / (k * (k + 1.0));
      sum += 0.355028053887817239 * f - 0.258819403792806798 * g;
    }
    return sum;
  }
  const double a = ::fabs(x), root = ::sqrt(a), zeta = 2.0 / 3.0 * a * root, scale = 0.564189583547756286948 / ::sqrt(root);
  if (x > 0.0) return 0.5 * scale * ::exp(-zeta) * detail::chebyshev_series(1.88561808316412673 / zeta, decay);
  const double t = 3.46410161513775459 / zeta, phase = zeta - 0.785398163397448310;
  return scale * (::cos(phase) * detail::chebyshev_series(t * t, even) + ::sin(phase) * t * detail::chebyshev_series(t * t, odd));
}
inline float airy_ai(float x) { return static_cast<float>(airy_ai(static_cast<double>(x))); }

}  // namespace trine::math
