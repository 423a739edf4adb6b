// What the loss entries of the operator tables share.
#pragma once
#include "trine/ops.h"

namespace trine::composite {

Tensor reduce_loss(const Tensor& loss, int64_t reduction);  // 0 none, 1 mean, 2 sum

}  // namespace trine::composite
