#include "cpu/index_rows.h"

#include <complex>
#include <cstring>

namespace trine::cpu {
namespace {

template <class T> void add_scaled(T* __restrict to, const T* __restrict from, T scale, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] += scale * from[i];
}

template <class T> void reverse_as(T* __restrict to, const T* __restrict from, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[n - 1 - i] = from[i];
}
template <class T> void repeat_as(T* to, const T* element, int64_t n) {
  T value;
  std::memcpy(&value, element, sizeof value);
  for (int64_t i = 0; i < n; ++i) to[i] = value;
}

// Calls f with numbers of `size` bytes for the elements that void pointers point to.
template <class F> void as_numbers(void* to, const void* from, int size, const F& f) {
  auto call = [&]<class T>(T) { f(static_cast<T*>(to), static_cast<const T*>(from)); };
  switch (size) {
    case 1: return call(uint8_t{});
    case 2: return call(uint16_t{});
    case 4: return call(uint32_t{});
    case 8: return call(uint64_t{});
    default: return call(std::complex<double>{});
  }
}
void reverse(void* to, const void* from, int64_t n, int size) {
  as_numbers(to, from, size, [n](auto* t, const auto* f) { reverse_as(t, f, n); });
}
void repeat(void* to, const void* element, int64_t n, int size) {
  as_numbers(to, element, size, [n](auto* t, const auto* f) { repeat_as(t, f, n); });
}

TRINE_ISA_DEFINE(repeat_element, repeat);
TRINE_ISA_DEFINE(reverse_row, reverse);
TRINE_ISA_DEFINE(add_row_float, add_scaled<float>);
TRINE_ISA_DEFINE(add_row_double, add_scaled<double>);

}  // namespace
}  // namespace trine::cpu
