// Python arguments -> boxed values, by an operator's schema.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "bindings/tensor_object.h"
#include "dispatch/operator.h"

namespace trine::py {

// Memory that parsed values borrow from; lives for one call.
class Arena {
 public:
  ~Arena() {
    for (int i = 0; i < num_tensors_; i++) reinterpret_cast<Tensor*>(tensors_)[i].~Tensor();
  }
  Arena() = default;
  Arena(const Arena&) = delete;
  int64_t* ints(size_t n) {
    if (used_ + n <= kInts) {
      int64_t* p = ints_ + used_;
      used_ += n;
      return p;
    }
    return more_ints_.emplace_back(n).data();
  }
  Scalar* scalar(const Scalar& v) {
    if (num_scalars_ == kScalars) return more_scalars_.emplace_back(std::make_unique<Scalar>(v)).get();
    return new (scalars_ + sizeof(Scalar) * num_scalars_++) Scalar(v);
  }
  const Tensor& tensor(Tensor t) {
    if (num_tensors_ == kTensors) {
      more_tensors_.emplace_back(1, std::move(t));
      return more_tensors_.back()[0];
    }
    return *new (tensors_ + sizeof(Tensor) * num_tensors_++) Tensor(std::move(t));
  }
  std::vector<Tensor>& tensor_list() { return more_tensors_.emplace_back(); }
  std::vector<double>& doubles() { return doubles_.emplace_back(); }

 private:
  static constexpr size_t kInts = 24;
  static constexpr int kScalars = 4, kTensors = 4;
  int64_t ints_[kInts];
  size_t used_ = 0;
  int num_scalars_ = 0, num_tensors_ = 0;
  alignas(Scalar) char scalars_[kScalars * sizeof(Scalar)];
  alignas(Tensor) char tensors_[kTensors * sizeof(Tensor)];
  std::vector<std::vector<int64_t>> more_ints_;
  std::vector<std::vector<double>> doubles_;
  std::vector<std::vector<Tensor>> more_tensors_;
  std::vector<std::unique_ptr<Scalar>> more_scalars_;
};

struct FactoryOptions {  // arguments of every factory that no schema has
  bool requires_grad = false;
};

struct Call {
  static constexpr int kMaxArguments = 24;
  Call() : values(reinterpret_cast<Value*>(storage)) {}
  Call(const Call&) = delete;
  Arena arena;
  Value* values;  // parse() writes every one the operator has; setting them up for each call would cost more than parsing does
  alignas(Value) char storage[kMaxArguments * sizeof(Value)];
  FactoryOptions factory;
  PyObject* out = nullptr;                    // the out= object, borrowed
  SmallVector<PyObject*, 2> overriding;       // arguments whose type has a __torch_function__ of its own, borrowed
};

enum class NumberLike : bool { No, Yes };

// Fills call.values. False: the arguments do not fit; `why` (if given) says what is wrong with the first that does not.
bool parse(const OperatorInfo& op, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, bool as_method, Call& call, std::string* why);

bool is_number(PyObject* o);                 // int, float, bool, complex, NumPy scalars
Scalar to_scalar(PyObject* o);
bool has_torch_function(PyObject* o);        // its type overrides __torch_function__ and overriding is on
extern constinit thread_local bool torch_function_enabled;
// The arguments that override, in the order of the call; those in lists and tuples too.
SmallVector<PyObject*, 2> overriding_arguments(PyObject* const* args, Py_ssize_t n);

// Objects whose __torch_function__ is asked about every call of this thread, the innermost last. None is asked about what it calls itself.
extern constinit thread_local bool in_torch_function_mode;
inline bool torch_function_mode_active() { return in_torch_function_mode && torch_function_enabled; }
void push_torch_function_mode(PyObject* mode);
Ref pop_torch_function_mode();  // empty where there is none

// Where functions that make tensors out of nothing put them when they are not told: set for the thread, or by `with device:`.
extern constinit thread_local bool has_default_device;
std::optional<Device> default_device();
void set_default_device(std::optional<Device> device);
void push_default_device(Device device);
void pop_default_device();
extern PyTypeObject* generator_type;
Generator* unwrap_generator(PyObject* o);

}  // namespace trine::py
