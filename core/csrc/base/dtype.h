// Element types: the twelve of the table below, their sizes, kinds and promotion order.
#pragma once
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace trine {

// The order is also the order of type promotion inside a kind (see tensor/promotion.h).
enum class DType : uint8_t {
  Bool, UInt8, Int8, Int16, Int32, Int64, Half, BFloat16, Float, Double, ComplexFloat, ComplexDouble,
  Count,
  Undefined = 255,
};
constexpr int kNumDTypes = static_cast<int>(DType::Count);

struct Half {
  uint16_t bits;
  Half() = default;
  inline explicit Half(float f);
  inline operator float() const;
};

struct BFloat16 {
  uint16_t bits;
  BFloat16() = default;
  inline explicit BFloat16(float f);
  inline operator float() const;
};

inline float bits_to_float(uint32_t u) { float f; std::memcpy(&f, &u, 4); return f; }
inline uint32_t float_to_bits(float f) { uint32_t u; std::memcpy(&u, &f, 4); return u; }

// Round to nearest even; every NaN becomes the quiet NaN 0x7fc0 (the sign is dropped, as in PyTorch).
inline BFloat16::BFloat16(float f) {
  uint32_t u = float_to_bits(f);
  uint32_t rounded = (u + 0x7fff + ((u >> 16) & 1)) >> 16;
  bits = static_cast<uint16_t>(f != f ? 0x7fc0 : rounded);
}
inline BFloat16::operator float() const { return bits_to_float(static_cast<uint32_t>(bits) << 16); }

#if defined(__FLT16_MANT_DIG__) && (defined(__F16C__) || defined(__ARM_FP16_FORMAT_IEEE))
inline Half::Half(float f) { _Float16 h = static_cast<_Float16>(f); std::memcpy(&bits, &h, 2); }
inline Half::operator float() const { _Float16 h; std::memcpy(&h, &bits, 2); return static_cast<float>(h); }
#else
// Scaling by powers of two lets the float unit do the rounding; the method is branch-free and vectorises.
inline Half::Half(float f) {
  uint32_t w = float_to_bits(f);
  uint32_t sign = w & 0x80000000u, shl1 = w + w;
  uint32_t bias = shl1 & 0xff000000u;
  bias = bias < 0x71000000u ? 0x71000000u : bias;
  float magnitude = bits_to_float(w & 0x7fffffffu);
  float base = (magnitude * 0x1.0p+112f) * 0x1.0p-110f;
  base = bits_to_float((bias >> 1) + 0x07800000u) + base;
  uint32_t b = float_to_bits(base);
  uint32_t nonsign = ((b >> 13) & 0x7c00u) + (b & 0x0fffu);
  bits = static_cast<uint16_t>((sign >> 16) | (shl1 > 0xff000000u ? 0x7e00u : nonsign));
}
inline Half::operator float() const {
  uint32_t w = static_cast<uint32_t>(bits) << 16, sign = w & 0x80000000u, two_w = w + w;
  float normal = bits_to_float((two_w >> 4) + (0xe0u << 23)) * 0x1.0p-112f;
  float subnormal = bits_to_float((two_w >> 17) | (126u << 23)) - 0.5f;
  return bits_to_float(sign | float_to_bits(two_w < (1u << 27) ? subnormal : normal));
}
#endif

using cfloat = std::complex<float>;
using cdouble = std::complex<double>;

// X(C++ type, enumerator, Python name)
#define TRINE_FORALL_INT(X) \
  X(uint8_t, UInt8, "uint8") X(int8_t, Int8, "int8") X(int16_t, Int16, "int16") X(int32_t, Int32, "int32") X(int64_t, Int64, "int64")
#define TRINE_FORALL_FLOAT(X) X(float, Float, "float32") X(double, Double, "float64")
#define TRINE_FORALL_HALF(X) X(::trine::Half, Half, "float16") X(::trine::BFloat16, BFloat16, "bfloat16")
#define TRINE_FORALL_COMPLEX(X) X(::trine::cfloat, ComplexFloat, "complex64") X(::trine::cdouble, ComplexDouble, "complex128")
#define TRINE_FORALL_DTYPES(X) \
  X(bool, Bool, "bool") TRINE_FORALL_INT(X) TRINE_FORALL_HALF(X) TRINE_FORALL_FLOAT(X) TRINE_FORALL_COMPLEX(X)

template <class T> struct dtype_of;
#define X(T, E, N) \
  template <> struct dtype_of<T> { static constexpr DType value = DType::E; };
TRINE_FORALL_DTYPES(X)
#undef X
template <class T> constexpr DType dtype_v = dtype_of<T>::value;

constexpr int itemsize(DType t) {
  constexpr int sizes[] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  return sizes[static_cast<int>(t)];
}
constexpr bool is_complex(DType t) { return t == DType::ComplexFloat || t == DType::ComplexDouble; }
constexpr bool is_floating(DType t) { return t >= DType::Half && t <= DType::Double; }
constexpr bool is_reduced_floating(DType t) { return t == DType::Half || t == DType::BFloat16; }
constexpr bool is_integral(DType t, bool include_bool) { return t <= DType::Int64 && (include_bool || t != DType::Bool); }
constexpr bool is_signed(DType t) { return t != DType::Bool && t != DType::UInt8; }
constexpr bool is_differentiable(DType t) { return t >= DType::Half && t <= DType::ComplexDouble; }
constexpr DType to_complex(DType t) { return t == DType::Double || t == DType::ComplexDouble ? DType::ComplexDouble : DType::ComplexFloat; }
constexpr DType to_real(DType t) { return t == DType::ComplexDouble ? DType::Double : t == DType::ComplexFloat ? DType::Float : t; }
// The type in which arithmetic on t happens: float32 for the 16-bit floats.
constexpr DType compute_type(DType t) { return is_reduced_floating(t) ? DType::Float : t; }
const char* name(DType t);         // "float32"
const char* legacy_name(DType t);  // "Float", as PyTorch's messages spell it

DType default_dtype();
void set_default_dtype(DType t);

// TRINE_DISPATCH_X(dtype, "op", { code that uses scalar_t }) picks the C++ type of a dtype, or throws.
#define TRINE_SWITCH_(CASES, DT, OP, ...) \
  do { \
    switch (DT) { \
      CASES \
      default: ::trine::unsupported_dtype(OP, DT); \
    } \
  } while (0)

[[noreturn]] void unsupported_dtype(const char* op, DType t);

#define TRINE_ONE_CASE_(T, E, ...) \
  case ::trine::DType::E: { using scalar_t [[maybe_unused]] = T; __VA_ARGS__; break; }
#define TRINE_CASES_INT(...) \
  TRINE_ONE_CASE_(uint8_t, UInt8, __VA_ARGS__) TRINE_ONE_CASE_(int8_t, Int8, __VA_ARGS__) TRINE_ONE_CASE_(int16_t, Int16, __VA_ARGS__) \
  TRINE_ONE_CASE_(int32_t, Int32, __VA_ARGS__) TRINE_ONE_CASE_(int64_t, Int64, __VA_ARGS__)
#define TRINE_CASES_FLOAT(...) TRINE_ONE_CASE_(float, Float, __VA_ARGS__) TRINE_ONE_CASE_(double, Double, __VA_ARGS__)
#define TRINE_CASES_HALF(...) TRINE_ONE_CASE_(::trine::Half, Half, __VA_ARGS__) TRINE_ONE_CASE_(::trine::BFloat16, BFloat16, __VA_ARGS__)
#define TRINE_CASES_COMPLEX(...) \
  TRINE_ONE_CASE_(::trine::cfloat, ComplexFloat, __VA_ARGS__) TRINE_ONE_CASE_(::trine::cdouble, ComplexDouble, __VA_ARGS__)
#define TRINE_CASES_BOOL(...) TRINE_ONE_CASE_(bool, Bool, __VA_ARGS__)
#define TRINE_DISPATCH_ALL(DT, OP, ...) \
  TRINE_SWITCH_(TRINE_CASES_BOOL(__VA_ARGS__) TRINE_CASES_INT(__VA_ARGS__) TRINE_CASES_HALF(__VA_ARGS__) TRINE_CASES_FLOAT(__VA_ARGS__) TRINE_CASES_COMPLEX(__VA_ARGS__), DT, OP)
#define TRINE_DISPATCH_REAL(DT, OP, ...) \
  TRINE_SWITCH_(TRINE_CASES_BOOL(__VA_ARGS__) TRINE_CASES_INT(__VA_ARGS__) TRINE_CASES_HALF(__VA_ARGS__) TRINE_CASES_FLOAT(__VA_ARGS__), DT, OP)
#define TRINE_DISPATCH_FLOAT(DT, OP, ...) TRINE_SWITCH_(TRINE_CASES_FLOAT(__VA_ARGS__), DT, OP)
#define TRINE_DISPATCH_FLOATING(DT, OP, ...) TRINE_SWITCH_(TRINE_CASES_HALF(__VA_ARGS__) TRINE_CASES_FLOAT(__VA_ARGS__), DT, OP)
#define TRINE_DISPATCH_FLOATING_COMPLEX(DT, OP, ...) \
  TRINE_SWITCH_(TRINE_CASES_HALF(__VA_ARGS__) TRINE_CASES_FLOAT(__VA_ARGS__) TRINE_CASES_COMPLEX(__VA_ARGS__), DT, OP)
#define TRINE_DISPATCH_FLOAT_COMPLEX(DT, OP, ...) TRINE_SWITCH_(TRINE_CASES_FLOAT(__VA_ARGS__) TRINE_CASES_COMPLEX(__VA_ARGS__), DT, OP)
#define TRINE_DISPATCH_INT(DT, OP, ...) TRINE_SWITCH_(TRINE_CASES_INT(__VA_ARGS__), DT, OP)
#define TRINE_DISPATCH_INDEX(DT, OP, ...) \
  TRINE_SWITCH_(TRINE_ONE_CASE_(int32_t, Int32, __VA_ARGS__) TRINE_ONE_CASE_(int64_t, Int64, __VA_ARGS__), DT, OP)

}  // namespace trine
