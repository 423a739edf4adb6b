// Stable sorting and selection along a dimension.
#include "cpu/sort.h"

#include <algorithm>
#include <cstring>

#include "cpu/index_common.h"
#include "cpu/rows.h"
#include "cpu/sort_keys.h"
#include "trine/kernels.h"

namespace trine::cpu {
namespace {

// A key with its element's position; ordered by key, then position: that makes every sort stable.
template <class K> struct Entry;
template <> struct Entry<uint32_t> {
  uint64_t packed;
  static Entry make(uint32_t key, int64_t at) { return {uint64_t{key} << 32 | static_cast<uint32_t>(at)}; }
  uint32_t key() const { return static_cast<uint32_t>(packed >> 32); }
  int64_t at() const { return static_cast<uint32_t>(packed); }
  friend bool operator<(Entry a, Entry b) { return a.packed < b.packed; }
};
template <> struct Entry<uint64_t> {
  uint64_t value;
  int64_t place;
  static Entry make(uint64_t key, int64_t at) { return {key, at}; }
  uint64_t key() const { return value; }
  int64_t at() const { return place; }
  friend bool operator<(const Entry& a, const Entry& b) { return a.value != b.value ? a.value < b.value : a.place < b.place; }
};

// Least significant digit first; digits that all keys share are skipped.
template <class K> void radix_sort(Entry<K>* entries, Entry<K>* spare, int64_t n) {
  constexpr int kDigit = 11, kBuckets = 1 << kDigit, kPasses = (sizeof(K) * 8 + kDigit - 1) / kDigit;
  std::vector<uint32_t> counts(static_cast<size_t>(kPasses) * kBuckets, 0);
  for (int64_t i = 0; i < n; i++) {
    K key = entries[i].key();
    for (int p = 0; p < kPasses; p++) counts[static_cast<size_t>(p) * kBuckets + (key >> (p * kDigit) & (kBuckets - 1))]++;
  }
  Entry<K>* from = entries;
  Entry<K>* to = spare;
  for (int p = 0; p < kPasses; p++) {
    uint32_t* count = counts.data() + static_cast<size_t>(p) * kBuckets;
    if (count[from[0].key() >> (p * kDigit) & (kBuckets - 1)] == n) continue;
    uint32_t start = 0;
    for (int b = 0; b < kBuckets; b++) {
      uint32_t c = count[b];
      count[b] = start;
      start += c;
    }
    for (int64_t i = 0; i < n; i++) to[count[from[i].key() >> (p * kDigit) & (kBuckets - 1)]++] = from[i];
    std::swap(from, to);
  }
  if (from != entries) std::memcpy(static_cast<void*>(entries), from, static_cast<size_t>(n) * sizeof(Entry<K>));
}

template <class K> struct Work {
  std::vector<Entry<K>> entries, spare;
  void sort(int64_t n) {
    if (n < 512) {
      std::sort(entries.begin(), entries.begin() + n);
      return;
    }
    spare.resize(static_cast<size_t>(n));
    radix_sort<K>(entries.data(), spare.data(), n);
  }
};

template <class T, class K> void load_line(Work<K>& work, const T* x, int64_t stride, int64_t n, bool descending) {
  work.entries.resize(static_cast<size_t>(n));
  const K flip = descending ? ~K{0} : K{0};
  for (int64_t i = 0; i < n; i++) work.entries[i] = Entry<K>::make(sort_key(x[i * stride]) ^ flip, i);
}

// The k first entries in order: a heap of the best so far, with the worst of them on top. Few elements of a long line get past it.
template <class T, class K> void select_smallest(Work<K>& work, const T* x, int64_t stride, int64_t n, int64_t k, bool descending) {
  load_line(work, x, stride, k, descending);
  auto first = work.entries.begin(), last = first + k;
  std::make_heap(first, last);
  const K flip = descending ? ~K{0} : K{0};
  K worst = first->key();
  for (int64_t i = k; i < n; i++) {
    K key = sort_key(x[i * stride]) ^ flip;
    if (key >= worst) continue;
    std::pop_heap(first, last);
    work.entries[k - 1] = Entry<K>::make(key, i);
    std::push_heap(first, last);
    worst = first->key();
  }
  std::sort_heap(first, last);
}

// f(work, line of self, line of the results, result pointers and strides) for every line; results have `size` elements a line.
template <class F> void for_sorted_lines(const char* op, const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, F&& f) {
  int64_t d = wrap_dim(dim, self.dim());
  TRINE_CHECK(self.dim() == 0 || self.sizes()[d] < (int64_t{1} << 32), op, ": more than 2^32 elements along a dimension are not supported, got shape ", self.sizes());
  Lines from(self, d), to(values, d), places(indices, d);
  TRINE_DISPATCH_REAL(self.dtype(), op, {
    using K = typename SortKey<scalar_t>::type;
    const scalar_t* x = self.data<scalar_t>();
    scalar_t* v = values.data<scalar_t>();
    int64_t* p = indices.data<int64_t>();
    parallel_for(0, from.count, std::max<int64_t>(1, 4096 / from.size), [&](int64_t b, int64_t e) {
      Work<K> work;
      for (int64_t line = b; line < e; line++)
        f(work, x + from.offset(line), from.stride, from.size, v + to.offset(line), to.stride, p + places.offset(line), places.stride);
    });
  });
}

// The results of a reduction with the reduced dimension back, so that lines of theirs are single elements.
Tensor with_dim(const Tensor& t, const Tensor& self, int64_t dim) {
  if (t.dim() == self.dim()) return t;
  Dims sizes(t.sizes());
  Dims strides(t.strides());
  sizes.insert(static_cast<size_t>(wrap_dim(dim, self.dim())), 1);
  strides.insert(static_cast<size_t>(wrap_dim(dim, self.dim())), 1);
  return make_view(t, sizes, strides, t.offset());
}

// The element of rank choose(n, number of NaN) on every line.
template <class Choose> void pick_rank(const char* op, const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, Choose choose) {
  if (values.numel() == 0) return;
  for_sorted_lines(op, with_dim(values, self, dim), with_dim(indices, self, dim), self, dim,
                   [&]<class K, class T>(Work<K>& work, const T* x, int64_t stride, int64_t n, T* v, int64_t, int64_t* p, int64_t) {
                     load_line(work, x, stride, n, false);
                     int64_t nans = 0;
                     if constexpr (!std::is_integral_v<T>)
                       for (int64_t i = 0; i < n; i++) nans += work.entries[i].key() == static_cast<K>(~K{0});
                     int64_t rank = choose(n, nans);
                     std::nth_element(work.entries.begin(), work.entries.begin() + rank, work.entries.begin() + n);
                     *p = work.entries[rank].at();
                     *v = x[*p * stride];
                   });
}

}  // namespace

void sort(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim, bool descending) {
  if (self.numel() == 0) return;
  for_sorted_lines("sort", values, indices, self, dim, [&]<class K, class T>(Work<K>& work, const T* x, int64_t stride, int64_t n, T* v, int64_t vs, int64_t* p, int64_t ps) {
    load_line(work, x, stride, n, descending);
    work.sort(n);
    for (int64_t i = 0; i < n; i++) {
      int64_t at = work.entries[i].at();
      p[i * ps] = at;
      v[i * vs] = x[at * stride];
    }
  });
}

void topk(Tensor& values, Tensor& indices, const Tensor& self, int64_t k, int64_t dim, bool largest, bool) {
  if (self.numel() == 0 || values.numel() == 0) return;
  for_sorted_lines("topk", values, indices, self, dim, [&]<class K, class T>(Work<K>& work, const T* x, int64_t stride, int64_t n, T* v, int64_t vs, int64_t* p, int64_t ps) {
    if (k * 16 < n) {
      select_smallest(work, x, stride, n, k, largest);
    } else {
      load_line(work, x, stride, n, largest);
      auto first = work.entries.begin();
      if (k < n) std::nth_element(first, first + k, first + n);
      work.sort(k);
    }
    for (int64_t i = 0; i < k; i++) {
      int64_t at = work.entries[i].at();
      p[i * ps] = at;
      v[i * vs] = x[at * stride];
    }
  });
}

void kthvalue(Tensor& values, Tensor& indices, const Tensor& self, int64_t k, int64_t dim, bool) {
  pick_rank("kthvalue", values, indices, self, dim, [&](int64_t, int64_t) { return k - 1; });
}

void median(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim, bool) {
  pick_rank("median", values, indices, self, dim, [](int64_t n, int64_t nans) { return nans ? n - nans : (n - 1) / 2; });
}

void nanmedian(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim, bool) {
  pick_rank("nanmedian", values, indices, self, dim, [](int64_t n, int64_t nans) { return std::max<int64_t>(0, (n - nans - 1) / 2); });
}

void mode(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim, bool) {
  if (values.numel() == 0) return;
  for_sorted_lines("mode", with_dim(values, self, dim), with_dim(indices, self, dim), self, dim,
                   [&]<class K, class T>(Work<K>& work, const T* x, int64_t stride, int64_t n, T* v, int64_t, int64_t* p, int64_t) {
                     load_line(work, x, stride, n, false);
                     work.sort(n);
                     int64_t best = 0, best_end = 0, run = 0;
                     for (int64_t i = 0; i < n; i++) {
                       run = i > 0 && work.entries[i].key() == work.entries[i - 1].key() ? run + 1 : 1;
                       if (run > best) {
                         best = run;
                         best_end = i;
                       }
                     }
                     *p = work.entries[best_end].at();
                     *v = x[*p * stride];
                   });
}

std::vector<int64_t> sorted_order(const Tensor& flat) {
  std::vector<int64_t> order(static_cast<size_t>(flat.numel()));
  TRINE_DISPATCH_REAL(flat.dtype(), "unique", {
    using K = typename SortKey<scalar_t>::type;
    Work<K> work;
    load_line(work, flat.data<scalar_t>(), 1, flat.numel(), false);
    if (flat.numel() > 0) work.sort(flat.numel());
    for (size_t i = 0; i < order.size(); i++) order[i] = work.entries[i].at();
  });
  return order;
}

}  // namespace trine::cpu
