#include "cpu/grid_sample.h"

#include <type_traits>

#include "math/math.h"

namespace trine::cpu {
namespace {

// A block of places along one dimension, in elements, and their derivatives with respect to the grid's values. Every step is a loop of
// its own: together the compiler would thread their conditions into branches.
template <class T> struct Line {
  T at[kGridBlock], slope[kGridBlock];

  template <bool align> void place(const T* grid, int64_t stride, T size, int64_t count) {
    const T unit = align ? (size - 1) / 2 : size / 2;
    for (int64_t i = 0; i < count; ++i) at[i] = grid[i * stride];
    for (int64_t i = 0; i < count; ++i) {
      at[i] = align ? (at[i] + 1) / 2 * (size - 1) : ((at[i] + 1) * size - 1) / 2;
      slope[i] = unit;
    }
  }

  // To the place within [low, low + span] that reflections at both ends lead to.
  void reflect(T low, T span, int64_t count) {
    if (span == 0) {
      for (int64_t i = 0; i < count; ++i) at[i] = slope[i] = 0;
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      const T x = at[i] - low, far = math::fabs(x), turns = math::floor(far / span), rest = far - turns * span;
      const T odd = turns - 2 * math::floor(turns * T(0.5)), sign = 1 - 2 * odd;
      at[i] = odd * span + sign * rest + low;
      slope[i] *= math::copysign(sign, sign * x);
    }
  }

  void clip(T last, int64_t count) {
    for (int64_t i = 0; i < count; ++i) slope[i] = math::both(at[i] > 0, at[i] < last) ? slope[i] : T(0);
    for (int64_t i = 0; i < count; ++i) at[i] = at[i] > 0 ? at[i] : T(0);
    for (int64_t i = 0; i < count; ++i) at[i] = at[i] < last ? at[i] : last;
  }

  template <GridPadding padding, bool align> void pad(T size, int64_t count) {
    if (padding == GridPadding::Reflection) reflect(align ? T(0) : T(-0.5), align ? size - 1 : size, count);
    if (padding != GridPadding::Zeros) clip(size - 1, count);
  }
};

template <class T> void put(const LineTaps<T>& to, int tap, const T* __restrict at, const T* __restrict weight, const T* __restrict slope, int64_t count) {
  const T size = static_cast<T>(to.size);
  int32_t* __restrict index = to.index + tap * count;
  T *__restrict w = to.weight + tap * count, *__restrict s = to.slope + tap * count;
  for (int64_t i = 0; i < count; ++i) {
    const bool in = math::both(at[i] >= 0, at[i] < size);
    index[i] = static_cast<int32_t>(in ? at[i] : T(0));
    w[i] = in ? weight[i] : T(0);
    s[i] = in ? slope[i] : T(0);
  }
}

template <class T> void put_cubic(const T* __restrict t, const T* __restrict unit, int tap, T* __restrict weight, T* __restrict slope, int64_t count) {
  const T a = T(-0.75);
  auto near = [a](T x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  auto far = [a](T x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  auto near_slope = [a](T x) { return (3 * (a + 2) * x - 2 * (a + 3)) * x; };
  auto far_slope = [a](T x) { return (3 * a * x - 10 * a) * x + 8 * a; };
  auto fill = [&](auto w, auto s) {
    for (int64_t i = 0; i < count; ++i) {
      weight[i] = w(t[i]);
      slope[i] = s(t[i]) * unit[i];
    }
  };
  if (tap == 0) fill([=](T x) { return far(x + 1); }, [=](T x) { return far_slope(x + 1); });
  if (tap == 1) fill(near, near_slope);
  if (tap == 2) fill([=](T x) { return near(1 - x); }, [=](T x) { return -near_slope(1 - x); });
  if (tap == 3) fill([=](T x) { return far(2 - x); }, [=](T x) { return -far_slope(2 - x); });
}

template <GridMode mode, GridPadding padding, bool align, class T> void fill_line(const T* grid, int64_t stride, const LineTaps<T>& to, int64_t count) {
  const T size = static_cast<T>(to.size);
  Line<T> line = {};  // zeros, so that compilers see that what lies past count is never garbage
  T weight[kGridBlock] = {}, slope[kGridBlock] = {}, part[kGridBlock] = {};
  line.template place<align>(grid, stride, size, count);
  if constexpr (mode != GridMode::Cubic) line.template pad<padding, align>(size, count);
  if constexpr (mode == GridMode::Nearest) {
    for (int64_t i = 0; i < count; ++i) {
      line.at[i] = math::round(line.at[i]);
      weight[i] = 1;
      slope[i] = 0;
    }
    put(to, 0, line.at, weight, slope, count);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const T first = math::floor(line.at[i]);
    part[i] = line.at[i] - first;
    line.at[i] = first;
  }
  if constexpr (mode == GridMode::Linear) {
    for (int64_t i = 0; i < count; ++i) {
      weight[i] = 1 - part[i];
      slope[i] = -line.slope[i];
    }
    put(to, 0, line.at, weight, slope, count);
    for (int64_t i = 0; i < count; ++i) line.at[i] += 1;
    put(to, 1, line.at, part, line.slope, count);
  } else {
    for (int tap = 0; tap < 4; ++tap) {
      Line<T> moved = line;
      for (int64_t i = 0; i < count; ++i) moved.at[i] += static_cast<T>(tap - 1);
      moved.template pad<padding, align>(size, count);
      put_cubic(part, line.slope, tap, weight, slope, count);
      put(to, tap, moved.at, weight, slope, count);
    }
  }
}

template <class F> void with_mode(const GridLine& how, F f) {
  auto with_padding = [&]<GridMode mode>(std::integral_constant<GridMode, mode>) {
    auto with_align = [&]<GridPadding padding>(std::integral_constant<GridPadding, padding>) {
      how.align ? f.template operator()<mode, padding, true>() : f.template operator()<mode, padding, false>();
    };
    switch (how.padding) {
      case GridPadding::Zeros: return with_align(std::integral_constant<GridPadding, GridPadding::Zeros>());
      case GridPadding::Border: return with_align(std::integral_constant<GridPadding, GridPadding::Border>());
      case GridPadding::Reflection: return with_align(std::integral_constant<GridPadding, GridPadding::Reflection>());
    }
  };
  switch (how.mode) {
    case GridMode::Linear: return with_padding(std::integral_constant<GridMode, GridMode::Linear>());
    case GridMode::Nearest: return with_padding(std::integral_constant<GridMode, GridMode::Nearest>());
    case GridMode::Cubic: return with_padding(std::integral_constant<GridMode, GridMode::Cubic>());
  }
}

template <class T> void line_taps(const T* grid, int64_t stride, const GridLine& how, const LineTaps<T>& to, int64_t count) {
  with_mode(how, [&]<GridMode mode, GridPadding padding, bool align>() { fill_line<mode, padding, align>(grid, stride, to, count); });
}

template <class T> void join_taps(const LineTaps<T>* lines, int32_t* __restrict offsets, T* __restrict weights, int64_t count) {
  const int32_t rows = static_cast<int32_t>(lines[1].size), columns = static_cast<int32_t>(lines[2].size);
  for (int a = 0; a < lines[0].taps; ++a)
    for (int b = 0; b < lines[1].taps; ++b)
      for (int c = 0; c < lines[2].taps; ++c, offsets += count, weights += count) {
        const int32_t *z = lines[0].index + a * count, *y = lines[1].index + b * count, *x = lines[2].index + c * count;
        const T *wz = lines[0].weight + a * count, *wy = lines[1].weight + b * count, *wx = lines[2].weight + c * count;
        for (int64_t i = 0; i < count; ++i) {
          offsets[i] = (z[i] * rows + y[i]) * columns + x[i];
          weights[i] = wz[i] * wy[i] * wx[i];
        }
      }
}

// What weighs nothing counts for nothing, even where it is infinite.
template <class T> inline T weighted(T value, T weight) {
  const T product = value * weight;
  return weight == 0 ? T(0) : product;
}

template <class T> void gather_taps(const T* in, const int32_t* offsets, const T* weights, int taps, T* __restrict out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = weighted(in[offsets[i]], weights[i]);
  for (int k = 1; k < taps; ++k) {
    const int32_t* o = offsets + k * count;
    const T* w = weights + k * count;
    for (int64_t i = 0; i < count; ++i) out[i] += weighted(in[o[i]], w[i]);
  }
}

template <class T> void scatter_taps(T* to, const int32_t* offsets, const T* weights, int taps, const T* grad, int64_t count) {
  T products[kGridBlock];
  for (int k = 0; k < taps; ++k, offsets += count, weights += count) {
    for (int64_t i = 0; i < count; ++i) products[i] = weighted(grad[i], weights[i]);
    for (int64_t i = 0; i < count; ++i) to[offsets[i]] += products[i];
  }
}

template <class T> void add_tap_products(const T* in, const int32_t* offsets, int taps, const T* grad, T* __restrict sums, int64_t count) {
  for (int k = 0; k < taps; ++k)
    for (int64_t i = 0; i < count; ++i) sums[k * count + i] += in[offsets[k * count + i]] * grad[i];
}

template <class T> void slope_taps(const LineTaps<T>* lines, int dim, const T* sums, T* __restrict out, int64_t stride, int64_t count) {
  auto factor = [&](int line, int tap) { return (line == dim ? lines[line].slope : lines[line].weight) + tap * count; };
  T slopes[kGridBlock];
  for (int64_t i = 0; i < count; ++i) slopes[i] = 0;
  for (int a = 0; a < lines[0].taps; ++a)
    for (int b = 0; b < lines[1].taps; ++b)
      for (int c = 0; c < lines[2].taps; ++c, sums += count) {
        const T *z = factor(0, a), *y = factor(1, b), *x = factor(2, c);
        for (int64_t i = 0; i < count; ++i) slopes[i] += weighted(sums[i], z[i] * y[i] * x[i]);
      }
  for (int64_t i = 0; i < count; ++i) out[i * stride] = slopes[i];
}

#define TRINE_GRID_KERNELS(T)                            \
  TRINE_ISA_DEFINE(line_taps_##T, line_taps<T>);         \
  TRINE_ISA_DEFINE(join_taps_##T, join_taps<T>);         \
  TRINE_ISA_DEFINE(gather_taps_##T, gather_taps<T>);     \
  TRINE_ISA_DEFINE(scatter_taps_##T, scatter_taps<T>);   \
  TRINE_ISA_DEFINE(add_tap_products_##T, add_tap_products<T>); \
  TRINE_ISA_DEFINE(slope_taps_##T, slope_taps<T>)
TRINE_GRID_KERNELS(float);
TRINE_GRID_KERNELS(double);

}  // namespace
}  // namespace trine::cpu
