// Resampling along one dimension after another: every mode is a small set of weighted input positions per output position, so one loop and
// its transpose serve nearest, linear and cubic interpolation, with and without antialiasing, in any number of dimensions.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/parallel.h"
#include "cpu/dense.h"
#include "trine/kernels.h"

namespace trine::cpu {
namespace {

template <class T> struct AxisTaps {
  int64_t in, out, count = 1;   // `count` taps for every output position
  std::vector<int64_t> index;   // [out][count]
  std::vector<T> weight;
};

// Mitchell's family with B = 0; `a` is -0.75 in plain cubic interpolation and -0.5 in the antialiased one, as in PyTorch.
template <class T> T cubic(T x, T a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

template <class T> T pixel_scale(int64_t in, int64_t out, bool align_corners, double given) {
  if (align_corners) return out > 1 ? static_cast<T>(in - 1) / static_cast<T>(out - 1) : T(0);
  return given > 0 ? static_cast<T>(1.0 / given) : static_cast<T>(in) / static_cast<T>(out);
}

template <class T> void nearest_taps(AxisTaps<T>& t, double given, bool exact) {
  const float scale = given > 0 ? static_cast<float>(1.0 / given) : static_cast<float>(t.in) / static_cast<float>(t.out);
  for (int64_t o = 0; o < t.out; ++o) {
    int64_t i;
    if (exact) i = static_cast<int64_t>(std::floor((static_cast<float>(o) + 0.5f) * scale));
    else if (t.out == t.in) i = o;
    else if (t.out == 2 * t.in) i = o / 2;
    else i = static_cast<int64_t>(std::floor(static_cast<float>(o) * scale));
    t.index.push_back(std::min(i, t.in - 1));
    t.weight.push_back(T(1));
  }
}

template <class T> void linear_taps(AxisTaps<T>& t, double given, bool align_corners) {
  const T scale = pixel_scale<T>(t.in, t.out, align_corners, given);
  t.count = 2;
  for (int64_t o = 0; o < t.out; ++o) {
    T at = align_corners ? scale * static_cast<T>(o) : std::max(T(0), scale * (static_cast<T>(o) + T(0.5)) - T(0.5));
    if (t.out == t.in) at = static_cast<T>(o);
    int64_t i = std::min(static_cast<int64_t>(at), t.in - 1);
    T fraction = std::min(std::max(at - static_cast<T>(i), T(0)), T(1));
    t.index.insert(t.index.end(), {i, std::min(i + 1, t.in - 1)});
    t.weight.insert(t.weight.end(), {T(1) - fraction, fraction});
  }
}

template <class T> void cubic_taps(AxisTaps<T>& t, double given, bool align_corners) {
  const T scale = pixel_scale<T>(t.in, t.out, align_corners, given);
  t.count = 4;
  for (int64_t o = 0; o < t.out; ++o) {
    T at = align_corners ? scale * static_cast<T>(o) : scale * (static_cast<T>(o) + T(0.5)) - T(0.5);
    T base = std::floor(at), fraction = std::min(std::max(at - base, T(0)), T(1));
    for (int64_t k = -1; k <= 2; ++k) {
      t.index.push_back(std::clamp<int64_t>(static_cast<int64_t>(base) + k, 0, t.in - 1));
      t.weight.push_back(cubic(fraction - static_cast<T>(k), T(-0.75)));
    }
  }
}

// A filter as wide as the output's pixel, cut at the border and normalised (Pillow's way).
template <class T> void antialias_taps(AxisTaps<T>& t, double given, bool align_corners, bool is_cubic) {
  const T scale = pixel_scale<T>(t.in, t.out, align_corners, given), radius = is_cubic ? T(2) : T(1);
  const T support = scale >= 1 ? radius * scale : radius, inverse = scale >= 1 ? T(1) / scale : T(1);
  t.count = static_cast<int64_t>(std::ceil(support)) * 2 + 1;
  for (int64_t o = 0; o < t.out; ++o) {
    T center = scale * (static_cast<T>(o) + T(0.5));
    int64_t first = std::max<int64_t>(static_cast<int64_t>(center - support + T(0.5)), 0);
    int64_t size = std::min(std::min<int64_t>(static_cast<int64_t>(center + support + T(0.5)), t.in) - first, t.count);
    T total = 0;
    size_t at = t.weight.size();
    for (int64_t k = 0; k < t.count; ++k) {
      T w = 0;
      if (k < size) {
        T x = (static_cast<T>(k + first) - center + T(0.5)) * inverse;
        w = is_cubic ? cubic(x, T(-0.5)) : std::max(T(0), T(1) - std::abs(x));
      }
      total += w;
      t.index.push_back(std::min(first + std::min(k, std::max<int64_t>(size - 1, 0)), t.in - 1));
      t.weight.push_back(w);
    }
    if (total != 0)
      for (; at < t.weight.size(); ++at) t.weight[at] /= total;
  }
}

template <class T> AxisTaps<T> make_taps(int64_t in, int64_t out, std::string_view mode, bool align_corners, bool antialias, double given) {
  AxisTaps<T> t{in, out, 1, {}, {}};
  if (mode == "nearest" || mode == "nearest-exact") nearest_taps(t, given, mode != "nearest");
  else if (antialias) antialias_taps(t, given, align_corners, mode == "bicubic");
  else if (mode == "bicubic") cubic_taps(t, given, align_corners);
  else linear_taps(t, given, align_corners);
  return t;
}

// y[outer][out][inner] = sum over taps of weight * x[outer][index][inner].
template <class T> void resample_axis(const AxisTaps<T>& t, const T* x, T* y, int64_t outer, int64_t inner) {
  parallel_for(0, outer * t.out, std::max<int64_t>(1, 16384 / (inner * t.count)), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t* index = t.index.data() + r % t.out * t.count;
      const T* weight = t.weight.data() + r % t.out * t.count;
      const T* from = x + r / t.out * t.in * inner;
      T* to = y + r * inner;
      for (int64_t i = 0; i < inner; ++i) to[i] = weight[0] * from[index[0] * inner + i];
      for (int64_t k = 1; k < t.count; ++k) {
        const T w = weight[k];
        if (w == T(0)) continue;
        const T* row = from + index[k] * inner;
        for (int64_t i = 0; i < inner; ++i) to[i] += w * row[i];
      }
    }
  });
}

template <class T> void resample_axis_grad(const AxisTaps<T>& t, const T* dy, T* dx, int64_t outer, int64_t inner) {
  parallel_for(0, outer, std::max<int64_t>(1, 16384 / (inner * t.count * t.out)), [&](int64_t begin, int64_t end) {
    std::fill_n(dx + begin * t.in * inner, (end - begin) * t.in * inner, T(0));
    for (int64_t r = begin * t.out; r < end * t.out; ++r) {
      T* plane = dx + r / t.out * t.in * inner;
      for (int64_t k = 0; k < t.count; ++k) {
        const T w = t.weight[static_cast<size_t>(r % t.out * t.count + k)];
        T* row = plane + t.index[static_cast<size_t>(r % t.out * t.count + k)] * inner;
        for (int64_t i = 0; i < inner; ++i) row[i] += w * dy[r * inner + i];
      }
    }
  });
}

// Walks the resampled dimensions from the last to the first (backwards for the gradient), through temporaries of the mixed shapes.
template <class T> void resample_all(Tensor& out, const Tensor& from, DimsRef in_sizes, DimsRef out_sizes, std::string_view mode, bool align_corners, std::optional<std::span<const double>> scales,
                                     bool antialias, bool gradient) {
  DType t = dtype_v<T>;
  Tensor current = converted(from, t);
  DenseOutput y(out, t);
  const size_t dims = in_sizes.size(), nd = dims - 2;
  for (size_t step = 0; step < nd; ++step) {
    const size_t d = gradient ? 2 + step : dims - 1 - step;
    AxisTaps<T> taps = make_taps<T>(in_sizes[d], out_sizes[d], mode, align_corners, antialias, scales ? (*scales)[d - 2] : 0.0);
    int64_t outer = 1, inner = 1;
    for (size_t i = 0; i < dims; ++i)
      if (i != d) (i < d ? outer : inner) *= current.sizes()[i];
    Dims sizes(current.sizes());
    sizes[d] = gradient ? in_sizes[d] : out_sizes[d];
    Tensor next = step + 1 == nd ? y.tensor() : empty(sizes, t);
    if (gradient) resample_axis_grad(taps, current.data<T>(), next.data<T>(), outer, inner);
    else resample_axis(taps, current.data<T>(), next.data<T>(), outer, inner);
    current = next;
  }
  y.finish();
}

// Images of bytes: weights in fixed point with as many bits as 16 hold, each pass rounded to bytes, as Pillow and PyTorch do.
struct FixedTaps {
  AxisTaps<double> taps;
  std::vector<int32_t> weight;
  int bits = 0;
  explicit FixedTaps(AxisTaps<double> t) : taps(std::move(t)) {
    const double largest = *std::max_element(taps.weight.begin(), taps.weight.end());
    while (bits < 22 && static_cast<int>(0.5 + largest * static_cast<double>(1 << (bits + 1))) < (1 << 15)) ++bits;
    for (double w : taps.weight) weight.push_back(static_cast<int32_t>(w * static_cast<double>(1 << bits) + (w < 0 ? -0.5 : 0.5)));
  }
  void run(const uint8_t* x, uint8_t* y, int64_t outer, int64_t inner) const {
    const int32_t half = bits ? 1 << (bits - 1) : 0;
    parallel_for(0, outer * taps.out, std::max<int64_t>(1, 16384 / (inner * taps.count)), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        for (int64_t i = 0; i < inner; ++i) {
          int32_t sum = half;
          for (int64_t k = 0; k < taps.count; ++k) {
            const size_t at = static_cast<size_t>(r % taps.out * taps.count + k);
            sum += weight[at] * x[(r / taps.out * taps.in + taps.index[at]) * inner + i];
          }
          y[r * inner + i] = static_cast<uint8_t>(std::clamp(sum >> bits, 0, 255));
        }
    });
  }
};

void resample_bytes(Tensor& out, const Tensor& self, std::string_view mode, bool align_corners, std::optional<std::span<const double>> scales, bool antialias) {
  Tensor current = plain(self);
  const size_t dims = static_cast<size_t>(self.dim());
  for (size_t d = dims - 1; d >= 2; --d) {
    if (current.sizes()[d] == out.sizes()[d] && mode != "nearest") continue;
    FixedTaps fixed(make_taps<double>(current.sizes()[d], out.sizes()[d], mode, align_corners, antialias, scales ? (*scales)[d - 2] : 0.0));
    int64_t outer = 1, inner = 1;
    for (size_t i = 0; i < dims; ++i)
      if (i != d) (i < d ? outer : inner) *= current.sizes()[i];
    Dims sizes(current.sizes());
    sizes[d] = out.sizes()[d];
    Tensor next = empty(sizes, DType::UInt8);
    fixed.run(current.data<uint8_t>(), next.data<uint8_t>(), outer, inner);
    current = next;
  }
  convert_copy(out, current);
}

}  // namespace

void resample(Tensor& out, const Tensor& self, DimsRef, std::string_view mode, bool align_corners, std::optional<std::span<const double>> scales, bool antialias) {
  if (out.numel() == 0) return;
  if (out.dtype() == DType::UInt8) return resample_bytes(out, self, mode, align_corners, scales, antialias);
  TRINE_DISPATCH_FLOAT(compute_type(out.dtype()), "interpolate",
                       { resample_all<scalar_t>(out, self, self.sizes(), out.sizes(), mode, align_corners, scales, antialias, false); });
}

void resample_backward(Tensor& out, const Tensor& grad, DimsRef, std::string_view mode, bool align_corners, std::optional<std::span<const double>> scales, bool antialias) {
  if (out.numel() == 0) return;
  TRINE_DISPATCH_FLOAT(compute_type(out.dtype()), "interpolate_backward",
                       { resample_all<scalar_t>(out, grad, out.sizes(), grad.sizes(), mode, align_corners, scales, antialias, true); });
}

}  // namespace trine::cpu
