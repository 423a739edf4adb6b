// One record per operator variant: its schema as data, and how to call it boxed. The records are generated from core/ops/*.yaml.
#pragma once
#include <optional>
#include <string>

#include "dispatch/value.h"
#include "tensor/keys.h"

namespace trine {

enum class ArgType : uint8_t {
  Tensor, OptionalTensor, TensorList, OptionalTensorList, Int, IntList, Float, FloatList, Bool, BoolList, Scalar, ScalarList, String, DType, Device, MemoryFormat, Generator, Layout,
};

struct ArgSpec {
  const char* name;
  ArgType type;
  int8_t list_size = 0;      // int[2]: a single int stands for two equal ones
  bool nullable = false;     // None is accepted
  bool keyword_only = false;
  bool written = false;      // Tensor!
  bool accepts_number = false;  // a Python number stands for a 0-dim tensor
  const char* default_text = nullptr;  // nullptr: required
};

enum class ReturnKind : uint8_t { Void, Tensor, Tensors, TensorList, Bool, Int, Float, Scalar, Self };

// What an operator does with the dimensions that vmap hides (batching/rules.cpp).
enum class Batching : uint8_t { Loop, Pointwise, Leading };

// What an operator computes in within an autocast region (autocast/autocast.cpp).
enum class Autocast : uint8_t { None, Lower, Float32, Promote };

using BoxedFn = void (*)(const Value* args, Value* results);

struct OperatorInfo {
  const char* name;       // "add", "add_", "add" with overload "out"
  const char* overload;   // "" for the first
  const char* schema;
  const char* doc;
  const ArgSpec* args;
  uint8_t num_args;
  uint8_t num_results;
  ReturnKind returns;
  const char* const* result_names;  // nullptr: plain tuple
  BoxedFn boxed;
  const char* python_module;  // "" = trine, "nn" (only in trine._ops), "fft", "linalg", ..., "method": only a Tensor method
  bool is_method;
  bool has_out;               // the last argument is out=
  Batching batching;
  Autocast autocast;
};

std::span<const OperatorInfo* const> all_operators();
void register_operators(std::span<const OperatorInfo* const> infos);
const OperatorInfo* find_operator(std::string_view name, std::string_view overload = "");

// ---- helpers of the generated dispatchers -----------------------------------------------------------------------------
inline KeySet key_of(const Tensor& t) { return t.defined() ? t.keys() : KeySet(); }
inline KeySet key_of(TensorList l) {
  KeySet k;
  for (const Tensor& t : l) k = k | key_of(t);
  return k;
}
inline KeySet device_key(const std::optional<Device>& d) { return d ? backend_key(d->type) : KeySet(); }
inline Key select_key(KeySet k) { return ((k | key_modes.included) - key_modes.excluded).top(); }

// The backend among an argument list's keys; the most remote device wins over the CPU.
inline Key backend_of(KeySet k) { return (k & KeySet((1u << kNumBackends) - 1)).top(); }

[[noreturn]] void missing_kernel(const char* op, Key key);

// A mode (profiler, tracer, debug printing) sees every call boxed and goes on by calling `op.boxed` below its own key.
using ModeHandler = void (*)(const OperatorInfo& op, const Value* args, Value* results);
void set_mode_handler(Key key, ModeHandler handler);
ModeHandler mode_handler(Key key);

}  // namespace trine
