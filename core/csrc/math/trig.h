// Circular functions and their inverses. Constants: fit.py.
//
// The argument of sin, cos and tan is reduced by multiples of pi/2 held in parts, which is exact enough up to
// kCircularLimit. Beyond it they return NaN, and the loop that evaluates them runs those rare lanes again
// through namespace `trine::math::exact` (exact.h).
#pragma once

#include "exp_log.h"

namespace trine::math {

template <class T>
inline constexpr T kCircularLimit = std::is_same_v<T, float> ? T(0x1p17) : T(0x1p20);

namespace detail {

template <class T, class I>
struct Quadrant {
  T r;     // in [-pi/4, pi/4]
  T low;   // what r lacks
  I turn;  // multiples of pi/2
};

// With a fused multiply-add each step is exact or rounds the last place of r only; without one, double does it.
TRINE_FN Quadrant<float, int32_t> quadrant(float x) {
#if TRINE_HAS_FMA
  float shifted = fmadd(x, 0x1.45f306p-1f, kRoundFloat);
  float n = shifted - kRoundFloat;
  float r = fmadd(n, 0x1.ee59dap-50f, fmadd(n, 0x1.777a5cp-25f, fmadd(n, -0x1.921fb6p0f, x)));
  return {r, 0.0f, bits(shifted)};
#else
  double wide = static_cast<double>(x);
  double shifted = fmadd(wide, 0x1.45f306dc9c883p-1, kRoundDouble);
  double n = shifted - kRoundDouble;
  double r = fmadd(n, -0x1.0b4611a626331p-34, fmadd(n, -0x1.921fb544p0, wide));
  return {static_cast<float>(r), 0.0f, static_cast<int32_t>(n)};
#endif
}
TRINE_FN Quadrant<double, int64_t> quadrant(double x) {
  double shifted = fmadd(x, 0x1.45f306dc9c883p-1, kRoundDouble);
  double n = shifted - kRoundDouble;
  double first = fmadd(n, -0x1.921fb544p0, x);
  double step = n * 0x1.0b4611a6p-34;
  double second = first - step;
  double lost = (first - second) - step;
  double third = n * 0x1.3198a2e037073p-69;
  double r = second - third;
  return {r, ((second - r) - third) + lost, bits(shifted)};
}

TRINE_FN float sin_reduced(float r, float) {
  float z = r * r;
  return fmadd(r * z, poly(z, -0.1666665358f, 0.008332090306f, -0.0001950523918f), r);
}
TRINE_FN float cos_reduced(float r, float) {
  float z = r * r;
  return fmadd(z * z, poly(z, 0.04166664456f, -0.001388725189f, 2.442493604e-5f), fmadd(z, -0.5f, 1.0f));
}
TRINE_FN double sin_reduced(double r, double low) {
  double z = r * r;
  double p = poly(z, -0.166666666666666319, 0.00833333333332237002, -0.000198412698297709292, 2.75573136785465861e-6,
                  -2.5050755940094258e-8, 1.58966651876217628e-10);
  // sin(r + low) = sin(r) + low cos(r)
  return r + fmadd(r * z, p, fmadd(-0.5 * z, low, low));
}
TRINE_FN double cos_reduced(double r, double low) {
  double z = r * r;
  double p = poly(z, 0.0416666666666665992, -0.00138888888888740651, 0.0000248015872894435717,
                  -2.75573143406795281e-7, 2.08757216255514641e-9, -1.13595593810597767e-11);
  double half = 0.5 * z;
  double high = 1.0 - half;
  return high + (((1.0 - high) - half) + fmadd(z * z, p, -r * low));
}

template <class T>
TRINE_FN T circular_domain(T x, T result) {
  return fabs(x) <= kCircularLimit<T> ? result : nan<T>;
}

TRINE_FN float flip_sign(float x, int32_t odd) { return from_bits(bits(x) ^ (odd << 31)); }
TRINE_FN double flip_sign(double x, int64_t odd) { return from_bits(bits(x) ^ static_cast<int64_t>(static_cast<uint64_t>(odd) << 63)); }

}  // namespace detail

template <class T, class = std::enable_if_t<std::is_floating_point_v<T>>>
TRINE_FN T sin(T x) {
  auto [r, low, turn] = detail::quadrant(x);
  T s = detail::sin_reduced(r, low), c = detail::cos_reduced(r, low);
  T result = detail::flip_sign((turn & 1) != 0 ? c : s, (turn >> 1) & 1);
  return detail::circular_domain(x, x == T(0) ? x : result);
}

template <class T, class = std::enable_if_t<std::is_floating_point_v<T>>>
TRINE_FN T cos(T x) {
  auto [r, low, turn] = detail::quadrant(x);
  T s = detail::sin_reduced(r, low), c = detail::cos_reduced(r, low);
  return detail::circular_domain(x, detail::flip_sign((turn & 1) != 0 ? s : c, ((turn + 1) >> 1) & 1));
}

TRINE_FN float tan(float x) {
  auto [r, low, turn] = detail::quadrant(x);
  float z = r * r;
  float p = poly(z, 0.333333515877544754f, 0.133326048061705924f, 0.0540661349635632461f, 0.0212518362963630783f,
                 0.0109106606468920707f, -1.21495583734402953e-6f, 0.00441928050861834326f);
  float t = fmadd(r * z, p, r);
  bool odd = (turn & 1) != 0;
  float result = odd ? -1.0f / t : t;
  return detail::circular_domain(x, x == 0.0f ? x : result);
}
TRINE_FN double tan(double x) {
  auto [r, low, turn] = detail::quadrant(x);
  double s = detail::sin_reduced(r, low), c = detail::cos_reduced(r, low);
  bool odd = (turn & 1) != 0;
  double result = (odd ? -c : s) / (odd ? s : c);
  return detail::circular_domain(x, x == 0.0 ? x : result);
}

namespace detail {

// asin(y) - y for z = y^2 <= 1/4.
TRINE_FN float asin_tail(float y, float z) {
  return y * z * poly(z, 0.1666675392f, 0.07495242316f, 0.04547702075f, 0.02414800432f, 0.04221788022f);
}
TRINE_FN double asin_tail(double y, double z) {
  return y * z * poly(z, 0.166666666666667624, 0.0749999999997026315, 0.0446428571751201468, 0.0303819426836376913,
                      0.0223722156599069098, 0.0173516000970878417, 0.0139809614002874447, 0.011397776363663826,
                      0.0107865269885178257, 0.00368305011698562103, 0.0217634776471783712, -0.0210772584338767249,
                      0.032676866081436482);
}

template <class T>
struct HalfPi;
template <>
struct HalfPi<float> {
  static constexpr float high = 0x1.921fb6p0f, low = -0x1.777a5cp-25f;
};
template <>
struct HalfPi<double> {
  static constexpr double high = 0x1.921fb54442d18p0, low = 0x1.1a62633145c07p-54;
};

}  // namespace detail

template <class T, class = std::enable_if_t<std::is_floating_point_v<T>>>
TRINE_FN T asin(T x) {
  T a = fabs(x);
  bool far = a > T(0.5);
  T z = far ? T(0.5) * (T(1) - a) : a * a;
  T y = far ? sqrt(z) : a;
  T tail = detail::asin_tail(y, z);
  // high - 2 y is exact, so that only the root's own error is doubled.
  T result = (detail::HalfPi<T>::high - T(2) * y) - (T(2) * tail - detail::HalfPi<T>::low);
  return copysign(far ? result : y + tail, x);
}

template <class T, class = std::enable_if_t<std::is_floating_point_v<T>>>
TRINE_FN T acos(T x) {
  T a = fabs(x);
  bool far = a > T(0.5);
  T z = far ? T(0.5) * (T(1) - a) : a * a;
  T y = far ? sqrt(z) : a;
  T near = y + detail::asin_tail(y, z);
  T twice = T(2) * near;
  T middle = detail::HalfPi<T>::high - (copysign(near, x) - detail::HalfPi<T>::low);
  T negative = T(2) * detail::HalfPi<T>::high - (twice - T(2) * detail::HalfPi<T>::low);
  return far ? (x < T(0) ? negative : twice) : middle;
}

namespace detail {

// atan(t) for 0 <= t <= 1.
TRINE_FN float atan_unit(float t) {
  float z = t * t;
  return fmadd(t * z,
               poly(z, -0.3333330186f, 0.1999863853f, -0.1426524477f, 0.1095757434f, -0.08419456554f, 0.05823454247f,
                    -0.03145572057f, 0.0110644617f, -0.00182721932f),
               t);
}

// Above tan(pi/8) the argument is turned back by pi/4: atan(t) = pi/4 + atan((t - 1) / (t + 1)).
TRINE_FN double atan_small(double t) {
  double z = t * t;
  return fmadd(t * z,
               poly(z, -0.333333333333331991, 0.1999999999995408, -0.142857142802484115, 0.111111107861359334,
                    -0.09090897836441274, 0.0769206163741809467, -0.0666312038971963275, 0.058480089654143174,
                    -0.0503984573777023523, 0.0380783265048081232, -0.0179222849830396553),
               t);
}

}  // namespace detail

// The angle in [0, pi/2] of the point (x, y), both >= 0 and not NaN.
TRINE_FN float first_quadrant_angle(float y, float x) {
  bool steep = y > x;
  float small = steep ? x : y, large = steep ? y : x;
  float t = small / large;
  t = large == 0.0f ? 0.0f : (small == large ? 1.0f : t);
  float angle = detail::atan_unit(t);
  return steep ? 0x1.921fb6p0f - (angle + 0x1.777a5cp-25f) : angle;
}
TRINE_FN double first_quadrant_angle(double y, double x) {
  bool steep = y > x;
  double small = steep ? x : y, large = steep ? y : x;
  bool equal = small == large;
  // Halved, so that their sum cannot overflow; tiny ones keep their bits.
  double half = large > 1.0 ? 0.5 : 1.0;
  small *= half;
  large *= half;
  bool turned = both(small > 0x1.a827999fcef32p-2 * large, !equal);
  double numerator = turned ? small - large : small;
  double denominator = turned ? small + large : large;
  double t = numerator / denominator;
  t = either(equal, large == 0.0) ? 0.0 : t;
  double angle = detail::atan_small(t);
  bool quarter = either(turned, both(equal, large != 0.0));
  // In eighths of a turn: base + sign * angle.
  double high = (quarter ? 0x1.921fb54442d18p-1 : 0.0), low = (quarter ? 0x1.1a62633145c07p-55 : 0.0);
  double sign = steep ? -1.0 : 1.0;
  high = steep ? 0x1.921fb54442d18p0 - high : high;
  low = steep ? 0x1.1a62633145c07p-54 - low : low;
  return high + (low + sign * angle);
}

TRINE_FN float atan(float x) {
  float a = fabs(x);
  bool steep = a > 1.0f;
  float angle = detail::atan_unit(steep ? 1.0f / a : a);
  return copysign(steep ? 0x1.921fb6p0f - (angle + 0x1.777a5cp-25f) : angle, x);
}
TRINE_FN double atan(double x) {
  double a = fabs(x);
  bool steep = a > 0x1.3504f333f9de6p1, turned = a > 0x1.a827999fcef32p-2;
  double numerator = steep ? -1.0 : (turned ? a - 1.0 : a);
  double denominator = steep ? a : (turned ? a + 1.0 : 1.0);
  double angle = detail::atan_small(numerator / denominator);
  double high = steep ? 0x1.921fb54442d18p0 : (turned ? 0x1.921fb54442d18p-1 : 0.0);
  double low = steep ? 0x1.1a62633145c07p-54 : (turned ? 0x1.1a62633145c07p-55 : 0.0);
  return copysign(high + (low + angle), x);
}

template <class T, class = std::enable_if_t<std::is_floating_point_v<T>>>
TRINE_FN T atan2(T y, T x) {
  T angle = first_quadrant_angle(fabs(y), fabs(x));
  angle = signbit(x) ? T(2) * detail::HalfPi<T>::high - (angle - T(2) * detail::HalfPi<T>::low) : angle;
  angle = copysign(angle, y);
  return either(x != x, y != y) ? nan<T> : angle;
}

}  // namespace trine::math
