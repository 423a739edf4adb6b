// Shapes of attention and resampling.
#pragma once
#include "dispatch/structured.h"

namespace trine::rules {

inline TensorSpec attention_spec(const Tensor& query, const Tensor& key, const Tensor& value) {
  TRINE_CHECK(query.dim() == 4 && key.dim() == 4 && value.dim() == 4, "scaled_dot_product_attention: expected 4D tensors, got shapes ", query.sizes(), ", ", key.sizes(), " and ",
              value.sizes());
  return {Dims{query.sizes()[0], query.sizes()[1], query.sizes()[2], value.sizes()[3]}, query.dtype()};
}

inline TensorSpec resample_spec(const Tensor& self, DimsRef output_size) {
  TRINE_CHECK(self.dim() == static_cast<int64_t>(output_size.size()) + 2, "interpolate: input of shape ", self.sizes(), " needs an output size of ", self.dim() - 2, " values, got ",
              output_size);
  Dims sizes{self.sizes()[0], self.sizes()[1]};
  for (size_t d = 0; d < output_size.size(); ++d) {
    TRINE_CHECK(self.sizes()[d + 2] > 0 && output_size[d] > 0, "interpolate: Input and output sizes should be greater than 0, but got input ", self.sizes(), " output ", output_size);
    sizes.push_back(output_size[d]);
  }
  return {sizes, self.dtype(), self.suggest_memory_format()};
}

}  // namespace trine::rules
