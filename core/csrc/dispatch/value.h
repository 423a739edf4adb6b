// Boxed arguments: what the Python bindings, mode keys and the graph executor pass to an operator whose C++ signature they do not know.
#pragma once
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace trine {

class Generator;

enum class Tag : uint8_t { None, Tensor, TensorList, Int, IntList, Double, DoubleList, Bool, BoolList, Scalar, ScalarList, String, DType, Device, MemoryFormat, Generator };

// A Value never owns its arguments: tensors, lists and strings stay with the caller for the time of the call. Results are owned:
// take_tensor() and take_list() hand the ownership on.
class Value {
 public:
  Value() : tag_(Tag::None), i_(0) {}
  Value(const Tensor& t) : tag_(t.defined() ? Tag::Tensor : Tag::None), p_(t.impl()) {}
  Value(TensorList l) : tag_(Tag::TensorList), p_(const_cast<Tensor*>(l.data())), n_(l.size()) {}
  Value(int64_t v) : tag_(Tag::Int), i_(v) {}
  Value(double v) : tag_(Tag::Double), d_(v) {}
  Value(bool v) : tag_(Tag::Bool), i_(v) {}
  Value(DimsRef l) : tag_(Tag::IntList), p_(const_cast<int64_t*>(l.data())), n_(l.size()) {}
  Value(std::span<const double> l) : tag_(Tag::DoubleList), p_(const_cast<double*>(l.data())), n_(l.size()) {}
  Value(const Scalar* s) : tag_(s ? Tag::Scalar : Tag::None), p_(const_cast<Scalar*>(s)) {}
  Value(std::string_view s) : tag_(Tag::String), p_(const_cast<char*>(s.data())), n_(s.size()) {}
  Value(DType t) : tag_(t == DType::Undefined ? Tag::None : Tag::DType), i_(static_cast<int64_t>(t)) {}
  Value(Device d) : tag_(Tag::Device), i_(static_cast<int64_t>(d.type) << 8 | static_cast<uint8_t>(d.index)) {}
  Value(MemoryFormat f) : tag_(Tag::MemoryFormat), i_(static_cast<int64_t>(f)) {}
  Value(Generator* g) : tag_(g ? Tag::Generator : Tag::None), p_(g) {}

  static Value own(Tensor t) {
    Value v(t);
    if (t.defined()) const_cast<Ptr<TensorImpl>&>(t.ptr()).leak();
    return v;
  }
  static Value own(std::vector<Tensor> l) {
    Value v;
    v.tag_ = Tag::TensorList;
    v.p_ = new std::vector<Tensor>(std::move(l));
    return v;
  }
  static Value own(Scalar s) {
    Value v;
    v.tag_ = Tag::Scalar;
    v.p_ = new Scalar(s);
    return v;
  }

  Tag tag() const { return tag_; }
  bool is_none() const { return tag_ == Tag::None; }
  // Borrowed views. tensor() of None is the undefined tensor.
  const Tensor& tensor() const {
    static_assert(sizeof(Tensor) == sizeof(void*));
    static const Tensor undefined;
    return tag_ == Tag::Tensor ? *reinterpret_cast<const Tensor*>(&p_) : undefined;
  }
  TensorList tensors() const { return {static_cast<const Tensor*>(p_), n_}; }
  int64_t to_int() const { return i_; }
  double to_double() const { return tag_ == Tag::Int ? static_cast<double>(i_) : d_; }
  bool to_bool() const { return i_ != 0; }
  DimsRef ints() const { return {static_cast<const int64_t*>(p_), n_}; }
  std::span<const double> doubles() const { return {static_cast<const double*>(p_), n_}; }
  const Scalar& scalar() const { return *static_cast<const Scalar*>(p_); }
  std::string_view string() const { return {static_cast<const char*>(p_), n_}; }
  DType dtype() const { return tag_ == Tag::DType ? static_cast<DType>(i_) : DType::Undefined; }
  Device device() const { return {static_cast<DeviceType>(i_ >> 8), static_cast<int8_t>(i_ & 0xff)}; }
  MemoryFormat memory_format() const { return static_cast<MemoryFormat>(i_); }
  Generator* generator() const { return tag_ == Tag::Generator ? static_cast<Generator*>(p_) : nullptr; }

  Tensor take_tensor() {
    if (tag_ != Tag::Tensor) return {};
    tag_ = Tag::None;
    return Tensor(Ptr<TensorImpl>::adopt(static_cast<TensorImpl*>(p_)));
  }
  std::vector<Tensor> take_list() {
    auto* l = static_cast<std::vector<Tensor>*>(p_);
    std::vector<Tensor> out = std::move(*l);
    delete l;
    tag_ = Tag::None;
    return out;
  }
  Scalar take_scalar() {
    auto* s = static_cast<Scalar*>(p_);
    Scalar out = *s;
    delete s;
    tag_ = Tag::None;
    return out;
  }

 private:
  Tag tag_;
  union {
    int64_t i_;
    double d_;
    void* p_;
  };
  size_t n_ = 0;
};

}  // namespace trine
