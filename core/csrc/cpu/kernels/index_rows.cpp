#include "cpu/index_rows.h"

namespace trine::cpu {
namespace {

template <class T> void add_scaled(T* __restrict to, const T* __restrict from, T scale, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] += scale * from[i];
}

TRINE_ISA_DEFINE(add_row_float, add_scaled<float>);
TRINE_ISA_DEFINE(add_row_double, add_scaled<double>);

}  // namespace
}  // namespace trine::cpu
