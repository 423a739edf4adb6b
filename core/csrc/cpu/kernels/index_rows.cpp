#include "cpu/index_rows.h"

#include <complex>

namespace trine::cpu {
namespace {

template <class T> void add_scaled(T* __restrict to, const T* __restrict from, T scale, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] += scale * from[i];
}

template <class T> void reverse_as(T* __restrict to, const T* __restrict from, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[n - 1 - i] = from[i];
}
void reverse(void* to, const void* from, int64_t n, int size) {
  switch (size) {
    case 1: return reverse_as(static_cast<uint8_t*>(to), static_cast<const uint8_t*>(from), n);
    case 2: return reverse_as(static_cast<uint16_t*>(to), static_cast<const uint16_t*>(from), n);
    case 4: return reverse_as(static_cast<uint32_t*>(to), static_cast<const uint32_t*>(from), n);
    case 8: return reverse_as(static_cast<uint64_t*>(to), static_cast<const uint64_t*>(from), n);
    default: return reverse_as(static_cast<std::complex<double>*>(to), static_cast<const std::complex<double>*>(from), n);
  }
}

TRINE_ISA_DEFINE(reverse_row, reverse);
TRINE_ISA_DEFINE(add_row_float, add_scaled<float>);
TRINE_ISA_DEFINE(add_row_double, add_scaled<double>);

}  // namespace
}  // namespace trine::cpu
