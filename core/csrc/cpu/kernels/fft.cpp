#include "cpu/kernels/fft_lines.h"

// The helpers are inlined: how a vector travels between functions of different instruction sets does not matter here.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace trine::cpu {
namespace {

// Real lines of odd length travel in twos, as the real and the imaginary part of one.
template <class T, bool W> void real_twos_to_half(const FftJob<T>& job, Lines<const T> in, Lines<T> out, int64_t count, Reg<T, W>* x) {
  constexpr int64_t L = W ? kLanes<T> : 1;
  const int64_t n = job.n, first = count < L ? count : L, second = count - first;
  Reg<T, W>*work = x + 2 * job.plan->room(), *b = x + 2 * job.plan->group_work();
  load_elements<T, W>(x, 2, 0, in, first, n);
  if (second) load_elements<T, W>(x + 1, 2, 0, {in.data, in.offset + L, in.stride}, second, n);
  else
    for (int64_t k = 0; k < n; ++k) x[2 * k + 1] = Reg<T, W>{};
  Reg<T, W>* z = transform<T, W>(*job.plan, x, work);
  for (int64_t k = 0; k < job.bins; ++k) {
    const auto p = T(0.5) * at<T, W>(z, k), q = T(0.5) * conj(at<T, W>(z, k ? n - k : 0));
    put<T, W>(b, k, minus_i(p - q));
    put<T, W>(z, k, p + q);
  }
  store_pairs<T, W>(z, 0, job.scale, out, first, job.bins);
  if (second) store_pairs<T, W>(b, 0, job.scale, {out.data, out.offset + L, out.stride}, second, job.bins);
}

template <class T, bool W> void load_bins(Reg<T, W>* x, Lines<const T> in, int64_t lanes, int64_t bins, int64_t wanted) {
  const int64_t have = bins < wanted ? bins : wanted;
  load_pairs<T, W>(x, 0, in, lanes, have);
  for (int64_t k = have; k < wanted; ++k) put<T, W>(x, k, Complex<T, W>{});
}

template <class T, bool W> void half_to_real_twos(const FftJob<T>& job, Lines<const T> in, Lines<T> out, int64_t count, Reg<T, W>* x) {
  constexpr int64_t L = W ? kLanes<T> : 1;
  const int64_t n = job.n, wanted = n / 2 + 1, first = count < L ? count : L, second = count - first;
  Reg<T, W>*work = x + 2 * job.plan->room(), *b = x + 2 * job.plan->group_work();
  load_bins<T, W>(x, in, first, job.bins, wanted);
  if (second) load_bins<T, W>(b, {in.data, in.offset + L, in.stride}, second, job.bins, wanted);
  else
    for (int64_t k = 0; k < wanted; ++k) put<T, W>(b, k, Complex<T, W>{});
  // Z = A + i B and, mirrored, conj(A) + i conj(B); stored with real and imaginary parts exchanged, as the inverse wants it.
  put<T, W>(x, 0, {b[0], x[0]});
  for (int64_t k = 1; k < wanted; ++k) {
    const auto p = at<T, W>(x, k), q = at<T, W>(b, k);
    put<T, W>(x, k, {p.im + q.re, p.re - q.im});
    put<T, W>(x, n - k, {q.re - p.im, p.re + q.im});
  }
  const Reg<T, W>* z = transform<T, W>(*job.plan, x, work);
  store_elements<T, W>(z + 1, 2, 0, job.scale, out, first, n);
  if (second) store_elements<T, W>(z, 2, 0, job.scale, {out.data, out.offset + L, out.stride}, second, n);
}

template <class T, bool W> void group_of(const FftJob<T>& job, Lines<const T> in, Lines<T> out, int64_t count, Reg<T, W>* x) {
  Reg<T, W>* work = x + 2 * job.plan->room();
  if (job.kind == FftKind::Complex) {
    const int64_t swap = job.forward ? 0 : 1;
    if constexpr (W)
      if (in.stride != 2 && out.stride != 2 && !job.plan->passes.empty() && adjacent(in.offset, count, 2) && adjacent(out.offset, count, 2))
        return run_passes<T>(*job.plan, AdjacentSource<T>{in.data + in.offset[0], in.stride, count, swap != 0}, x, work,
                             AdjacentSink<T>{out.data + out.offset[0], out.stride, count, swap != 0, job.scale});
    load_pairs<T, W>(x, swap, in, count, job.n);
    store_pairs<T, W>(transform<T, W>(*job.plan, x, work), swap, job.scale, out, count, job.n);
  } else if (!job.real_twiddle) {
    job.kind == FftKind::RealToHalf ? real_twos_to_half<T, W>(job, in, out, count, x) : half_to_real_twos<T, W>(job, in, out, count, x);
  } else if (job.kind == FftKind::RealToHalf) {
    load_elements<T, W>(x, 1, 0, in, count, job.n);
    Reg<T, W>* z = transform<T, W>(*job.plan, x, work);
    split_ends<T, W>(z, job.n / 2);
    split_half<T, W>(z, job.n / 2, job.real_twiddle, 1);
    store_pairs<T, W>(z, 0, job.scale, out, count, job.bins);
  } else {
    load_bins<T, W>(x, in, count, job.bins, job.n / 2 + 1);
    join_half<T, W>(x, job.n / 2, job.real_twiddle);
    store_elements<T, W>(transform<T, W>(*job.plan, x, work), 1, 1, job.scale, out, count, job.n);
  }
}

template <class T> void group(const FftJob<T>& job, Lines<const T> in, Lines<T> out, int64_t count, T* work) {
  count == 1 ? group_of<T, false>(job, in, out, count, work) : group_of<T, true>(job, in, out, count, reinterpret_cast<Vec<T>*>(work));
}

// Results of the columns, times the twiddle factors, to the matrix in between.
template <class T> struct TwiddleSink {
  const FftPlan<T>& plan;
  T* middle;
  int64_t group, lanes;
  void operator()(int64_t k, Complex<T, true> v) const {
    Vec<T> w[2];
    std::memcpy(w, plan.fine.data() + 2 * kLanes<T> * k, sizeof w);
    v = times(v, times(Complex<T, true>{w[0], w[1]}, spread<T, true>(plan.coarse.data() + 2 * k * group)));
    store_adjacent<T>(middle + 2 * k * plan.columns->n, v.re, v.im, lanes);
  }
};

template <class T> void columns(const FftPlan<T>& plan, bool forward, const T* in, int64_t stride, T* middle, int64_t first, int64_t last, T* work) {
  constexpr int64_t L = kLanes<T>;
  const int64_t n1 = plan.rows->n, n2 = plan.columns->n;
  Vec<T>*x = reinterpret_cast<Vec<T>*>(work), *y = x + 2 * plan.rows->room();
  for (int64_t g = first; g < last; ++g) {
    const int64_t begin = g * L, lanes = n2 - begin < L ? n2 - begin : L;
    const TwiddleSink<T> to{plan, middle + 2 * begin, g, lanes};
    if (stride == 2) {
      run_passes<T>(*plan.rows, AdjacentSource<T>{in + 2 * begin, 2 * n2, lanes, !forward}, x, y, to);
      continue;
    }
    int64_t offset[L];
    for (int64_t l = 0; l < lanes; ++l) offset[l] = (begin + l) * stride;
    load_pairs<T, true>(x, forward ? 0 : 1, {in, offset, n2 * stride}, lanes, n1);
    const Vec<T>* r = run_passes<T, true>(*plan.rows, x, y);
    for (int64_t k = 0; k < n1; ++k) to(k, at<T, true>(r, k));
  }
}

template <class T> void rows(const FftPlan<T>& plan, bool forward, T scale, const T* middle, T* out, int64_t stride, int64_t first, int64_t last, T* work) {
  constexpr int64_t L = kLanes<T>;
  const int64_t n1 = plan.rows->n, n2 = plan.columns->n;
  Vec<T>*x = reinterpret_cast<Vec<T>*>(work), *y = x + 2 * plan.columns->room();
  for (int64_t g = first; g < last; ++g) {
    const int64_t begin = g * L, lanes = n1 - begin < L ? n1 - begin : L;
    int64_t from[L], to[L];
    for (int64_t l = 0; l < lanes; ++l) from[l] = 2 * (begin + l) * n2, to[l] = (begin + l) * stride;
    load_pairs<T, true>(x, 0, {middle, from, 2}, lanes, n2);
    if (stride == 2) {
      run_passes<T>(*plan.columns, Source<T, true>{x}, y, x, AdjacentSink<T>{out + 2 * begin, 2 * n1, lanes, !forward, scale});
      continue;
    }
    const Vec<T>* r = run_passes<T, true>(*plan.columns, x, y);
    store_pairs<T, true>(r, forward ? 0 : 1, scale, {out, to, n1 * stride}, lanes, n2);
  }
}

template <class T> void line(const FftPlan<T>& plan, T* data, T* work) {
  constexpr int64_t L = kLanes<T>;
  if (plan.matrix()) {
    T* rest = work + (2 * plan.n + 15) / 16 * 16;
    columns<T>(plan, true, data, 2, work, 0, (plan.columns->n + L - 1) / L, rest);
    rows<T>(plan, true, T(1), work, data, 2, 0, (plan.rows->n + L - 1) / L, rest);
  } else if (plan.direct()) {
    const T* r = run_passes<T, false>(plan, data, work);
    if (r != data) std::memcpy(data, r, static_cast<size_t>(2 * plan.n) * sizeof(T));
  } else {
    T* rest = work + (2 * plan.inner->n + 15) / 16 * 16;
    transform_by_convolution<T, false>(plan, data, work, [&](T* x) { return line<T>(*plan.inner, x, rest), x; });
  }
}

template <class T> const FftKernels<T>* kernels() {
  static const FftKernels<T> all{kLanes<T>, group<T>, columns<T>, rows<T>, line<T>, split_line<T>, join_half<T, false>};
  return &all;
}

}  // namespace

TRINE_ISA_DEFINE(fft_kernels_float, kernels<float>);
TRINE_ISA_DEFINE(fft_kernels_double, kernels<double>);

}  // namespace trine::cpu
