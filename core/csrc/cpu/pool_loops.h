// The loops of pooling, for any element type. Included by files that are compiled per instruction set, hence the anonymous namespace.
#pragma once
#include <algorithm>
#include <limits>

#include "base/parallel.h"
#include "cpu/pool.h"
#include "cpu/scratch.h"

namespace trine::cpu {
namespace {

inline int64_t pool_grain(const PoolShape& s) {
  int64_t window = s.axis[0].kernel * s.axis[1].kernel * s.axis[2].kernel;
  return std::max<int64_t>(1, 32768 / std::max<int64_t>(1, std::max(s.in_plane(), s.out_plane() * window)));
}

// The first tap of the window that lies inside the input.
inline int64_t first_inside(const PoolAxis& a, int64_t begin) { return begin >= 0 ? begin : begin + (-begin + a.dilation - 1) / a.dilation * a.dilation; }

template <class T> inline bool exceeds(T x, T best) { return x > best || x != x; }  // NaN wins, as in PyTorch

template <class T> constexpr T lowest() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
}

template <class T> void max_plane_indices(const PoolShape& s, const T* in, T* out, int64_t* indices) {
  const PoolAxis &D = s.axis[0], &H = s.axis[1], &W = s.axis[2];
  for (int64_t od = 0; od < D.out; ++od)
    for (int64_t oh = 0; oh < H.out; ++oh)
      for (int64_t ow = 0; ow < W.out; ++ow) {
        int64_t d0 = first_inside(D, D.begin(od)), h0 = first_inside(H, H.begin(oh)), w0 = first_inside(W, W.begin(ow));
        int64_t d1 = std::min(D.end(od), D.in), h1 = std::min(H.end(oh), H.in), w1 = std::min(W.end(ow), W.in);
        T best = lowest<T>();
        int64_t at = (d0 * H.in + h0) * W.in + w0;
        for (int64_t d = d0; d < d1; d += D.dilation)
          for (int64_t h = h0; h < h1; h += H.dilation)
            for (int64_t w = w0; w < w1; w += W.dilation) {
              int64_t i = (d * H.in + h) * W.in + w;
              if (exceeds(in[i], best)) best = in[i], at = i;
            }
        *out++ = best;
        *indices++ = at;
      }
}

// Without indices: the maximum over depth and rows of the window, all columns at once, then over columns.
template <class T> void max_plane(const PoolShape& s, const T* in, T* out, T* rows) {
  const PoolAxis &D = s.axis[0], &H = s.axis[1], &W = s.axis[2];
  for (int64_t od = 0; od < D.out; ++od)
    for (int64_t oh = 0; oh < H.out; ++oh) {
      int64_t d0 = first_inside(D, D.begin(od)), h0 = first_inside(H, H.begin(oh));
      int64_t d1 = std::min(D.end(od), D.in), h1 = std::min(H.end(oh), H.in);
      std::fill_n(rows, W.in, lowest<T>());
      for (int64_t d = d0; d < d1; d += D.dilation)
        for (int64_t h = h0; h < h1; h += H.dilation) {
          const T* row = in + (d * H.in + h) * W.in;
          for (int64_t w = 0; w < W.in; ++w) rows[w] = exceeds(row[w], rows[w]) ? row[w] : rows[w];
        }
      for (int64_t ow = 0; ow < W.out; ++ow) {
        T best = lowest<T>();
        for (int64_t w = first_inside(W, W.begin(ow)), end = std::min(W.end(ow), W.in); w < end; w += W.dilation) best = exceeds(rows[w], best) ? rows[w] : best;
        *out++ = best;
      }
    }
}

template <class T> void max_pool_planes(const PoolShape& s, const T* in, T* out, int64_t* indices) {
  parallel_for(0, s.planes, pool_grain(s), [&](int64_t begin, int64_t end) {
    Scratch<T> rows(s.axis[2].in);
    for (int64_t p = begin; p < end; ++p) {
      if (indices) max_plane_indices(s, in + p * s.in_plane(), out + p * s.out_plane(), indices + p * s.out_plane());
      else max_plane(s, in + p * s.in_plane(), out + p * s.out_plane(), rows.data());
    }
  });
}

// A clipped window of averaging, and what its sum is divided by.
struct Window {
  int64_t begin[3], end[3], divisor;
  bool empty;
  Window(const PoolShape& s, const Averaging& a, int64_t od, int64_t oh, int64_t ow) {
    const int64_t o[3] = {od, oh, ow};
    int64_t padded = 1, inside = 1;
    empty = false;
    for (int d = 0; d < 3; ++d) {
      const PoolAxis& x = s.axis[d];
      int64_t b = x.begin(o[d]), e = std::min(x.end(o[d]), x.in + x.padding);
      padded *= e - b;
      begin[d] = std::max<int64_t>(b, 0), end[d] = std::min(e, x.in);
      inside *= end[d] - begin[d];
      empty |= begin[d] >= end[d];
    }
    divisor = a.divisor ? a.divisor : a.count_include_pad ? padded : inside;
  }
};

template <class T> void avg_pool_planes(const PoolShape& s, const Averaging& a, const T* in, T* out) {
  const PoolAxis &D = s.axis[0], &H = s.axis[1], &W = s.axis[2];
  parallel_for(0, s.planes, pool_grain(s), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const T* plane = in + p * s.in_plane();
      T* to = out + p * s.out_plane();
      for (int64_t od = 0; od < D.out; ++od)
        for (int64_t oh = 0; oh < H.out; ++oh)
          for (int64_t ow = 0; ow < W.out; ++ow, ++to) {
            Window w(s, a, od, oh, ow);
            if (w.empty) {
              *to = T(0);
              continue;
            }
            T sum = 0;
            for (int64_t d = w.begin[0]; d < w.end[0]; ++d)
              for (int64_t h = w.begin[1]; h < w.end[1]; ++h) {
                const T* row = plane + (d * H.in + h) * W.in;
                for (int64_t x = w.begin[2]; x < w.end[2]; ++x) sum += row[x];
              }
            *to = sum / static_cast<T>(w.divisor);
          }
    }
  });
}

template <class T> void avg_pool_grad_planes(const PoolShape& s, const Averaging& a, const T* out_grad, T* in_grad) {
  const PoolAxis &D = s.axis[0], &H = s.axis[1], &W = s.axis[2];
  parallel_for(0, s.planes, pool_grain(s), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      T* plane = in_grad + p * s.in_plane();
      const T* from = out_grad + p * s.out_plane();
      std::fill_n(plane, s.in_plane(), T(0));
      for (int64_t od = 0; od < D.out; ++od)
        for (int64_t oh = 0; oh < H.out; ++oh)
          for (int64_t ow = 0; ow < W.out; ++ow, ++from) {
            Window w(s, a, od, oh, ow);
            if (w.empty) continue;
            T share = *from / static_cast<T>(w.divisor);
            for (int64_t d = w.begin[0]; d < w.end[0]; ++d)
              for (int64_t h = w.begin[1]; h < w.end[1]; ++h) {
                T* row = plane + (d * H.in + h) * W.in;
                for (int64_t x = w.begin[2]; x < w.end[2]; ++x) row[x] += share;
              }
          }
    }
  });
}

}  // namespace
}  // namespace trine::cpu
