// Subnormal floating point numbers.
#pragma once

namespace trine {

// Makes subnormal results and operands zero in this thread and the pool's; false where the processor has no such switch.
bool set_flush_denormal(bool flush);

}  // namespace trine
