// Joining and padding.
#include <cstring>

#include "base/parallel.h"
#include "cpu/dense.h"
#include "cpu/stream.h"
#include "rules/join.h"
#include "trine/kernels.h"

namespace trine::cpu {
namespace {

// The part of `t` from `start` along `dim`, `length` long.
Tensor part_of(const Tensor& t, int64_t dim, int64_t start, int64_t length) {
  Dims sizes(t.sizes());
  sizes[dim] = length;
  return make_view(t, sizes, t.strides(), t.offset() + start * t.strides()[dim]);
}

// One block after the other: [outer] times [size along dim][inner] of each tensor.
void cat_blocks(const Tensor& out, TensorList tensors, int64_t dim) {
  int64_t outer = 1, inner = out.itemsize();
  for (int64_t d = 0; d < out.dim(); d++) {
    if (d < dim) outer *= out.sizes()[d];
    if (d > dim) inner *= out.sizes()[d];
  }
  const int64_t row = out.sizes()[dim] * inner;
  char* to = static_cast<char*>(out.data());
  constexpr int64_t kPiece = 256 * 1024;  // bytes
  int64_t at = 0;
  for (const Tensor& t : tensors) {
    if (t.numel() == 0) continue;
    const char* from = static_cast<const char*>(t.data());
    const int64_t block = t.sizes()[dim] * inner;
    const bool stream = outer * row >= kStreamBytes && block >= 4096;
    const int64_t pieces = (block + kPiece - 1) / kPiece;
    parallel_for(0, outer * pieces, std::max<int64_t>(1, kPiece / std::min(block, kPiece)), [&](int64_t b, int64_t e) {
      for (int64_t unit = b; unit < e; unit++) {
        int64_t o = unit / pieces, first = unit % pieces * kPiece, n = std::min(kPiece, block - first);
        char* target = to + o * row + at + first;
        if (stream) stream_copy(target, from + o * block + first, static_cast<size_t>(n));
        else std::memcpy(target, from + o * block + first, static_cast<size_t>(n));
      }
      if (stream) stream_fence();
    });
    at += block;
  }
}

}  // namespace

void cat(Tensor& out, TensorList tensors, int64_t dim) {
  if (out.numel() == 0) return;
  int64_t d = wrap_dim(dim, out.dim());
  bool plain = out.is_contiguous();
  for (const Tensor& t : tensors) plain = plain && t.dtype() == out.dtype() && t.is_contiguous();
  if (plain) return cat_blocks(out, tensors, d);
  int64_t at = 0;
  for (const Tensor& t : tensors) {
    if (t.numel() == 0) {
      if (!rules::is_skipped(t)) at += t.sizes()[d];
      continue;
    }
    convert_copy(part_of(out, d, at, t.sizes()[d]), t);
    at += t.sizes()[d];
  }
}

void constant_pad_nd(Tensor& out, const Tensor& self, DimsRef pad, const Scalar& value) {
  if (out.numel() == 0) return;
  Tensor to = out, from = self;
  bool margin = false;
  for (size_t i = 0; i < pad.size() / 2; i++) {
    int64_t d = self.dim() - 1 - static_cast<int64_t>(i), before = pad[2 * i], after = pad[2 * i + 1];
    margin |= before > 0 || after > 0;
    int64_t cut = std::max<int64_t>(0, -before), length = self.sizes()[d] - cut - std::max<int64_t>(0, -after);
    if (length <= 0) {
      trine::fill_(out, value);
      return;
    }
    from = part_of(from, d, cut, length);
    to = part_of(to, d, std::max<int64_t>(0, before), length);
  }
  if (margin) trine::fill_(out, value);
  if (from.numel() > 0) convert_copy(to, from);
}

}  // namespace trine::cpu
