#include "cpu/loss.h"

#include "math/math.h"

namespace trine::cpu {
namespace {

template <class T> void row(const T* x, T lse, T scale, T* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = math::exp(x[i] - lse) * scale;
}
template <class T> void columns(const T* x, const T* lse, const T* scale, T* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = math::exp(x[i] - lse[i]) * scale[i];
}

TRINE_ISA_DEFINE(exp_row_float, row<float>);
TRINE_ISA_DEFINE(exp_row_double, row<double>);
TRINE_ISA_DEFINE(exp_columns_float, columns<float>);
TRINE_ISA_DEFINE(exp_columns_double, columns<double>);

}  // namespace
}  // namespace trine::cpu
