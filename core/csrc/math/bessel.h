// Bessel functions of orders 0 and 1.
//
// Modified, first kind: to 8 a polynomial in x^2, beyond one in 8 / x of what the exponential leaves (fit.py; the forms of Abramowitz and
// Stegun 9.6.10 and 9.7.1). Second kind: to 2 the series (9.6.11 and 9.6.13), above a fit in Chebyshev polynomials of 2 / x (fit.py).
#pragma once

#include <cmath>

#include "exp_log.h"

namespace trine::math {
namespace detail {

// I(x) / (x / 2)^order for t = (x / 2)^2 <= 16.
template <int Order>
TRINE_FN float bessel_i_small(float t) {
  if constexpr (Order == 0)
    return poly(t, 1.0f, 0.9999999919f, 0.2500000346f, 0.02777772556f, 0.001736148652f, 6.942960853e-5f, 1.932492297e-6f,
              3.88651117e-8f, 6.599195327e-10f, 5.220152962e-12f, 1.422541247e-13f);
  else
    return poly(t, 0.9999999979f, 0.5000000417f, 0.08333320567f, 0.006944585807f, 0.000347147058f, 1.159599349e-5f,
              2.718336937e-7f, 5.301285459e-9f, 4.593474092e-11f, 1.442027261e-12f);
}
template <int Order>
TRINE_FN double bessel_i_small(double t) {
  if constexpr (Order == 0)
    return poly(t, 1.0, 1.00000000000000005, 0.24999999999999963, 0.0277777777777788844, 0.0017361111111094516,
              0.0000694444444458930964, 1.92901234487508228e-6, 3.93675991913775262e-8, 6.15118654646315435e-10,
              7.59407289872119926e-12, 7.5938650052969121e-14, 6.27794549872563829e-16, 4.34558904897620029e-18,
              2.63976119595271239e-20, 1.12721714498737327e-22, 9.19872318754954046e-25);
  else
    return poly(t, 1.0, 0.500000000000000006, 0.0833333333333332907, 0.00694444444444455924, 0.00034722222222206473,
              0.0000115740740742015242, 2.75573192173591118e-7, 4.92094988479378809e-9, 6.83465200674832509e-11,
              7.5940687005769874e-13, 6.90355736129555176e-15, 5.2312982025459641e-17, 3.34441314666790781e-19,
              1.87998450794868988e-21, 7.6253931828364415e-24, 5.65062730628294472e-26);
}
// sqrt(x) exp(-x) I(x) for x >= 8, u = 8 / x - 1/2.
template <int Order>
TRINE_FN float bessel_i_large(float u) {
  if constexpr (Order == 0)
    return poly(u, 0.4021765094f, 0.006721111099f, 0.0005448696382f, 8.890221248e-5f, 2.360987834e-5f, 1.158891516e-5f,
              6.972663268e-6f);
  else
    return poly(u, 0.3893984591f, -0.01949916241f, -0.0008769511526f, -0.0001200371457f, -2.918513683e-5f, -1.345545862e-5f,
              -7.920142427e-6f);
}
template <int Order>
TRINE_FN double bessel_i_large(double u) {
  if constexpr (Order == 0)
    return poly(u, 0.402176509445008085, 0.00672110396733558732, 0.000544864297558792567, 0.0000891442703787754598,
              0.0000237415627631391068, 9.51550979801779047e-6, 5.67809294255841572e-6, 5.03399673251022918e-6,
              5.52129563252319084e-6, 3.8598989867133423e-6, -7.02077585817634081e-6, -0.0000273232294149101629,
              -0.0000205452808662202581, 0.0000603627787083644101, 0.000106741232787275327, -0.000104140137172253507,
              -0.000296031845314893084, 0.00014949853201892666, 0.000563694813353062831, -0.000155476816334453469,
              -0.000673734343349270262, 0.0000827471920186767677, 0.000376067089287923835);
  else
    return poly(u, 0.389398459025872321, -0.0194991543864713544, -0.000876943055326299811, -0.000120308377649388081,
              -0.0000293585638964978157, -0.0000111483334361724935, -6.40069203426580886e-6, -5.52079008216192224e-6,
              -5.98882222935118831e-6, -4.3078118661851075e-6, 7.01150624611177445e-6, 0.0000286186169666323529,
              0.0000228174412381913446, -0.0000612530837924880563, -0.000113663333043738723, 0.000102588308838656995,
              0.000311324346834349005, -0.000143572973431651718, -0.000589558569890056954, 0.000146712182278120311,
              0.00070277264775652181, -0.0000773125314131618005, -0.000391730152660374939);
}

// I(x), or I(x) exp(-|x|).
template <int Order, bool Scaled, class T>
TRINE_FN T bessel_i(T x) {
  T a = fabs(x), near = a < T(8) ? a : T(8), far = a > T(8) ? a : T(8), half = T(0.5) * near;
  T small = bessel_i_small<Order>(half * half) * (Order == 0 ? T(1) : half);
  T large = bessel_i_large<Order>(T(8) / far - T(0.5)) / sqrt(far);
  if constexpr (Scaled) {
    small *= exp(-near);
  } else {
    // In two factors: the exponential overflows before the product does.
    large = a < infinity<T> ? large * exp(far - T(8)) * T(2980.95798704172827) : a;
  }
  T result = a <= T(8) ? small : large;
  result = Order == 0 ? result : copysign(result, x);
  return x != x ? x : result;
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

template <class T>
TRINE_FN T i0(T x) {
  return detail::bessel_i<0, false>(x);
}
template <class T>
TRINE_FN T i0e(T x) {
  return detail::bessel_i<0, true>(x);
}
template <class T>
TRINE_FN T i1(T x) {
  return detail::bessel_i<1, false>(x);
}
template <class T>
TRINE_FN T i1e(T x) {
  return detail::bessel_i<1, true>(x);
}

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
