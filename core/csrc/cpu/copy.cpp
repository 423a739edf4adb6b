// Copies, fills and counting.
#include <cstring>

#include "base/parallel.h"
#include "cpu/convert.h"
#include "cpu/pointwise.h"
#include "cpu/transpose.h"
#include "trine/kernels.h"

namespace trine::cpu {

TRINE_ISA_TABLE(transpose_tile_u32);

namespace {

constexpr int64_t kTile = 64;  // square tiles: both sides touch whole cache lines, and a tile stays in the first-level cache

template <class T> void transpose_tile(T* out, int64_t out_stride, const T* in, int64_t in_stride, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < cols; c++) out[r * out_stride + c] = in[c * in_stride + r];
}
template <> void transpose_tile<uint32_t>(uint32_t* out, int64_t out_stride, const uint32_t* in, int64_t in_stride, int64_t rows, int64_t cols) {
  transpose_tile_u32(out, out_stride, in, in_stride, rows, cols);
}

// out[i][j] = in[j][i] by tiles.
template <class T> void transpose_tiles(T* out, int64_t out_stride, const T* in, int64_t in_stride, int64_t rows, int64_t cols) {
  int64_t row_tiles = (rows + kTile - 1) / kTile;
  parallel_for(0, row_tiles, std::max<int64_t>(1, 65536 / std::max<int64_t>(1, kTile * cols)), [&](int64_t tb, int64_t te) {
    for (int64_t t = tb; t < te; t++)
      for (int64_t c = 0; c < cols; c += kTile)
        transpose_tile(out + t * kTile * out_stride + c, out_stride, in + c * in_stride + t * kTile, in_stride, std::min(kTile, rows - t * kTile), std::min(kTile, cols - c));
  });
}

struct B16 {
  uint64_t a, b;
};

// Same dtype, and the two innermost axes of the two tensors are swapped: what transpose().contiguous() needs.
bool copy_transposed(const Tensor& dst, const Tensor& src) {
  if (dst.dtype() != src.dtype() || dst.dim() < 2 || !equal(dst.sizes(), src.sizes()) || dst.numel() < 1024) return false;
  int64_t n = dst.dim(), inner_dst = -1, inner_src = -1;
  for (int64_t d = 0; d < n; d++) {
    if (dst.sizes()[d] == 1) continue;
    if (dst.strides()[d] == 1) inner_dst = d;
    if (src.strides()[d] == 1) inner_src = d;
  }
  if (inner_dst < 0 || inner_src < 0 || inner_dst == inner_src || dst.sizes()[inner_dst] < 8 || dst.sizes()[inner_src] < 8) return false;
  int64_t rows = dst.sizes()[inner_src], cols = dst.sizes()[inner_dst];
  int64_t out_stride = dst.strides()[inner_src], in_stride = src.strides()[inner_dst];
  Dims outer, out_strides, in_strides;
  for (int64_t d = 0; d < n; d++)
    if (d != inner_dst && d != inner_src) {
      outer.push_back(dst.sizes()[d]);
      out_strides.push_back(dst.strides()[d]);
      in_strides.push_back(src.strides()[d]);
    }
  int64_t batches = product(outer);
  auto run = [&]<class T>(T) {
    auto one = [&](int64_t b) {
      T* o = static_cast<T*>(dst.data());
      const T* i = static_cast<const T*>(src.data());
      for (size_t d = outer.size(); d-- > 0;) {
        o += b % outer[d] * out_strides[d];
        i += b % outer[d] * in_strides[d];
        b /= outer[d];
      }
      transpose_tiles(o, out_stride, i, in_stride, rows, cols);
    };
    if (batches > 1)
      parallel_for(0, batches, std::max<int64_t>(1, 65536 / (rows * cols)), [&](int64_t b, int64_t e) {
        for (; b < e; b++) one(b);
      });
    else
      one(0);
  };
  switch (dst.itemsize()) {
    case 1: run(uint8_t{}); break;
    case 2: run(uint16_t{}); break;
    case 4: run(uint32_t{}); break;
    case 8: run(uint64_t{}); break;
    default: run(B16{}); break;
  }
  return true;
}

// Between lazy views: what lies in the memory of one becomes what shall lie in the other's.
void copy_lazy(const Tensor& self, const Tensor& src) {
  const bool conjugate = self.is_complex() && src.is_complex() && self.is_conj() != src.is_conj(), negate = self.is_neg() != src.is_neg();
  Tensor to = with_lazy_keys(self, KeySet()), from = with_lazy_keys(src, KeySet());
  to.impl()->no_version = true;  // the write is counted by who asked for it
  if (conjugate != negate && self.dtype() == src.dtype() && equal(self.sizes(), src.sizes()) && !may_overlap(self, src)) {
    conjugate ? conj_physical_out(to, from) : neg_out(to, from);
    return;
  }
  if (conjugate) from = conj_physical(from);
  if (negate) from = neg(from);
  cpu::copy_(to, from, false);
}

}  // namespace

void copy_(const Tensor& self, const Tensor& src, bool) {
  broadcast_check("copy_", self.sizes(), src.sizes());
  TRINE_CHECK(!src.is_meta(), "copy_: cannot copy out of a meta tensor; it has no values");
  TRINE_CHECK(src.is_cpu(), "copy_: there is no copy from ", src.device(), " to ", self.device());
  TRINE_CHECK(!has_internal_overlap(self), "copy_: unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation.");
  if (self.numel() == 0 || self.is_same(src)) return;
  if (self.is_lazy() || src.is_lazy()) return copy_lazy(self, src);
  if (may_overlap(self, src)) {
    if (self.dtype() == src.dtype() && self.offset() == src.offset() && equal(self.strides(), src.strides()) && equal(self.sizes(), src.sizes())) return;
    Tensor copy = empty(src.sizes(), src.dtype());
    convert_copy(copy, src);
    convert_copy(self, copy);
    return;
  }
  if (copy_transposed(self, src)) return;
  convert_copy(self, src);
}

void clone(Tensor& out, const Tensor& self, std::optional<MemoryFormat>) { cpu::copy_(out, self, false); }
void cast(Tensor& out, const Tensor& self, DType, MemoryFormat) { cpu::copy_(out, self, false); }

void fill_(const Tensor& self, const Scalar& value) {
  if (self.numel() == 0) return;
  TRINE_CHECK(!value.is_complex() || self.is_complex() || value.to_complex().imag() == 0, "value cannot be converted to type ", self.dtype(), " without overflow");
  char element[16];
  TRINE_DISPATCH_ALL(self.dtype(), "fill_", {
    scalar_t v = value.to<scalar_t>();
    std::memcpy(element, &v, sizeof v);
  });
  int size = self.itemsize();
  if (self.is_non_overlapping_and_dense()) {
    char* p = static_cast<char*>(self.data());
    bool zero = true;
    for (int i = 0; i < size; i++) zero &= element[i] == 0;
    parallel_for(0, self.numel(), 64 * 1024, [&](int64_t b, int64_t e) {
      if (zero)
        std::memset(p + b * size, 0, static_cast<size_t>(e - b) * size);
      else
        gather(p + b * size, element, 0, e - b, size);
    });
    return;
  }
  Tensor one = scalar_tensor(value, self.dtype());
  convert_copy(self, one);
}

namespace {
template <class T> void fill_arange(T* p, int64_t n, const Scalar& start, const Scalar& step) {
  if constexpr (std::is_integral_v<T>) {
    int64_t a = start.to_int(), s = step.to_int();
    for (int64_t i = 0; i < n; i++) p[i] = static_cast<T>(a + i * s);
  } else {
    using acc = std::conditional_t<std::is_same_v<T, double>, double, float>;
    double a = start.to_double(), s = step.to_double();
    parallel_for(0, n, 32768, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) p[i] = T(static_cast<acc>(a + s * static_cast<double>(i)));
    });
  }
}
}  // namespace

void arange_(const Tensor& self, const Scalar& start, const Scalar& step) {
  Tensor out = self.is_contiguous() ? self : empty(self.sizes(), self.dtype());
  TRINE_DISPATCH_REAL(out.dtype(), "arange", fill_arange(out.data<scalar_t>(), out.numel(), start, step));
  if (!self.is_contiguous()) cpu::copy_(self, out, false);
}

namespace {

template <class T> struct LinspaceTypes {
  using step = std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, double>, double, float>;
  using count = step;
};
template <class R> struct LinspaceTypes<std::complex<R>> {
  using step = std::complex<R>;
  using count = R;
};

// Counted from the nearer end, so that both ends are exact.
template <class T> void fill_linspace(T* p, int64_t n, const Scalar& start, const Scalar& end) {
  using acc = typename LinspaceTypes<T>::step;
  using count = typename LinspaceTypes<T>::count;
  acc a = start.to<acc>(), z = end.to<acc>();
  acc step = n > 1 ? (z - a) / static_cast<count>(n - 1) : acc(0);
  for (int64_t i = 0; i < n; i++) p[i] = static_cast<T>(i < n / 2 || n == 1 ? a + step * static_cast<count>(i) : z - step * static_cast<count>(n - 1 - i));
}

}  // namespace

void linspace_(const Tensor& self, const Scalar& start, const Scalar& end) {
  Tensor out = self.is_contiguous() ? self : empty(self.sizes(), self.dtype());
  TRINE_DISPATCH_ALL(out.dtype(), "linspace", fill_linspace(out.data<scalar_t>(), out.numel(), start, end));
  if (!self.is_contiguous()) cpu::copy_(self, out, false);
}

}  // namespace trine::cpu
