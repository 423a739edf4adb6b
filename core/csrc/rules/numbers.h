// Shapes of operators on single numbers that give more than one result.
#pragma once
#include "dispatch/structured.h"

namespace trine::rules {

inline std::array<TensorSpec, 2> frexp_spec(const Tensor& self) {
  TRINE_CHECK(is_floating(self.dtype()), "frexp: only supports floating-point dtypes, got ", name(self.dtype()));
  return {TensorSpec{self.sizes(), self.dtype(), self.suggest_memory_format()}, TensorSpec{self.sizes(), DType::Int32, self.suggest_memory_format()}};
}

}  // namespace trine::rules
