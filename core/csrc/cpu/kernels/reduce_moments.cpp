// Variance with mean, and the logarithm of a sum of exponentials.
#include "cpu/kernels/reduce_loops.h"

namespace trine::cpu {
namespace {

// Mean and sum of squared deviations. Stretches are read twice, while they are in the first-level cache, and joined by the formula of
// Chan, Golub and LeVeque (1983).
template <class Element> struct Moments {
  using T = Element;
  using A = double;
  using R = Element;
  static constexpr int planes = 2;
  static void init(A* acc, int64_t width) {
    for (int64_t i = 0; i < width * 2; ++i) acc[i] = 0;
  }
  static void join(A& mean, A& squares, double n, double other_mean, double other_squares, double m) {
    if (m == 0) return;
    double delta = other_mean - mean, all = n + m;
    mean += delta * (m / all);
    squares += other_squares + delta * delta * (n * m / all);
  }
  static void row(const T* x, int64_t n, A* acc, int64_t seen, int64_t, const double*) {
    constexpr int64_t L = kLanes<T>;
    for (int64_t b = 0; b < n; b += kRowBlock) {
      int64_t m = n - b < kRowBlock ? n - b : kRowBlock, i = 0;
      const T* p = x + b;
      Vec<T> sum[2] = {};
      for (; i + 2 * L <= m; i += 2 * L) {
        sum[0] += load(p + i);
        sum[1] += load(p + i + L);
      }
      double total = sum_lanes<T>(sum[0] + sum[1]);
      for (; i < m; ++i) total += p[i];
      // Deviations from the rounded mean; what the rounding did is taken out of both moments.
      const T shift = static_cast<T>(total / static_cast<double>(m));
      Vec<T> first[2] = {}, second[2] = {};
      const Vec<T> shifts = splat<T>(shift);
      for (i = 0; i + 2 * L <= m; i += 2 * L)
        for (int v = 0; v < 2; ++v) {
          Vec<T> d = load(p + i + v * L) - shifts;
          first[v] += d;
          second[v] += d * d;
        }
      double d1 = sum_lanes<T>(first[0] + first[1]), d2 = sum_lanes<T>(second[0] + second[1]);
      for (; i < m; ++i) {
        double d = p[i] - shift;
        d1 += d;
        d2 += d * d;
      }
      double count = static_cast<double>(m);
      join(acc[0], acc[1], static_cast<double>(seen + b), static_cast<double>(shift) + d1 / count, d2 - d1 * d1 / count, count);
    }
  }
  static void columns(const T* x, int64_t stride, int64_t rows, int64_t width, A* acc, int64_t seen, int64_t, const double*) {
    A* squares = acc + width;
    for (int64_t r = 0; r < rows; ++r) {
      const T* p = x + r * stride;
      const double weight = 1.0 / static_cast<double>(seen + r + 1);
      for (int64_t w = 0; w < width; ++w) {
        double d = static_cast<double>(p[w]) - acc[w];
        acc[w] += d * weight;
        squares[w] += d * (static_cast<double>(p[w]) - acc[w]);
      }
    }
  }
  static void combine(A* a, int64_t na, const A* b, int64_t nb, int64_t width) {
    for (int64_t w = 0; w < width; ++w) join(a[w], a[width + w], static_cast<double>(na), b[w], b[width + w], static_cast<double>(nb));
  }
  // params: correction, and 1 for the square root.
  static void finish(const A* acc, int64_t width, int64_t n, const double* params, R* out, void* out2) {
    double freedom = static_cast<double>(n) - params[0];
    if (freedom < 0) freedom = 0;
    for (int64_t w = 0; w < width; ++w) {
      double variance = n == 0 ? math::nan<double> : acc[width + w] / freedom;
      out[w] = static_cast<R>(params[1] != 0 ? math::sqrt(variance) : variance);
    }
    if (out2)
      for (int64_t w = 0; w < width; ++w) static_cast<R*>(out2)[w] = n == 0 ? math::nan<R> : static_cast<R>(acc[w]);
  }
};

// The largest element m and sum exp(x - m), rescaled when a larger m comes. An infinite m is replaced by 0 in the exponent.
template <class Element> struct LogSumExp {
  using T = Element;
  using A = double;
  using R = Element;
  static constexpr int planes = 2;
  static void init(A* acc, int64_t width) {
    for (int64_t w = 0; w < width; ++w) {
      acc[w] = -math::infinity<double>;
      acc[width + w] = 0;
    }
  }
  static double shift(double m) { return math::isfinite(m) ? m : 0.0; }
  static void join(A& m, A& s, double m2, double s2) {
    if (s2 == 0) return;
    if (s == 0) {
      m = m2;
      s = s2;
      return;
    }
    double top = m2 > m || m2 != m2 ? m2 : m;
    s = s * math::exp(shift(m) - shift(top)) + s2 * math::exp(shift(m2) - shift(top));
    m = top;
  }
  static void row(const T* x, int64_t n, A* acc, int64_t, int64_t, const double*) {
    T e[kRowBlock];
    for (int64_t b = 0; b < n; b += kRowBlock) {
      int64_t m = n - b < kRowBlock ? n - b : kRowBlock;
      const T* p = x + b;
      const T top = maximum(p, m), down = static_cast<T>(shift(top));
      for (int64_t i = 0; i < m; ++i) e[i] = math::exp(p[i] - down);
      const double sum = sum_of<T>(m, [&e](int64_t i) { return load(e + i); }, [&e](int64_t i) { return e[i]; });
      join(acc[0], acc[1], top, sum);
    }
  }
  static void columns(const T* x, int64_t stride, int64_t rows, int64_t width, A* acc, int64_t, int64_t, const double*) {
    constexpr int64_t kSide = 64, kDown = 32;
    for (int64_t r = 0; r < rows; r += kDown) {
      int64_t end = r + kDown < rows ? r + kDown : rows;
      for (int64_t w = 0; w < width; w += kSide) {
        int64_t side = kSide < width - w ? kSide : width - w;
        T top[kSide], sum[kSide] = {}, down[kSide];
        for (T& v : top) v = -math::infinity<T>;
        for (int64_t i = r; i < end; ++i)
          for (int64_t l = 0; l < side; ++l) top[l] = x[i * stride + w + l] > top[l] ? x[i * stride + w + l] : top[l];
        for (int64_t l = 0; l < side; ++l) down[l] = math::isfinite(top[l]) ? top[l] : T(0);
        for (int64_t i = r; i < end; ++i)
          for (int64_t l = 0; l < side; ++l) sum[l] += math::exp(x[i * stride + w + l] - down[l]);
        for (int64_t l = 0; l < side; ++l) join(acc[w + l], acc[width + w + l], top[l], sum[l]);
      }
    }
  }
  static void combine(A* a, int64_t, const A* b, int64_t, int64_t width) {
    for (int64_t w = 0; w < width; ++w) join(a[w], a[width + w], b[w], b[width + w]);
  }
  static void finish(const A* acc, int64_t width, int64_t, const double*, R* out, void*) {
    for (int64_t w = 0; w < width; ++w) out[w] = static_cast<R>(math::log(acc[width + w]) + shift(acc[w]));
  }
};

const bool registered = [] {
#define X(T, E, N) \
  add_loop<Moments<T>>(ReduceOp::Moments, DType::E, DType::E, DType::E); \
  add_loop<LogSumExp<T>>(ReduceOp::LogSumExp, DType::E, DType::E);
  TRINE_FORALL_FLOAT(X)
#undef X
  return true;
}();

}  // namespace
}  // namespace trine::cpu
