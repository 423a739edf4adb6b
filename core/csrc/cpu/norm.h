// Normalisation on contiguous memory. Sums are taken in blocks that are added in double.
#pragma once
#include <cstdint>

#include "cpu/isa.h"

namespace trine::cpu {

// Data of a batch norm: [batch][channels][plane]. Tensors whose channels are innermost are batch * plane rows with a plane of 1.
struct NormShape {
  int64_t batch, channels, plane;
};

template <class T> struct RowNorm {
  int64_t rows, length;   // length = affine channels * plane
  int64_t plane;          // elements that share one weight (1 for layer_norm)
  int64_t affine_period;  // weights per row; the weight of channel c of row r is weight[r % groups * affine_period + c]
  int64_t groups;
  const T *x, *weight, *bias;  // weight and bias may be null
};

#define TRINE_NORM_KERNELS(X) \
  X(row_norm, (const RowNorm<T>& n, double eps, T* y, T* mean, T* rstd)) \
  /* Of [outer][size][inner]: the cosine of the angle between x and y along the middle. */ \
  X(cosine, (const T* x, const T* y, int64_t outer, int64_t size, int64_t inner, double eps, T* out)) \
  X(row_norm_grad, (const RowNorm<T>& n, const T* dy, const T* mean, const T* rstd, T* dx)) \
  X(row_norm_grad_affine, (const RowNorm<T>& n, const T* dy, const T* mean, const T* rstd, T* dweight, T* dbias)) \
  X(channel_moments, (const NormShape& s, const T* x, T* mean, T* variance)) \
  X(channel_scale, (const NormShape& s, const T* x, const T* scale, const T* shift, T* y)) \
  X(channel_products, (const NormShape& s, const T* x, const T* dy, const T* mean, T* sum_dy, T* sum_dy_centered)) \
  X(channel_combine, (const NormShape& s, const T* x, const T* dy, const T* of_x, const T* of_dy, const T* shift, T* dx))

#define X(NAME, PARAMS) \
  namespace norm_signatures { template <class T> using NAME = void PARAMS; }
TRINE_NORM_KERNELS(X)
#undef X
#define X(NAME, PARAMS) \
  extern IsaFunction<norm_signatures::NAME<float>> NAME##_float; \
  extern IsaFunction<norm_signatures::NAME<double>> NAME##_double;
TRINE_NORM_KERNELS(X)
#undef X

}  // namespace trine::cpu
