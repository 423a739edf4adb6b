#include "cpu/lu.h"

#include <algorithm>
#include <cmath>

namespace trine::cpu {
namespace {

template <class T> int panel(T* a, int64_t m, int64_t n, int64_t lda, int* pivots) {
  int info = 0;
  for (int64_t j = 0; j < std::min(m, n); ++j) {
    T* column = a + j * lda;
    int64_t best = j;
    T largest = std::abs(column[j]);
    for (int64_t i = j + 1; i < m; ++i) {
      const T size = std::abs(column[i]);
      if (size > largest) largest = size, best = i;
    }
    pivots[j] = static_cast<int>(best) + 1;
    if (column[best] == T(0)) {
      if (info == 0) info = static_cast<int>(j) + 1;
      continue;
    }
    if (best != j)
      for (int64_t c = 0; c < n; ++c) std::swap(a[c * lda + j], a[c * lda + best]);
    const T scale = T(1) / column[j];
    for (int64_t i = j + 1; i < m; ++i) column[i] *= scale;
    for (int64_t c = j + 1; c < n; ++c) {
      T* __restrict to = a + c * lda;
      const T factor = to[j];
      const T* __restrict from = column;
      for (int64_t i = j + 1; i < m; ++i) to[i] -= from[i] * factor;
    }
  }
  return info;
}

TRINE_ISA_DEFINE(lu_panel_float, panel<float>);
TRINE_ISA_DEFINE(lu_panel_double, panel<double>);

}  // namespace
}  // namespace trine::cpu
