// Resampling of images and volumes at the places a grid names.
//
// Every mode comes down to taps: nearest has one for a result, (tri)linear one for each corner of the cell, bicubic 4 x 4. Their offsets and
// weights are the same for all channels, so they are found once for a block of places.
#include "cpu/grid_sample.h"

#include <algorithm>

#include "base/parallel.h"
#include "cpu/dense.h"
#include "cpu/scratch.h"
#include "trine/kernels.h"

namespace trine::cpu {

#define TRINE_GRID_KERNELS(T)          \
  TRINE_ISA_TABLE(line_taps_##T);      \
  TRINE_ISA_TABLE(join_taps_##T);      \
  TRINE_ISA_TABLE(gather_taps_##T);    \
  TRINE_ISA_TABLE(scatter_taps_##T);   \
  TRINE_ISA_TABLE(add_tap_products_##T); \
  TRINE_ISA_TABLE(slope_taps_##T)
TRINE_GRID_KERNELS(float);
TRINE_GRID_KERNELS(double);

namespace {

constexpr int64_t kBlock = kGridBlock;
constexpr int kMaxTaps = 16, kMaxLineTaps = 4;

// The kernel of this element type.
#define TRINE_GRID_CALL(NAME, ...) [&] { if constexpr (std::is_same_v<T, float>) NAME##_float(__VA_ARGS__); else NAME##_double(__VA_ARGS__); }()

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

// The taps of a block of places of one sample.
template <class T> class BlockTaps {
 public:
  BlockTaps(const Extents& e, int64_t mode, int64_t padding, bool align) : e_(e), how_{GridMode(mode), GridPadding(padding), align} {
    const int taps = how_.mode == GridMode::Nearest ? 1 : how_.mode == GridMode::Linear ? 2 : 4;
    for (int64_t d = 0; d < 3; ++d) {
      const int64_t start = d * kMaxLineTaps * kBlock;
      lines_[d] = {d < 3 - e.dims ? 1 : taps, e.in[d], index_.data() + start, weight_.data() + start, slope_.data() + start};
      count_ *= lines_[d].taps;
    }
    // An image has depth 1.
    std::fill_n(lines_[0].index, kBlock, 0);
    std::fill_n(lines_[0].weight, kBlock, T(1));
  }

  void find(const T* grid, int64_t count) {
    for (int64_t d = 3 - e_.dims; d < 3; ++d) TRINE_GRID_CALL(line_taps, grid + 2 - d, e_.dims, how_, lines_[d], count);  // the grid names x first
    TRINE_GRID_CALL(join_taps, lines_, offsets_.data(), weights_.data(), count);
  }
  bool has_slopes() const { return how_.mode != GridMode::Nearest; }
  void gather(const T* in, T* out, int64_t count) { TRINE_GRID_CALL(gather_taps, in, offsets_.data(), weights_.data(), count_, out, count); }
  void scatter(T* to, const T* grad, int64_t count) { TRINE_GRID_CALL(scatter_taps, to, offsets_.data(), weights_.data(), count_, grad, count); }
  void clear_products(int64_t count) { std::fill_n(sums_.data(), count_ * count, T(0)); }
  void add_products(const T* in, const T* grad, int64_t count) { TRINE_GRID_CALL(add_tap_products, in, offsets_.data(), count_, grad, sums_.data(), count); }
  void slopes(T* out, int64_t count) {
    for (int64_t d = 0; d < e_.dims; ++d) TRINE_GRID_CALL(slope_taps, lines_, static_cast<int>(2 - d), sums_.data(), out + d, e_.dims, count);
  }

 private:
  const Extents& e_;
  GridLine how_;
  int count_ = 1;
  LineTaps<T> lines_[3];
  Scratch<int32_t> index_{3 * kMaxLineTaps * kBlock}, offsets_{kMaxTaps * kBlock};
  Scratch<T> weight_{3 * kMaxLineTaps * kBlock}, slope_{3 * kMaxLineTaps * kBlock}, weights_{kMaxTaps * kBlock}, sums_{kMaxTaps * kBlock};
};

}  // namespace

void grid_sampler(Tensor& out, const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, bool align) {
  DenseOutput dense(out);
  const Tensor x = plain(input), places = plain(grid);
  const Extents e = extents(input, grid);
  if (out.numel() > 0)
    TRINE_DISPATCH_FLOAT(input.dtype(), "grid_sampler", {
      const int64_t blocks = (e.places + kBlock - 1) / kBlock;
      parallel_for(0, e.batch * blocks, 1, [&](int64_t begin, int64_t end) {
        BlockTaps<scalar_t> taps(e, mode, padding, align);
        for (int64_t job = begin; job < end; ++job) {
          const int64_t n = job / blocks, first = job % blocks * kBlock, count = std::min(kBlock, e.places - first);
          taps.find(places.data<scalar_t>() + (n * e.places + first) * e.dims, count);
          for (int64_t c = n * e.channels; c < (n + 1) * e.channels; ++c) taps.gather(x.data<scalar_t>() + c * e.plane(), dense.data<scalar_t>() + c * e.places + first, count);
        }
      });
    });
  dense.finish();
}

void grid_sampler_backward(Tensor& grad_input, Tensor& grad_grid, const Tensor& grad_output, const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, bool align) {
  DenseOutput to_input(grad_input), to_grid(grad_grid);
  const Tensor x = plain(input), places = plain(grid), g = plain(grad_output);
  const Extents e = extents(input, grid);
  zero_fill(to_input.tensor());
  zero_fill(to_grid.tensor());
  if (grad_output.numel() > 0)
    TRINE_DISPATCH_FLOAT(input.dtype(), "grid_sampler_backward", {
      parallel_for(0, e.batch, 1, [&](int64_t begin, int64_t end) {
        BlockTaps<scalar_t> taps(e, mode, padding, align);
        for (int64_t n = begin; n < end; ++n)
          for (int64_t first = 0; first < e.places; first += kBlock) {
            const int64_t count = std::min(kBlock, e.places - first), at = n * e.places + first;
            taps.find(places.data<scalar_t>() + at * e.dims, count);
            if (taps.has_slopes()) taps.clear_products(count);
            for (int64_t c = n * e.channels; c < (n + 1) * e.channels; ++c) {
              const scalar_t* from = g.data<scalar_t>() + c * e.places + first;
              taps.scatter(to_input.data<scalar_t>() + c * e.plane(), from, count);
              if (taps.has_slopes()) taps.add_products(x.data<scalar_t>() + c * e.plane(), from, count);
            }
            if (taps.has_slopes()) taps.slopes(to_grid.data<scalar_t>() + at * e.dims, count);
          }
      });
    });
  to_input.finish();
  to_grid.finish();
}

}  // namespace trine::cpu
