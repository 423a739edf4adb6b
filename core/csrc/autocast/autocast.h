// Automatic casting: within an autocast region matrix products and convolutions are computed in a shorter type, sums of many terms and losses in
// float32. The tables say which operators (`autocast:`, docs/operators.md).
#pragma once
#include "tensor/tensor.h"

namespace trine::autocast {

struct State {
  bool enabled = false;  // on the CPU
  DType dtype = DType::BFloat16;
  bool cache = true;  // each weight is cast once in a region
  int nesting = 0;
};
State& state();  // of this thread
void set_enabled(bool on);
void clear_cache();

}  // namespace trine::autocast
