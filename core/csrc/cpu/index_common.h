// What the indexing kernels share.
#pragma once
#include <cmath>
#include <limits>
#include <string_view>

#include "cpu/dense.h"

namespace trine::cpu {

// Moving elements needs their size only.
struct Element16 {
  uint64_t a, b;
};
template <class F> void with_size(int size, F&& f) {
  switch (size) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: return f(Element16{});
  }
}

// PyTorch's indexing accepts positions from the end; gather and scatter (strict) do not, and their error is a RuntimeError.
inline int64_t wrapped_index(int64_t i, int64_t size, int64_t dim) {
  TRINE_CHECK_INDEX(i >= -size && i < size, "index ", i, " is out of bounds for dimension ", dim, " with size ", size);
  return i < 0 ? i + size : i;
}
inline int64_t strict_index(const char* op, int64_t i, int64_t size, int64_t dim) {
  TRINE_CHECK(i >= 0 && i < size, op, "(): index ", i, " is out of bounds for dimension ", dim, " with size ", size);
  return i;
}

// A tensor that a kernel changes, in contiguous memory: itself, or a copy that finish() writes back.
class DenseUpdate {
 public:
  explicit DenseUpdate(const Tensor& t) : target_(t), dense_(plain(t)) {}
  const Tensor& tensor() const { return dense_; }
  template <class T> T* data() const { return dense_.data<T>(); }
  void finish() const {
    if (!dense_.is_same(target_)) convert_copy(target_, dense_);
  }

 private:
  const Tensor& target_;
  Tensor dense_;
};

// a += b for every element type; bool adds like or.
template <class T> inline void accumulate_one(T& a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    a = a || b;
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    a = T(static_cast<float>(a) + static_cast<float>(b));
  else
    a = static_cast<T>(a + b);
}
template <class T> inline void multiply_one(T& a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    a = a && b;
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    a = T(static_cast<float>(a) * static_cast<float>(b));
  else
    a = static_cast<T>(a * b);
}

struct TakeLarger {
  template <class T> void operator()(T& a, T b) const {
    if constexpr (!std::is_same_v<T, cfloat> && !std::is_same_v<T, cdouble>)
      if (b > a || b != b) a = a != a ? a : b;
  }
};
struct TakeSmaller {
  template <class T> void operator()(T& a, T b) const {
    if constexpr (!std::is_same_v<T, cfloat> && !std::is_same_v<T, cdouble>)
      if (b < a || b != b) a = a != a ? a : b;
  }
};

// The value that changes nothing, written to the targets when self does not take part.
inline Scalar reduction_identity(std::string_view reduce, DType t) {
  if (reduce == "prod") return Scalar(1);
  bool largest = reduce == "amin";
  if (reduce != "amax" && reduce != "amin") return Scalar(0);
  if (is_floating(t)) return Scalar(largest ? INFINITY : -INFINITY);
  if (t == DType::Bool) return Scalar(largest);
  Scalar out;
  TRINE_DISPATCH_INT(t, "scatter_reduce", out = Scalar(static_cast<int64_t>(largest ? std::numeric_limits<scalar_t>::max() : std::numeric_limits<scalar_t>::lowest())));
  return out;
}

}  // namespace trine::cpu
