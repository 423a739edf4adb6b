// Whole slices along one dimension at the positions of an index vector, and rows of embedding tables.
#include <cstring>

#include "base/parallel.h"
#include "cpu/index_common.h"
#include "cpu/index_rows.h"
#include "cpu/scratch.h"
#include "trine/kernels.h"

namespace trine::cpu {

TRINE_ISA_TABLE(add_row_float);
TRINE_ISA_TABLE(add_row_double);
TRINE_ISA_TABLE(reverse_row);

namespace {

// to += scale * from
template <class T> void add_scaled(T* to, const T* from, T scale, bool plain, int64_t n) {
  if constexpr (std::is_floating_point_v<T>) {
    add_row(to, from, scale, n);
  } else {
    for (int64_t i = 0; i < n; i++) {
      T v = from[i];
      if (!plain) multiply_one(v, scale);
      accumulate_one(to[i], v);
    }
  }
}


// A contiguous tensor as [outer][size along dim][inner].
struct Blocks {
  int64_t outer = 1, size = 1, inner = 1;
  Blocks(const Tensor& t, int64_t dim) {
    int64_t d = wrap_dim(dim, t.dim());
    for (int64_t i = 0; i < t.dim(); i++) (i < d ? outer : i == d ? size : inner) *= t.sizes()[i];
  }
};

Tensor positions(const Tensor& index) { return converted(index, DType::Int64); }

// f(target block, source block) for every slice, both [inner] long, in order of the index.
template <class T, class F> void update_slices(const char* op, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, F f) {
  if (index.numel() == 0 || self.numel() == 0) return;
  DenseUpdate target(self);
  Tensor places = positions(index), from = source.defined() ? contiguous(source) : Tensor();
  Blocks b(self, dim);
  int64_t n = index.numel();
  T* x = target.data<T>();
  const T* s = source.defined() ? from.data<T>() : nullptr;
  const int64_t* i = places.data<int64_t>();
  int64_t d = wrap_dim(dim, self.dim());
  for (int64_t k = 0; k < n; k++)
    TRINE_CHECK_INDEX(i[k] >= -b.size && i[k] < b.size && (i[k] >= 0 || !s), op, "(): index ", i[k], " is out of bounds for dimension ", d, " with size ", b.size);
  // Slices may meet: threads share the columns, not the slices.
  parallel_for(0, b.inner, std::max<int64_t>(16, 32768 / (b.outer * n)), [&](int64_t first, int64_t last) {
    for (int64_t o = 0; o < b.outer; o++)
      for (int64_t k = 0; k < n; k++) {
        T* to = x + (o * b.size + (i[k] < 0 ? i[k] + b.size : i[k])) * b.inner;
        f(to + first, s ? s + (o * n + k) * b.inner + first : nullptr, last - first);
      }
  });
  target.finish();
}

}  // namespace

void index_select(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
  if (out.numel() == 0) return;
  Tensor from = contiguous(self), places = positions(index);
  DenseOutput dense(out);
  Blocks b(self, dim);
  int64_t n = index.numel(), d = wrap_dim(dim, self.dim());
  const int64_t* i = places.data<int64_t>();
  with_size(self.itemsize(), [&]<class T>(T) {
    const T* x = from.data<T>();
    T* o = dense.data<T>();
    parallel_for(0, b.outer * n, std::max<int64_t>(1, 16384 / b.inner), [&](int64_t first, int64_t last) {
      for (int64_t unit = first; unit < last; unit++) {
        int64_t at = i[unit % n];
        TRINE_CHECK_INDEX(at >= 0 && at < b.size, "index_select(): index ", at, " is out of range for dimension ", d, " with size ", b.size);
        const T* p = x + (unit / n * b.size + at) * b.inner;
        if (b.inner == 1)
          o[unit] = *p;
        else
          std::memcpy(o + unit * b.inner, p, static_cast<size_t>(b.inner) * sizeof(T));
      }
    });
  });
  dense.finish();
}

void index_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  TRINE_DISPATCH_ALL(self.dtype(), "index_add_", {
    const scalar_t a = alpha.to<scalar_t>();
    const bool plain = alpha.equals(1);
    update_slices<scalar_t>("index_add_", self, dim, index, source, [&](scalar_t* to, const scalar_t* from, int64_t n) {
      add_scaled(to, from, a, plain, n);
    });
  });
}

void index_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce, bool include_self) {
  const char* op = "index_reduce_";
  const bool mean = reduce == "mean", extreme = reduce == "amax" || reduce == "amin";
  TRINE_CHECK_IMPLEMENTED(!(self.is_complex() && extreme) && !(self.dtype() == DType::Bool && mean), op, ": ", reduce, " is not implemented for '", legacy_name(self.dtype()), "'");
  if (!include_self) cpu::index_fill_(self, dim, index, reduction_identity(reduce, self.dtype()));
  TRINE_DISPATCH_ALL(self.dtype(), op, {
    auto combine = [&](auto one) {
      update_slices<scalar_t>(op, self, dim, index, source, [&](scalar_t* to, const scalar_t* from, int64_t n) {
        for (int64_t i = 0; i < n; i++) one(to[i], from[i]);
      });
    };
    if (mean) combine([](auto& a, auto b) { accumulate_one(a, b); });
    else if (reduce == "prod") combine([](auto& a, auto b) { multiply_one(a, b); });
    else if (reduce == "amax") combine(TakeLarger());
    else combine(TakeSmaller());
  });
  if (!mean) return;
  Dims along(self.sizes());
  for (int64_t d = 0; d < self.dim(); d++)
    if (d != wrap_dim(dim, self.dim())) along[d] = 1;
  Tensor counts = zeros(Dims{product(along)}, DType::Int64, std::nullopt), ones = empty(index.sizes(), DType::Int64);
  cpu::fill_(counts, Scalar(include_self ? 1 : 0));
  cpu::fill_(ones, Scalar(1));
  cpu::index_add_(counts, 0, index, ones, Scalar(1));
  counts = reshape(clamp_min(counts, Scalar(1)), along);
  Tensor quotient = is_integral(self.dtype(), true) ? floor_divide(self, counts) : div(self, counts);
  convert_copy(self, quotient);
}

void index_copy_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  with_size(self.itemsize(), [&]<class T>(T) {
    update_slices<T>("index_copy_", self, dim, index, source, [](T* to, const T* from, int64_t n) { std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T)); });
  });
}

void index_fill_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  TRINE_DISPATCH_ALL(self.dtype(), "index_fill_", {
    const scalar_t v = value.to<scalar_t>();
    update_slices<scalar_t>("index_fill_", self, dim, index, Tensor(), [&](scalar_t* to, const scalar_t*, int64_t n) {
      for (int64_t c = 0; c < n; c++) to[c] = v;
    });
  });
}

void embedding(Tensor& out, const Tensor& weight, const Tensor& indices, int64_t, bool, bool) {
  Tensor rows = contiguous(indices);
  Tensor flat = make_view(rows, Dims{rows.numel()}, Dims{1}, rows.offset());
  DenseOutput dense(out);
  Tensor matrix = make_view(dense.tensor(), Dims{rows.numel(), weight.sizes()[1]}, Dims{weight.sizes()[1], 1}, dense.tensor().offset());
  index_select(matrix, weight, 0, flat);
  dense.finish();
}

// Every thread looks at all indices and adds the rows of its own range of the table, in order.
void embedding_dense_backward(Tensor& out, const Tensor& grad_output, const Tensor& indices, int64_t num_weights, int64_t padding_idx, bool scale_grad_by_freq) {
  DenseOutput dense(out);
  zero_fill(dense.tensor());
  int64_t n = indices.numel(), width = out.sizes()[1];
  if (n > 0 && width > 0) {
    Tensor grad = contiguous(grad_output), rows = positions(indices);
    const int64_t* i = rows.data<int64_t>();
    Scratch<int64_t> counts(scale_grad_by_freq ? num_weights : 1);
    if (scale_grad_by_freq) {
      std::memset(counts.data(), 0, static_cast<size_t>(num_weights) * 8);
      for (int64_t k = 0; k < n; k++) counts[i[k]]++;
    }
    DType compute = compute_type(out.dtype());
    Tensor wide_grad = converted(grad, compute);
    Tensor sums = compute == out.dtype() ? dense.tensor() : zeros(out.sizes(), compute, std::nullopt);
    TRINE_DISPATCH_FLOAT_COMPLEX(compute, "embedding_dense_backward", {
      scalar_t* o = sums.data<scalar_t>();
      const scalar_t* g = wide_grad.data<scalar_t>();
      parallel_for(0, num_weights, std::max<int64_t>(1, num_weights * 32768 / std::max<int64_t>(1, n * width)), [&](int64_t first, int64_t last) {
        for (int64_t k = 0; k < n; k++) {
          int64_t row = i[k];
          if (row < first || row >= last || row == padding_idx) continue;
          using real = decltype(std::abs(scalar_t{}));
          real scale = scale_grad_by_freq ? real(1) / static_cast<real>(counts[row]) : real(1);
          add_scaled(o + row * width, g + k * width, scalar_t(scale), !scale_grad_by_freq, width);
        }
      });
    });
    if (!sums.is_same(dense.tensor())) convert_copy(dense.tensor(), sums);
  }
  dense.finish();
}

}  // namespace trine::cpu
