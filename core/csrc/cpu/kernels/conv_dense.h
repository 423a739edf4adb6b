// Dense convolution as a matrix product: weight [out, in * taps] times the input's patches, which are packed panel by panel and never
// exist as a whole. On NCHW tensors this reaches the speed of the plain product, without reordering anything.
#pragma once
#include "base/parallel.h"
#include "cpu/conv_direct.h"
#include "cpu/kernels/conv_band.h"
#include "cpu/scratch.h"

namespace trine::cpu {
namespace {

// A run of output columns whose inputs are neighbours: `length` elements from `offset` go to panel column `at`.
struct Piece {
  int32_t at, length;
  int64_t offset;
};

// What one block of columns reads: `source` plus the offset of the tap (depth_offset) plus the offset of the column (pieces).
template <class T> class PatchPacker {
 public:
  PatchPacker(const ConvShape& s, bool exact) : shape_(s), exact_(exact), tap_(s.group_in() * s.taps()) {}

  // Columns [0, count) are output pixels [first, first + count) of `slices` consecutive images; `plane` is the distance of the planes of
  // two (channel, depth tap) pairs, `slice` that of two images.
  void prepare(const T* source, const BandLayout& band, int64_t oh0, int64_t first, int64_t count, int64_t pixels, int64_t plane, int64_t slice) {
    source_ = source;
    const ConvShape& s = shape_;
    int64_t* tap = tap_.data();
    for (int64_t c = 0; c < s.group_in() * s.kernel[0]; ++c)
      for (int64_t kh = 0; kh < s.kernel[1]; ++kh)
        for (int64_t kw = 0; kw < s.kernel[2]; ++kw) *tap++ = c * plane + band.tap(s, kh, kw);
    int64_t used = 0;
    for (int64_t j = 0; j < count; j += kTileCols<T>) {
      begin_[j / kTileCols<T>] = static_cast<int32_t>(used);
      int64_t cols = std::min<int64_t>(kTileCols<T>, count - j);
      for (int64_t done = 0; done < cols;) {
        int64_t pixel = first + j + done, image = pixel / pixels, inside = pixel % pixels;
        int64_t oh = inside / s.out[2], ow = inside % s.out[2];
        int64_t limit = exact_ ? pixels - inside : s.out[2] - ow;  // without a band, rows follow each other
        int64_t run = std::min({cols - done, limit, static_cast<int64_t>(kLanes<T>)});
        int64_t offset = image * slice + (exact_ ? inside : (oh - oh0) * s.stride[1] * band.row_pitch + ow);
        piece_[used++] = {static_cast<int32_t>(done), static_cast<int32_t>(run), offset};
        done += run;
      }
    }
    begin_[(count + kTileCols<T> - 1) / kTileCols<T>] = static_cast<int32_t>(used);
  }

  Panel<T> operator()(T* to, int64_t k0, int64_t kc, int64_t col, int64_t, int64_t width) const {
    const Piece* first = piece_ + begin_[col / kTileCols<T>];
    const Piece* last = piece_ + begin_[col / kTileCols<T> + 1];
    T* row = to;
    if (exact_) {
      // Reading the input itself: a whole vector could reach past its end.
      for (int64_t p = 0; p < kc; ++p, row += width) {
        const T* from = source_ + tap_[k0 + p];
        for (const Piece* piece = first; piece < last; ++piece) {
          if (piece->length == kLanes<T>) store(row + piece->at, load(from + piece->offset));
          else for (int32_t i = 0; i < piece->length; ++i) row[piece->at + i] = from[piece->offset + i];
        }
      }
    } else {
      // Whole vectors always: what spills over belongs to the next piece, which is written after.
      for (int64_t p = 0; p < kc; ++p, row += width) {
        const T* from = source_ + tap_[k0 + p];
        for (const Piece* piece = first; piece < last; ++piece) store(row + piece->at, load(from + piece->offset));
      }
    }
    return {to, width};
  }

 private:
  const ConvShape& shape_;
  bool exact_;
  const T* source_ = nullptr;
  Scratch<int64_t> tap_;
  int32_t begin_[kBlockN / kTileCols<T> + 2];
  Piece piece_[kBlockN + 1];
};

template <class T> struct DenseConv {
  const ConvArguments<T>& args;
  const ConvShape& s;
  int64_t group, part, parts;
  RowPanels rows;
  T* buffer;
  PatchPacker<T>& packer;

  // Output pixels [j0, j1), counted from image `image` and depth `od` on.
  void block(int64_t image, int64_t od, int64_t j0, int64_t j1) {
    int64_t k = s.group_in() * s.taps(), pixels = s.out[1] * s.out[2];
    Target<T> target{args.output + (image * s.out_channels + group * s.group_out()) * s.out_plane() + od * pixels, s.out_plane(), pixels, s.out_channels * s.out_plane()};
    target.row_bias = args.bias ? args.bias + group * s.group_out() : nullptr;
    Epilogue<T> epilogue{};
    if (args.epilogue) {
      epilogue = *args.epilogue;
      epilogue.scale += group * s.group_out(), epilogue.shift += group * s.group_out();
      if (epilogue.residual) epilogue.residual += target.data - args.output;
      target.epilogue = &epilogue;
    }
    // Columns count from the block's first pixel inside the packer, from the image's first one in the target.
    auto panel = [&](T* to, int64_t k0, int64_t kc, int64_t col, int64_t cols, int64_t width) { return packer(to, k0, kc, col - j0, cols, width); };
    block_product<T>(rows, rows.count * part / parts, rows.count * (part + 1) / parts, j0, j1, k, args.weight + group * s.group_out() * k, k, 1, panel, target, buffer);
  }

  const T* input(int64_t image) const { return args.input + (image * s.in_channels + group * s.group_in()) * s.in_plane(); }
};

// The plane of the input that output depth `od` and depth tap `kd` meet, or nullptr in the padding.
template <class T> const T* depth_plane(const ConvShape& s, const T* channel, int64_t od, int64_t kd) {
  int64_t d = od * s.stride[0] - s.padding[0] + kd * s.dilation[0];
  return d < 0 || d >= s.in[0] ? nullptr : channel + d * s.in[1] * s.in[2];
}

template <class T> void fill_bands(T* dst, const ConvShape& s, const BandLayout& band, const T* image, int64_t od) {
  for (int64_t c = 0; c < s.group_in(); ++c)
    for (int64_t kd = 0; kd < s.kernel[0]; ++kd, dst += band.plane) fill_band(dst, depth_plane(s, image + c * s.in_plane(), od, kd), s, band);
}

template <class T> void dense_conv(const ConvArguments<T>& args) {
  const ConvShape& s = args.shape;
  const bool exact = s.pointwise();
  const int64_t pixels = s.out[1] * s.out[2], planes = s.group_in() * s.kernel[0];
  // Small images share a block of columns; a large one is cut into bands of rows.
  const bool small = pixels * 2 <= kBlockN && s.out[0] == 1;
  const int64_t images_per_block = small ? kBlockN / pixels : 1;
  const int64_t rows_per_block = small ? s.out[1] : std::max<int64_t>(1, kBlockN / s.out[2]);
  const int64_t bands = (s.out[1] + rows_per_block - 1) / rows_per_block;
  const int64_t image_blocks = (s.batch + images_per_block - 1) / images_per_block;
  const int64_t blocks = s.groups * image_blocks * s.out[0] * bands;
  RowPanels rows(s.group_out());
  int64_t work = s.batch * s.out_channels * s.out_plane() * s.group_in() * s.taps();
  int64_t threads = work < (1 << 18) ? 1 : num_threads();
  int64_t parts = std::clamp<int64_t>((threads + blocks - 1) / blocks, 1, rows.count);
  parallel_for(0, blocks * parts, threads == 1 ? blocks * parts : 1, [&](int64_t begin, int64_t end) {
    Scratch<T> buffer(kPanelBuffer<T>);
    PatchPacker<T> packer(s, exact);
    BandLayout widest(s, 0, rows_per_block);
    Scratch<T> band_memory(exact ? 0 : images_per_block * planes * widest.plane + kPanelSlack);
    for (int64_t u = begin; u < end; ++u) {
      int64_t part = u % parts, at = u / parts;
      int64_t b = at % bands;
      at /= bands;
      int64_t od = at % s.out[0];
      at /= s.out[0];
      int64_t image = at % image_blocks * images_per_block, group = at / image_blocks;
      int64_t images = std::min(images_per_block, s.batch - image);
      int64_t oh0 = b * rows_per_block, oh1 = std::min(s.out[1], oh0 + rows_per_block);
      DenseConv<T> conv{args, s, group, part, parts, rows, buffer.data(), packer};
      BandLayout band(s, oh0, oh1);
      const T* source = conv.input(image) + (exact ? od * pixels : 0);
      int64_t plane = s.in_plane(), slice = s.in_channels * s.in_plane();
      if (!exact) {
        for (int64_t i = 0; i < images; ++i) fill_bands(band_memory.data() + i * planes * band.plane, s, band, conv.input(image + i), od);
        source = band_memory.data();
        plane = band.plane;
        slice = planes * band.plane;
      }
      int64_t first = small ? 0 : oh0 * s.out[2], last = small ? images * pixels : oh1 * s.out[2];
      for (int64_t j0 = first; j0 < last; j0 += kBlockN) {
        int64_t j1 = std::min(last, j0 + kBlockN);
        packer.prepare(source, band, oh0, j0, j1 - j0, pixels, plane, slice);
        conv.block(image, od, j0, j1);
      }
    }
  });
}

}  // namespace
}  // namespace trine::cpu
