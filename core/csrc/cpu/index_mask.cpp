// Masks: positions and values of the elements that count, and counting by value.
#include <cmath>
#include <cstring>

#include "base/parallel.h"
#include "cpu/index_common.h"
#include "cpu/scratch.h"
#include "trine/kernels.h"

namespace trine::cpu {
namespace {

constexpr int64_t kPart = 16384;  // elements of a mask that one unit of work counts

// A contiguous bool mask with, for each part, how many elements before it hold.
struct Counted {
  Tensor mask;
  const bool* data;
  int64_t n, parts, total = 0;
  Tensor before;
  explicit Counted(const Tensor& m) : mask(converted(m, DType::Bool)), data(mask.data<bool>()), n(mask.numel()), parts((n + kPart - 1) / kPart), before(empty(Dims{parts}, DType::Int64)) {
    int64_t* counts = before.data<int64_t>();
    for_parts([&](int64_t part, int64_t b, int64_t e) {
      int64_t count = 0;
      for (int64_t i = b; i < e; i++) count += data[i];
      counts[part] = count;
    });
    for (int64_t p = 0; p < parts; p++) {
      int64_t count = counts[p];
      counts[p] = total;
      total += count;
    }
  }
  template <class F> void for_parts(F&& f) const {
    parallel_for(0, parts, 4, [&](int64_t b, int64_t e) {
      for (int64_t p = b; p < e; p++) f(p, p * kPart, std::min(n, (p + 1) * kPart));
    });
  }
  // f(element, how many before it hold) for every element that holds.
  template <class F> void for_each(F&& f) const {
    const int64_t* counts = before.data<int64_t>();
    for_parts([&](int64_t part, int64_t b, int64_t e) {
      int64_t at = counts[part];
      // Positions are compacted without branches first: a branch on a random mask is mispredicted half of the time.
      constexpr int64_t kRun = 256;
      int16_t held[kRun];
      for (int64_t r = b; r < e; r += kRun) {
        int64_t n = std::min(kRun, e - r), count = 0;
        for (int64_t i = 0; i < n; i++) {
          held[count] = static_cast<int16_t>(i);
          count += data[r + i];
        }
        for (int64_t i = 0; i < count; i++) f(r + held[i], at++);
      }
    });
  }
};

}  // namespace

Tensor nonzero(const Tensor& self) {
  Counted c(self);
  int64_t nd = self.dim();
  Tensor out = empty(Dims{c.total, nd}, DType::Int64);
  if (nd == 0 || c.total == 0) return out;
  int64_t* o = out.data<int64_t>();
  if (nd == 1) {
    c.for_each([&](int64_t i, int64_t at) { o[at] = i; });
    return out;
  }
  DimsRef sizes = self.sizes();
  c.for_each([&](int64_t i, int64_t at) {
    for (int64_t d = nd; d-- > 1;) {
      o[at * nd + d] = i % sizes[d];
      i /= sizes[d];
    }
    o[at * nd] = i;
  });
  return out;
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  TRINE_CHECK(mask.dtype() == DType::Bool, "masked_select: expected BoolTensor for mask, got ", name(mask.dtype()));
  Dims shape = broadcast_shapes(self.sizes(), mask.sizes(), "masked_select");
  Counted c(expand_to(mask, shape));
  Tensor from = contiguous(expand_to(self, shape)), out = empty(Dims{c.total}, self.dtype());
  with_size(self.itemsize(), [&]<class T>(T) {
    const T* x = from.data<T>();
    T* o = out.data<T>();
    c.for_each([&](int64_t i, int64_t at) { o[at] = x[i]; });
  });
  return out;
}

void masked_scatter_(const Tensor& self, const Tensor& mask, const Tensor& source) {
  Counted c(expand_to(mask, self.sizes()));
  TRINE_CHECK(source.numel() >= c.total, "masked_scatter: expected number of elements of source ", source.sizes(), " to be at least the number of ones in mask, ", c.total);
  DenseUpdate target(self);
  Tensor from = contiguous(source);
  with_size(self.itemsize(), [&]<class T>(T) {
    T* x = target.data<T>();
    const T* s = from.data<T>();
    c.for_each([&](int64_t i, int64_t at) { x[i] = s[at]; });
  });
  target.finish();
}

Tensor bincount(const Tensor& self, const Tensor& weights, int64_t minlength) {
  TRINE_CHECK(self.dim() == 1, "bincount: expects a 1-d tensor of integers, got shape ", self.sizes());
  TRINE_CHECK_IMPLEMENTED(is_integral(self.dtype(), false), "\"bincount\" not implemented for '", legacy_name(self.dtype()), "'");
  TRINE_CHECK(minlength >= 0, "bincount: minlength should be >= 0, got ", minlength);
  TRINE_CHECK(!weights.defined() || (weights.dim() == 1 && weights.numel() == self.numel()), "bincount: weights should be 1-d and have the same length as input ", self.sizes());
  Tensor values = converted(self, DType::Int64);
  const int64_t* v = values.data<int64_t>();
  int64_t n = values.numel(), length = minlength;
  for (int64_t i = 0; i < n; i++) {
    TRINE_CHECK(v[i] >= 0, "bincount: expects non-negative integers, got ", v[i]);
    length = std::max(length, v[i] + 1);
  }
  if (!weights.defined()) {
    Tensor out = zeros(Dims{length}, DType::Int64, std::nullopt);
    int64_t* o = out.data<int64_t>();
    for (int64_t i = 0; i < n; i++) o[v[i]]++;
    return out;
  }
  DType t = weights.dtype() == DType::Float ? DType::Float : DType::Double;
  Tensor out = zeros(Dims{length}, t, std::nullopt), w = converted(weights, t);
  TRINE_DISPATCH_FLOAT(t, "bincount", {
    scalar_t* o = out.data<scalar_t>();
    const scalar_t* p = w.data<scalar_t>();
    for (int64_t i = 0; i < n; i++) o[v[i]] += p[i];
  });
  return out;
}

Tensor histc(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  TRINE_CHECK(bins > 0, "histc: bins must be > 0, got ", bins);
  TRINE_CHECK_IMPLEMENTED(is_floating(self.dtype()) || is_integral(self.dtype(), false), "histc: not implemented for '", legacy_name(self.dtype()), "'");
  Tensor values = converted(self, DType::Double);
  const double* v = values.data<double>();
  int64_t n = values.numel();
  double low = min.to_double(), high = max.to_double();
  if (low == high && n > 0) {
    low = high = v[0];
    for (int64_t i = 0; i < n; i++) {
      low = std::min(low, v[i]);
      high = std::max(high, v[i]);
    }
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  TRINE_CHECK(std::isfinite(low) && std::isfinite(high), "histc: range of [", low, ", ", high, "] is not finite");
  TRINE_CHECK(low < high, "histc: max must be larger than min, got ", low, " and ", high);
  Tensor counts = zeros(Dims{bins}, DType::Double, std::nullopt);
  double* c = counts.data<double>();
  for (int64_t i = 0; i < n; i++) {
    if (!(v[i] >= low && v[i] <= high)) continue;
    auto bin = static_cast<int64_t>((v[i] - low) * static_cast<double>(bins) / (high - low));
    c[std::min(bin, bins - 1)]++;
  }
  return converted(counts, self.dtype());
}

}  // namespace trine::cpu
