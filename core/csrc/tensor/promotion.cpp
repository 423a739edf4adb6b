#include "tensor/promotion.h"

namespace trine {
namespace {
int kind(DType t) { return is_complex(t) ? 3 : is_floating(t) ? 2 : t == DType::Bool ? 0 : 1; }
}  // namespace

DType promote_types(DType a, DType b) {
  if (a == b || b == DType::Undefined) return a;
  if (a == DType::Undefined) return b;
  if (a > b) std::swap(a, b);
  if (is_complex(b)) return b == DType::ComplexDouble || a == DType::Double ? DType::ComplexDouble : DType::ComplexFloat;
  if (a == DType::Half && b == DType::BFloat16) return DType::Float;
  if (a == DType::UInt8 && b == DType::Int8) return DType::Int16;
  return b;  // the enumerators stand in order of rank
}

Promotion& Promotion::add(const Tensor& t) {
  DType& slot = t.impl()->wrapped_number ? number_ : t.dim() == 0 ? zero_ : dims_;
  slot = promote_types(slot, t.dtype());
  return *this;
}

Promotion& Promotion::add(const Scalar& s) {
  number_ = promote_types(number_, s.is_bool() ? DType::Bool : s.is_integral() ? DType::Int64 : s.is_floating() ? DType::Double : DType::ComplexDouble);
  return *this;
}

DType Promotion::result() const {
  DType number = number_;
  if (number != DType::Undefined && kind(number) >= 2) number = is_complex(number) ? to_complex(default_dtype()) : default_dtype();
  auto merge = [](DType strong, DType weak) {
    if (strong == DType::Undefined) return weak;
    if (weak == DType::Undefined || kind(weak) <= kind(strong)) return strong;
    // A complex number beside a real tensor keeps the tensor's precision.
    if (is_complex(weak) && is_floating(strong)) return to_complex(strong);
    return weak;
  };
  return merge(merge(dims_, zero_), number);
}

bool can_cast(DType from, DType to) { return kind(from) <= kind(to); }

}  // namespace trine
