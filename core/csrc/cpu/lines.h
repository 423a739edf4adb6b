// Lines of a tensor that a kernel works on side by side.
#pragma once
#include <cstdint>

namespace trine::cpu {

// Element k of line q at data[offset[q] + k * stride]; all in units of T.
template <class T> struct Lines {
  T* data;
  const int64_t* offset;
  int64_t stride;
};

}  // namespace trine::cpu
