// Dense products on raw memory: our own kernels for every size, compiled once per instruction set.
#pragma once
#include <cstdint>

#include "cpu/isa.h"

namespace trine::cpu {

// C = A B (+ biases, + C): element (i, j) of a matrix lies at data[i * row_stride + j * col_stride]; columns of C are contiguous.
// One of A's strides must be 1 (B may have any).
template <class T> struct Gemm {
  int64_t m, n, k;
  const T* a;
  int64_t a_row, a_col;
  const T* b;
  int64_t b_row, b_col;
  T* c;
  int64_t c_row;
  const T* row_bias = nullptr;  // [m]
  const T* col_bias = nullptr;  // [n]
  bool accumulate = false;
  bool negative = false;  // C = - A B (+ ...)
};

TRINE_ISA_DECLARE(void, gemm_float, (const Gemm<float>&));
TRINE_ISA_DECLARE(void, gemm_double, (const Gemm<double>&));

inline void gemm(const Gemm<float>& g) { gemm_float(g); }
inline void gemm(const Gemm<double>& g) { gemm_double(g); }

}  // namespace trine::cpu
