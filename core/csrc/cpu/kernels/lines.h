// Lines of memory into groups of registers and back: a register holds the same element of as many lines as it has lanes. Blocks are turned in
// registers where the elements of a line are adjacent. With `W` false a group is one line.
#pragma once
#include <utility>

#include "cpu/kernels/vec.h"
#include "cpu/lines.h"

namespace trine::cpu {
namespace {

template <class T, bool kWide> struct RegOf { typedef T type; };
template <class T> struct RegOf<T, true> { typedef Vec<T> type; };
template <class T, bool kWide> using Reg = typename RegOf<T, kWide>::type;

template <class T, size_t... I> inline Vec<T> zip_low(Vec<T> a, Vec<T> b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, static_cast<int>(I % 2 * sizeof...(I) + I / 2)...);
}
template <class T, size_t... I> inline Vec<T> zip_high(Vec<T> a, Vec<T> b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, static_cast<int>(I % 2 * sizeof...(I) + sizeof...(I) / 2 + I / 2)...);
}
template <class T, size_t... I> inline Vec<T> evens(Vec<T> a, Vec<T> b, std::index_sequence<I...>) { return __builtin_shufflevector(a, b, static_cast<int>(2 * I)...); }
template <class T, size_t... I> inline Vec<T> odds(Vec<T> a, Vec<T> b, std::index_sequence<I...>) { return __builtin_shufflevector(a, b, static_cast<int>(2 * I + 1)...); }
template <class T> using Indices = std::make_index_sequence<kLanes<T>>;

// Rounds of interleaving registers that are half of them apart.
template <class T> inline void turn(Vec<T> (&a)[kLanes<T>]) {
  constexpr int L = kLanes<T>;
#pragma GCC unroll 4
  for (int round = 1; round < L; round *= 2) {
    Vec<T> b[L];
#pragma GCC unroll 8
    for (int i = 0; i < L / 2; ++i) b[2 * i] = zip_low<T>(a[i], a[i + L / 2], Indices<T>()), b[2 * i + 1] = zip_high<T>(a[i], a[i + L / 2], Indices<T>());
#pragma GCC unroll 16
    for (int i = 0; i < L; ++i) a[i] = b[i];
  }
}

inline bool adjacent(const int64_t* offset, int64_t lanes, int64_t step) {
  for (int64_t l = 1; l < lanes; ++l)
    if (offset[l] != offset[0] + l * step) return false;
  return true;
}

// Element r of the lines to register step * (r ^ swap), for r < rows. `swap` (0 or 1) exchanges real and imaginary parts.
template <class T, bool W> void load_elements(Reg<T, W>* to, int64_t step, int64_t swap, Lines<const T> in, int64_t lanes, int64_t rows) {
  const T* x = in.data;
  if constexpr (!W) {
    for (int64_t r = 0; r < rows; ++r) to[step * (r ^ swap)] = x[in.offset[0] + r * in.stride];
  } else {
    constexpr int64_t L = kLanes<T>;
    if (in.stride == 1) {
      for (int64_t r = 0; r < rows; r += L) {
        const int64_t count = rows - r < L ? rows - r : L;
        Vec<T> v[L];
        if (lanes == L && count == L) {
#pragma GCC unroll 16
          for (int l = 0; l < L; ++l) v[l] = load(x + in.offset[l] + r);
        } else {
          for (int64_t l = 0; l < L; ++l) v[l] = l < lanes ? load_first(x + in.offset[l] + r, count) : Vec<T>{};
        }
        turn<T>(v);
        for (int64_t k = 0; k < count; ++k) to[step * ((r + k) ^ swap)] = v[k];
      }
    } else if (adjacent(in.offset, lanes, 1)) {
      for (int64_t r = 0; r < rows; ++r) {
        const T* p = x + in.offset[0] + r * in.stride;
        to[step * (r ^ swap)] = lanes == L ? load(p) : load_first(p, lanes);
      }
    } else {
      T* t = reinterpret_cast<T*>(to);
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t l = 0; l < L; ++l) t[step * (r ^ swap) * L + l] = l < lanes ? x[in.offset[l] + r * in.stride] : T(0);
    }
  }
}

// The way back, times `scale`.
template <class T, bool W> void store_elements(const Reg<T, W>* from, int64_t step, int64_t swap, T scale, Lines<T> out, int64_t lanes, int64_t rows) {
  T* y = out.data;
  if constexpr (!W) {
    for (int64_t r = 0; r < rows; ++r) y[out.offset[0] + r * out.stride] = from[step * (r ^ swap)] * scale;
  } else {
    constexpr int64_t L = kLanes<T>;
    const Vec<T> f = splat<T>(scale);
    if (out.stride == 1) {
      for (int64_t r = 0; r < rows; r += L) {
        const int64_t count = rows - r < L ? rows - r : L;
        Vec<T> v[L];
        if (count == L) {
#pragma GCC unroll 16
          for (int k = 0; k < L; ++k) v[k] = from[step * ((r + k) ^ swap)] * f;
        } else {
          for (int64_t k = 0; k < L; ++k) v[k] = k < count ? from[step * ((r + k) ^ swap)] * f : Vec<T>{};
        }
        turn<T>(v);
        if (lanes == L && count == L) {
#pragma GCC unroll 16
          for (int l = 0; l < L; ++l) store(y + out.offset[l] + r, v[l]);
        } else {
          for (int64_t l = 0; l < lanes; ++l) store_first(y + out.offset[l] + r, v[l], count);
        }
      }
    } else if (adjacent(out.offset, lanes, 1)) {
      for (int64_t r = 0; r < rows; ++r) {
        T* p = y + out.offset[0] + r * out.stride;
        const Vec<T> v = from[step * (r ^ swap)] * f;
        lanes == L ? store(p, v) : store_first(p, v, lanes);
      }
    } else {
      const T* t = reinterpret_cast<const T*>(from);
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t l = 0; l < lanes; ++l) y[out.offset[l] + r * out.stride] = t[step * (r ^ swap) * L + l] * scale;
    }
  }
}

}  // namespace
}  // namespace trine::cpu
