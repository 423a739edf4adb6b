// Lines of complex numbers into groups and back: pairs are taken apart where lines are adjacent.
#pragma once
#include "cpu/kernels/fft_passes.h"

namespace trine::cpu {
namespace {

// Pair k of `lanes` adjacent lines, `stride` after pair k - 1, as real and imaginary parts.
template <class T> struct AdjacentSource {
  const T* data;
  int64_t stride, lanes;
  bool swap;
  Complex<T, true> operator()(int64_t k) const {
    constexpr int64_t L = kLanes<T>;
    const T* p = data + k * stride;
    Vec<T> a, b;
    if (lanes == L) a = load(p), b = load(p + L);
    else if (2 * lanes <= L) a = load_first(p, 2 * lanes), b = Vec<T>{};
    else a = load(p), b = load_first(p + L, 2 * lanes - L);
    const Vec<T> re = evens<T>(a, b, Indices<T>()), im = odds<T>(a, b, Indices<T>());
    return swap ? Complex<T, true>{im, re} : Complex<T, true>{re, im};
  }
};

template <class T, bool W> void load_pairs(Reg<T, W>* to, int64_t swap, Lines<const T> in, int64_t lanes, int64_t n) {
  if (in.stride == 2) return load_elements<T, W>(to, 1, swap, {in.data, in.offset, 1}, lanes, 2 * n);
  if constexpr (W) {
    if (adjacent(in.offset, lanes, 2)) {
      const AdjacentSource<T> from{in.data + in.offset[0], in.stride, lanes, swap != 0};
      for (int64_t k = 0; k < n; ++k) put<T, true>(to, k, from(k));
      return;
    }
  }
  load_elements<T, W>(to + swap, 2, 0, in, lanes, n);
  load_elements<T, W>(to + 1 - swap, 2, 0, {in.data + 1, in.offset, in.stride}, lanes, n);
}

// Pairs of `lanes` adjacent lines at p.
template <class T> inline void store_adjacent(T* p, Vec<T> re, Vec<T> im, int64_t lanes) {
  constexpr int64_t L = kLanes<T>;
  const Vec<T> a = zip_low<T>(re, im, Indices<T>()), b = zip_high<T>(re, im, Indices<T>());
  if (lanes == L) store(p, a), store(p + L, b);
  else if (2 * lanes <= L) store_first(p, a, 2 * lanes);
  else store(p, a), store_first(p + L, b, 2 * lanes - L);
}

template <class T> struct AdjacentSink {
  T* data;
  int64_t stride, lanes;
  bool swap;
  T scale;
  void operator()(int64_t k, Complex<T, true> v) const {
    const Vec<T> re = v.re * splat(scale), im = v.im * splat(scale);
    store_adjacent<T>(data + k * stride, swap ? im : re, swap ? re : im, lanes);
  }
};

template <class T, size_t... I> inline Vec<T> reversed(Vec<T> a, std::index_sequence<I...>) { return __builtin_shufflevector(a, a, static_cast<int>(sizeof...(I) - 1 - I)...); }

// Adjacent pairs at p as real and imaginary parts.
template <class T> inline Complex<T, true> load_adjacent(const T* p) {
  const Vec<T> a = load(p), b = load(p + kLanes<T>);
  return {evens<T>(a, b, Indices<T>()), odds<T>(a, b, Indices<T>())};
}

// split_half of one line, a register of pairs from its front and one from its end at a time.
template <class T> void split_line(T* data, int64_t h, const T* twiddle) {
  constexpr int64_t L = kLanes<T>;
  auto mirrored = [](Complex<T, true> v) { return Complex<T, true>{reversed<T>(v.re, Indices<T>()), -reversed<T>(v.im, Indices<T>())}; };
  int64_t k = 1;
  for (; k + L <= h - k - L + 1; k += L) {
    T* back = data + 2 * (h - k - L + 1);
    Complex<T, true> a = load_adjacent(data + 2 * k), b = mirrored(load_adjacent(back));
    split_pair<T, true>(a, b, load_adjacent(twiddle + 2 * k));
    b = mirrored(b);
    store_adjacent<T>(data + 2 * k, a.re, a.im, L);
    store_adjacent<T>(back, b.re, b.im, L);
  }
  split_ends<T, false>(data, h);
  split_half<T, false>(data, h, twiddle, k);
}

template <class T, bool W> void store_pairs(const Reg<T, W>* from, int64_t swap, T scale, Lines<T> out, int64_t lanes, int64_t n) {
  if (out.stride == 2) return store_elements<T, W>(from, 1, swap, scale, {out.data, out.offset, 1}, lanes, 2 * n);
  if constexpr (W) {
    if (adjacent(out.offset, lanes, 2)) {
      const AdjacentSink<T> to{out.data + out.offset[0], out.stride, lanes, swap != 0, scale};
      for (int64_t k = 0; k < n; ++k) to(k, at<T, true>(from, k));
      return;
    }
  }
  store_elements<T, W>(from + swap, 2, 0, scale, out, lanes, n);
  store_elements<T, W>(from + 1 - swap, 2, 0, scale, {out.data + 1, out.offset, out.stride}, lanes, n);
}

}  // namespace
}  // namespace trine::cpu
