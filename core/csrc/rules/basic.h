// Shape and dtype rules that many families share.
#pragma once
#include "dispatch/structured.h"

namespace trine::rules {

inline TensorSpec like(const Tensor& t, MemoryFormat format = MemoryFormat::Preserve) {
  TensorSpec s(t.sizes(), t.dtype(), format);
  if (format == MemoryFormat::Preserve && !t.is_contiguous()) s.strides = strides_like(t);
  return s;
}
inline TensorSpec like_as(const Tensor& t, DType dtype, MemoryFormat format) {
  TensorSpec s = like(t, format);
  s.dtype = dtype;
  return s;
}

}  // namespace trine::rules
