// Normalisation of one instruction set: rows (layer, group, instance norm) and channels (batch norm).
#include "cpu/norm.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "cpu/kernels/vec.h"

namespace trine::cpu {
namespace {

constexpr int64_t kGrain = 32768;  // elements that are worth a thread

inline int64_t rows_per_thread(int64_t length) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(length, 1)); }

template <class T> double sum(const T* x, int64_t n) {
  return sum_of<T>(n, [x](int64_t i) { return load(x + i); }, [x](int64_t i) { return x[i]; });
}
template <class T> double sum_of_squares(const T* x, int64_t n, T mean) {
  Vec<T> m = splat(mean);
  return sum_of<T>(n, [x, m](int64_t i) { Vec<T> d = load(x + i) - m; return d * d; }, [x, mean](int64_t i) { T d = x[i] - mean; return d * d; });
}
template <class T> double sum_of_products(const T* x, const T* y, int64_t n) {
  return sum_of<T>(n, [x, y](int64_t i) { return load(x + i) * load(y + i); }, [x, y](int64_t i) { return x[i] * y[i]; });
}
template <class T> double sum_of_centered(const T* x, T mean, const T* y, int64_t n) {
  Vec<T> m = splat(mean);
  return sum_of<T>(n, [x, y, m](int64_t i) { return (load(x + i) - m) * load(y + i); }, [x, y, mean](int64_t i) { return (x[i] - mean) * y[i]; });
}

// ---- rows -----------------------------------------------------------------------------------------------------------
template <class T> void row_norm(const RowNorm<T>& n, double eps, T* y, T* mean, T* rstd) {
  parallel_for(0, n.rows, rows_per_thread(n.length), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* x = n.x + r * n.length;
      T* to = y + r * n.length;
      double count = static_cast<double>(n.length);
      T m = static_cast<T>(sum(x, n.length) / count);
      double variance = sum_of_squares(x, n.length, m) / count;
      T scale = static_cast<T>(1.0 / std::sqrt(variance + eps));
      mean[r] = m, rstd[r] = scale;
      const T shift = -m * scale;
      if (n.plane == 1) {
        const int64_t first = r % n.groups * n.affine_period;
        const T *w = n.weight ? n.weight + first : nullptr, *b = n.bias ? n.bias + first : nullptr;
        if (w && b) for (int64_t i = 0; i < n.length; ++i) to[i] = (x[i] * scale + shift) * w[i] + b[i];
        else if (w) for (int64_t i = 0; i < n.length; ++i) to[i] = (x[i] * scale + shift) * w[i];
        else if (b) for (int64_t i = 0; i < n.length; ++i) to[i] = (x[i] * scale + shift) + b[i];
        else for (int64_t i = 0; i < n.length; ++i) to[i] = x[i] * scale + shift;
        continue;
      }
      for (int64_t c = 0; c < n.affine_period; ++c) {
        int64_t at = r % n.groups * n.affine_period + c;
        T w = n.weight ? n.weight[at] : T(1), b = n.bias ? n.bias[at] : T(0);
        T factor = scale * w, offset = b - m * factor;
        for (int64_t i = c * n.plane; i < (c + 1) * n.plane; ++i) to[i] = x[i] * factor + offset;
      }
    }
  });
}

template <class T> void row_norm_grad(const RowNorm<T>& n, const T* dy, const T* mean, const T* rstd, T* dx) {
  parallel_for(0, n.rows, rows_per_thread(n.length), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T *x = n.x + r * n.length, *g = dy + r * n.length;
      T* to = dx + r * n.length;
      const T* w = n.weight ? n.weight + r % n.groups * n.affine_period : nullptr;
      double sum_g = 0, sum_gx = 0;
      const T m = mean[r];
      if (n.plane == 1 && w) {
        Vec<T> mv = splat(m);
        sum_g = sum_of<T>(n.length, [&](int64_t i) { return load(g + i) * load(w + i); }, [&](int64_t i) { return g[i] * w[i]; });
        sum_gx = sum_of<T>(n.length, [&](int64_t i) { return load(g + i) * load(w + i) * (load(x + i) - mv); }, [&](int64_t i) { return g[i] * w[i] * (x[i] - m); });
      } else {
        for (int64_t c = 0; c < n.affine_period; ++c) {
          int64_t at = c * n.plane;
          double factor = w ? static_cast<double>(w[c]) : 1.0;
          sum_g += factor * sum(g + at, n.plane);
          sum_gx += factor * sum_of_centered(x + at, m, g + at, n.plane);
        }
      }
      double scale = static_cast<double>(rstd[r]), count = static_cast<double>(n.length);
      T of_x = static_cast<T>(-sum_gx * scale * scale * scale / count), shift = static_cast<T>(-sum_g * scale / count), s = rstd[r];
      if (n.plane == 1) {
        if (w) for (int64_t i = 0; i < n.length; ++i) to[i] = g[i] * w[i] * s + (x[i] - m) * of_x + shift;
        else for (int64_t i = 0; i < n.length; ++i) to[i] = g[i] * s + (x[i] - m) * of_x + shift;
        continue;
      }
      for (int64_t c = 0; c < n.affine_period; ++c) {
        T factor = w ? s * w[c] : s;
        for (int64_t i = c * n.plane; i < (c + 1) * n.plane; ++i) to[i] = g[i] * factor + (x[i] - m) * of_x + shift;
      }
    }
  });
}

// Gradients of weight and bias: threads share out the columns, so that every sum runs over the rows in order.
template <class T> void row_norm_grad_affine(const RowNorm<T>& n, const T* dy, const T* mean, const T* rstd, T* dweight, T* dbias) {
  int64_t channels = n.groups * n.affine_period;
  int64_t grain = std::max<int64_t>(n.plane == 1 ? 64 : 1, kGrain * n.affine_period / std::max<int64_t>(n.rows * n.length, 1));
  parallel_for(0, channels, grain, [&](int64_t begin, int64_t end) {
    if (n.plane == 1 && n.groups == 1) {
      for (int64_t c = begin; c < end; ++c) {
        if (dweight) dweight[c] = 0;
        if (dbias) dbias[c] = 0;
      }
      for (int64_t r = 0; r < n.rows; ++r) {
        const T *x = n.x + r * n.length, *g = dy + r * n.length;
        const T m = mean[r], s = rstd[r];
        if (dweight) for (int64_t c = begin; c < end; ++c) dweight[c] += g[c] * ((x[c] - m) * s);
        if (dbias) for (int64_t c = begin; c < end; ++c) dbias[c] += g[c];
      }
      return;
    }
    for (int64_t c = begin; c < end; ++c) {
      double w = 0, b = 0;
      for (int64_t r = c / n.affine_period; r < n.rows; r += n.groups) {
        int64_t at = r * n.length + c % n.affine_period * n.plane;
        w += sum_of_centered(n.x + at, mean[r], dy + at, n.plane) * static_cast<double>(rstd[r]);
        b += sum(dy + at, n.plane);
      }
      if (dweight) dweight[c] = static_cast<T>(w);
      if (dbias) dbias[c] = static_cast<T>(b);
    }
  });
}

// ---- angles ---------------------------------------------------------------------------------------------------------
template <class T> void cosine(const T* x, const T* y, int64_t outer, int64_t size, int64_t inner, double eps, T* out) {
  auto quotient = [eps](double xy, double xx, double yy) { return static_cast<T>(xy / (std::max(std::sqrt(xx), eps) * std::max(std::sqrt(yy), eps))); };
  constexpr int64_t kStrip = 64;
  auto strip = [&](int64_t o, int64_t first, int64_t width) {
    double xy[kStrip] = {}, xx[kStrip] = {}, yy[kStrip] = {};
    for (int64_t s = 0; s < size; ++s)
      for (int64_t i = 0, at = (o * size + s) * inner + first; i < width; ++i) {
        const double a = static_cast<double>(x[at + i]), b = static_cast<double>(y[at + i]);
        xy[i] += a * b, xx[i] += a * a, yy[i] += b * b;
      }
    for (int64_t i = 0; i < width; ++i) out[o * inner + first + i] = quotient(xy[i], xx[i], yy[i]);
  };
  const int64_t strips = (inner + kStrip - 1) / kStrip;
  parallel_for(0, outer * strips, rows_per_thread(size * std::min(inner, kStrip)), [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; ++u) {
      const int64_t o = u / strips, first = u % strips * kStrip;
      if (inner == 1) {
        const T *a = x + o * size, *b = y + o * size;
        const double xy = sum_of_products(a, b, size), xx = sum_of_products(a, a, size), yy = sum_of_products(b, b, size);
        out[o] = quotient(xy, xx, yy);
        if (std::isfinite(xy + xx + yy)) continue;  // else squares of single precision may have overflowed
      }
      strip(o, first, std::min(kStrip, inner - first));
    }
  });
}

// ---- channels -------------------------------------------------------------------------------------------------------
// Calls body(first channel, last channel): work over whole channels, shared out between threads.
template <class F> void for_channels(const NormShape& s, const F& body) {
  int64_t per_channel = s.batch * s.plane;
  int64_t grain = std::max<int64_t>(s.plane == 1 ? 64 : 1, kGrain / std::max<int64_t>(per_channel, 1));
  parallel_for(0, s.channels, grain, body);
}

// Sums over rows whose channels are neighbours: term(row, channel) is added up in blocks of rows.
template <class T, class F> void column_sums(const NormShape& s, int64_t begin, int64_t end, T* out, const F& term) {
  constexpr int64_t kStrip = 64, kRows = 256;
  for (int64_t c0 = begin; c0 < end; c0 += kStrip) {
    int64_t width = std::min(kStrip, end - c0);
    double total[kStrip] = {};
    for (int64_t r0 = 0; r0 < s.batch; r0 += kRows) {
      T part[kStrip] = {};
      for (int64_t r = r0; r < std::min(s.batch, r0 + kRows); ++r)
        for (int64_t c = 0; c < width; ++c) part[c] += term(r, c0 + c);
      for (int64_t c = 0; c < width; ++c) total[c] += static_cast<double>(part[c]);
    }
    for (int64_t c = 0; c < width; ++c) out[c0 + c] = static_cast<T>(total[c]);
  }
}

template <class T> void channel_moments(const NormShape& s, const T* x, T* mean, T* variance) {
  double count = static_cast<double>(s.batch * s.plane);
  for_channels(s, [&](int64_t begin, int64_t end) {
    if (s.plane == 1) {
      column_sums<T>(s, begin, end, mean, [&](int64_t r, int64_t c) { return x[r * s.channels + c]; });
      for (int64_t c = begin; c < end; ++c) mean[c] = static_cast<T>(static_cast<double>(mean[c]) / count);
      column_sums<T>(s, begin, end, variance, [&](int64_t r, int64_t c) { T d = x[r * s.channels + c] - mean[c]; return d * d; });
      for (int64_t c = begin; c < end; ++c) variance[c] = static_cast<T>(static_cast<double>(variance[c]) / count);
      return;
    }
    for (int64_t c = begin; c < end; ++c) {
      double total = 0, squares = 0;
      for (int64_t b = 0; b < s.batch; ++b) total += sum(x + (b * s.channels + c) * s.plane, s.plane);
      mean[c] = static_cast<T>(total / count);
      for (int64_t b = 0; b < s.batch; ++b) squares += sum_of_squares(x + (b * s.channels + c) * s.plane, s.plane, mean[c]);
      variance[c] = static_cast<T>(squares / count);
    }
  });
}

template <class T> void channel_scale(const NormShape& s, const T* x, const T* scale, const T* shift, T* y) {
  if (s.plane == 1) {
    parallel_for(0, s.batch, rows_per_thread(s.channels), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        for (int64_t c = 0; c < s.channels; ++c) y[r * s.channels + c] = x[r * s.channels + c] * scale[c] + shift[c];
    });
    return;
  }
  parallel_for(0, s.batch * s.channels, rows_per_thread(s.plane), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const T a = scale[p % s.channels], b = shift[p % s.channels];
      const T* from = x + p * s.plane;
      T* to = y + p * s.plane;
      for (int64_t i = 0; i < s.plane; ++i) to[i] = from[i] * a + b;
    }
  });
}

template <class T> void channel_products(const NormShape& s, const T* x, const T* dy, const T* mean, T* sum_dy, T* sum_dy_centered) {
  for_channels(s, [&](int64_t begin, int64_t end) {
    if (s.plane == 1) {
      column_sums<T>(s, begin, end, sum_dy, [&](int64_t r, int64_t c) { return dy[r * s.channels + c]; });
      column_sums<T>(s, begin, end, sum_dy_centered, [&](int64_t r, int64_t c) { return dy[r * s.channels + c] * (x[r * s.channels + c] - mean[c]); });
      return;
    }
    for (int64_t c = begin; c < end; ++c) {
      double plain = 0, centered = 0;
      for (int64_t b = 0; b < s.batch; ++b) {
        int64_t at = (b * s.channels + c) * s.plane;
        plain += sum(dy + at, s.plane);
        centered += sum_of_centered(x + at, mean[c], dy + at, s.plane);
      }
      sum_dy[c] = static_cast<T>(plain), sum_dy_centered[c] = static_cast<T>(centered);
    }
  });
}

// dx = of_x * x + of_dy * dy + shift, channel by channel.
template <class T> void channel_combine(const NormShape& s, const T* x, const T* dy, const T* of_x, const T* of_dy, const T* shift, T* dx) {
  if (s.plane == 1) {
    parallel_for(0, s.batch, rows_per_thread(s.channels), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        for (int64_t c = 0; c < s.channels; ++c) {
          int64_t i = r * s.channels + c;
          dx[i] = of_x[c] * x[i] + (of_dy[c] * dy[i] + shift[c]);
        }
    });
    return;
  }
  parallel_for(0, s.batch * s.channels, rows_per_thread(s.plane), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const T a = of_x[p % s.channels], b = of_dy[p % s.channels], c = shift[p % s.channels];
      for (int64_t i = p * s.plane; i < (p + 1) * s.plane; ++i) dx[i] = a * x[i] + (b * dy[i] + c);
    }
  });
}

}  // namespace

#define X(NAME, PARAMS) \
  TRINE_ISA_DEFINE(NAME##_float, NAME<float>); \
  TRINE_ISA_DEFINE(NAME##_double, NAME<double>);
TRINE_NORM_KERNELS(X)
#undef X

}  // namespace trine::cpu
