#pragma once
#include <vector>

#include "tensor/tensor.h"

namespace trine::cpu {

// Positions of a contiguous tensor's elements in ascending order, equal ones in their old order.
std::vector<int64_t> sorted_order(const Tensor& flat);

}  // namespace trine::cpu
