// Advanced indexing: positions given by integer tensors that broadcast together, one for some of the dimensions.
#include <cstring>

#include "base/parallel.h"
#include "cpu/index_common.h"
#include "cpu/scratch.h"
#include "rules/index.h"
#include "trine/kernels.h"

namespace trine::cpu {
namespace {

struct Axis {
  int64_t size, stride;
};
using Axes = SmallVector<Axis, 5>;  // outer first

// The result is [outer axes][positions][inner axes]; offsets are in elements of self.
struct Places {
  Axes outer, inner;
  int64_t outer_count = 1, inner_count = 1, count = 1;
  Tensor offsets;  // int64 [count]
};

void add_axis(Axes& axes, int64_t size, int64_t stride) {
  if (size == 1) return;
  if (!axes.empty() && axes.back().stride == size * stride) {
    axes.back() = {axes.back().size * size, stride};
    return;
  }
  axes.push_back({size, stride});
}

int64_t offset_of(const Axes& axes, int64_t number) {
  int64_t at = 0;
  for (size_t i = axes.size(); i-- > 0 && number;) {
    at += number % axes[i].size * axes[i].stride;
    number /= axes[i].size;
  }
  return at;
}

Places find_places(const Tensor& self, TensorList indices) {
  rules::IndexShape shape = rules::index_shape(self, indices);
  Places p;
  int64_t lead = shape.adjacent && !shape.indexed.empty() ? shape.indexed[0] : 0;
  for (int64_t d : shape.others) {
    Axes& axes = d < lead ? p.outer : p.inner;
    (d < lead ? p.outer_count : p.inner_count) *= self.sizes()[d];
    add_axis(axes, self.sizes()[d], self.strides()[d]);
  }
  p.count = shape.indexed.empty() ? 1 : product(shape.broadcast);
  p.offsets = empty(Dims{p.count}, DType::Int64);
  int64_t* offsets = p.offsets.data<int64_t>();
  std::fill_n(offsets, p.count, 0);
  // Bounds count only when something is read: x[:, [9]] of an empty outer shape is not an error in PyTorch either.
  for (int64_t d : shape.indexed) {
    Tensor index = converted(expand_to(indices[d], shape.broadcast), DType::Int64);
    const int64_t* i = index.data<int64_t>();
    const int64_t size = self.sizes()[d], stride = self.strides()[d];
    parallel_for(0, p.count, 32768, [&](int64_t b, int64_t e) {
      for (int64_t n = b; n < e; n++) offsets[n] += wrapped_index(i[n], size, d) * stride;
    });
  }
  return p;
}

// f(offset in self, offset in the dense result) for every run of `length` elements with constant stride in self.
template <class F> void for_runs(const Places& p, int64_t unit_begin, int64_t unit_end, F&& f) {
  const int64_t* offsets = p.offsets.data<int64_t>();
  int64_t length = p.inner.empty() ? 1 : p.inner.back().size, runs = p.inner_count / std::max<int64_t>(length, 1);
  Axes upper(p.inner.begin(), p.inner.empty() ? p.inner.end() : p.inner.end() - 1);
  for (int64_t unit = unit_begin; unit < unit_end; unit++) {
    int64_t base = offset_of(p.outer, unit / p.count) + offsets[unit % p.count];
    for (int64_t r = 0; r < runs; r++) f(base + (runs == 1 ? 0 : offset_of(upper, r)), unit * p.inner_count + r * length);
  }
}

}  // namespace

void index(Tensor& out, const Tensor& self, TensorList indices) {
  Places p = find_places(self, indices);
  if (out.numel() == 0) return;
  DenseOutput dense(out);
  int64_t length = p.inner.empty() ? 1 : p.inner.back().size, stride = p.inner.empty() ? 1 : p.inner.back().stride;
  with_size(self.itemsize(), [&]<class T>(T) {
    const T* x = self.data<T>();
    T* o = dense.data<T>();
    parallel_for(0, p.outer_count * p.count, std::max<int64_t>(1, 16384 / p.inner_count), [&](int64_t b, int64_t e) {
      for_runs(p, b, e, [&](int64_t from, int64_t to) {
        if (stride == 1 && length > 1) {
          std::memcpy(o + to, x + from, static_cast<size_t>(length) * sizeof(T));
        } else {
          for (int64_t i = 0; i < length; i++) o[to + i] = x[from + i * stride];
        }
      });
    });
  });
  dense.finish();
}

// Positions may repeat: they are written in order, so that the last value stays and sums do not depend on the number of threads.
void index_put(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  Places p = find_places(self, indices);
  rules::IndexShape shape = rules::index_shape(self, indices);
  if (product(shape.sizes) == 0) return;
  int64_t length = p.inner.empty() ? 1 : p.inner.back().size, stride = p.inner.empty() ? 1 : p.inner.back().stride;
  const bool single = values.numel() == 1;
  // Leading dimensions of size 1 may exceed the result's.
  Dims trimmed(values.sizes());
  Dims strides(values.strides());
  while (trimmed.size() > shape.sizes.size()) {
    trimmed.erase(0);
    strides.erase(0);
  }
  Tensor dense = single ? values : contiguous(expand_to(make_view(values, trimmed, strides, values.offset()), shape.sizes));
  auto place_all = [&]<class T, class Place>(T, Place place) {
    T* x = self.data<T>();
    const T* v = dense.data<T>();
    // Long runs are divided among threads by columns, each of which every thread fills in order.
    parallel_for(0, length, std::max<int64_t>(64, 16384 / std::max<int64_t>(1, p.outer_count * p.count)), [&](int64_t b, int64_t e) {
      for_runs(p, 0, p.outer_count * p.count, [&](int64_t to, int64_t from) {
        for (int64_t i = b; i < e; i++) place(x[to + i * stride], v[single ? 0 : from + i]);
      });
    });
  };
  if (!accumulate)
    with_size(self.itemsize(), [&]<class T>(T t) { place_all(t, [](T& a, T b) { a = b; }); });
  else
    TRINE_DISPATCH_ALL(self.dtype(), "index_put_", place_all(scalar_t{}, [](scalar_t& a, scalar_t b) { accumulate_one(a, b); }));
}

void take(Tensor& out, const Tensor& self, const Tensor& index) {
  if (index.numel() == 0) return;
  Tensor from = contiguous(self), places = contiguous(index);
  DenseOutput dense(out);
  const int64_t n = from.numel();
  with_size(self.itemsize(), [&]<class T>(T) {
    const T* x = from.data<T>();
    const int64_t* i = places.data<int64_t>();
    T* o = dense.data<T>();
    parallel_for(0, places.numel(), 16384, [&](int64_t b, int64_t e) {
      for (int64_t k = b; k < e; k++) {
        TRINE_CHECK_INDEX(i[k] >= -n && i[k] < n, "take(): out of range: tried to access index ", i[k], " on a tensor of ", n, " elements.");
        o[k] = x[i[k] < 0 ? i[k] + n : i[k]];
      }
    });
  });
  dense.finish();
}

void put_(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  if (index.numel() == 0) return;
  DenseUpdate target(self);
  Tensor places = contiguous(index), from = contiguous(source);
  const int64_t n = self.numel();
  TRINE_DISPATCH_ALL(self.dtype(), "put_", {
    scalar_t* x = target.data<scalar_t>();
    const scalar_t* s = from.data<scalar_t>();
    const int64_t* i = places.data<int64_t>();
    for (int64_t k = 0; k < places.numel(); k++) {
      TRINE_CHECK_INDEX(i[k] >= -n && i[k] < n, "put_(): out of range: tried to access index ", i[k], " on a tensor of ", n, " elements.");
      scalar_t& to = x[i[k] < 0 ? i[k] + n : i[k]];
      if (accumulate)
        accumulate_one(to, s[k]);
      else
        to = s[k];
    }
  });
  target.finish();
}

}  // namespace trine::cpu
