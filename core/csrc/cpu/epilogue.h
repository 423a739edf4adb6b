// What a convolution does to its result before it leaves the cache.
#pragma once
#include <limits>

namespace trine::cpu {

// Channel i becomes clamp(x * scale[i] + shift[i] + residual), where the residual lies as the result does. A NaN stays a NaN.
template <class T> struct Epilogue {
  const T* scale;
  const T* shift;
  const T* residual = nullptr;
  T low = -std::numeric_limits<T>::infinity(), high = std::numeric_limits<T>::infinity();
};

}  // namespace trine::cpu
