#include "cpu/fft.h"

#include <cstring>
#include <utility>

// The parts read and the parts written never overlap, which the compilers cannot see through the offsets; each has its own word for it.
#if defined(__clang__)
#define TRINE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TRINE_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace trine::cpu {
namespace {

template <class T> struct Complex {
  T re, im;
};
template <class T> inline Complex<T> operator+(Complex<T> a, Complex<T> b) { return {a.re + b.re, a.im + b.im}; }
template <class T> inline Complex<T> operator-(Complex<T> a, Complex<T> b) { return {a.re - b.re, a.im - b.im}; }
template <class T> inline Complex<T> operator*(Complex<T> a, Complex<T> b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
template <class T> inline Complex<T> times(T f, Complex<T> a) { return {f * a.re, f * a.im}; }
template <class T> inline Complex<T> minus_i(Complex<T> a) { return {a.im, -a.re}; }

template <class T, int R> inline void butterfly(Complex<T> (&x)[R]) {
  if constexpr (R == 2) {
    Complex<T> a = x[0] + x[1], b = x[0] - x[1];
    x[0] = a, x[1] = b;
  } else if constexpr (R == 3) {
    const T s = T(0.86602540378443864676);
    Complex<T> sum = x[1] + x[2], mid = x[0] - times(T(0.5), sum), turn = times(s, minus_i(x[1] - x[2]));
    x[0] = x[0] + sum, x[1] = mid + turn, x[2] = mid - turn;
  } else if constexpr (R == 4) {
    Complex<T> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = minus_i(x[1] - x[3]);
    x[0] = a + c, x[1] = b + d, x[2] = a - c, x[3] = b - d;
  } else {
    static_assert(R == 5);
    const T c1 = T(0.30901699437494742410), c2 = T(-0.80901699437494742410), s1 = T(0.95105651629515357212), s2 = T(0.58778525229247312917);
    Complex<T> a = x[1] + x[4], b = x[2] + x[3], p = minus_i(x[1] - x[4]), q = minus_i(x[2] - x[3]);
    Complex<T> m1 = x[0] + times(c1, a) + times(c2, b), m2 = x[0] + times(c2, a) + times(c1, b), t1 = times(s1, p) + times(s2, q), t2 = times(s2, p) - times(s1, q);
    x[0] = x[0] + a + b, x[1] = m1 + t1, x[4] = m1 - t1, x[2] = m2 + t2, x[3] = m2 - t2;
  }
}

// y[q + s (r p + j)] = w^(p j) sum_k x[q + s (p + m k)] exp(-2 pi i j k / r): the loop over q is the vector loop.
template <class T, int R> void pass_of(const FftPass<T>& pass, int64_t s, const T* __restrict xr, const T* __restrict xi, T* __restrict yr, T* __restrict yi) {
  const int64_t m = pass.count;
  for (int64_t p = 0; p < m; ++p) {
    Complex<T> w[R];
    for (int j = 1; j < R; ++j) w[j] = {pass.twiddle_re[static_cast<size_t>(p * (R - 1) + j - 1)], pass.twiddle_im[static_cast<size_t>(p * (R - 1) + j - 1)]};
    const T *ar = xr + s * p, *ai = xi + s * p;
    T *br = yr + s * R * p, *bi = yi + s * R * p;
    TRINE_INDEPENDENT
    for (int64_t q = 0; q < s; ++q) {
      Complex<T> x[R];
#pragma GCC unroll 5
      for (int k = 0; k < R; ++k) x[k] = {ar[q + s * m * k], ai[q + s * m * k]};
      butterfly<T, R>(x);
      br[q] = x[0].re, bi[q] = x[0].im;
#pragma GCC unroll 5
      for (int j = 1; j < R; ++j) {
        Complex<T> y = x[j] * w[j];
        br[q + s * j] = y.re, bi[q + s * j] = y.im;
      }
    }
  }
}

template <class T> void pass_general(const FftPass<T>& pass, int64_t s, const T* __restrict xr, const T* __restrict xi, T* __restrict yr, T* __restrict yi) {
  const int64_t m = pass.count, r = pass.radix;
  for (int64_t p = 0; p < m; ++p)
    for (int64_t j = 0; j < r; ++j) {
      T *br = yr + s * (r * p + j), *bi = yi + s * (r * p + j);
      for (int64_t q = 0; q < s; ++q) br[q] = 0, bi[q] = 0;
      for (int64_t k = 0; k < r; ++k) {
        Complex<T> w{pass.root_re[static_cast<size_t>(j * k % r)], pass.root_im[static_cast<size_t>(j * k % r)]};
        if (j > 0) w = w * Complex<T>{pass.twiddle_re[static_cast<size_t>(p * (r - 1) + j - 1)], pass.twiddle_im[static_cast<size_t>(p * (r - 1) + j - 1)]};
        const T *ar = xr + s * (p + m * k), *ai = xi + s * (p + m * k);
        for (int64_t q = 0; q < s; ++q) {
          br[q] += ar[q] * w.re - ai[q] * w.im;
          bi[q] += ar[q] * w.im + ai[q] * w.re;
        }
      }
    }
}

template <class T> void run_passes(const FftPlan<T>& plan, T* re, T* im, int64_t lanes, T* scratch) {
  T *xr = re, *xi = im, *yr = scratch, *yi = scratch + plan.n * lanes;
  int64_t s = lanes;
  for (const FftPass<T>& pass : plan.passes) {
    switch (pass.radix) {
      case 2: pass_of<T, 2>(pass, s, xr, xi, yr, yi); break;
      case 3: pass_of<T, 3>(pass, s, xr, xi, yr, yi); break;
      case 4: pass_of<T, 4>(pass, s, xr, xi, yr, yi); break;
      case 5: pass_of<T, 5>(pass, s, xr, xi, yr, yi); break;
      default: pass_general(pass, s, xr, xi, yr, yi);
    }
    std::swap(xr, yr);
    std::swap(xi, yi);
    s *= pass.radix;
  }
  if (xr != re) {
    std::memcpy(re, xr, static_cast<size_t>(plan.n * lanes) * sizeof(T));
    std::memcpy(im, xi, static_cast<size_t>(plan.n * lanes) * sizeof(T));
  }
}

// Rows k of (re, im) times factor k.
template <class T> void multiply_rows(T* re, T* im, const std::vector<T>& fr, const std::vector<T>& fi, int64_t n, int64_t lanes) {
  for (int64_t k = 0; k < n; ++k) {
    const Complex<T> w{fr[static_cast<size_t>(k)], fi[static_cast<size_t>(k)]};
    for (int64_t q = k * lanes; q < (k + 1) * lanes; ++q) {
      Complex<T> v = Complex<T>{re[q], im[q]} * w;
      re[q] = v.re, im[q] = v.im;
    }
  }
}

template <class T> void run(const FftPlan<T>& plan, T* re, T* im, int64_t lanes, T* scratch) {
  if (!plan.inner) return run_passes(plan, re, im, lanes, scratch);
  const int64_t n = plan.n, m = plan.inner->n;
  T *ar = scratch, *ai = ar + m * lanes, *rest = ai + m * lanes;
  multiply_rows(re, im, plan.chirp_re, plan.chirp_im, n, lanes);
  const size_t bytes = static_cast<size_t>(n * lanes) * sizeof(T), zeros = static_cast<size_t>((m - n) * lanes) * sizeof(T);
  std::memcpy(ar, re, bytes), std::memset(ar + n * lanes, 0, zeros);
  std::memcpy(ai, im, bytes), std::memset(ai + n * lanes, 0, zeros);
  run_passes(*plan.inner, ar, ai, lanes, rest);
  multiply_rows(ar, ai, plan.spectrum_re, plan.spectrum_im, m, lanes);
  run_passes(*plan.inner, ai, ar, lanes, rest);
  std::memcpy(re, ar, bytes);
  std::memcpy(im, ai, bytes);
  multiply_rows(re, im, plan.chirp_re, plan.chirp_im, n, lanes);
}

}  // namespace

TRINE_ISA_DEFINE(fft_run_float, run<float>);
TRINE_ISA_DEFINE(fft_run_double, run<double>);

}  // namespace trine::cpu
