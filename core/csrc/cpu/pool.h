// Pooling on contiguous planes, in three dimensions (leading ones of size 1 where there are fewer).
#pragma once
#include <cstdint>

#include "cpu/isa.h"

namespace trine::cpu {

// One pooled dimension: window of output i is input positions [begin(i), begin(i) + kernel * dilation) in steps of `dilation`.
struct PoolAxis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, padding = 0, dilation = 1;
  bool adaptive = false;

  int64_t begin(int64_t i) const { return adaptive ? i * in / out : i * stride - padding; }
  int64_t end(int64_t i) const { return adaptive ? ((i + 1) * in + out - 1) / out : begin(i) + (kernel - 1) * dilation + 1; }
};

struct PoolShape {
  int64_t planes;
  PoolAxis axis[3];
  int64_t in_plane() const { return axis[0].in * axis[1].in * axis[2].in; }
  int64_t out_plane() const { return axis[0].out * axis[1].out * axis[2].out; }
};

struct Averaging {
  bool count_include_pad;
  int64_t divisor;  // 0: the number of elements of the window
};

// indices: position inside the input plane, or nullptr when not wanted.
TRINE_ISA_DECLARE(void, max_pool_float, (const PoolShape& s, const float* in, float* out, int64_t* indices));
TRINE_ISA_DECLARE(void, max_pool_double, (const PoolShape& s, const double* in, double* out, int64_t* indices));
TRINE_ISA_DECLARE(void, avg_pool_float, (const PoolShape& s, const Averaging& a, const float* in, float* out));
TRINE_ISA_DECLARE(void, avg_pool_double, (const PoolShape& s, const Averaging& a, const double* in, double* out));
// in_grad is overwritten.
TRINE_ISA_DECLARE(void, avg_pool_grad_float, (const PoolShape& s, const Averaging& a, const float* out_grad, float* in_grad));
TRINE_ISA_DECLARE(void, avg_pool_grad_double, (const PoolShape& s, const Averaging& a, const double* out_grad, double* in_grad));

}  // namespace trine::cpu
