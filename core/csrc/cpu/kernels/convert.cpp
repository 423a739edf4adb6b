// All conversions between element types, auto-vectorised once per instruction set.
#include "cpu/convert.h"

#include "cpu/convert_table.h"
#include "cpu/isa_register.h"

namespace trine::cpu {
namespace {

template <class T> struct is_complex_type : std::false_type {};
template <class R> struct is_complex_type<std::complex<R>> : std::true_type {};

template <class To, class From> inline To convert_one(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (is_complex_type<To>::value) {
    using R = typename To::value_type;
    if constexpr (is_complex_type<From>::value)
      return To(static_cast<R>(v.real()), static_cast<R>(v.imag()));
    else
      return To(convert_one<R>(v), R(0));
  } else if constexpr (is_complex_type<From>::value) {
    if constexpr (std::is_same_v<To, bool>)
      return v.real() != 0 || v.imag() != 0;
    else
      return convert_one<To>(v.real());
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(v));
  } else if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) {
    return convert_one<To>(static_cast<float>(v));
  } else if constexpr (std::is_same_v<To, bool>) {
    return v != From(0);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From> && sizeof(To) < 4) {
    // Through int32, so that out-of-range values wrap as they do in PyTorch on x86.
    return static_cast<To>(static_cast<int32_t>(v));
  } else {
    return static_cast<To>(v);
  }
}

template <class To, class From> void convert(void* dst, const void* src, int64_t n) {
  auto* d = static_cast<To*>(dst);
  auto* s = static_cast<const From*>(src);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) d[i] = convert_one<To>(s[i]);
}

// One row of the table: the preprocessor does not expand a list inside itself, a template does the nesting.
template <class To> void register_row() {
  auto& table = convert_tables[TRINE_ISA_INDEX];
#define FROM(T, E, N) isa_register(table.fn[static_cast<int>(dtype_v<To>)][static_cast<int>(DType::E)], convert<To, T>);
  TRINE_FORALL_DTYPES(FROM)
#undef FROM
}

const bool registered = [] {
#define TO(T, E, N) register_row<T>();
  TRINE_FORALL_DTYPES(TO)
#undef TO
  return true;
}();

}  // namespace
}  // namespace trine::cpu
