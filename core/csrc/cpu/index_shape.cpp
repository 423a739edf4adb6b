// Flips, triangles and counted repetition.
#include <cstring>

#include "base/parallel.h"
#include "cpu/index_common.h"
#include "cpu/index_rows.h"
#include "cpu/rows.h"
#include "trine/kernels.h"

namespace trine::cpu {
namespace {

void triangle(const Tensor& out, const Tensor& self, int64_t diagonal, bool lower) {
  if (out.numel() == 0) return;
  DenseOutput dense(out);
  int64_t rows = self.size(-2), cols = self.size(-1), stride = self.stride(-1);
  Lines from(self, self.dim() - 1);
  with_size(self.itemsize(), [&]<class T>(T) {
    const T* x = self.data<T>();
    T* o = dense.data<T>();
    for_lines(from, [&](int64_t b, int64_t e) {
      for (int64_t line = b; line < e; line++) {
        int64_t edge = std::clamp<int64_t>(line % rows + diagonal + (lower ? 1 : 0), 0, cols);
        int64_t first = lower ? 0 : edge, last = lower ? edge : cols;
        const T* row = x + from.offset(line);
        T* to = o + line * cols;
        std::memset(to, 0, static_cast<size_t>(first) * sizeof(T));
        for (int64_t c = first; c < last; c++) to[c] = row[c * stride];
        std::memset(to + last, 0, static_cast<size_t>(cols - last) * sizeof(T));
      }
    });
  });
  dense.finish();
}

}  // namespace

void tril(Tensor& out, const Tensor& self, int64_t diagonal) { triangle(out, self, diagonal, true); }
void triu(Tensor& out, const Tensor& self, int64_t diagonal) { triangle(out, self, diagonal, false); }

void flip(Tensor& out, const Tensor& self, DimsRef dims) {
  if (out.numel() == 0) return;
  if (self.dim() == 0) return convert_copy(out, self);
  Dims reversed(self.dim(), 0);
  for (int64_t d : dims) reversed[wrap_dim(d, self.dim())] = 1;
  int64_t last = self.dim() - 1;
  // Lines along the last dimension go to lines whose other positions are mirrored.
  Dims sizes(self.sizes());
  Lines from(self, last);
  Tensor target = out;
  int64_t base = 0;
  Dims strides(out.strides());
  for (int64_t d = 0; d < last; d++)
    if (reversed[d]) {
      base += (sizes[d] - 1) * strides[d];
      strides[d] = -strides[d];
    }
  with_size(self.itemsize(), [&]<class T>(T) {
    const T* x = self.data<T>();
    T* o = out.data<T>() + base;
    int64_t in_stride = self.strides()[last], out_stride = out.strides()[last], n = sizes[last];
    for_lines(from, [&](int64_t b, int64_t e) {
      for (int64_t line = b; line < e; line++) {
        int64_t at = 0, rest = line;
        for (int64_t d = last; d-- > 0 && rest;) {
          at += rest % sizes[d] * strides[d];
          rest /= sizes[d];
        }
        const T* p = x + from.offset(line);
        T* to = o + at;
        if (!reversed[last] && in_stride == 1 && out_stride == 1) {
          std::memcpy(to, p, static_cast<size_t>(n) * sizeof(T));
        } else if (in_stride == 1 && out_stride == 1) {
          reverse_row(to, p, n, static_cast<int>(sizeof(T)));
        } else if (reversed[last]) {
          for (int64_t i = 0; i < n; i++) to[(n - 1 - i) * out_stride] = p[i * in_stride];
        } else {
          for (int64_t i = 0; i < n; i++) to[i * out_stride] = p[i * in_stride];
        }
      }
    });
  });
}

Tensor repeat_counts(const Tensor& repeats, std::optional<int64_t> output_size) {
  TRINE_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat, got shape ", repeats.sizes());
  TRINE_CHECK(repeats.dtype() == DType::Int64 || repeats.dtype() == DType::Int32, "repeats has to be Long or Int tensor, got ", name(repeats.dtype()));
  Tensor counts = converted(repeats, DType::Int64);
  const int64_t* c = counts.data<int64_t>();
  int64_t total = 0;
  for (int64_t i = 0; i < counts.numel(); i++) {
    TRINE_CHECK(c[i] >= 0, "repeats can not be negative, got ", c[i]);
    total += c[i];
  }
  TRINE_CHECK(!output_size || *output_size == total, "repeat_interleave: allocated size ", output_size.value_or(0), " does not match required size ", total);
  Tensor out = empty(Dims{total}, DType::Int64);
  int64_t* o = out.data<int64_t>();
  for (int64_t i = 0; i < counts.numel(); i++) o = std::fill_n(o, c[i], i);
  return out;
}

}  // namespace trine::cpu
