// Copies through the chunk engine.
#pragma once
#include "tensor/tensor.h"

namespace trine::cpu {

// dst[...] = src[...] with broadcasting of src and conversion of types; the memory of the two must not overlap.
void convert_copy(const Tensor& dst, const Tensor& src);

}  // namespace trine::cpu
