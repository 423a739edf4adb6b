// Softmax and log-softmax on contiguous memory seen as [outer][length][inner], and their gradients.
#pragma once
#include <cstdint>

#include "cpu/isa.h"

namespace trine::cpu {

struct SoftmaxShape {
  int64_t outer, length, inner;
  bool logarithm;
};

TRINE_ISA_DECLARE(void, softmax_float, (const SoftmaxShape& s, const float* x, float* y));
TRINE_ISA_DECLARE(void, softmax_double, (const SoftmaxShape& s, const double* x, double* y));
TRINE_ISA_DECLARE(void, softmax_grad_float, (const SoftmaxShape& s, const float* dy, const float* y, float* dx));
TRINE_ISA_DECLARE(void, softmax_grad_double, (const SoftmaxShape& s, const double* dy, const double* y, double* dx));

}  // namespace trine::cpu
