// Stockham passes over groups: registers of real and imaginary parts that alternate in memory. With `kWide` false a group is one line.
#pragma once
#include "cpu/fft.h"
#include "cpu/kernels/lines.h"

namespace trine::cpu {
namespace {

template <class T, bool kWide> struct Complex {
  Reg<T, kWide> re, im;
  friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend Complex operator*(T f, Complex a) { return {f * a.re, f * a.im}; }
};
template <class T, bool W> inline Complex<T, W> minus_i(Complex<T, W> a) { return {a.im, -a.re}; }
template <class T, bool W> inline Complex<T, W> conj(Complex<T, W> a) { return {a.re, -a.im}; }
template <class T, bool W> inline Complex<T, W> swapped(Complex<T, W> a) { return {a.im, a.re}; }

template <class T, bool W> inline Reg<T, W> fused(Reg<T, W> a, Reg<T, W> b, Reg<T, W> c) {
  if constexpr (W) return fmadd<T>(a, b, c);
  else return a * b + c;
}
template <class T, bool W> inline Reg<T, W> spread(T x) {
  if constexpr (W) return splat<T>(x);
  else return x;
}
template <class T, bool W> inline Complex<T, W> spread(const T* pair) { return {spread<T, W>(pair[0]), spread<T, W>(pair[1])}; }
template <class T, bool W> inline Complex<T, W> times(Complex<T, W> a, Complex<T, W> b) {
  return {fused<T, W>(a.re, b.re, -(a.im * b.im)), fused<T, W>(a.re, b.im, a.im * b.re)};
}
// c + f a
template <class T, bool W> inline Complex<T, W> add_times(Complex<T, W> c, T f, Complex<T, W> a) {
  const Reg<T, W> v = spread<T, W>(f);
  return {fused<T, W>(v, a.re, c.re), fused<T, W>(v, a.im, c.im)};
}

template <class T, bool W> inline void butterfly4(Complex<T, W>& x0, Complex<T, W>& x1, Complex<T, W>& x2, Complex<T, W>& x3) {
  const Complex<T, W> a = x0 + x2, b = x0 - x2, c = x1 + x3, d = minus_i(x1 - x3);
  x0 = a + c, x1 = b + d, x2 = a - c, x3 = b - d;
}

template <class T, bool W, int R> inline void butterfly(Complex<T, W> (&x)[R], [[maybe_unused]] const T* root) {
  using C = Complex<T, W>;
  if constexpr (R == 2) {
    const C a = x[0] + x[1], b = x[0] - x[1];
    x[0] = a, x[1] = b;
  } else if constexpr (R == 4) {
    butterfly4(x[0], x[1], x[2], x[3]);
  } else if constexpr (R == 8) {
    const T r = T(0.70710678118654752440);
    butterfly4(x[0], x[2], x[4], x[6]);
    butterfly4(x[1], x[3], x[5], x[7]);
    const C b1 = r * C{x[3].re + x[3].im, x[3].im - x[3].re}, b2 = minus_i(x[5]), b3 = r * C{x[7].im - x[7].re, -x[7].im - x[7].re};
    const C a0 = x[0], a1 = x[2], a2 = x[4], a3 = x[6], b0 = x[1];
    x[0] = a0 + b0, x[4] = a0 - b0, x[1] = a1 + b1, x[5] = a1 - b1;
    x[2] = a2 + b2, x[6] = a2 - b2, x[3] = a3 + b3, x[7] = a3 - b3;
  } else if constexpr (R == 3) {
    const C sum = x[1] + x[2], mid = add_times(x[0], T(-0.5), sum), turn = minus_i(x[1] - x[2]);
    x[0] = x[0] + sum, x[1] = add_times(mid, T(0.86602540378443864676), turn), x[2] = add_times(mid, T(-0.86602540378443864676), turn);
  } else {
    // An odd prime: sums and differences of mirrored elements.
    constexpr int H = R / 2;
    C sum[H + 1], turn[H + 1], total = x[0];
#pragma GCC unroll 8
    for (int k = 1; k <= H; ++k) sum[k] = x[k] + x[R - k], turn[k] = minus_i(x[k] - x[R - k]), total = total + sum[k];
    const C first = x[0];
    x[0] = total;
#pragma GCC unroll 8
    for (int j = 1; j <= H; ++j) {
      C m = first, t = {};
#pragma GCC unroll 8
      for (int k = 1; k <= H; ++k) m = add_times(m, root[2 * (j * k % R)], sum[k]), t = add_times(t, root[2 * (j * k % R) + 1], turn[k]);
      // The root's imaginary part is minus the sine.
      x[j] = m - t, x[R - j] = m + t;
    }
  }
}

template <class T, bool W> inline Complex<T, W> at(const Reg<T, W>* x, int64_t k) { return {x[2 * k], x[2 * k + 1]}; }
template <class T, bool W> inline void put(Reg<T, W>* x, int64_t k, Complex<T, W> v) { x[2 * k] = v.re, x[2 * k + 1] = v.im; }

// Where a pass reads its pairs and where it writes them, unless that is memory of another form.
template <class T, bool W> struct Source {
  const Reg<T, W>* __restrict x;
  Complex<T, W> operator()(int64_t k) const { return {x[2 * k], x[2 * k + 1]}; }
};
template <class T, bool W> struct Sink {
  Reg<T, W>* __restrict y;
  void operator()(int64_t k, Complex<T, W> v) const { y[2 * k] = v.re, y[2 * k + 1] = v.im; }
};

// y[q + s (r p + j)] = w^(p j) sum_k x[q + s (p + m k)] exp(-2 pi i j k / r)
template <class T, bool W, int R, bool kTurn, class From, class To> void pass_of(const FftPass<T>& pass, int64_t s, From x, To y) {
  using C = Complex<T, W>;
  const int64_t m = pass.count;
  const T* twiddle = pass.twiddle.data();
  const T* root = pass.root.data();
  for (int64_t p = 0; p < m; ++p, twiddle += 2 * (R - 1)) {
    for (int64_t q = 0; q < s; ++q) {
      C v[R];
#pragma GCC unroll 16
      for (int k = 0; k < R; ++k) v[k] = x(q + s * (p + m * k));
      butterfly<T, W, R>(v, root);
      y(q + s * R * p, v[0]);
#pragma GCC unroll 16
      for (int j = 1; j < R; ++j) y(q + s * (R * p + j), kTurn ? times(v[j], spread<T, W>(twiddle + 2 * (j - 1))) : v[j]);
    }
  }
}

// The last pass has no twiddle factors.
template <class T, bool W, bool kTurn, class From, class To> void run_pass(const FftPass<T>& pass, int64_t s, From x, To y) {
  switch (pass.radix) {
    case 2: return pass_of<T, W, 2, kTurn>(pass, s, x, y);
    case 3: return pass_of<T, W, 3, kTurn>(pass, s, x, y);
    case 4: return pass_of<T, W, 4, kTurn>(pass, s, x, y);
    case 5: return pass_of<T, W, 5, kTurn>(pass, s, x, y);
    case 7: return pass_of<T, W, 7, kTurn>(pass, s, x, y);
    case 8: return pass_of<T, W, 8, kTurn>(pass, s, x, y);
    case 11: return pass_of<T, W, 11, kTurn>(pass, s, x, y);
    default: return pass_of<T, W, 13, kTurn>(pass, s, x, y);
  }
}

// Transforms n pairs; gives the one of the two buffers that holds the result.
template <class T, bool W> Reg<T, W>* run_passes(const FftPlan<T>& plan, Reg<T, W>* x, Reg<T, W>* y) {
  int64_t s = 1;
  for (const FftPass<T>& pass : plan.passes) {
    const Source<T, W> from{x};
    const Sink<T, W> to{y};
    pass.count > 1 ? run_pass<T, W, true>(pass, s, from, to) : run_pass<T, W, false>(pass, s, from, to);
    std::swap(x, y);
    s *= pass.radix;
  }
  return x;
}

// The same for at least one pass, of which the last one writes to `to`, and the first one, where there are others, reads from `from`: pairs
// that are not in a buffer yet.
template <class T, class From, class To> void run_passes(const FftPlan<T>& plan, From from, Vec<T>* x, Vec<T>* y, To to) {
  int64_t s = 1;
  const size_t last = plan.passes.size() - 1;
  if (last == 0)
    for (int64_t k = 0; k < plan.n; ++k) Sink<T, true>{x}(k, from(k));
  for (size_t i = 0; i < last; ++i, std::swap(x, y)) {
    const FftPass<T>& pass = plan.passes[i];
    i == 0 ? run_pass<T, true, true>(pass, s, from, Sink<T, true>{x}) : run_pass<T, true, true>(pass, s, Source<T, true>{y}, Sink<T, true>{x});
    s *= pass.radix;
  }
  run_pass<T, true, false>(plan.passes[last], s, Source<T, true>{last == 0 ? x : y}, to);
}

// The convolution's middle: transforms x, multiplies by the plan's spectrum, transforms back (with real and imaginary parts exchanged).
// `run` transforms x and gives where the result lies, as run_passes does.
template <class T, bool W, class Run> Reg<T, W>* convolve(const FftPlan<T>& plan, Reg<T, W>* x, const Run& run, Complex<T, W>* total) {
  const int64_t m = plan.inner->n;
  Reg<T, W>* r = run(x);
  *total = at<T, W>(r, 0);
  for (int64_t k = 0; k < m; ++k) put<T, W>(r, k, swapped(times(at<T, W>(r, k), spread<T, W>(plan.spectrum.data() + 2 * k))));
  return run(r);
}

// Lengths without passes; x holds n pairs and takes the result, `y` has inner->n pairs.
template <class T, bool W, class Run> void transform_by_convolution(const FftPlan<T>& plan, Reg<T, W>* x, Reg<T, W>* y, const Run& run) {
  using C = Complex<T, W>;
  const int64_t n = plan.n, m = plan.inner->n;
  C total;
  if (!plan.gather.empty()) {
    for (int64_t q = 0; q < m; ++q) put<T, W>(y, q, at<T, W>(x, plan.gather[static_cast<size_t>(q)]));
    const Reg<T, W>* r = convolve<T, W>(plan, y, run, &total);
    const C first = at<T, W>(x, 0);
    for (int64_t q = 0; q < m; ++q) put<T, W>(x, plan.scatter[static_cast<size_t>(q)], first + swapped(at<T, W>(r, q)));
    put<T, W>(x, 0, first + total);
    return;
  }
  for (int64_t k = 0; k < n; ++k) put<T, W>(y, k, times(at<T, W>(x, k), spread<T, W>(plan.chirp.data() + 2 * k)));
  for (int64_t k = n; k < m; ++k) put<T, W>(y, k, C{});
  const Reg<T, W>* r = convolve<T, W>(plan, y, run, &total);
  for (int64_t k = 0; k < n; ++k) put<T, W>(x, k, times(swapped(at<T, W>(r, k)), spread<T, W>(plan.chirp.data() + 2 * k)));
}

// A group in x of plan.room() pairs, with plan.group_work() - room() pairs at `work`; gives where the result lies.
template <class T, bool W> Reg<T, W>* transform(const FftPlan<T>& plan, Reg<T, W>* x, Reg<T, W>* work) {
  if (plan.direct()) return run_passes<T, W>(plan, x, work);
  Reg<T, W>*y = work, *z = work + 2 * plan.inner->room();
  transform_by_convolution<T, W>(plan, x, y, [&](Reg<T, W>* from) { return run_passes<T, W>(*plan.inner, from, from == y ? z : y); });
  return x;
}

// Z[k] and conj(Z[h - k]) of the transform Z of a real line's h pairs become X[k] and conj(X[h - k]): E + w^k O and E - w^k O.
template <class T, bool W> inline void split_pair(Complex<T, W>& a, Complex<T, W>& b, Complex<T, W> w) {
  const Complex<T, W> e = T(0.5) * (a + b), o = times(minus_i(T(0.5) * (a - b)), w);
  a = e + o, b = e - o;
}

template <class T, bool W> inline void split_ends(Reg<T, W>* x, int64_t h) {
  const Complex<T, W> z = at<T, W>(x, 0);
  put<T, W>(x, 0, Complex<T, W>{z.re + z.im, Reg<T, W>{}});
  put<T, W>(x, h, Complex<T, W>{z.re - z.im, Reg<T, W>{}});
}

// The others from `first` on.
template <class T, bool W> void split_half(Reg<T, W>* x, int64_t h, const T* twiddle, int64_t first) {
  using C = Complex<T, W>;
  for (int64_t k = first; 2 * k <= h; ++k) {
    C a = at<T, W>(x, k), b = conj(at<T, W>(x, h - k));
    split_pair<T, W>(a, b, spread<T, W>(twiddle + 2 * k));
    put<T, W>(x, k, a);
    put<T, W>(x, h - k, conj(b));
  }
}

// The way back, for an unscaled inverse transform: real and imaginary parts come out exchanged.
template <class T, bool W> void join_half(Reg<T, W>* x, int64_t h, const T* twiddle) {
  using C = Complex<T, W>;
  const Reg<T, W> a0 = x[0], ah = x[2 * h];
  put<T, W>(x, 0, C{a0 - ah, a0 + ah});
  for (int64_t k = 1; 2 * k <= h; ++k) {
    const C a = at<T, W>(x, k), b = conj(at<T, W>(x, h - k)), e = a + b, o = times(a - b, conj(spread<T, W>(twiddle + 2 * k)));
    put<T, W>(x, k, C{e.im + o.re, e.re - o.im});
    put<T, W>(x, h - k, C{o.re - e.im, e.re + o.im});
  }
}

}  // namespace
}  // namespace trine::cpu
