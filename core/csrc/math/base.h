// The ground of the mathematical vocabulary: bit casts, fused multiply-add, exact products, selection.
//
// Everything in this folder is scalar-looking and branch-free, so that one text becomes SIMD code in a plain
// loop (-O3 -fno-math-errno -fno-trapping-math, never -ffast-math) and device code on a GPU.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define TRINE_FN __host__ __device__ inline __attribute__((always_inline))
#else
#define TRINE_FN inline __attribute__((always_inline))
#endif

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__CUDA_ARCH__)
#define TRINE_HAS_FMA 1
#else
#define TRINE_HAS_FMA 0
#endif

namespace trine::math {

template <class T>
inline constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T nan = std::numeric_limits<T>::quiet_NaN();

// A literal in an operator's expression is an int or a double; the tensor's type decides in a mixed call.
template <class A, class B>
struct common {
  static constexpr bool a_literal = std::is_same_v<A, int> || (std::is_same_v<A, double> && !std::is_same_v<B, int>);
  using type = std::conditional_t<std::is_same_v<A, B>, A, std::conditional_t<a_literal, B, A>>;
};
template <class A, class B>
using common_t = typename common<A, B>::type;

TRINE_FN int32_t bits(float x) { return __builtin_bit_cast(int32_t, x); }
TRINE_FN int64_t bits(double x) { return __builtin_bit_cast(int64_t, x); }
TRINE_FN float from_bits(int32_t i) { return __builtin_bit_cast(float, i); }
TRINE_FN double from_bits(int64_t i) { return __builtin_bit_cast(double, i); }

template <class C, class A, class B>
TRINE_FN common_t<A, B> where(C condition, A a, B b) {
  return condition ? static_cast<common_t<A, B>>(a) : static_cast<common_t<A, B>>(b);
}

// && and || would be branches.
TRINE_FN bool both(bool a, bool b) { return a & b; }
TRINE_FN bool either(bool a, bool b) { return a | b; }

TRINE_FN float fabs(float x) { return __builtin_fabsf(x); }
TRINE_FN double fabs(double x) { return __builtin_fabs(x); }
TRINE_FN float copysign(float x, float y) { return __builtin_copysignf(x, y); }
TRINE_FN double copysign(double x, double y) { return __builtin_copysign(x, y); }

template <class T>
TRINE_FN bool isnan(T x) {
  return x != x;
}
template <class T>
TRINE_FN bool isinf(T x) {
  if constexpr (std::is_floating_point_v<T>) return fabs(x) == infinity<T>;
  return false;
}
template <class T>
TRINE_FN bool isfinite(T x) {
  if constexpr (std::is_floating_point_v<T>) return fabs(x) < infinity<T>;
  return true;
}
template <class T>
TRINE_FN bool signbit(T x) {
  if constexpr (std::is_floating_point_v<T>) return bits(x) < 0;
  return x < T(0);
}

// a * b + c: fused where the machine has it, because an emulated one would cost a library call.
TRINE_FN float fmadd(float a, float b, float c) {
#if TRINE_HAS_FMA
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
TRINE_FN double fmadd(double a, double b, double c) {
#if TRINE_HAS_FMA
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

// The rounding error a * b - p of the product p = a * b.
TRINE_FN float product_error(float a, float b, float p) {
#if TRINE_HAS_FMA
  return __builtin_fmaf(a, b, -p);
#else
  return static_cast<float>(static_cast<double>(a) * static_cast<double>(b) - static_cast<double>(p));
#endif
}
TRINE_FN double product_error(double a, double b, double p) {
#if TRINE_HAS_FMA
  return __builtin_fma(a, b, -p);
#else
  // Dekker's product: halves of at most 26 bits, made by clearing the low 27.
  double ah = from_bits(bits(a) & ~int64_t{0x7ffffff}), al = a - ah;
  double bh = from_bits(bits(b) & ~int64_t{0x7ffffff}), bl = b - bh;
  return ((ah * bh - p) + ah * bl + al * bh) + al * bl;
#endif
}

// c0 + x (c1 + x (c2 + ...)).
template <class T>
TRINE_FN T poly(T, T c0) {
  return c0;
}
template <class T, class... C>
TRINE_FN T poly(T x, T c0, C... rest) {
  return fmadd(poly(x, static_cast<T>(rest)...), x, c0);
}

// 2^n for n in the range of normal numbers.
TRINE_FN float power_of_two(int32_t n) {
  return from_bits(static_cast<int32_t>(static_cast<uint32_t>(n + 127) << 23));
}
TRINE_FN double power_of_two(int64_t n) {
  return from_bits(static_cast<int64_t>(static_cast<uint64_t>(n + 1023) << 52));
}

// x 2^n where n may lead to a subnormal result or beyond one factor's range; one rounding.
TRINE_FN float scale(float x, int32_t n) {
  int32_t half = n >> 1;
  return x * power_of_two(half) * power_of_two(n - half);
}
TRINE_FN double scale(double x, int64_t n) {
  int64_t half = n >> 1;
  return x * power_of_two(half) * power_of_two(n - half);
}

TRINE_FN float sqrt(float x) { return __builtin_sqrtf(x); }
TRINE_FN double sqrt(double x) { return __builtin_sqrt(x); }
TRINE_FN float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
TRINE_FN double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
template <class T>
TRINE_FN T reciprocal(T x) {
  return T(1) / x;
}
template <class T>
TRINE_FN T square(T x) {
  return x * x;
}

}  // namespace trine::math
