// How operators work on batched tensors. The tables say to which class an operator belongs (`vmap:`, docs/operators.md); a few matrix, shape
// and index operators have rules of their own below. Everything else is computed element by element of the batch and stacked.
#include <unordered_map>

#include "batching/batched.h"
#include "dispatch/operator.h"
#include "dispatch/tensor_operators.h"
#include "tensor/promotion.h"

namespace trine::batching {
namespace {

// The arguments of a call, to be changed before the operator is called on whole batches.
class Call {
 public:
  Call(const OperatorInfo& op, const Value* args) : op(op) {
    for (size_t i = 0; i < op.num_args; ++i) {
      values.push_back(args[i]);
      if (args[i].tag() == Tag::Tensor) add_levels(args[i].tensor());
      if (args[i].tag() == Tag::TensorList)
        for (const Tensor& t : args[i].tensors()) add_levels(t);
    }
    lists_.reserve(op.num_args);
    dims_.reserve(op.num_args);
    tensors_.reserve(op.num_args);
  }

  bool is_tensor(size_t i) const { return values[i].tag() == Tag::Tensor; }
  const Tensor& tensor(size_t i) const { return values[i].tensor(); }
  std::vector<Tensor> list(size_t i) const { return {values[i].tensors().begin(), values[i].tensors().end()}; }
  int find(std::string_view name) const {
    for (size_t i = 0; i < op.num_args; ++i)
      if (name == op.args[i].name) return static_cast<int>(i);
    return -1;
  }

  void set(size_t i, Tensor t) {
    tensors_.push_back(std::move(t));
    values[i] = Value(tensors_.back());
  }
  void set(size_t i, std::vector<Tensor> l) {
    lists_.push_back(std::move(l));
    values[i] = Value(TensorList(lists_.back()));
  }
  void set(size_t i, Dims d) {
    dims_.push_back(std::move(d));
    values[i] = Value(DimsRef(dims_.back()));
  }

  void run(Value* results) const { op.boxed(values.data(), results); }

  // Every tensor of the results, as a function of it.
  template <class F> void map_results(Value* results, F&& f) const {
    if (op.returns == ReturnKind::Self) return;
    if (op.returns == ReturnKind::TensorList) {
      std::vector<Tensor> list = results[0].take_list();
      for (Tensor& t : list) t = f(t);
      results[0] = Value::own(std::move(list));
      return;
    }
    for (size_t i = 0; i < op.num_results; ++i)
      if (results[i].tag() == Tag::Tensor) results[i] = Value::own(f(results[i].take_tensor()));
  }
  void wrap(Value* results) const {
    map_results(results, [&](const Tensor& t) { return make(t, levels); });
  }

  const OperatorInfo& op;
  std::vector<Value> values;
  Dims levels;  // of all arguments together, ascending

 private:
  void add_levels(const Tensor& t) {
    for (int64_t l : batching::levels(t)) {
      auto at = std::lower_bound(levels.begin(), levels.end(), l);
      if (at == levels.end() || *at != l) {
        const size_t place = static_cast<size_t>(at - levels.begin());
        Dims grown(DimsRef(levels).first(place));
        grown.push_back(l);
        for (size_t i = place; i < levels.size(); ++i) grown.push_back(levels[i]);
        levels = grown;
      }
    }
  }
  std::vector<Tensor> tensors_;
  std::vector<std::vector<Tensor>> lists_;
  std::vector<Dims> dims_;
};

int64_t count(DimsRef levels) { return static_cast<int64_t>(levels.size()); }

// Sizes of all levels of a call.
Dims batch_sizes(const Call& c) {
  Dims sizes(c.levels.size(), 1);
  auto see = [&](const Tensor& t) {
    for (size_t i = 0; i < sizes.size(); ++i)
      if (const int64_t n = level_size(t, c.levels[i]); n >= 0) sizes[i] = n;
  };
  for (size_t i = 0; i < c.op.num_args; ++i) {
    if (c.is_tensor(i)) see(c.tensor(i));
    if (c.values[i].tag() == Tag::TensorList)
      for (const Tensor& t : c.values[i].tensors()) see(t);
  }
  return sizes;
}

// The whole batch with all levels in front, expanded to their sizes.
Tensor whole(const Tensor& t, const Call& c, DimsRef sizes) {
  Tensor v = with_levels(t, c.levels);
  Dims wanted(sizes);
  for (size_t i = sizes.size(); i < v.sizes().size(); ++i) wanted.push_back(v.sizes()[i]);
  return equal(wanted, v.sizes()) ? v : expand(v, wanted);
}

void check_in_place(const Call& c) {
  for (size_t i = 0; i < c.op.num_args; ++i)
    if (c.op.args[i].written && c.is_tensor(i))
      TRINE_CHECK(batching::levels(c.tensor(i)).size() == c.levels.size(), "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor in extra_args of ", c.op.name,
                  " that has a batch dimension which self does not have: use an out-of-place operator instead");
}

// A tensor whose level was added by expansion holds the same values for every element: without that level it can serve all.
Tensor shared(const Tensor& t) {
  if (!is_batched(t)) return t;
  const Tensor& v = value(t);
  Tensor plain = v;
  Dims kept;
  int64_t at = 0;
  for (size_t i = 0; i < levels(t).size(); ++i) {
    if (v.strides()[i] == 0) plain = select(plain, at, 0);
    else kept.push_back(levels(t)[i]), ++at;
  }
  return kept.size() == levels(t).size() ? t : make(plain, kept);
}

// ---- classes ------------------------------------------------------------------------------------------------------------

// Element by element with broadcasting: the levels go in front, ones fill up the dimensions that an element lacks.
void pointwise(Call& c, Value* results) {
  int64_t rank = 0;
  Promotion types;
  for (size_t i = 0; i < c.op.num_args; ++i)
    if (c.is_tensor(i)) {
      rank = std::max(rank, c.tensor(i).dim());
      types.add(c.tensor(i));
    }
  for (size_t i = 0; i < c.op.num_args; ++i) {
    // Of a batch of images the memory format says nothing: the batch has a dimension more.
    if (c.values[i].tag() == Tag::MemoryFormat && c.values[i].memory_format() > MemoryFormat::Preserve) c.values[i] = c.op.args[i].nullable ? Value() : Value(MemoryFormat::Preserve);
    if (!c.is_tensor(i) || !is_batched(c.tensor(i))) continue;
    const Tensor& t = c.tensor(i);
    Tensor v = with_levels(t, c.levels);
    for (int64_t k = t.dim(); k < rank; ++k) v = unsqueeze(v, count(c.levels));
    // A single number stays weak in type promotion although the batch has a dimension.
    if (t.dim() == 0 && !c.op.args[i].written && types.result() != DType::Undefined && v.dtype() != types.result() && v.dtype() != DType::Bool) v = to(v, types.result());
    c.set(i, v);
  }
  c.run(results);
  c.wrap(results);
}

// Operators that treat the dimensions in front as a batch by themselves: the levels go in front, dimensions are counted from the end.
void leading(Call& c, Value* results) {
  const Dims sizes = batch_sizes(c);
  int64_t rank = -1;
  for (size_t i = 0; i < c.op.num_args && rank < 0; ++i) {
    if (c.is_tensor(i)) rank = c.tensor(i).dim();
    if (c.values[i].tag() == Tag::TensorList && !c.values[i].tensors().empty()) rank = c.values[i].tensors()[0].dim();
  }
  // A single number gets a dimension to work along; what remains of it is taken away again.
  int dim_args = 0;
  const bool reduces = c.find("keepdim") >= 0;
  bool flattened = false;
  for (size_t i = 0; i < c.op.num_args; ++i) {
    const std::string_view name = c.op.args[i].name;
    if (name == "dim" || name == "dims" || name == "dim0" || name == "dim1" || name == "dim2" || name == "dimension") ++dim_args;
  }
  const bool scalar = rank == 0 && dim_args > 0;
  const bool grows = std::string_view(c.op.name) == "unsqueeze";
  const int64_t seen = scalar ? 1 : rank;
  for (size_t i = 0; i < c.op.num_args; ++i) {
    const std::string_view name = c.op.args[i].name;
    auto from_end = [&](int64_t d) { return wrap_dim(d, grows ? rank + 1 : seen) - (grows ? rank + 1 : seen); };
    if (c.is_tensor(i)) {
      Tensor v = whole(c.tensor(i), c, sizes);
      if (scalar && !grows && c.tensor(i).dim() == 0) v = unsqueeze(v, -1);
      c.set(i, v);
    } else if (c.values[i].tag() == Tag::TensorList) {
      std::vector<Tensor> list;
      for (const Tensor& t : c.values[i].tensors()) list.push_back(whole(t, c, sizes));
      c.set(i, std::move(list));
    } else if (name == "dim" || name == "dim0" || name == "dim1" || name == "dim2" || name == "dimension" || name == "dims") {
      const ArgType type = c.op.args[i].type;
      if (c.values[i].tag() == Tag::Int) {
        c.values[i] = Value(from_end(c.values[i].to_int()));
      } else if (type == ArgType::IntList) {
        Dims d;
        const DimsRef given = c.values[i].is_none() ? DimsRef() : c.values[i].ints();
        for (int64_t x : given) d.push_back(from_end(x));
        if (given.empty() && reduces)
          for (int64_t x = -seen; x < 0; ++x) d.push_back(x);
        c.set(i, d);
      } else if (type == ArgType::Int) {
        // All elements at once, by an operator that knows one dimension only.
        Dims flat(sizes);
        flat.push_back(-1);
        for (size_t k = 0; k < c.op.num_args; ++k)
          if (c.is_tensor(k) && c.tensor(k).dim() > count(sizes)) c.set(k, reshape(c.tensor(k), flat));
        c.values[i] = Value(int64_t{-1});
        flattened = true;
      }
    }
  }
  c.run(results);
  const int keep = c.find("keepdim");
  c.map_results(results, [&](const Tensor& t) {
    Tensor r = t;
    if (flattened && keep >= 0 && c.values[static_cast<size_t>(keep)].to_bool())
      for (int64_t k = 1; k < rank; ++k) r = unsqueeze(r, -1);
    if (scalar && !grows && r.dim() == count(c.levels) + 1) r = squeeze(r, Dims{-1});
    return make(r, c.levels);
  });
}

// Sizes (batch, ...) with a batch n times as large.
Dims with_larger_batch(DimsRef sizes, int64_t n) {
  Dims larger;
  for (size_t d = 0; d < sizes.size(); ++d) larger.push_back(d == 0 ? sizes[d] * n : sizes[d]);
  return larger;
}

// Runs the operator, whose results have the levels and the batch as one dimension, and splits that.
void run_folded(Call& c, Value* results, const Dims& sizes, int64_t batch) {
  c.run(results);
  c.map_results(results, [&](const Tensor& t) {
    Dims unfolded(sizes);
    unfolded.push_back(batch);
    for (size_t d = 1; d < t.sizes().size(); ++d) unfolded.push_back(t.sizes()[d]);
    return make(reshape(t, unfolded), c.levels);
  });
}

// Operators over (batch, channels, ...): the levels join the batch, if the first tensor alone has them and has a batch.
bool fold(Call& c, Value* results, int64_t rank) {
  const Dims sizes = batch_sizes(c);
  for (size_t i = 0; i < c.op.num_args; ++i) {
    if (!c.is_tensor(i)) continue;
    const bool sample = c.tensor(i).dim() == rank;
    if (!sample && is_batched(shared(c.tensor(i)))) return false;
    if (i == 0 && !sample) return false;
  }
  const int64_t n = product(sizes);
  int64_t batch = -1;
  for (size_t i = 0; i < c.op.num_args; ++i) {
    if (!c.is_tensor(i)) continue;
    if (c.tensor(i).dim() != rank) {
      c.set(i, shared(c.tensor(i)));
      continue;
    }
    const Tensor v = whole(c.tensor(i), c, sizes);
    if (batch < 0) batch = v.sizes()[sizes.size()];
    c.set(i, reshape(v, with_larger_batch(v.sizes().subspan(sizes.size()), n)));
  }
  for (const char* name : {"input_size", "size"})
    if (const int i = c.find(name); i >= 0 && c.values[static_cast<size_t>(i)].tag() == Tag::IntList) {
      const DimsRef d = c.values[static_cast<size_t>(i)].ints();
      if (static_cast<int64_t>(d.size()) == rank) c.set(static_cast<size_t>(i), with_larger_batch(d, n));
    }
  run_folded(c, results, sizes, batch);
  return true;
}

// One element of the batch after the other.
void loop(Call& c, Value* results) {
  TRINE_CHECK(c.op.returns == ReturnKind::Tensor || c.op.returns == ReturnKind::Tensors || c.op.returns == ReturnKind::TensorList || c.op.returns == ReturnKind::Self, "vmap: ", c.op.name,
              " gives a Python value, which cannot be different for each element of the batch");
  TRINE_CHECK(!c.op.has_out, "vmap: ", c.op.name, "(): functions with out=... arguments cannot be used on batched tensors");
  const Dims sizes = batch_sizes(c);
  const int64_t n = product(sizes);
  std::vector<std::vector<Tensor>> parts;  // by result, then by element
  const std::vector<Value> given = c.values;
  for (int64_t element = 0; element < n; ++element) {
    auto one = [&](const Tensor& t) {
      Tensor v = value(t);
      int64_t rest = element;
      Dims place(sizes.size());
      for (size_t i = sizes.size(); i-- > 0;) place[i] = rest % sizes[i], rest /= sizes[i];
      for (int64_t l : levels(t)) v = select(v, 0, place[static_cast<size_t>(std::find(c.levels.begin(), c.levels.end(), l) - c.levels.begin())]);
      return v;
    };
    Call single(c.op, given.data());
    for (size_t i = 0; i < c.op.num_args; ++i) {
      if (given[i].tag() == Tag::Tensor) single.set(i, one(given[i].tensor()));
      if (given[i].tag() == Tag::TensorList) {
        std::vector<Tensor> list;
        for (const Tensor& t : given[i].tensors()) list.push_back(t.defined() ? one(t) : t);
        single.set(i, std::move(list));
      }
    }
    Value out[8];
    single.run(out);
    if (c.op.returns == ReturnKind::Self) continue;
    std::vector<Tensor> tensors;
    if (c.op.returns == ReturnKind::TensorList) tensors = out[0].take_list();
    else
      for (size_t i = 0; i < c.op.num_results; ++i) tensors.push_back(out[i].take_tensor());
    parts.resize(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) parts[i].push_back(std::move(tensors[i]));
  }
  if (c.op.returns == ReturnKind::Self) return;
  TRINE_CHECK(n > 0, "vmap: ", c.op.name, " cannot be applied to an empty batch");
  auto joined = [&](const std::vector<Tensor>& l) {
    for (const Tensor& t : l)
      TRINE_CHECK(equal(t.sizes(), l[0].sizes()), "vmap: ", c.op.name, " gives results of different shapes, ", l[0].sizes(), " and ", t.sizes(), ", for the elements of the batch");
    Dims shape(sizes);
    for (int64_t s : l[0].sizes()) shape.push_back(s);
    return make(reshape(stack(l, 0), shape), c.levels);
  };
  if (c.op.returns == ReturnKind::TensorList) {
    std::vector<Tensor> list;
    for (const auto& l : parts) list.push_back(joined(l));
    results[0] = Value::own(std::move(list));
  } else {
    for (size_t i = 0; i < parts.size(); ++i)
      if (parts[i][0].defined()) results[i] = Value::own(joined(parts[i]));
  }
}

// ---- rules of single operators --------------------------------------------------------------------------------------------

using Rule = bool (*)(Call& c, Value* results);  // false: not this case

// The value of a matrix operand whose levels stand in front; ordinary ones stay as they are, matmul broadcasts them.
Tensor operand(const Call& c, size_t i) {
  const Tensor t = shared(c.tensor(i));
  return is_batched(t) ? with_levels(t, c.levels) : t;
}
bool give(const Call& c, Value* results, const Tensor& t) {
  results[0] = Value::own(make(t, c.levels));
  return true;
}
// A product of operands that turned out to be the same for all elements still has to show the levels.
bool give_product(const Call& c, Value* results, Tensor t, int64_t rank) {
  if (t.dim() == rank) {
    const Dims sizes = batch_sizes(c);
    Dims wanted(sizes);
    for (int64_t n : t.sizes()) wanted.push_back(n);
    t = expand(t, wanted);
  } else {
    const Dims sizes = batch_sizes(c);
    Dims wanted(sizes);
    for (size_t i = sizes.size(); i < t.sizes().size(); ++i) wanted.push_back(t.sizes()[i]);
    if (!equal(wanted, t.sizes())) t = expand(t, wanted);
  }
  return give(c, results, t);
}

bool rule_mm(Call& c, Value* r) { return give_product(c, r, matmul(operand(c, 0), operand(c, 1)), 2); }
bool rule_bmm(Call& c, Value* r) { return give_product(c, r, matmul(operand(c, 0), operand(c, 1)), 3); }
bool rule_mv(Call& c, Value* r) {
  Tensor m = operand(c, 0), v = operand(c, 1);
  return give_product(c, r, squeeze(matmul(m, unsqueeze(v, -1)), Dims{-1}), 1);
}
bool rule_dot(Call& c, Value* r) {
  const int64_t last = -1;
  return give_product(c, r, sum(mul(operand(c, 0), operand(c, 1)), std::optional<DimsRef>(DimsRef(&last, 1))), 0);
}
bool rule_linear(Call& c, Value* r) {
  const Tensor weight = shared(c.tensor(1)), bias = c.is_tensor(2) ? shared(c.tensor(2)) : Tensor();
  const int64_t rank = c.tensor(0).dim();
  Tensor x = operand(c, 0);
  if (!is_batched(weight) && !is_batched(bias)) return give_product(c, r, linear(x, weight, bias), rank);
  Tensor w = transpose(is_batched(weight) ? with_levels(weight, c.levels) : weight, -2, -1);
  // The weights of each element meet a matrix: further dimensions of the input are made one.
  const Dims sizes = batch_sizes(c);
  Dims flat(sizes), shape(sizes);
  for (int64_t d = 0; d + 1 < rank; ++d) shape.push_back(c.tensor(0).size(d));
  shape.push_back(w.size(-1));
  flat.push_back(-1), flat.push_back(c.tensor(0).size(-1));
  Tensor y = reshape(matmul(reshape(whole(c.tensor(0), c, sizes), flat), w), shape);
  if (bias.defined()) {
    Tensor b = is_batched(bias) ? with_levels(bias, c.levels) : bias;
    if (is_batched(bias))
      for (int64_t d = 0; d + 1 < rank; ++d) b = unsqueeze(b, -2);
    y = add(y, b);
  }
  return give(c, r, y);
}

bool rule_sizes(Call& c, Value* r) {  // view, expand: the sizes get those of the levels in front
  const Dims sizes = batch_sizes(c);
  const Tensor& t = c.tensor(0);
  Tensor v = value(t);
  const size_t at = static_cast<size_t>(c.find("size"));
  const DimsRef asked = c.values[at].ints();
  Dims wanted(sizes);
  if (std::string_view(c.op.name) == "expand") {
    TRINE_CHECK(static_cast<int64_t>(asked.size()) >= t.dim(), "expand: the number of sizes provided (", asked.size(), ") must be greater or equal to the number of dimensions in the tensor (", t.dim(), ")");
    for (int64_t k = t.dim(); k < static_cast<int64_t>(asked.size()); ++k) v = unsqueeze(v, count(sizes));
    for (int64_t n : asked) wanted.push_back(n);
  } else {
    for (int64_t n : infer_size(asked, t.numel(), "view")) wanted.push_back(n);
  }
  c.set(0, v);
  c.set(at, wanted);
  c.run(r);
  c.wrap(r);
  return true;
}
bool rule_as_strided(Call& c, Value* r) {  // within the memory of each element
  const Tensor& v = value(c.tensor(0));
  Dims sizes(batch_sizes(c)), strides(v.strides().first(sizes.size()));
  for (int64_t n : c.values[1].ints()) sizes.push_back(n);
  for (int64_t n : c.values[2].ints()) strides.push_back(n);
  return give(c, r, as_strided(v, sizes, strides, c.values[3].is_none() ? std::nullopt : std::optional<int64_t>(c.values[3].to_int())));
}
bool rule_permute(Call& c, Value* r) {
  const int64_t n = count(c.levels), rank = c.tensor(0).dim();
  Dims dims;
  for (int64_t i = 0; i < n; ++i) dims.push_back(i);
  for (int64_t d : c.values[1].ints()) dims.push_back(wrap_dim(d, rank) + n);
  return give(c, r, permute(value(c.tensor(0)), dims));
}
bool rule_squeeze(Call& c, Value* r) {
  Dims dims;
  for (int64_t d = 0; d < c.tensor(0).dim(); ++d)
    if (c.tensor(0).size(d) == 1) dims.push_back(d - c.tensor(0).dim());
  return give(c, r, dims.empty() ? alias(value(c.tensor(0))) : squeeze(value(c.tensor(0)), dims));
}
bool rule_cat(Call& c, Value* r) {
  for (const Tensor& t : c.values[0].tensors())
    if (t.dim() == 0 || (t.dim() == 1 && t.numel() == 0)) return false;
  leading(c, r);
  return true;
}
bool rule_index_select(Call& c, Value* r) {
  if (is_batched(c.tensor(2)) || c.tensor(0).dim() == 0) return false;
  return give(c, r, index_select(value(c.tensor(0)), wrap_dim(c.values[1].to_int(), c.tensor(0).dim()) + count(c.levels), c.tensor(2)));
}
bool rule_index_add(Call& c, Value* r) {
  if (is_batched(c.tensor(2)) || c.tensor(0).dim() == 0) return false;
  const Dims sizes = batch_sizes(c);
  c.values[1] = Value(wrap_dim(c.values[1].to_int(), c.tensor(0).dim()) + count(c.levels));
  c.set(0, whole(c.tensor(0), c, sizes));
  c.set(3, whole(c.tensor(3), c, sizes));
  c.run(r);
  c.wrap(r);
  return true;
}
bool rule_searchsorted(Call& c, Value* r) {
  if (c.tensor(0).dim() == 1 && !is_batched(c.tensor(0))) {
    c.set(1, value(c.tensor(1)));
    c.run(r);
    c.wrap(r);
    return true;
  }
  if (c.tensor(0).dim() != c.tensor(1).dim()) return false;
  leading(c, r);
  return true;
}
bool rule_embedding(Call& c, Value* r) {
  const Tensor weight = shared(c.tensor(0));
  if (is_batched(weight)) return false;
  c.set(0, weight);
  c.set(1, whole(c.tensor(1), c, batch_sizes(c)));
  c.run(r);
  c.wrap(r);
  return true;
}
bool rule_index(Call& c, Value* r) {
  const std::vector<Tensor> indices = c.list(1);
  bool batched = false, front = true, ended = false, gap = false, seen = false;
  for (const Tensor& t : indices) {
    batched |= is_batched(t);
    if (!t.defined()) {
      ended = true;
      continue;
    }
    gap |= seen && ended;
    front &= !ended && t.dtype() != DType::Bool;
    seen = true;
    ended = false;
  }
  if (gap) return false;  // indices with something between them move to the front
  if (!batched) {  // the levels are kept whole
    std::vector<Tensor> moved(c.levels.size());
    moved.insert(moved.end(), indices.begin(), indices.end());
    return give(c, r, index(value(c.tensor(0)), moved));
  }
  if (is_batched(c.tensor(0)) || !front) return false;
  int64_t rank = 0;
  for (const Tensor& t : indices)
    if (t.defined()) rank = std::max(rank, t.dim());
  std::vector<Tensor> wide;
  const Dims sizes = batch_sizes(c);
  for (const Tensor& t : indices) {
    if (!t.defined()) {
      wide.emplace_back();
      continue;
    }
    Tensor v = whole(t, c, sizes);
    for (int64_t k = t.dim(); k < rank; ++k) v = unsqueeze(v, count(sizes));
    wide.push_back(v);
  }
  return give(c, r, index(c.tensor(0), wide));
}
bool rule_layer_norm(Call& c, Value* r) {
  for (size_t i = 2; i < 4; ++i) {
    if (!c.is_tensor(i)) continue;
    const Tensor t = shared(c.tensor(i));
    if (is_batched(t)) return false;
    c.set(i, t);
  }
  c.set(0, value(c.tensor(0)));
  c.run(r);
  c.wrap(r);
  return true;
}
template <int64_t Rank> bool rule_fold(Call& c, Value* r) { return fold(c, r, Rank); }
bool rule_fold_any(Call& c, Value* r) { return fold(c, r, c.tensor(0).dim()); }
bool rule_conv(Call& c, Value* r) {
  const int weight = c.find("weight");
  if (weight < 0) return false;
  const Tensor w = shared(c.tensor(static_cast<size_t>(weight)));
  if (is_batched(w)) return false;
  // Weights and samples have one rank: the weights are handed over before the samples are told by theirs.
  const Dims sizes = batch_sizes(c);
  const Tensor v = whole(c.tensor(0), c, sizes);
  const int64_t n = product(sizes), batch = c.tensor(0).size(0);
  c.set(0, reshape(v, with_larger_batch(v.sizes().subspan(sizes.size()), n)));
  c.set(static_cast<size_t>(weight), w);
  if (const int b = c.find("bias"); b >= 0 && c.is_tensor(static_cast<size_t>(b))) {
    const Tensor bias = shared(c.tensor(static_cast<size_t>(b)));
    if (is_batched(bias)) return false;
    c.set(static_cast<size_t>(b), bias);
  }
  if (const int s = c.find("input_size"); s >= 0) {
    c.set(static_cast<size_t>(s), with_larger_batch(c.values[static_cast<size_t>(s)].ints(), n));
  }
  run_folded(c, r, sizes, batch);
  return true;
}

const std::unordered_map<std::string_view, Rule>& rules() {
  static const std::unordered_map<std::string_view, Rule> map = {
      {"mm", rule_mm}, {"bmm", rule_bmm}, {"mv", rule_mv}, {"dot", rule_dot}, {"linear", rule_linear},
      {"expand", rule_sizes}, {"view", rule_sizes}, {"permute", rule_permute}, {"as_strided", rule_as_strided}, {"index_add", rule_index_add}, {"squeeze", rule_squeeze}, {"cat", rule_cat},
      {"index_select", rule_index_select}, {"embedding", rule_embedding}, {"_index", rule_index}, {"native_layer_norm", rule_layer_norm},
      {"_conv_forward", rule_conv}, {"_conv_input_grad", rule_conv}, {"_attention", rule_fold<4>},
      {"_max_pool", rule_fold_any}, {"_max_pool_values", rule_fold_any}, {"_adaptive_max_pool", rule_fold_any}, {"_avg_pool", rule_fold_any},
      {"_avg_pool_backward", rule_fold_any}, {"_adaptive_avg_pool", rule_fold_any}, {"_adaptive_avg_pool_backward", rule_fold_any}, {"_pool_scatter", rule_fold_any},
      {"_pool_gather", rule_fold_any}, {"_resample", rule_fold_any}, {"_resample_backward", rule_fold_any}, {"grid_sampler", rule_fold_any}, {"searchsorted", rule_searchsorted},
      {"_lstm_cell", rule_fold_any}, {"_lstm_cell_backward", rule_fold_any}, {"_gru_cell", rule_fold_any}, {"_gru_cell_backward", rule_fold_any},
  };
  return map;
}

bool is_random(const OperatorInfo& op) {
  for (size_t i = 0; i < op.num_args; ++i)
    if (op.args[i].type == ArgType::Generator) return true;
  return false;
}

void random(Call& c, Value* results) {
  if (randomness() == Randomness::Error) refuse_random(c.op.name);
  if (randomness() == Randomness::Different) return pointwise(c, results);
  // The same numbers for all: drawn once, for the shape of an element.
  size_t batched = 0;
  for (size_t i = 0; i < c.op.num_args; ++i) batched += c.is_tensor(i) && is_batched(c.tensor(i));
  TRINE_CHECK(c.op.returns == ReturnKind::Self && batched == 1 && c.op.args[0].written, "vmap: ", c.op.name, " of tensors that differ from element to element needs randomness='different'");
  const Tensor self = c.tensor(0), drawn = empty(self.sizes(), self.dtype(), self.device());
  c.set(0, drawn);
  c.run(results);
  copy_(value(self), drawn);
}

void call(const OperatorInfo& op, const Value* args, Value* results) {
  Call c(op, args);
  check_in_place(c);
  TRINE_CHECK(!op.has_out, "vmap: ", op.name, "(): functions with out=... arguments cannot be used on batched tensors");
  if (is_random(op)) return random(c, results);
  // Overloads: the rules are for the first one, and for those of the same arguments.
  const std::string_view overload = op.overload;
  if (overload.empty() && !c.values.empty())
    if (const auto at = rules().find(op.name); at != rules().end() && at->second(c, results)) return;
  Call fresh(op, args);  // a rule that gave up may have changed the arguments
  switch (op.batching) {
    case Batching::Pointwise: return pointwise(fresh, results);
    case Batching::Leading: return leading(fresh, results);
    case Batching::Loop: return loop(fresh, results);
  }
}

const bool registered = [] {
  set_mode_handler(Key::Batched, call);
  return true;
}();

}  // namespace
}  // namespace trine::batching
