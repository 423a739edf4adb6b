// Lazy views: tensors that stand for the conjugates or the negatives of what lies in their memory.
#pragma once
#include "tensor/tensor.h"

namespace trine {

// The tensor itself, or, if it is a lazy view, a copy with the values that it stands for. Outside autograd.
Tensor resolved(const Tensor& t);

}  // namespace trine
