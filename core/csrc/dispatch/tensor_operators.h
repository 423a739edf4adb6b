// a + b, a * 2, -a for tensors and numbers.
#pragma once
#include "trine/ops.h"

namespace trine {

#define TRINE_BINARY(OP, FN) \
  inline Tensor operator OP(const Tensor& a, const Tensor& b) { return FN(a, b); } \
  inline Tensor operator OP(const Tensor& a, const Scalar& b) { return FN(a, wrapped_number(b)); } \
  inline Tensor operator OP(const Scalar& a, const Tensor& b) { return FN(wrapped_number(a), b); }
TRINE_BINARY(*, mul)
TRINE_BINARY(/, div)
TRINE_BINARY(==, eq)
TRINE_BINARY(!=, ne)
TRINE_BINARY(<, lt)
TRINE_BINARY(<=, le)
TRINE_BINARY(>, gt)
TRINE_BINARY(>=, ge)
TRINE_BINARY(&, bitwise_and)
TRINE_BINARY(|, bitwise_or)
#undef TRINE_BINARY
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator+(const Tensor& a, const Scalar& b) { return add(a, wrapped_number(b)); }
inline Tensor operator+(const Scalar& a, const Tensor& b) { return add(wrapped_number(a), b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator-(const Tensor& a, const Scalar& b) { return sub(a, wrapped_number(b)); }
inline Tensor operator-(const Scalar& a, const Tensor& b) { return sub(wrapped_number(a), b); }
inline Tensor operator-(const Tensor& a) { return neg(a); }
inline Tensor operator~(const Tensor& a) { return bitwise_not(a); }

}  // namespace trine
