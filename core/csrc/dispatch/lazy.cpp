#include "dispatch/lazy.h"

#include <list>
#include <string_view>
#include <vector>

#include "dispatch/operator.h"
#include "trine/ops.h"

namespace trine {

Tensor resolved(const Tensor& t) {
  if (!t.is_lazy()) return t;
  BelowAutograd below;
  Tensor memory = with_lazy_keys(t, KeySet());
  if (!t.is_conj()) return neg(memory);
  Tensor result = conj_physical(memory);
  return t.is_neg() ? neg(result) : result;
}

namespace {

// What an operator that knows nothing of lazy views is called through: with copies of those among its arguments. What it wrote to a copy
// goes back into the view.
void call_with_copies(const OperatorInfo& op, const Value* args, Value* results) {
  struct Written {
    Tensor view, copy;
  };
  std::vector<Value> own(args, args + op.num_args);
  std::list<Tensor> kept;
  std::list<std::vector<Tensor>> kept_lists;
  std::vector<Written> written;
  const std::string_view name = op.name;
  // Operators on lists are not marked as writing: their names say it.
  const bool writes_lists = name.ends_with('_') && !name.ends_with("__");
  for (int i = 0; i < op.num_args; ++i) {
    const Value& v = args[i];
    if (v.tag() == Tag::Tensor && v.tensor().is_lazy()) {
      kept.push_back(resolved(v.tensor()));
      own[static_cast<size_t>(i)] = Value(kept.back());
      if (op.args[i].written) written.push_back({v.tensor(), kept.back()});
    } else if (v.tag() == Tag::TensorList) {
      bool lazy = false;
      for (const Tensor& t : v.tensors()) lazy |= t.defined() && t.is_lazy();
      if (!lazy) continue;
      std::vector<Tensor>& list = kept_lists.emplace_back();
      for (const Tensor& t : v.tensors()) {
        list.push_back(t.defined() ? resolved(t) : t);
        if (t.defined() && t.is_lazy() && (op.args[i].written || writes_lists)) written.push_back({t, list.back()});
      }
      own[static_cast<size_t>(i)] = Value(TensorList(list));
    }
  }
  op.boxed(own.data(), results);
  BelowAutograd below;
  for (const Written& w : written) {
    if (!equal(w.view.sizes(), w.copy.sizes())) resize_impl(w.view, w.copy.sizes(), contiguous_strides(w.copy.sizes()));
    copy_(w.view, w.copy);
  }
  // An out= operator returns its argument; nobody asks for these.
  if (op.has_out)
    for (int r = 0; r < op.num_results; ++r) results[r].take_tensor();
}

const bool registered = [] {
  set_mode_handler(Key::Conjugate, call_with_copies);
  set_mode_handler(Key::Negative, call_with_copies);
  return true;
}();

}  // namespace
}  // namespace trine
