// A register of one instruction set as a value: the compiler's vector extension, so that one text serves SSE, AVX2, AVX-512 and NEON.
// Private to the files of this folder: they are compiled once per instruction set, so nothing here may have external linkage.
#pragma once
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace trine::cpu {
namespace {

#if defined(__AVX512F__)
constexpr int kVecBytes = 64;
#elif defined(__AVX2__)
constexpr int kVecBytes = 32;
#else
constexpr int kVecBytes = 16;
#endif

template <class T> struct VecOf { typedef T type __attribute__((vector_size(kVecBytes), may_alias)); };
template <class T> using Vec = typename VecOf<T>::type;
template <class T> constexpr int kLanes = kVecBytes / static_cast<int>(sizeof(T));

template <class T> inline Vec<T> load(const T* p) { Vec<T> v; std::memcpy(&v, p, sizeof v); return v; }
template <class T> inline void store(T* p, Vec<T> v) { std::memcpy(p, &v, sizeof v); }
template <class T> inline Vec<T> splat(T x) { return x - Vec<T>{}; }

// The first n lanes only; the others read as zero and are not written.
template <class T> inline Vec<T> load_first(const T* p, int64_t n) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>) return (Vec<T>)_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), p);
  if constexpr (std::is_same_v<T, double>) return (Vec<T>)_mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << n) - 1), p);
#endif
  Vec<T> v{};
  for (int64_t i = 0; i < n; ++i) v[i] = p[i];
  return v;
}
template <class T> inline void store_first(T* p, Vec<T> v, int64_t n) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>) return _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1), (__m512)v);
  if constexpr (std::is_same_v<T, double>) return _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1u << n) - 1), (__m512d)v);
#endif
  alignas(64) T lane[kLanes<T>];
  store(lane, v);
  for (int64_t i = 0; i < n; ++i) p[i] = lane[i];
}

// Contraction to fused multiply-add is off under -std=c++20, so it is asked for by name.
template <class T> inline Vec<T> fmadd(Vec<T> a, Vec<T> b, Vec<T> c) { return a * b + c; }
#if defined(__AVX512F__)
template <> inline Vec<float> fmadd<float>(Vec<float> a, Vec<float> b, Vec<float> c) { return (Vec<float>)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
template <> inline Vec<double> fmadd<double>(Vec<double> a, Vec<double> b, Vec<double> c) { return (Vec<double>)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c); }
#elif defined(__FMA__)
template <> inline Vec<float> fmadd<float>(Vec<float> a, Vec<float> b, Vec<float> c) { return (Vec<float>)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
template <> inline Vec<double> fmadd<double>(Vec<double> a, Vec<double> b, Vec<double> c) { return (Vec<double>)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c); }
#endif

// The lanes of a vector as one number, pair by pair.
template <class T, class F> inline T fold_lanes(Vec<T> v, const F& f) {
  alignas(64) T lane[kLanes<T>];
  store(lane, v);
  for (int half = kLanes<T> / 2; half; half /= 2)
    for (int i = 0; i < half; ++i) lane[i] = f(lane[i], lane[i + half]);
  return lane[0];
}
template <class T> inline T sum_lanes(Vec<T> v) {
  return fold_lanes<T>(v, [](T a, T b) { return a + b; });
}

// The sum of f(i) over vectors and of tail(i) over single elements: many lanes inside a block, blocks added in double, so that the
// rounding error does not grow with n.
template <class T, class F, class Tail> inline double sum_of(int64_t n, const F& f, const Tail& tail) {
  constexpr int64_t L = kLanes<T>, kBlock = 64 * L;
  double total = 0;
  for (int64_t b = 0; b < n; b += kBlock) {
    int64_t end = b + kBlock < n ? b + kBlock : n, i = b;
    Vec<T> acc[4] = {};
    for (; i + 4 * L <= end; i += 4 * L)
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) acc[v] += f(i + v * L);
    for (; i + L <= end; i += L) acc[0] += f(i);
    T rest = 0;
    for (; i < end; ++i) rest += tail(i);
    total += static_cast<double>(sum_lanes<T>((acc[0] + acc[1]) + (acc[2] + acc[3])) + rest);
  }
  return total;
}

// The largest element; NaN is passed over.
template <class T> inline T maximum(const T* x, int64_t n) {
  constexpr int64_t L = kLanes<T>;
  T best = -std::numeric_limits<T>::infinity();
  int64_t i = 0;
  if (n >= 4 * L) {
    Vec<T> m[4];
    for (int v = 0; v < 4; ++v) m[v] = load(x + v * L);
    for (i = 4 * L; i + 4 * L <= n; i += 4 * L)
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) {
        Vec<T> y = load(x + i + v * L);
        m[v] = y > m[v] ? y : m[v];
      }
    auto larger = [](auto a, auto b) { return b > a ? b : a; };
    best = fold_lanes<T>(larger(larger(m[0], m[1]), larger(m[2], m[3])), larger);
  }
  for (; i < n; ++i) best = x[i] > best ? x[i] : best;
  return best;
}

}  // namespace
}  // namespace trine::cpu
