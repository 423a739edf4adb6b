// Pointwise operators. An operator is one loop over contiguous memory per element type, generated from the table's `expr`; everything
// else (broadcasting, strides, type conversion, 16-bit floats, threads, output layout) is done once, here and in cpu/pointwise.cpp, by
// feeding the loop with chunks that fit the first-level cache.
#pragma once
#include "dispatch/structured.h"

namespace trine {

// out and in[k] point to n contiguous elements of the loop's types.
using PointwiseLoop = void (*)(char* out, const char* const* in, const Scalar* scalars, int64_t n);

struct PointwiseLoops {
  PointwiseLoop fn[3][kNumDTypes] = {};  // [instruction set][compute dtype]
};

enum class PointwiseRule : uint8_t {
  Promote,    // result has the promoted type
  Float,      // integers become the default float type first
  Compare,    // computes in the promoted type, gives bool
  Predicate,  // computes in its own type, gives bool
  Real,       // complex input gives its real type
};

constexpr int kMaxPointwiseInputs = 4;

struct PointwiseDef {
  const char* name;
  PointwiseRule rule;
  uint8_t num_inputs;
  uint8_t raw_inputs;        // bit mask: bool inputs that take no part in promotion (where's condition)
  uint8_t promoted_scalars;  // bit mask: number arguments that take part in promotion
  uint8_t num_scalars;
  int8_t divisor;            // index of the input that must hold no zero in integer arithmetic, or -1
  PointwiseLoops* loops;
  const char* complex_error;  // what a RuntimeError says of complex input; null: the usual NotImplementedError
};

Tensor pointwise(const PointwiseDef& def, const Tensor* const* in, const Scalar* scalars);
void pointwise_out(const PointwiseDef& def, const Tensor& out, const Tensor* const* in, const Scalar* scalars);
void pointwise_inplace(const PointwiseDef& def, const Tensor& self, const Tensor* const* in, const Scalar* scalars);

// What a backend provides: fills `out`, whose geometry is right and whose dtype may differ from the loop's.
using PointwiseBackend = void (*)(const PointwiseDef& def, const Tensor& out, const Tensor* const* in, const Scalar* scalars, DType compute);
void register_pointwise_backend(DeviceType type, PointwiseBackend fn);

// The dimension order, inner first, in which operands of a common shape are best walked, and the strides of a dense output in that order.
SmallVector<int, 6> memory_order(DimsRef shape, std::span<const DimsRef> operand_strides);
Dims dense_strides(DimsRef shape, std::span<const int> order);

}  // namespace trine
