#include "autocast/autocast.h"

#include <unordered_map>

#include "autograd/node.h"
#include "dispatch/operator.h"
#include "trine/ops.h"

namespace trine::autocast {
namespace {

thread_local State this_state;
// Casts of leaves that require grad, kept with the leaf so that its address is not used again.
thread_local std::unordered_map<const TensorImpl*, std::pair<Tensor, Tensor>> casts;

bool eligible(const Tensor& t) { return t.defined() && t.is_cpu() && t.is_floating() && t.dtype() != DType::Double; }

Tensor cast_to(DType dtype, const Tensor& t) {
  if (!eligible(t) || t.dtype() == dtype) return t;
  const bool kept = this_state.cache && dtype == this_state.dtype && t.dtype() == DType::Float && t.requires_grad() && grad_enabled() && is_leaf(t) && !t.impl()->base;
  if (!kept) return to(t, dtype);
  const auto found = casts.find(t.impl());
  if (found != casts.end()) return found->second.second;
  Tensor lower = to(t, dtype);
  casts.emplace(t.impl(), std::pair(t, lower));
  return lower;
}

// float32 as soon as one of the tensors is, otherwise the type they have.
void widest(const Tensor& t, DType& found) {
  if (eligible(t) && (t.dtype() == DType::Float || found == DType::Undefined)) found = t.dtype();
}

void call(const OperatorInfo& op, const Value* args, Value* results) {
  ExcludeKeys below(Key::Autocast);
  DType dtype = op.autocast == Autocast::Lower ? this_state.dtype : DType::Float;
  if (op.autocast == Autocast::Promote) {
    dtype = DType::Undefined;
    for (size_t i = 0; i < op.num_args; ++i) {
      if (args[i].tag() == Tag::Tensor) widest(args[i].tensor(), dtype);
      if (args[i].tag() == Tag::TensorList)
        for (const Tensor& t : args[i].tensors()) widest(t, dtype);
    }
  }
  std::vector<Value> values(args, args + op.num_args);
  std::vector<Tensor> tensors;
  std::vector<std::vector<Tensor>> lists;
  tensors.reserve(op.num_args);
  lists.reserve(op.num_args);
  for (size_t i = 0; i < op.num_args && dtype != DType::Undefined; ++i) {
    if (args[i].tag() == Tag::Tensor) {
      tensors.push_back(cast_to(dtype, args[i].tensor()));
      values[i] = Value(tensors.back());
    } else if (args[i].tag() == Tag::TensorList) {
      lists.emplace_back();
      for (const Tensor& t : args[i].tensors()) lists.back().push_back(cast_to(dtype, t));
      values[i] = Value(TensorList(lists.back()));
    }
  }
  op.boxed(values.data(), results);
}

const bool registered = [] {
  set_mode_handler(Key::Autocast, call);
  return true;
}();

}  // namespace

State& state() { return this_state; }

void set_enabled(bool on) {
  this_state.enabled = on;
  key_modes.included = on ? key_modes.included | Key::Autocast : key_modes.included - Key::Autocast;
}

void clear_cache() { casts.clear(); }

}  // namespace trine::autocast
