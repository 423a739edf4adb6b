// The scalar forms of functions whose fast forms give up on rare arguments (they return NaN there): a loop looks for NaN
// in its results and evaluates those lanes again with these.
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

// Calls again(i) for every NaN among the n results.
template <class T, class F>
TRINE_FN void revisit_nan(const T* out, int64_t n, F&& again) {
  int64_t found = 0;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) found |= out[i] != out[i];
  if (__builtin_expect(found != 0, 0))
    for (int64_t i = 0; i < n; i++)
      if (out[i] != out[i]) again(i);
}

}  // namespace trine::math
