// Exponentials and logarithms. Constants: fit.py.
#pragma once

#include "base.h"

namespace trine::math {

namespace detail {

// e^x = (1 + tail) 2^n with |reduced x| <= ln(2) / 2. `tail` is e^r - 1.
template <class T, class I>
struct Exponential {
  T tail;
  I n;
};

inline constexpr float kRoundFloat = 0x1.8p23f;
inline constexpr double kRoundDouble = 0x1.8p52;

TRINE_FN float expm1_reduced(float r) {
  return fmadd(r * r, poly(r, 0.5000000096f, 0.1666651884f, 0.04166620411f, 0.00836888973f, 0.001395059054f), r);
}
TRINE_FN double expm1_reduced(double r) {
  return fmadd(r * r,
               poly(r, 0.5, 0.166666666666666838, 0.0416666666666667237, 0.00833333333331673829,
                    0.00138888888888587748, 0.000198412698970598456, 0.0000248015873731820225,
                    2.75572342358093902e-6, 2.75572337819312575e-7, 2.51122402078253953e-8,
                    2.09268252035722461e-9),
               r);
}

// The high parts of ln(2) end in zeros, so that n times them is exact without a fused multiply-add too.
TRINE_FN Exponential<float, int32_t> exponential(float x) {
  float shifted = fmadd(x, 0x1.715476p0f, kRoundFloat);
  float n = shifted - kRoundFloat;
  float r = fmadd(n, -0x1.7f7d1cp-20f, fmadd(n, -0x1.62e4p-1f, x));
  return {expm1_reduced(r), bits(shifted) - bits(kRoundFloat)};
}
TRINE_FN Exponential<double, int64_t> exponential(double x) {
  double shifted = fmadd(x, 0x1.71547652b82fep0, kRoundDouble);
  double n = shifted - kRoundDouble;
  double r = fmadd(n, -0x1.a39ef35793c76p-33, fmadd(n, -0x1.62e42feep-1, x));
  return {expm1_reduced(r), bits(shifted) - bits(kRoundDouble)};
}

// Comparisons are written so that NaN passes through.
template <class T>
TRINE_FN T clamp_keeping_nan(T x, T lo, T hi) {
  x = x > hi ? hi : x;
  return x < lo ? lo : x;
}

}  // namespace detail

TRINE_FN float exp(float x) {
  auto [tail, n] = detail::exponential(detail::clamp_keeping_nan(x, -104.0f, 89.0f));
  return scale(1.0f + tail, n);
}
TRINE_FN double exp(double x) {
  auto [tail, n] = detail::exponential(detail::clamp_keeping_nan(x, -746.0, 710.0));
  return scale(1.0 + tail, n);
}

// e^x / 2, finite up to where sinh and cosh are.
TRINE_FN float half_exp(float x) {
  auto [tail, n] = detail::exponential(detail::clamp_keeping_nan(x, -104.0f, 90.0f));
  return scale(1.0f + tail, n - 1);
}
TRINE_FN double half_exp(double x) {
  auto [tail, n] = detail::exponential(detail::clamp_keeping_nan(x, -746.0, 711.0));
  return scale(1.0 + tail, n - 1);
}

TRINE_FN float exp2(float x) {
  x = detail::clamp_keeping_nan(x, -151.0f, 128.0f);
  float shifted = x + detail::kRoundFloat;
  float r = x - (shifted - detail::kRoundFloat);
  float p = poly(r, 1.0f, 0.6931472068f, 0.2402265092f, 0.05550327123f, 0.009618056761f, 0.001340046493f,
                 0.0001546141249f);
  return scale(p, bits(shifted) - bits(detail::kRoundFloat));
}
TRINE_FN double exp2(double x) {
  x = detail::clamp_keeping_nan(x, -1076.0, 1024.0);
  double shifted = x + detail::kRoundDouble;
  double r = x - (shifted - detail::kRoundDouble);
  // r ln(2) in two parts: its rounding error would cost half a unit in the last place.
  double high = r * 0x1.62e42fefa39efp-1;
  double low = fmadd(r, 0x1.abc9e3b39803fp-56, product_error(r, 0x1.62e42fefa39efp-1, high));
  double tail = detail::expm1_reduced(high);
  return scale(1.0 + (tail + low), bits(shifted) - bits(detail::kRoundDouble));
}

TRINE_FN float expm1(float x) {
  auto [tail, n] = detail::exponential(detail::clamp_keeping_nan(x, -30.0f, 89.0f));
  float half = power_of_two(n - 1);  // n may be 128
  float large = fmadd(half, tail, half - 0.5f) * 2.0f;
  return copysign(n == 0 ? tail : large, x);
}
TRINE_FN double expm1(double x) {
  auto [tail, n] = detail::exponential(detail::clamp_keeping_nan(x, -50.0, 710.0));
  double half = power_of_two(n - 1);
  double large = fmadd(half, tail, half - 0.5) * 2.0;
  return copysign(n == 0 ? tail : large, x);
}

namespace detail {

// x = (1 + f) 2^n with sqrt(1/2) <= 1 + f < sqrt(2); subnormal x too.
template <class T>
struct Logarithm {
  T f;
  T n;
};

TRINE_FN Logarithm<float> split(float x) {
  bool tiny = x < 0x1p-126f;
  int32_t i = bits(tiny ? x * 0x1p23f : x) - 0x3f3504f3;
  float m = from_bits((i & 0x7fffff) + 0x3f3504f3);
  return {m - 1.0f, static_cast<float>(i >> 23) - (tiny ? 23.0f : 0.0f)};
}
TRINE_FN Logarithm<double> split(double x) {
  bool tiny = x < 0x1p-1022;
  int64_t i = bits(tiny ? x * 0x1p52 : x) - 0x3fe6a09e667f3bcd;
  double m = from_bits((i & 0xfffffffffffff) + 0x3fe6a09e667f3bcd);
  // The exponent as a double without a 64-bit conversion, which older machines lack.
  double n = from_bits((i >> 52) + bits(kRoundDouble)) - kRoundDouble;
  return {m - 1.0, n - (tiny ? 52.0 : 0.0)};
}

// log(1 + f) - f + f^2 / 2 on the interval of split().
TRINE_FN float log_tail(float f) {
  float z = f * f;
  return f * z * poly(f, 0.3333331044f, -0.2499998659f, 0.2000222658f, -0.1666925092f, 0.1421865898f, -0.1238434775f,
                      0.1187296902f, -0.1178981107f, 0.06915390579f);
}

// log(1 + f) as f - (f^2 / 2 - rest): s = f / (2 + f), log = f - f^2/2 + s (f^2/2 + R(s^2)).
TRINE_FN double log_tail(double f) {
  double s = f / (2.0 + f), z = s * s;
  double r = z * poly(z, 0.666666666666673445, 0.399999999994143672, 0.285714287424654853, 0.222221985643873014,
                      0.181835648226506509, 0.153140368945367056, 0.147960954446688522);
  return s * fmadd(0.5 * f, f, r);
}

template <class T>
TRINE_FN T log_domain(T x, T result) {
  result = x < infinity<T> ? result : x;
  return x > T(0) ? result : (x == T(0) ? -infinity<T> : nan<T>);
}

}  // namespace detail

TRINE_FN float log(float x) {
  auto [f, n] = detail::split(x);
  float r = fmadd(n, 0x1.7f7d1cp-20f, detail::log_tail(f));
  r = fmadd(-0.5f * f, f, r) + f;
  return detail::log_domain(x, fmadd(n, 0x1.62e4p-1f, r));
}
TRINE_FN double log(double x) {
  auto [f, n] = detail::split(x);
  double r = fmadd(n, 0x1.a39ef35793c76p-33, detail::log_tail(f));
  r = fmadd(-0.5 * f, f, r) + f;
  return detail::log_domain(x, fmadd(n, 0x1.62e42feep-1, r));
}

TRINE_FN float log2(float x) {
  auto [f, n] = detail::split(x);
  float q = poly(f, 0x1.4ae0cp-26f, -0.7213471605f, 0.4808981431f, -0.3607087934f, 0.2885792075f, -0.2393932757f, 0.2042894429f,
                 -0.1923507645f, 0.1883887292f, -0.1097530685f);
  return detail::log_domain(x, n + fmadd(f, 0x1.715476p0f, f * q));
}
TRINE_FN float log10(float x) {
  auto [f, n] = detail::split(x);
  float q = poly(f, -0x1.5b235ep-27f, -0.2171471326f, 0.1447647659f, -0.1085841665f, 0.08687099759f, -0.07206455676f,
                 0.06149725012f, -0.0579033498f, 0.05671065833f, -0.03303896574f);
  float r = fmadd(n, 0x1.3509f8p-18f, f * q);
  return detail::log_domain(x, fmadd(n, 0x1.344p-2f, fmadd(f, 0x1.bcb7b2p-2f, r)));
}

namespace detail {

// scale * log(1 + f) with the product carried in two parts.
TRINE_FN double scaled_log(double f, double factor_high, double factor_low, double add_low, double add_high) {
  double half_square = 0.5 * f * f;
  double tail = log_tail(f);
  double high = f - half_square;
  double low = ((f - high) - half_square) + tail;
  // high is cut to 26 bits, so that its product with the factor's 27 leading bits is exact.
  double cut = from_bits(bits(high) & ~int64_t{0x7ffffff});
  low += high - cut;
  double product = cut * factor_high;
  double rest = fmadd(low, factor_high, (cut + low) * factor_low) + add_low;
  double sum = add_high + product;
  double lost = (add_high - sum) + product;
  return sum + (lost + rest);
}

}  // namespace detail

TRINE_FN double log2(double x) {
  auto [f, n] = detail::split(x);
  return detail::log_domain(x, detail::scaled_log(f, 0x1.7154764p0, 0x1.2b82fe1777d1p-28, 0.0, n));
}
TRINE_FN double log10(double x) {
  auto [f, n] = detail::split(x);
  return detail::log_domain(
      x, detail::scaled_log(f, 0x1.bcb7b14p-2, 0x1.26e50e32a6ab7p-30, n * 0x1.3fde623e2566bp-43, n * 0x1.34413509f7p-2));
}

TRINE_FN float log1p(float x) {
  float u = 1.0f + x;
  float lost = x < 1.0f ? x - (u - 1.0f) : 1.0f - (u - x);
  int32_t i = bits(u) - 0x3f3504f3;
  float m = from_bits((i & 0x7fffff) + 0x3f3504f3);
  int32_t e = i >> 23;
  float f = (m - 1.0f) + lost * from_bits((127 - e) << 23);
  float n = static_cast<float>(e);
  float r = fmadd(n, 0x1.7f7d1cp-20f, detail::log_tail(f));
  r = fmadd(-0.5f * f, f, r) + f;
  r = fmadd(n, 0x1.62e4p-1f, r);
  r = x < infinity<float> ? r : x;
  r = x > -1.0f ? r : (x == -1.0f ? -infinity<float> : nan<float>);
  return x == 0.0f ? x : r;
}
TRINE_FN double log1p(double x) {
  double u = 1.0 + x;
  double lost = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
  int64_t i = bits(u) - 0x3fe6a09e667f3bcd;
  double m = from_bits((i & 0xfffffffffffff) + 0x3fe6a09e667f3bcd);
  int64_t e = i >> 52;
  double f = (m - 1.0) + lost * from_bits((1023 - e) << 52);
  double n = from_bits(e + bits(detail::kRoundDouble)) - detail::kRoundDouble;
  double r = fmadd(n, 0x1.a39ef35793c76p-33, detail::log_tail(f));
  r = fmadd(-0.5 * f, f, r) + f;
  r = fmadd(n, 0x1.62e42feep-1, r);
  r = x < infinity<double> ? r : x;
  r = x > -1.0 ? r : (x == -1.0 ? -infinity<double> : nan<double>);
  return x == 0.0 ? x : r;
}

TRINE_FN float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }
TRINE_FN double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

}  // namespace trine::math
