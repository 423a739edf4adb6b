// Settings of the whole process that change numbers.
#pragma once
#include <atomic>

namespace trine {

struct NumericModes {
  std::atomic<bool> bfloat16_products{false};   // products of float matrices may run on the processor's bfloat16 units
  std::atomic<bool> deterministic{false};       // the number of threads may not change a bit, whatever that costs
  std::atomic<bool> fill_uninitialized{false};  // new memory holds NaN, or the largest integer
};
inline NumericModes numeric_modes;

}  // namespace trine
