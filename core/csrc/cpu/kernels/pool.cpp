// Pooling of one instruction set.
#include "cpu/pool_loops.h"

namespace trine::cpu {

TRINE_ISA_DEFINE(max_pool_float, max_pool_planes<float>);
TRINE_ISA_DEFINE(max_pool_double, max_pool_planes<double>);
TRINE_ISA_DEFINE(avg_pool_float, avg_pool_planes<float>);
TRINE_ISA_DEFINE(avg_pool_double, avg_pool_planes<double>);
TRINE_ISA_DEFINE(avg_pool_grad_float, avg_pool_grad_planes<float>);
TRINE_ISA_DEFINE(avg_pool_grad_double, avg_pool_grad_planes<double>);

}  // namespace trine::cpu
