// Composite functions that several table entries call with different arguments.
#pragma once
#include "composite/helpers_loss.h"
#include "composite/helpers_nn.h"
#include "trine/ops.h"

namespace trine::composite {

Tensor arange_op(const Scalar& start, const Scalar& end, const Scalar& step, DType dtype, std::optional<Device> device);
Tensor tri_indices(int64_t rows, int64_t cols, int64_t offset, DType dtype, bool lower);

}  // namespace trine::composite
