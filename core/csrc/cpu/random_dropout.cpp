// Dropout: a mask of coins, and its application, which is also the gradient.
#include "base/parallel.h"
#include "cpu/random_draw.h"
#include "trine/kernels.h"

namespace trine::cpu {
namespace {

// The factor of kept elements in the precision of T, as dividing ones by 1 - p there gives it.
template <class T> T keep_factor(double p) {
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  return static_cast<T>(C(1) / static_cast<C>(1.0 - p));
}

void scale_run(float* out, const float* x, const uint8_t* kept, int64_t n, double p) { masked_scale_float(out, x, kept, n, keep_factor<float>(p)); }
void scale_run(double* out, const double* x, const uint8_t* kept, int64_t n, double p) { masked_scale_double(out, x, kept, n, keep_factor<double>(p)); }
template <class R> void scale_run(std::complex<R>* out, const std::complex<R>* x, const uint8_t* kept, int64_t n, double p) {
  R factor = keep_factor<R>(p);
  for (int64_t i = 0; i < n; i++) out[i] = x[i] * (kept[i] ? factor : R(0));
}
template <class H> void scale_run(H* out, const H* x, const uint8_t* kept, int64_t n, double p) {
  float factor = static_cast<float>(keep_factor<H>(p));
  for (int64_t i = 0; i < n; i++) out[i] = H(static_cast<float>(x[i]) * (kept[i] ? factor : 0.0f));
}

Tensor in_layout_of(const Tensor& t, const Tensor& like) {
  if (equal(t.strides(), like.strides())) return t;
  Tensor copy = empty_strided(like.sizes(), like.strides(), t.dtype());
  convert_copy(copy, t);
  return copy;
}

}  // namespace

void masked_scale(Tensor& out, const Tensor& self, const Tensor& mask, double p) {
  if (!out.is_non_overlapping_and_dense()) {
    Tensor dense = empty(out.sizes(), out.dtype());
    masked_scale(dense, self, mask, p);
    return convert_copy(out, dense);
  }
  Tensor x = in_layout_of(self, out), kept = in_layout_of(expand_to(mask, out.sizes()), out);
  TRINE_DISPATCH_FLOATING_COMPLEX(out.dtype(), "dropout", parallel_for(0, out.numel(), 65536, [&](int64_t begin, int64_t end) {
                            scale_run(out.data<scalar_t>() + begin, x.data<scalar_t>() + begin, kept.data<uint8_t>() + begin, end - begin, p);
                          }));
}

void dropout_with_mask(Tensor& output, Tensor& mask, const Tensor& self, double p, Generator* generator) {
  bernoulli_number(mask, 1.0 - p, generator);
  masked_scale(output, self, mask, p);
}

}  // namespace trine::cpu
