// Resampling of images and volumes at the places a grid names.
//
// Every mode comes down to taps: nearest has one for a result, (tri)linear one for each corner of the cell, bicubic 4 x 4. Their offsets and
// weights are the same for all channels, so they are found once for a block of places.
#include "cpu/grid_sample.h"

#include <cmath>

#include "base/parallel.h"
#include "cpu/dense.h"
#include "cpu/scratch.h"
#include "trine/kernels.h"

namespace trine::cpu {

TRINE_ISA_TABLE(gather_taps_float);
TRINE_ISA_TABLE(gather_taps_double);
TRINE_ISA_TABLE(add_tap_products_float);
TRINE_ISA_TABLE(add_tap_products_double);

namespace {

enum Mode : int64_t { kLinear, kNearest, kCubic };
enum Padding : int64_t { kZeros, kBorder, kReflection };
constexpr int kMaxTaps = 16;

template <class T> struct Coordinate {
  T at, slope;  // place in elements, and its derivative with respect to the grid's value
};

template <class T> Coordinate<T> reflected(Coordinate<T> c, T twice_low, T twice_high) {
  if (twice_low == twice_high) return {0, 0};
  const T low = twice_low / 2, span = (twice_high - twice_low) / 2;
  T x = c.at - low;
  if (x < 0) x = -x, c.slope = -c.slope;
  const T rest = std::fmod(x, span);
  if (static_cast<int64_t>(std::floor(x / span)) % 2 == 0) return {rest + low, c.slope};
  return {span - rest + low, -c.slope};
}

template <class T> Coordinate<T> clipped(Coordinate<T> c, int64_t size) {
  if (!(c.at > 0)) return {0, 0};
  const T last = static_cast<T>(size - 1);
  return c.at >= last ? Coordinate<T>{last, 0} : c;
}

template <class T> Coordinate<T> padded(Coordinate<T> c, int64_t size, int64_t padding, bool align) {
  if (padding == kReflection) c = align ? reflected(c, T(0), static_cast<T>(2 * (size - 1))) : reflected(c, T(-1), static_cast<T>(2 * size - 1));
  return padding == kZeros ? c : clipped(c, size);
}

template <class T> Coordinate<T> in_elements(T grid, int64_t size, bool align) {
  return align ? Coordinate<T>{(grid + 1) / 2 * static_cast<T>(size - 1), static_cast<T>(size - 1) / 2} : Coordinate<T>{((grid + 1) * static_cast<T>(size) - 1) / 2, static_cast<T>(size) / 2};
}

// The taps along one dimension: positions (or -1 outside), weights, and their derivatives with respect to the grid's value.
template <class T> struct LineTaps {
  int count = 0;
  int64_t index[4];
  T weight[4], slope[4];
};

template <class T> int64_t inside(T x, int64_t size) { return x >= 0 && x < static_cast<T>(size) ? static_cast<int64_t>(x) : -1; }

template <class T> LineTaps<T> line_taps(T grid, int64_t size, int64_t mode, int64_t padding, bool align) {
  LineTaps<T> taps;
  Coordinate<T> c = in_elements(grid, size, align);
  if (mode == kCubic) {
    const T first = std::floor(c.at), t = c.at - first, a = T(-0.75);
    auto near = [a](T x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
    auto far = [a](T x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
    auto near_slope = [a](T x) { return (3 * (a + 2) * x - 2 * (a + 3)) * x; };
    auto far_slope = [a](T x) { return (3 * a * x - 10 * a) * x + 8 * a; };
    const T weights[] = {far(t + 1), near(t), near(1 - t), far(2 - t)}, slopes[] = {far_slope(t + 1), near_slope(t), -near_slope(1 - t), -far_slope(2 - t)};
    taps.count = 4;
    for (int k = 0; k < 4; ++k) {
      taps.index[k] = inside(padded<T>({first + static_cast<T>(k - 1), 1}, size, padding, align).at, size);
      taps.weight[k] = weights[k];
      taps.slope[k] = slopes[k] * c.slope;
    }
    return taps;
  }
  c = padded(c, size, padding, align);
  if (mode == kNearest) {
    taps.count = 1;
    taps.index[0] = inside(std::nearbyint(c.at), size);
    taps.weight[0] = 1;
    taps.slope[0] = 0;
    return taps;
  }
  const T first = std::floor(c.at), t = c.at - first;
  taps.count = 2;
  taps.index[0] = inside(first, size);
  taps.index[1] = inside(first + 1, size);
  taps.weight[0] = 1 - t;
  taps.weight[1] = t;
  taps.slope[0] = -c.slope;
  taps.slope[1] = c.slope;
  return taps;
}

// Extents of input [N, C, spatial...] and output, seen as three spatial dimensions (depth 1 for images).
struct Extents {
  int64_t batch, channels, in[3], places, dims;
  int64_t plane() const { return in[0] * in[1] * in[2]; }
};
Extents extents(const Tensor& input, const Tensor& grid) {
  Extents e;
  e.batch = input.size(0), e.channels = input.size(1), e.dims = input.dim() - 2;
  for (int64_t d = 0; d < 3; ++d) e.in[d] = d < 3 - e.dims ? 1 : input.size(d - 3);
  e.places = e.batch > 0 ? grid.numel() / e.batch / e.dims : 0;
  TRINE_CHECK(e.plane() <= INT32_MAX, "grid_sampler: a channel of shape ", input.sizes(), " has more elements than 32-bit offsets reach");
  return e;
}

constexpr int64_t kBlock = 512;  // places whose taps are held at a time

// The taps of a block of places of one sample. `slopes` (dims x taps x block) may be null.
template <class T> int block_taps(const Extents& e, const T* grid, int64_t count, int64_t mode, int64_t padding, bool align, int32_t* offsets, T* weights, T* slopes) {
  int taps = 0;
  for (int64_t i = 0; i < count; ++i) {
    LineTaps<T> lines[3];
    for (int64_t d = 0; d < 3; ++d) {
      if (d < 3 - e.dims) {
        lines[d].count = 1, lines[d].index[0] = 0, lines[d].weight[0] = 1, lines[d].slope[0] = 0;
      } else {
        lines[d] = line_taps(grid[i * e.dims + 2 - d], e.in[d], mode, padding, align);  // the grid names x first
      }
    }
    taps = 0;
    for (int a = 0; a < lines[0].count; ++a)
      for (int b = 0; b < lines[1].count; ++b)
        for (int c = 0; c < lines[2].count; ++c, ++taps) {
          const bool in = lines[0].index[a] >= 0 && lines[1].index[b] >= 0 && lines[2].index[c] >= 0;
          const T wa = lines[0].weight[a], wb = lines[1].weight[b], wc = lines[2].weight[c];
          const int64_t at = taps * count + i;
          offsets[at] = in ? static_cast<int32_t>((lines[0].index[a] * e.in[1] + lines[1].index[b]) * e.in[2] + lines[2].index[c]) : 0;
          weights[at] = in ? wa * wb * wc : T(0);
          if (!slopes) continue;
          const T parts[] = {lines[0].slope[a] * wb * wc, wa * lines[1].slope[b] * wc, wa * wb * lines[2].slope[c]};
          for (int64_t d = 0; d < e.dims; ++d) slopes[(d * kMaxTaps * kBlock) + at] = in ? parts[2 - d] : T(0);
        }
  }
  return taps;
}

}  // namespace

void grid_sampler(Tensor& out, const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, bool align) {
  DenseOutput dense(out);
  const Tensor x = plain(input), places = plain(grid);
  const Extents e = extents(input, grid);
  if (out.numel() > 0)
    TRINE_DISPATCH_FLOAT(input.dtype(), "grid_sampler", {
      const int64_t blocks = (e.places + kBlock - 1) / kBlock;
      parallel_for(0, e.batch * blocks, 1, [&](int64_t begin, int64_t end) {
        Scratch<int32_t> offsets(kMaxTaps * kBlock);
        Scratch<scalar_t> weights(kMaxTaps * kBlock);
        for (int64_t job = begin; job < end; ++job) {
          const int64_t n = job / blocks, first = job % blocks * kBlock, count = std::min(kBlock, e.places - first);
          const int taps = block_taps<scalar_t>(e, places.data<scalar_t>() + (n * e.places + first) * e.dims, count, mode, padding, align, offsets.data(), weights.data(), nullptr);
          for (int64_t c = n * e.channels; c < (n + 1) * e.channels; ++c)
            gather_taps(x.data<scalar_t>() + c * e.plane(), offsets.data(), weights.data(), taps, dense.data<scalar_t>() + c * e.places + first, count);
        }
      });
    });
  dense.finish();
}

void grid_sampler_backward(Tensor& grad_input, Tensor& grad_grid, const Tensor& grad_output, const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, bool align) {
  DenseOutput to_input(grad_input), to_grid(grad_grid);
  const Tensor x = plain(input), places = plain(grid), g = plain(grad_output);
  const Extents e = extents(input, grid);
  std::memset(to_input.tensor().data(), 0, static_cast<size_t>(grad_input.numel() * grad_input.itemsize()));
  std::memset(to_grid.tensor().data(), 0, static_cast<size_t>(grad_grid.numel() * grad_grid.itemsize()));
  if (grad_output.numel() > 0)
    TRINE_DISPATCH_FLOAT(input.dtype(), "grid_sampler_backward", {
      parallel_for(0, e.batch, 1, [&](int64_t begin, int64_t end) {
        Scratch<int32_t> offsets(kMaxTaps * kBlock);
        Scratch<scalar_t> weights(kMaxTaps * kBlock), slopes(3 * kMaxTaps * kBlock), sums(kBlock);
        for (int64_t n = begin; n < end; ++n)
          for (int64_t first = 0; first < e.places; first += kBlock) {
            const int64_t count = std::min(kBlock, e.places - first);
            const int taps = block_taps<scalar_t>(e, places.data<scalar_t>() + (n * e.places + first) * e.dims, count, mode, padding, align, offsets.data(), weights.data(), slopes.data());
            for (int64_t c = n * e.channels; c < (n + 1) * e.channels; ++c) {
              scalar_t* to = to_input.data<scalar_t>() + c * e.plane();
              const scalar_t* from = g.data<scalar_t>() + c * e.places + first;
              for (int k = 0; k < taps; ++k)
                for (int64_t i = 0; i < count; ++i) to[offsets[k * count + i]] += weights[k * count + i] * from[i];
            }
            for (int64_t d = 0; d < e.dims; ++d) {
              std::fill(sums.data(), sums.data() + count, scalar_t(0));
              for (int64_t c = n * e.channels; c < (n + 1) * e.channels; ++c)
                add_tap_products(x.data<scalar_t>() + c * e.plane(), offsets.data(), slopes.data() + d * kMaxTaps * kBlock, taps, g.data<scalar_t>() + c * e.places + first, sums.data(), count);
              for (int64_t i = 0; i < count; ++i) to_grid.data<scalar_t>()[(n * e.places + first + i) * e.dims + d] = sums[i];
            }
          }
      });
    });
  to_input.finish();
  to_grid.finish();
}

}  // namespace trine::cpu
