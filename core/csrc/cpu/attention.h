// Attention without the matrix of scores: blocks of keys pass by a block of queries with a running softmax (Dao et al. 2022, arXiv:2205.14135).
#pragma once
#include <cstdint>

#include "cpu/isa.h"

namespace trine::cpu {

// A [batch, heads, rows, width] operand with contiguous rows; strides in elements.
template <class T> struct HeadRows {
  const T* data;
  int64_t batch, head, row;
};

template <class T> struct Attention {
  int64_t batch, heads, kv_heads, queries, keys, width, value_width;
  HeadRows<T> q, k, v;
  // Either kind of mask, or none; the last stride is free because masks are broadcast.
  const T* bias;
  const bool* keep;
  int64_t mask_batch, mask_head, mask_row, mask_col;
  bool causal;
  T scale;
  T* out;  // [batch, heads, queries, value_width]
};

TRINE_ISA_DECLARE(void, attention_float, (const Attention<float>& a));
TRINE_ISA_DECLARE(void, attention_double, (const Attention<double>& a));

}  // namespace trine::cpu
