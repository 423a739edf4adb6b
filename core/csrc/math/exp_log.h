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

// x brought into [lo, hi], lo < 0 < hi, on the bit patterns: an integer minimum is one instruction, where a
// comparison that minds NaN takes three. NaN is lost; the callers put it back.
TRINE_FN float clamp_bits(float x, float lo, float hi) {
  int32_t i = bits(x);
  i = i < bits(hi) ? i : bits(hi);
  uint32_t u = static_cast<uint32_t>(i), limit = static_cast<uint32_t>(bits(lo));
  return from_bits(static_cast<int32_t>(u < limit ? u : limit));
}
TRINE_FN double clamp_bits(double x, double lo, double hi) {
  int64_t i = bits(x);
  i = i < bits(hi) ? i : bits(hi);
  uint64_t u = static_cast<uint64_t>(i), limit = static_cast<uint64_t>(bits(lo));
  return from_bits(static_cast<int64_t>(u < limit ? u : limit));
}

// e^x 2^-shift for lo <= x <= hi as p 2^h 2^h: halving the exponent makes both factors normal numbers down to the
// smallest result, and the bias is added within the rounding constant.
TRINE_FN float exp_between(float x, float lo, float hi, float first_factor) {
  float t = clamp_bits(x, lo, hi);
  constexpr float round = kRoundFloat + 127.0f;
  float shifted = fmadd(t, 0x1.715476p-1f, round);
  float h = shifted - round;
  float r = fmadd(h, -0x1.7f7d1cp-19f, fmadd(h, -0x1.62e4p0f, t));
  float p = poly(r, 1.0f, 1.0f, 0.5000000106f, 0.1666667387f, 0.04166652553f, 0.00833252763f, 0.001389370379f,
                 0.0002010985159f, 2.444010996e-5f);
  float factor = from_bits(static_cast<int32_t>(static_cast<uint32_t>(bits(shifted)) << 23));
  float result = p * (factor * first_factor) * factor;
  return x != x ? x : result;
}
TRINE_FN double exp_between(double x, double lo, double hi, double first_factor) {
  double t = clamp_bits(x, lo, hi);
  constexpr double round = kRoundDouble + 1023.0;
  double shifted = fmadd(t, 0x1.71547652b82fep-1, round);
  double h = shifted - round;
  double r = fmadd(h, -0x1.a39ef35793c76p-32, fmadd(h, -0x1.62e42feep0, t));
  double p = poly(r, 1.0, 1.0, 0.499999999999999987, 0.166666666666666532, 0.0416666666666672635,
                  0.00833333333333784173, 0.00138888888888045848, 0.000198412698358835432, 0.0000248015873545122012,
                  2.75573222915076789e-6, 2.75573029839884194e-7, 2.50512059442626858e-8, 2.0879052267152846e-9,
                  1.61914208711738917e-10, 1.13782851728763935e-11);
  double factor = from_bits(static_cast<int64_t>(static_cast<uint64_t>(bits(shifted)) << 52));
  double result = p * (factor * first_factor) * factor;
  return x != x ? x : result;
}

// e^x for |x| <= 87 in one factor. NaN stays.
TRINE_FN float exp_within(float x) {
  constexpr float round = kRoundFloat + 127.0f;
  float shifted = fmadd(x, 0x1.715476p0f, round);
  float n = shifted - round;
  float r = fmadd(n, -0x1.7f7d1cp-20f, fmadd(n, -0x1.62e4p-1f, x));
  return poly(r, 1.0f, 1.000000036f, 0.4999999207f, 0.1666642006f, 0.04166822667f, 0.00837482461f, 0.001383681436f) *
         from_bits(static_cast<int32_t>(static_cast<uint32_t>(bits(shifted)) << 23));
}

}  // namespace detail

TRINE_FN float exp(float x) { return detail::exp_between(x, -104.0f, 89.0f, 1.0f); }
TRINE_FN double exp(double x) { return detail::exp_between(x, -746.0, 710.0, 1.0); }
namespace detail {
TRINE_FN double exp_within(double x) { return exp(x); }
}  // namespace detail

// e^x / 2, finite up to where sinh and cosh are.
TRINE_FN float half_exp(float x) { return detail::exp_between(x, -104.0f, 90.0f, 0.5f); }
TRINE_FN double half_exp(double x) { return detail::exp_between(x, -746.0, 711.0, 0.5); }

TRINE_FN float exp2(float x) {
  constexpr float round = detail::kRoundFloat + 127.0f;
  float t = detail::clamp_bits(x, -151.0f, 128.0f);
  float shifted = fmadd(t, 0.5f, round);
  float r = fmadd(shifted - round, -2.0f, t);
  float p = poly(r, 1.0f, 0.6931471737f, 0.2402265027f, 0.05550418665f, 0.009618168273f, 0.001333116834f,
                 0.0001539465219f, 1.55233709e-5f, 1.383534253e-6f);
  float factor = from_bits(static_cast<int32_t>(static_cast<uint32_t>(bits(shifted)) << 23));
  float result = p * factor * factor;
  return x != x ? x : result;
}
TRINE_FN double exp2(double x) {
  double t = detail::clamp_bits(x, -1076.0, 1024.0);
  double shifted = t + detail::kRoundDouble;
  double r = t - (shifted - detail::kRoundDouble);
  // r ln(2) in two parts: its rounding error would cost half a unit in the last place.
  double high = r * 0x1.62e42fefa39efp-1;
  double low = fmadd(r, 0x1.abc9e3b39803fp-56, product_error(r, 0x1.62e42fefa39efp-1, high));
  double tail = detail::expm1_reduced(high);
  double result = scale(1.0 + (tail + low), bits(shifted) - bits(detail::kRoundDouble));
  return x != x ? x : result;
}

// e^x - 1 of numbers other than -0 and NaN.
TRINE_FN float expm1_of_number(float x) {
  // 2^(n - 1), because n may be 128; its exponent's bias is added within the rounding constant.
  constexpr float round = detail::kRoundFloat + 126.0f;
  float t = detail::clamp_bits(x, -30.0f, 89.0f);
  float shifted = fmadd(t, 0x1.715476p0f, round);
  float n = shifted - round;
  float tail = detail::expm1_reduced(fmadd(n, -0x1.7f7d1cp-20f, fmadd(n, -0x1.62e4p-1f, t)));
  float half = from_bits(static_cast<int32_t>(static_cast<uint32_t>(bits(shifted)) << 23));
  return fmadd(half, tail, half - 0.5f) * 2.0f;
}
TRINE_FN double expm1_of_number(double x) {
  auto [tail, n] = detail::exponential(detail::clamp_bits(x, -50.0, 710.0));
  double half = power_of_two(n - 1);
  return fmadd(half, tail, half - 0.5) * 2.0;
}
template <class T, class = std::enable_if_t<std::is_floating_point_v<T>>>
TRINE_FN T expm1(T x) {
  return x != x ? x : copysign(expm1_of_number(x), x);
}

namespace detail {

// x = (1 + f) 2^n with sqrt(1/2) <= 1 + f < sqrt(2); subnormal x too.
template <class T>
struct Logarithm {
  T f;
  T n;
};

// Differences of bit patterns wrap for the arguments that have no logarithm; those results are replaced afterwards.
TRINE_FN int32_t wrapped_difference(int32_t a, int32_t b) { return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b)); }
TRINE_FN int64_t wrapped_difference(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)); }

// A subnormal x is multiplied by a power of two, whose exponent is taken off again on the bit patterns: a second
// selection on the same condition would make the compiler compute both branches of all that lies between.
TRINE_FN Logarithm<float> split(float x) {
  float factor = x < 0x1p-126f ? 0x1p23f : 1.0f;
  int32_t i = wrapped_difference(bits(x * factor), 0x3f3504f3);
  float m = from_bits((i & 0x7fffff) + 0x3f3504f3);
  return {m - 1.0f, static_cast<float>(wrapped_difference(i, bits(factor) - bits(1.0f)) >> 23)};
}
TRINE_FN Logarithm<double> split(double x) {
  double factor = x < 0x1p-1022 ? 0x1p52 : 1.0;
  int64_t i = wrapped_difference(bits(x * factor), int64_t{0x3fe6a09e667f3bcd});
  double m = from_bits((i & 0xfffffffffffff) + 0x3fe6a09e667f3bcd);
  // The exponent as a double without a 64-bit conversion, which older machines lack.
  double n = from_bits((wrapped_difference(i, bits(factor) - bits(1.0)) >> 52) + bits(kRoundDouble)) - kRoundDouble;
  return {m - 1.0, n};
}

// log(1 + f) - f + f^2 / 2 on the interval of split().
TRINE_FN float log_tail(float f) {
  float z = f * f;
  return f * z * poly(f, 0.3333331044f, -0.2499998659f, 0.2000222658f, -0.1666925092f, 0.1421865898f, -0.1238434775f,
                      0.1187296902f, -0.1178981107f, 0.06915390579f);
}

// A long polynomial costs less here than the division of the series in f / (2 + f).
TRINE_FN double log_tail(double f) {
  double z = f * f;
  return f * z * poly(f, 0.333333333333334722, -0.249999999999992398, 0.199999999999398676, -0.166666666668287057,
                      0.142857142945006442, -0.124999999906539179, 0.111111104852755829, -0.0999999993874945828,
                      0.0909093412435732163, -0.0833335882955907839, 0.0769171427993343622, -0.0714177331837737219,
                      0.0667492688040861842, -0.0627205116414959886, 0.0582185920013168492, -0.0531577813877654633,
                      0.0538478277637166058, -0.0628583234111724933, 0.0578719472562597472, -0.0249714153494369835);
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

// In double the leading product is carried in two parts.
TRINE_FN double log2(double x) {
  auto [f, n] = detail::split(x);
  double q = poly(f, -0.721347520444483797, 0.480898346962976313, -0.360673760221334194, 0.288539008180243459,
                  -0.240449173613987134, 0.206099291413853508, -0.180336870672754306, 0.160299448106200891,
                  -0.144269881677962349, 0.131154477801860878, -0.120215634352568448, 0.110960221032886249,
                  -0.103174299591665017, 0.0965119762543171104, -0.0892549413324674904, 0.0812491793913970147,
                  -0.08199354542092319, 0.0953296192359287984, -0.0875627908912486836, 0.0377419909400214375);
  double high = f * 0x1.71547652b82fep0;
  double low = fmadd(f, 0x1.777d0ffda0d24p-56, product_error(f, 0x1.71547652b82fep0, high));
  low = fmadd(f * f, q, low);
  double sum = n + high;
  return detail::log_domain(x, sum + (((n - sum) + high) + low));
}
TRINE_FN double log10(double x) {
  auto [f, n] = detail::split(x);
  double q = poly(f, -0.217147240951626544, 0.144764827301080484, -0.108573620475540026, 0.0868588963813881231,
                  -0.0723824136904264085, 0.0620420688006619184, -0.0542868073966751664, 0.0482549421683482329,
                  -0.0434295618559600859, 0.0394814318840058979, -0.0361885118878964288, 0.0334023548564041425,
                  -0.0310585589587132168, 0.0290529997933593358, -0.0268684146023015846, 0.0244584401198942736,
                  -0.0246825166225349531, 0.0286970748652406245, -0.0263590265623186833, 0.0113614713690246709);
  double high = f * 0x1.bcb7b1526e50ep-2;
  double low = fmadd(f, 0x1.95355baaafad3p-57, product_error(f, 0x1.bcb7b1526e50ep-2, high));
  low = fmadd(n, 0x1.3fde623e2566bp-43, fmadd(f * f, q, low));
  double shift = n * 0x1.34413509f7p-2;
  double sum = shift + high;
  return detail::log_domain(x, sum + (((shift - sum) + high) + low));
}

TRINE_FN float log1p(float x) {
  float u = 1.0f + x;
  float lost = x < 1.0f ? x - (u - 1.0f) : 1.0f - (u - x);
  int32_t i = detail::wrapped_difference(bits(u), 0x3f3504f3);
  float m = from_bits((i & 0x7fffff) + 0x3f3504f3);
  int32_t e = i >> 23;
  float f = (m - 1.0f) + lost * power_of_two(-(e < 64 ? e : 64));
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
  int64_t i = detail::wrapped_difference(bits(u), int64_t{0x3fe6a09e667f3bcd});
  double m = from_bits((i & 0xfffffffffffff) + 0x3fe6a09e667f3bcd);
  int64_t e = i >> 52;
  double f = (m - 1.0) + lost * power_of_two(-(e < 64 ? e : int64_t{64}));
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

// log(1 + e^x)
template <class T>
TRINE_FN T softplus(T x) {
  return log1p(exp(x));
}

}  // namespace trine::math
