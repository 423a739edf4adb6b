// Walking the lines of tensors along one dimension: what scans, sorting and gathering have in common.
#pragma once
#include "base/parallel.h"
#include "tensor/tensor.h"

namespace trine::cpu {

// The lines of a tensor along `dim`, in logical order: line i starts at offset(i) and has `size` elements `stride` apart. A 0-dim tensor
// is one line of one element. Other tensors of the same shape (but for `dim`) are walked by lines of the same number.
class Lines {
 public:
  Lines(const Tensor& t, int64_t dim) {
    for (int64_t d = 0; d < t.dim(); d++) {
      if (d == dim) {
        size = t.sizes()[d];
        stride = t.strides()[d];
      } else {
        sizes_.push_back(t.sizes()[d]);
        strides_.push_back(t.strides()[d]);
        count *= t.sizes()[d];
      }
    }
    if (t.numel() == 0 && size != 0) count = 0;
  }
  int64_t offset(int64_t line) const {
    int64_t at = 0;
    for (size_t d = sizes_.size(); d-- > 0 && line;) {
      at += line % sizes_[d] * strides_[d];
      line /= sizes_[d];
    }
    return at;
  }
  // Neighbouring lines that lie side by side: the innermost other dimension.
  int64_t inner_size() const { return sizes_.empty() ? 1 : sizes_.back(); }
  int64_t inner_stride() const { return sizes_.empty() ? 1 : strides_.back(); }

  int64_t size = 1, stride = 1, count = 1;

 private:
  Dims sizes_, strides_;
};

// f(first, last) over ranges of lines; a thread gets at least 32768 elements.
template <class F> void for_lines(const Lines& lines, F&& f) {
  parallel_for(0, lines.count, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, lines.size)), std::forward<F>(f));
}

}  // namespace trine::cpu
