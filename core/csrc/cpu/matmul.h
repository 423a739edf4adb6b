// Products of strided matrices of every element type: the one place that chooses between our own kernels and oneDNN.
#pragma once
#include "tensor/tensor.h"

namespace trine::cpu {

struct Strided {
  const void* data;
  int64_t batch, row, col;  // strides in elements
};

// C[batch][m, n] = A[batch][m, k] B[batch][k, n] + bias[n]; C and bias are contiguous.
struct Product {
  DType dtype;
  int64_t batch, m, n, k;
  Strided a, b;
  void* c;
  const void* bias = nullptr;
  bool written = false;  // by a program, as opposed to a part of a decomposition: its factors may be rounded
};

void multiply(const Product& p);

}  // namespace trine::cpu
