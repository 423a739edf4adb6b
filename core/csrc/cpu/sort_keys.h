// Sorting works on unsigned keys that stand in the order of the elements: one algorithm serves all types. NaN is the largest, both zeros
// are equal, and a descending order complements the keys.
#pragma once
#include <cstring>

#include "base/dtype.h"

namespace trine::cpu {

template <class T> struct SortKey;
template <> struct SortKey<bool> { using type = uint32_t; };
template <> struct SortKey<uint8_t> { using type = uint32_t; };
template <> struct SortKey<int8_t> { using type = uint32_t; };
template <> struct SortKey<int16_t> { using type = uint32_t; };
template <> struct SortKey<int32_t> { using type = uint32_t; };
template <> struct SortKey<Half> { using type = uint32_t; };
template <> struct SortKey<BFloat16> { using type = uint32_t; };
template <> struct SortKey<float> { using type = uint32_t; };
template <> struct SortKey<int64_t> { using type = uint64_t; };
template <> struct SortKey<double> { using type = uint64_t; };

template <class T> inline typename SortKey<T>::type sort_key(T v) {
  using K = typename SortKey<T>::type;
  constexpr K sign = K{1} << (sizeof(K) * 8 - 1);
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return sort_key(static_cast<float>(v));
  } else if constexpr (std::is_floating_point_v<T>) {
    if (v != v) return ~K{0};
    v += T(0);  // -0 becomes 0
    K bits;
    std::memcpy(&bits, &v, sizeof v);
    return bits & sign ? ~bits : bits | sign;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<K>(static_cast<std::make_signed_t<K>>(v)) ^ sign;
  } else {
    return static_cast<K>(v);
  }
}

}  // namespace trine::cpu
