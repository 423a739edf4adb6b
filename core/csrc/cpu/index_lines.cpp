// gather and scatter: positions along one dimension, one for every element of an index tensor. Lines along the dimension are independent
// of each other, inside a line the order is that of the index.
#include "cpu/index_common.h"
#include "cpu/rows.h"
#include "trine/kernels.h"

namespace trine::cpu {
namespace {

// The corner of t that an index of these sizes refers to, whole along dim.
Tensor corner(const Tensor& t, int64_t dim, DimsRef index_sizes) {
  Dims sizes(t.sizes());
  for (int64_t d = 0; d < t.dim() && d < static_cast<int64_t>(index_sizes.size()); d++)
    if (d != dim) sizes[d] = index_sizes[d];
  return make_view(t, sizes, t.strides(), t.offset());
}

void check_all(const char* op, const int64_t* index, int64_t n, int64_t size, int64_t dim) {
  uint64_t outside = 0;
  for (int64_t k = 0; k < n; k++) outside |= static_cast<uint64_t>(index[k]) >= static_cast<uint64_t>(size);
  if (outside)
    for (int64_t k = 0; k < n; k++) strict_index(op, index[k], size, dim);
}

// f(position in self, number of the index element in its line, position of that element in source) for every element of index.
template <class F> void for_elements(const char* op, const Tensor& self, int64_t dim, const Tensor& given_index, const Tensor& source, F&& f) {
  Tensor index = given_index.dtype() == DType::Int64 ? given_index : converted(given_index, DType::Int64);
  int64_t d = wrap_dim(dim, self.dim());
  Lines places(index, d), targets(corner(self, d, index.sizes()), d), sources(source.defined() ? corner(source, d, index.sizes()) : index, d);
  const int64_t* i = index.data<int64_t>();
  int64_t size = self.dim() == 0 ? 1 : self.sizes()[d];
  // Side by side lines are walked together where that follows the memory.
  const bool shared = places.inner_stride() == 0 && places.inner_size() > 1 && targets.inner_stride() == 1 && sources.inner_stride() == 1;  // an expanded index
  int64_t block = 1;
  if (shared) block = std::min<int64_t>(places.inner_size(), 1024);
  else if (places.stride != 1 && places.inner_stride() == 1) block = std::min<int64_t>(places.inner_size(), 64);
  int64_t blocks_per_row = (places.inner_size() + block - 1) / block, blocks = places.count / places.inner_size() * blocks_per_row;
  parallel_for(0, blocks, std::max<int64_t>(1, 16384 / (block * places.size)), [&](int64_t b, int64_t e) {
    for (int64_t unit = b; unit < e; unit++) {
      int64_t first = unit % blocks_per_row * block, side = std::min(block, places.inner_size() - first);
      int64_t line = unit / blocks_per_row * places.inner_size() + first;
      int64_t pi = places.offset(line), pt = targets.offset(line), ps = sources.offset(line);
      if (block == 1) {
        const int64_t *p = i + pi, ts = targets.stride, ss = sources.stride, n = places.size;
        if (places.stride == 1) {
          check_all(op, p, n, size, d);
          if (ts == 1 && ss == 1)
            for (int64_t k = 0; k < n; k++) f(pt + p[k], ps + k);
          else
            for (int64_t k = 0; k < n; k++) f(pt + p[k] * ts, ps + k * ss);
        } else {
          for (int64_t k = 0; k < n; k++) f(pt + strict_index(op, p[k * places.stride], size, d) * ts, ps + k * ss);
        }
        continue;
      }
      const int64_t ts = targets.stride, ti = targets.inner_stride(), si = sources.inner_stride();
      for (int64_t k = 0; k < places.size; k++) {
        const int64_t *p = i + pi + k * places.stride, from = ps + k * sources.stride;
        if (shared) {
          const int64_t to = pt + strict_index(op, *p, size, d) * ts;
          for (int64_t l = 0; l < side; l++) f(to + l, from + l);
          continue;
        }
        check_all(op, p, side, size, d);
        for (int64_t l = 0; l < side; l++) f(pt + l * ti + p[l] * ts, from + l * si);
      }
    }
  });
}

template <class Combine> void scatter_with(const char* op, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, Combine combine) {
  if (index.numel() == 0) return;
  TRINE_DISPATCH_ALL(self.dtype(), op, {
    scalar_t* x = self.data<scalar_t>();
    const scalar_t* s = src.data<scalar_t>();
    for_elements(op, self, dim, index, src, [&](int64_t to, int64_t from) { combine(x[to], s[from]); });
  });
}

}  // namespace

void gather(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, bool) {
  if (index.numel() == 0) return;
  with_size(self.itemsize(), [&]<class T>(T) {
    const T* x = self.data<T>();
    T* o = out.data<T>();
    for_elements("gather", self, dim, index, out, [&](int64_t from, int64_t to) { o[to] = x[from]; });
  });
}

void scatter_src_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  if (index.numel() == 0) return;
  with_size(self.itemsize(), [&]<class T>(T) {
    T* x = self.data<T>();
    const T* s = src.data<T>();
    for_elements("scatter", self, dim, index, src, [&](int64_t to, int64_t from) { x[to] = s[from]; });
  });
}

void scatter_value_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  if (index.numel() == 0) return;
  TRINE_DISPATCH_ALL(self.dtype(), "scatter", {
    scalar_t* x = self.data<scalar_t>();
    const scalar_t v = value.to<scalar_t>();
    for_elements("scatter", self, dim, index, Tensor(), [&](int64_t to, int64_t) { x[to] = v; });
  });
}

void scatter_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  scatter_with("scatter_add", self, dim, index, src, [](auto& a, auto b) { accumulate_one(a, b); });
}

void scatter_combine_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce) {
  TRINE_CHECK(reduce == "add" || reduce == "multiply", "scatter(): reduce argument must be either add or multiply, got ", reduce);
  if (reduce == "add") return cpu::scatter_add_(self, dim, index, src);
  scatter_with("scatter", self, dim, index, src, [](auto& a, auto b) { multiply_one(a, b); });
}

void scatter_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce, bool include_self) {
  const char* op = "scatter_reduce";
  TRINE_CHECK_IMPLEMENTED(!self.is_complex() || (reduce != "amax" && reduce != "amin"), op, ": ", reduce, " is not implemented for '", legacy_name(self.dtype()), "'");
  if (!include_self) cpu::scatter_value_(self, dim, index, reduction_identity(reduce, self.dtype()));
  if (reduce == "sum") return cpu::scatter_add_(self, dim, index, src);
  if (reduce == "prod") return scatter_with(op, self, dim, index, src, [](auto& a, auto b) { multiply_one(a, b); });
  if (reduce == "amax") return scatter_with(op, self, dim, index, src, TakeLarger());
  if (reduce == "amin") return scatter_with(op, self, dim, index, src, TakeSmaller());
  TRINE_CHECK(reduce == "mean", op, "(): reduce argument must be either sum, prod, mean, amax or amin, got ", reduce);
  cpu::scatter_add_(self, dim, index, src);
  Tensor counts = include_self ? ones_like(self) : zeros_like(self), ones = ones_like(src);
  cpu::scatter_add_(counts, dim, index, ones);
  masked_fill_(counts, eq(counts, wrapped_number(Scalar(0))), Scalar(1));
  Tensor mean = is_integral(self.dtype(), true) ? trine::floor_divide(self, counts) : trine::div(self, counts);
  convert_copy(self, mean);
}

}  // namespace trine::cpu
