// oneDNN behind owning handles: compiled operations are kept per thread in a bounded cache, operands are reordered into the layouts an
// operation chose, scratchpads come from our allocator. Every function says whether oneDNN has an implementation, so that callers can fall
// back to our own kernels (and builds without oneDNN answer no).
#pragma once
#include <cstdint>

#include "base/dtype.h"
#include "cpu/conv_shape.h"

namespace trine::cpu {

enum class ConvPass : uint8_t { Forward, BackwardInput, BackwardWeight };

// Memory of a convolution. Input and output share the layout (channels_last or plain); weights are plain, or like the layout when
// weight_channels_last. For a backward pass the result is written to `input` or `weight`.
struct ConvOperands {
  void* input;
  void* weight;
  const void* bias;  // of the same type; only read by the forward pass
  void* output;
  DType dtype;
  bool channels_last, weight_channels_last;
  int spatial_dims;  // 1 to 3
};
bool onednn_conv(ConvPass pass, const ConvShape& shape, const ConvOperands& operands);

// C[batch][m, n] = A B + col_bias in bfloat16, half, or float whose factors may be rounded to bfloat16. Strides in elements; a batch stride of 0 broadcasts; C is dense.
struct MatmulOperands {
  int64_t batch, m, n, k;
  const void* a;
  int64_t a_batch, a_row, a_col;
  const void* b;
  int64_t b_batch, b_row, b_col;
  void* c;
  const void* col_bias = nullptr;
  DType dtype;
};
bool onednn_matmul(const MatmulOperands& operands);

// C = A B (+ C) in float, row-major, with optional transposition of A and B.
bool onednn_sgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float beta, float* c,
                  int64_t ldc);

}  // namespace trine::cpu
