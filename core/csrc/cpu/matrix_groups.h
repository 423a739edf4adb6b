// Batches of small real matrices, each step for as many of them as a register has lanes: a register holds the same element of all.
#pragma once
#include <cstdint>

#include "cpu/isa.h"

namespace trine::cpu {

constexpr int kGroupedSize = 32;        // rows and columns up to which matrices are taken together
constexpr int64_t kGroupedBatch = 4;  // from this many on

// What is read: matrices that follow one another, by rows or by columns. All results are written by columns; what is null is not wanted.
template <class T> struct GroupInput {
  const T* data;
  bool by_rows;
};

// LU factors of A [n, n] with row exchanges counted from 1, the number of the first zero pivot or 0, and X of A X = B [n, k] (B is the
// identity where its data is null).
template <class T> struct LuGroups {
  int n, k;
  GroupInput<T> a, b;
  T *lu, *x;
  int *pivots, *info;
};

// L of A = L L^T, read from the lower triangle, or L^T read from the upper one, and the order of the first minor that is not positive, or 0.
template <class T> struct CholeskyGroups {
  int n;
  GroupInput<T> a;
  bool upper;
  T* factor;
  int* info;
};

// A [m, n] = Q R with `columns` columns of Q, by Householder reflections; R has min(m, n) rows, or m where Q is square.
template <class T> struct QrGroups {
  int m, n, columns;
  GroupInput<T> a;
  T *q, *r;
};

// Each works on matrices [first, first + count) with room for `work` numbers of T.
template <class T> struct MatrixGroups {
  int64_t lanes;
  void (*lu)(const LuGroups<T>&, int64_t first, int64_t count, T* work);              // 2 n (n + k) lanes
  void (*cholesky)(const CholeskyGroups<T>&, int64_t first, int64_t count, T* work);  // 2 n n lanes
  void (*qr)(const QrGroups<T>&, int64_t first, int64_t count, T* work);              // 2 m (n + columns) lanes
};

TRINE_ISA_DECLARE(const MatrixGroups<float>*, matrix_groups_float, ());
TRINE_ISA_DECLARE(const MatrixGroups<double>*, matrix_groups_double, ());

}  // namespace trine::cpu
