// A Python number on its way into an operator.
#pragma once
#include "base/dtype.h"

namespace trine {

class Scalar {
 public:
  enum class Kind : uint8_t { Bool, Int, Double, Complex };
  Scalar() : Scalar(int64_t{0}) {}
  Scalar(bool v) : kind_(Kind::Bool), i_(v) {}
  Scalar(int v) : kind_(Kind::Int), i_(v) {}
  Scalar(int64_t v) : kind_(Kind::Int), i_(v) {}
  Scalar(float v) : kind_(Kind::Double), d_(v) {}
  Scalar(double v) : kind_(Kind::Double), d_(v) {}
  Scalar(cdouble v) : kind_(Kind::Complex), d_(v.real()), imag_(v.imag()) {}
  Scalar(cfloat v) : Scalar(cdouble(v)) {}

  // From any element type.
  template <class T> static Scalar of(T v) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
      return Scalar(static_cast<float>(v));
    else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      return Scalar(static_cast<int64_t>(v));
    else
      return Scalar(v);
  }

  // From memory. A bool may come from a view or a foreign buffer and hold any byte: nonzero is true.
  template <class T> static Scalar load(const void* p) {
    if constexpr (std::is_same_v<T, bool>) return Scalar(*static_cast<const unsigned char*>(p) != 0);
    T v;
    std::memcpy(&v, p, sizeof v);
    return of(v);
  }

  Kind kind() const { return kind_; }
  bool is_bool() const { return kind_ == Kind::Bool; }
  bool is_integral() const { return kind_ <= Kind::Int; }
  bool is_floating() const { return kind_ == Kind::Double; }
  bool is_complex() const { return kind_ == Kind::Complex; }

  template <class T> T to() const {
    if constexpr (std::is_same_v<T, cfloat> || std::is_same_v<T, cdouble>) {
      using R = typename T::value_type;
      return is_integral() ? T(static_cast<R>(i_)) : T(static_cast<R>(d_), static_cast<R>(imag()));
    } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return T(to<float>());
    } else if constexpr (std::is_same_v<T, bool>) {
      return is_integral() ? i_ != 0 : d_ != 0 || imag() != 0;
    } else {
      if (is_integral()) return static_cast<T>(i_);
      if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<int64_t>(d_));
      return static_cast<T>(d_);
    }
  }
  double to_double() const { return to<double>(); }
  int64_t to_int() const { return to<int64_t>(); }
  cdouble to_complex() const { return to<cdouble>(); }
  // The dtype a tensor made of this number has.
  DType dtype() const {
    switch (kind_) {
      case Kind::Bool: return DType::Bool;
      case Kind::Int: return DType::Int64;
      case Kind::Double: return default_dtype();
      default: return trine::to_complex(default_dtype());
    }
  }
  bool equals(double v) const { return is_integral() ? static_cast<double>(i_) == v : d_ == v && imag() == 0; }
  Scalar operator-() const {
    if (is_complex()) return Scalar(-to_complex());
    return is_integral() ? Scalar(-i_) : Scalar(-d_);
  }
  Scalar conj() const { return is_complex() ? Scalar(std::conj(to_complex())) : *this; }

 private:
  double imag() const { return kind_ == Kind::Complex ? imag_ : 0; }
  Kind kind_;
  union {
    int64_t i_;
    double d_;
  };
  double imag_ = 0;
};

}  // namespace trine
