// Padding with the tensor's own values: by reflection, by repeating the edge and around the circle.
#include <cstring>
#include <vector>

#include "base/parallel.h"
#include "cpu/dense.h"
#include "cpu/index_common.h"
#include "cpu/index_rows.h"
#include "rules/join.h"
#include "trine/kernels.h"

namespace trine::cpu {
namespace {

// Where every place of a padded dimension comes from. The places [first, first + length) are the middle, whose sources follow each other.
struct PaddedDim {
  std::vector<int64_t> source;
  int64_t size, first = 0, length = 0;

  PaddedDim(int64_t n, int64_t before, int64_t after, std::string_view mode) : source(static_cast<size_t>(n + before + after)), size(n) {
    const int64_t start = std::max<int64_t>(0, -before), left = n - start - std::max<int64_t>(0, -after);  // what cropping leaves
    for (size_t k = 0; k < source.size(); k++) {
      int64_t at = static_cast<int64_t>(k) - before;
      if (mode == "reflect") at = (n - 1) - std::abs((n - 1) - std::abs(at));
      else if (mode == "replicate") at = std::clamp<int64_t>(at, 0, n - 1);
      else at = start + ((at - start) % left + left) % left;
      source[k] = at;
    }
    if (left > 0) first = std::max<int64_t>(0, before), length = left;
  }
  int64_t padded() const { return static_cast<int64_t>(source.size()); }
};

// The last three dimensions, innermost first; those that are not padded or do not exist stay as they are.
struct Padding {
  std::vector<PaddedDim> dims;
  int64_t outer = 1;  // what is before them

  Padding(DimsRef sizes, DimsRef pad, std::string_view mode) {
    for (size_t d = 0; d < 3; d++) {
      const bool there = d < sizes.size(), padded = there && 2 * d < pad.size();
      dims.emplace_back(there ? sizes[sizes.size() - 1 - d] : 1, padded ? pad[2 * d] : 0, padded ? pad[2 * d + 1] : 0, mode);
    }
    for (size_t d = 0; d + 3 < sizes.size(); d++) outer *= sizes[d];
  }
  // f(number of a padded row, number of the row it comes from) for the volumes [begin, end).
  template <class F> void rows(int64_t begin, int64_t end, const F& f) const {
    for (int64_t o = begin, row = begin * dims[2].padded() * dims[1].padded(); o < end; o++)
      for (int64_t z : dims[2].source)
        for (int64_t y : dims[1].source) f(row++, (o * dims[2].size + z) * dims[1].size + y);
  }
  template <class F> void volumes(const F& f) const {
    const int64_t elements = dims[0].padded() * dims[1].padded() * dims[2].padded();
    parallel_for(0, outer, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, elements)), f);
  }
};

}  // namespace

void pad_inside(Tensor& out, const Tensor& self, DimsRef pad, std::string_view mode) {
  if (out.numel() == 0) return;
  const Padding p(self.sizes(), pad, mode);
  const PaddedDim& line = p.dims[0];
  Tensor from = plain(self);
  DenseOutput dense(out);
  with_size(self.itemsize(), [&]<class T>(T) {
    const T* x = from.data<T>();
    T* y = dense.data<T>();
    p.volumes([&](int64_t begin, int64_t end) {
      p.rows(begin, end, [&](int64_t row, int64_t source) {
        T* to = y + row * line.padded();
        const T* in = x + source * line.size;
        for (int64_t k = 0; k < line.first; k++) to[k] = in[line.source[k]];
        if (line.length) std::memcpy(to + line.first, in + line.source[line.first], static_cast<size_t>(line.length) * sizeof(T));
        for (int64_t k = line.first + line.length; k < line.padded(); k++) to[k] = in[line.source[k]];
      });
    });
  });
  dense.finish();
}

void pad_inside_backward(Tensor& out, const Tensor& grad, DimsRef, DimsRef pad, std::string_view mode) {
  trine::zero_(out);
  if (grad.numel() == 0) return;
  const Padding p(out.sizes(), pad, mode);
  const PaddedDim& line = p.dims[0];
  const DType type = compute_type(out.dtype());
  Tensor from = converted(grad, type);
  DenseOutput dense(out, type);
  if (!dense.tensor().is_same(out)) trine::zero_(dense.tensor());
  TRINE_DISPATCH_FLOAT_COMPLEX(type, "pad_inside_backward", {
    using R = decltype(std::real(scalar_t{}));
    constexpr int64_t parts = sizeof(scalar_t) / sizeof(R);
    const scalar_t* g = from.data<scalar_t>();
    scalar_t* x = dense.data<scalar_t>();
    p.volumes([&](int64_t begin, int64_t end) {
      p.rows(begin, end, [&](int64_t row, int64_t source) {
        const scalar_t* in = g + row * line.padded();
        scalar_t* to = x + source * line.size;
        for (int64_t k = 0; k < line.first; k++) to[line.source[k]] += in[k];
        if (line.length) add_row(reinterpret_cast<R*>(to + line.source[line.first]), reinterpret_cast<const R*>(in + line.first), R(1), line.length * parts);
        for (int64_t k = line.first + line.length; k < line.padded(); k++) to[line.source[k]] += in[k];
      });
    });
  });
  dense.finish();
}

}  // namespace trine::cpu
