// Softmax of one instruction set.
#include "cpu/softmax.h"

#include <algorithm>
#include <limits>

#include "base/parallel.h"
#include "cpu/kernels/vec.h"
#include "cpu/scratch.h"
#include "cpu/stream.h"
#include "math/math.h"

namespace trine::cpu {
namespace {

constexpr int64_t kGrain = 16384;
constexpr int64_t kStreamedRow = 64 * 1024;  // bytes of a row that stays in the cache until it is finished
constexpr int64_t kStrip = 128;  // inner positions that are handled together when the dimension is not the last one

template <class T> double sum(const T* x, int64_t n) {
  return sum_of<T>(n, [x](int64_t i) { return load(x + i); }, [x](int64_t i) { return x[i]; });
}

// y = exp(x - shift); returns the sum. Chunks stay in the first cache between the two loops.
template <class T> double exponentials(const T* x, T shift, T* y, int64_t n) {
  constexpr int64_t kChunk = 2048;
  double total = 0;
  for (int64_t b = 0; b < n; b += kChunk) {
    int64_t end = std::min(n, b + kChunk);
    for (int64_t i = b; i < end; ++i) y[i] = math::exp(x[i] - shift);
    total += sum(y + b, end - b);
  }
  return total;
}

template <class T> void softmax_row(bool logarithm, const T* x, T* y, int64_t n) {
  const T top = maximum(x, n);
  const T total = static_cast<T>(exponentials(x, top, y, n));
  if (logarithm) {
    const T log_total = math::log(total);
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] - top - log_total;
  } else {
    const T scale = T(1) / total;
    for (int64_t i = 0; i < n; ++i) y[i] *= scale;
  }
}

template <class T> void softmax_strip(const SoftmaxShape& s, const T* x, T* y, int64_t width) {
  T top[kStrip], total[kStrip];
  std::fill_n(top, width, -std::numeric_limits<T>::infinity());
  std::fill_n(total, width, T(0));
  for (int64_t k = 0; k < s.length; ++k)
    for (int64_t i = 0; i < width; ++i) top[i] = x[k * s.inner + i] > top[i] ? x[k * s.inner + i] : top[i];
  for (int64_t k = 0; k < s.length; ++k)
    for (int64_t i = 0; i < width; ++i) {
      T e = math::exp(x[k * s.inner + i] - top[i]);
      y[k * s.inner + i] = e;
      total[i] += e;
    }
  if (s.logarithm) {
    for (int64_t i = 0; i < width; ++i) total[i] = math::log(total[i]);
    for (int64_t k = 0; k < s.length; ++k)
      for (int64_t i = 0; i < width; ++i) y[k * s.inner + i] = x[k * s.inner + i] - top[i] - total[i];
  } else {
    for (int64_t i = 0; i < width; ++i) total[i] = T(1) / total[i];
    for (int64_t k = 0; k < s.length; ++k)
      for (int64_t i = 0; i < width; ++i) y[k * s.inner + i] *= total[i];
  }
}

// Calls row(offset) for every row of the last dimension, or strip(offset, width) for strips of inner positions.
template <class Row, class Strip> void for_slices(const SoftmaxShape& s, const Row& row, const Strip& strip) {
  if (s.inner == 1) {
    parallel_for(0, s.outer, std::max<int64_t>(1, kGrain / std::max<int64_t>(s.length, 1)), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) row(r * s.length);
    });
    return;
  }
  int64_t strips = (s.inner + kStrip - 1) / kStrip;
  parallel_for(0, s.outer * strips, std::max<int64_t>(1, kGrain / std::max<int64_t>(s.length * kStrip, 1)), [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; ++u) {
      int64_t at = u % strips * kStrip;
      strip(u / strips * s.length * s.inner + at, std::min(kStrip, s.inner - at));
    }
  });
}

template <class T> void softmax(const SoftmaxShape& s, const T* x, T* y) {
  const int64_t bytes = s.length * static_cast<int64_t>(sizeof(T));
  if (s.inner == 1 && s.outer * bytes >= kStreamBytes && bytes <= kStreamedRow && x != y) {
    parallel_for(0, s.outer, std::max<int64_t>(1, kGrain / s.length), [&](int64_t begin, int64_t end) {
      Scratch<T> finished(s.length);
      for (int64_t r = begin; r < end; ++r) {
        softmax_row(s.logarithm, x + r * s.length, finished.data(), s.length);
        stream_copy(y + r * s.length, finished.data(), static_cast<size_t>(bytes));
      }
      stream_fence();
    });
    return;
  }
  for_slices(s, [&](int64_t at) { softmax_row(s.logarithm, x + at, y + at, s.length); }, [&](int64_t at, int64_t width) { softmax_strip(s, x + at, y + at, width); });
}

template <class T> void softmax_grad(const SoftmaxShape& s, const T* dy, const T* y, T* dx) {
  auto row = [&](int64_t at) {
    const T *g = dy + at, *p = y + at;
    T* to = dx + at;
    if (s.logarithm) {
      const T total = static_cast<T>(sum(g, s.length));
      for (int64_t i = 0; i < s.length; ++i) to[i] = g[i] - math::exp(p[i]) * total;
    } else {
      const T total = static_cast<T>(sum_of<T>(s.length, [&](int64_t i) { return load(g + i) * load(p + i); }, [&](int64_t i) { return g[i] * p[i]; }));
      for (int64_t i = 0; i < s.length; ++i) to[i] = (g[i] - total) * p[i];
    }
  };
  auto strip = [&](int64_t at, int64_t width) {
    const T *g = dy + at, *p = y + at;
    T* to = dx + at;
    T total[kStrip];
    std::fill_n(total, width, T(0));
    for (int64_t k = 0; k < s.length; ++k)
      for (int64_t i = 0; i < width; ++i) total[i] += s.logarithm ? g[k * s.inner + i] : g[k * s.inner + i] * p[k * s.inner + i];
    for (int64_t k = 0; k < s.length; ++k)
      for (int64_t i = 0; i < width; ++i) {
        int64_t j = k * s.inner + i;
        to[j] = s.logarithm ? g[j] - math::exp(p[j]) * total[i] : (g[j] - total[i]) * p[j];
      }
  };
  for_slices(s, row, strip);
}

}  // namespace

TRINE_ISA_DEFINE(softmax_float, softmax<float>);
TRINE_ISA_DEFINE(softmax_double, softmax<double>);
TRINE_ISA_DEFINE(softmax_grad_float, softmax_grad<float>);
TRINE_ISA_DEFINE(softmax_grad_double, softmax_grad<double>);

}  // namespace trine::cpu
