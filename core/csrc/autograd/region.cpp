#include "autograd/region.h"

#include "dispatch/tensor_operators.h"
#include "trine/ops.h"

namespace trine::autograd {

Region::Region(const Tensor& view, const Tensor& base)
    : sizes(view.sizes()), strides(view.strides()), real_of_complex(base.is_complex() && !view.is_complex()), complex_of_real(!base.is_complex() && view.is_complex()) {
  offset = view.offset() - (real_of_complex ? 2 * base.offset() : complex_of_real ? base.offset() / 2 : base.offset());
  negate = view.is_neg() != base.is_neg();
  if (real_of_complex) {
    // Of a conjugate base the imaginary parts are negatives of what lies in memory.
    if (base.is_conj() && offset % 2) negate = !negate;
  } else {
    conjugate = view.is_conj() != base.is_conj();
  }
}

Tensor Region::memory(const Tensor& like) const {
  if (real_of_complex) return view_as_real(resolve_conj(like));
  if (complex_of_real) return view_as_complex(as_strided(like, Dims{like.numel() / 2, 2}, Dims{2, 1}, like.offset()));
  return like;
}

Tensor Region::values(const Tensor& t) const {
  Tensor v = conjugate ? conj(t) : t;
  return negate ? -v : v;
}

Tensor Region::of(const Tensor& like) const {
  Tensor m = memory(like);
  return values(as_strided(m, sizes, strides, m.offset() + offset));
}

Tensor Region::scatter(const Tensor& like, const Tensor& value) const {
  Tensor m = memory(like);
  Tensor written = as_strided_scatter(m, values(value), sizes, strides, m.offset() + offset);
  if (real_of_complex) return view_as_complex(written);
  if (complex_of_real) return as_strided(view_as_real(written), like.sizes(), like.strides(), 0);
  return written;
}

}  // namespace trine::autograd
