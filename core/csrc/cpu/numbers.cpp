// Kernels on single numbers that give two results.
#include <cmath>

#include "base/parallel.h"
#include "cpu/dense.h"
#include "trine/kernels.h"

namespace trine::cpu {

void frexp(Tensor& mantissa, Tensor& exponent, const Tensor& self) {
  // Half precision numbers go through float, which holds them exactly.
  const bool small = self.dtype() == DType::Half || self.dtype() == DType::BFloat16;
  const DType computed = small ? DType::Float : self.dtype();
  Tensor in = plain(small ? converted(self, DType::Float) : self);
  DenseOutput m(mantissa, computed), e(exponent, DType::Int32);
  TRINE_DISPATCH_FLOAT(computed, "frexp", {
    const scalar_t* x = in.data<scalar_t>();
    scalar_t* to = m.data<scalar_t>();
    int* power = e.data<int>();
    parallel_for(0, in.numel(), 32768, [&](int64_t b, int64_t end) {
      for (int64_t i = b; i < end; ++i) {
        power[i] = 0;
        to[i] = std::frexp(x[i], &power[i]);
        if (!std::isfinite(x[i])) power[i] = 0;
      }
    });
  });
  m.finish();
  e.finish();
}

}  // namespace trine::cpu
