// What the random operators share: drawing words in bulk and writing numbers in the order of memory.
#pragma once
#include <algorithm>

#include "cpu/pointwise.h"
#include "cpu/random_loops.h"
#include "tensor/generator.h"

namespace trine::cpu {

constexpr int64_t kDrawWords = 4992;  // 20 KiB at a time; a multiple of 16 and of the engine's 624

// Calls f(words, first element, count) over [0, n) with `per_element` words each.
template <class F> void for_words(Generator& g, int64_t n, int64_t per_element, F&& f) {
  alignas(64) uint32_t words[kDrawWords];
  int64_t step = kDrawWords / per_element;
  for (int64_t i = 0; i < n; i += step) {
    int64_t count = std::min(step, n - i);
    g.fill(words, count * per_element);
    f(static_cast<const uint32_t*>(words), i, count);
  }
}

// out[i] = f(u) with a double u in [0, 1) for every element.
template <class T, class F> void map_doubles(Generator& g, T* out, int64_t n, F&& f) {
  double u[kDrawWords / 2];
  for_words(g, n, 2, [&](const uint32_t* words, int64_t first, int64_t count) {
    uniform_double(words, u, count, 0.0, 1.0);
    for (int64_t i = 0; i < count; i++) {
      if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
        out[first + i] = T(static_cast<float>(f(u[i])));
      else
        out[first + i] = static_cast<T>(f(u[i]));
    }
  });
}

// The axes of a tensor from the outermost in memory to the innermost.
inline Dims memory_order(const Tensor& t) {
  Dims order;
  for (int64_t d = 0; d < t.dim(); d++) order.push_back(d);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return t.strides()[static_cast<size_t>(a)] > t.strides()[static_cast<size_t>(b)]; });
  return order;
}
inline Tensor permuted_view(const Tensor& t, const Dims& order) {
  Dims sizes, strides;
  for (int64_t d : order) {
    sizes.push_back(t.sizes()[static_cast<size_t>(d)]);
    strides.push_back(t.strides()[static_cast<size_t>(d)]);
  }
  return make_view(t, sizes, strides, t.offset());
}

// Calls fill(data) on contiguous memory for all elements, in the order in which `self` holds them.
template <class T, class F> void fill_in_memory_order(const Tensor& self, F&& fill) {
  if (self.numel() == 0) return;
  if (self.is_non_overlapping_and_dense()) return fill(self.data<T>());
  Tensor view = permuted_view(self, memory_order(self));
  Tensor dense = empty(view.sizes(), self.dtype());
  fill(dense.data<T>());
  convert_copy(view, dense);
}

// Calls f(Real{}, view) with the tensor seen as real numbers: a complex one is twice as many.
template <class F> void as_real(const Tensor& self, F&& f) {
  if (!self.is_complex()) return f(self);
  Dims sizes(self.sizes()), strides;
  for (int64_t s : self.strides()) strides.push_back(2 * s);
  sizes.push_back(2);
  strides.push_back(1);
  f(from_storage(self.storage(), to_real(self.dtype()), sizes, strides, 2 * self.offset()));
}

}  // namespace trine::cpu
