// PyTorch's type promotion: tensors with dimensions outrank 0-dim tensors, which outrank Python numbers, unless the weaker one
// has a higher kind (bool < integer < float < complex).
#pragma once
#include "tensor/tensor.h"

namespace trine {

DType promote_types(DType a, DType b);

class Promotion {
 public:
  Promotion& add(const Tensor& t);
  Promotion& add(const Scalar& s);
  DType result() const;

 private:
  DType dims_ = DType::Undefined, zero_ = DType::Undefined, number_ = DType::Undefined;
};

inline DType result_type(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype() && a.impl()->wrapped_number == b.impl()->wrapped_number) return a.impl()->wrapped_number ? Promotion().add(a).result() : a.dtype();
  return Promotion().add(a).add(b).result();
}
inline DType result_type(const Tensor& a, const Scalar& b) { return Promotion().add(a).add(b).result(); }
// May a result of type `from` be stored into a tensor of type `to`?
bool can_cast(DType from, DType to);

}  // namespace trine
