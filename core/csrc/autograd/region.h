// What part of its base a view shows, for histories of bases that are written to through views.
#pragma once
#include "tensor/tensor.h"

namespace trine::autograd {

struct Region {
  Dims sizes, strides;
  int64_t offset = 0;  // from the base's first element, in elements of the view
  bool real_of_complex = false, complex_of_real = false;
  bool conjugate = false, negate = false;  // relative to the base's elements

  Region() = default;
  Region(const Tensor& view, const Tensor& base);
  // The region of `like`, a tensor with the base's sizes and strides (or the base itself): a differentiable view of it.
  Tensor of(const Tensor& like) const;
  // `like` with `value` written to the region: differentiable in both.
  Tensor scatter(const Tensor& like, const Tensor& value) const;

 private:
  Tensor memory(const Tensor& like) const;          // in elements of the view
  Tensor values(const Tensor& t) const;             // conjugation and negation: their own inverse
};

}  // namespace trine::autograd
