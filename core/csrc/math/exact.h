// The scalar forms of functions whose fast forms give up on rare arguments (they return NaN there): with_exact_lanes()
// finds it among the results and evaluates those lanes again with these.
#pragma once

#include <cmath>

#include "complex.h"
#include "rounding.h"
#include "trig.h"

namespace trine::math {

namespace exact {

template <class T>
T sin(T x) {
  return std::sin(x);
}
template <class T>
T cos(T x) {
  return std::cos(x);
}
template <class T>
T tan(T x) {
  return std::tan(x);
}

template <class T>
T fmod(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) return std::fmod(x, y);
  else return math::fmod(x, y);
}
template <class T>
T remainder(T x, T y) {
  return detail::with_sign_of_divisor(exact::fmod(x, y), y);
}
template <class T>
T divide_floor(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) return detail::floored_quotient(x, y, exact::fmod(x, y));
  else return math::divide_floor(x, y);
}

}  // namespace exact

// out[i] = fast(i), and exact(i) where that is NaN. `out` may be one of the inputs, so that a block of results waits
// beside it until its inputs are no longer needed.
template <class T, class Fast, class Exact>
TRINE_FN void with_exact_lanes(T* out, int64_t n, Fast&& fast, Exact&& exact) {
  constexpr int64_t kBlock = 512;
  alignas(64) T block[kBlock];
  for (int64_t start = 0; start < n; start += kBlock) {
    int64_t count = n - start < kBlock ? n - start : kBlock;
    for (int64_t i = 0; i < count; i++) block[i] = fast(start + i);
    int found = 0;
    for (int64_t i = 0; i < count; i++) found |= block[i] != block[i];
    if (__builtin_expect(found != 0, 0))
      for (int64_t i = 0; i < count; i++)
        if (block[i] != block[i]) block[i] = exact(start + i);
    for (int64_t i = 0; i < count; i++) out[start + i] = block[i];
  }
}

}  // namespace trine::math
