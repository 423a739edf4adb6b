#include "autograd/record.h"

#include <algorithm>

#include "autograd/formulas.h"
#include "autograd/region.h"
#include "autograd/tangents.h"
#include "batching/batched.h"

namespace trine::autograd {
namespace {

class NotImplemented final : public Node {
 public:
  explicit NotImplemented(const char* op) : op_(op) {}
  const char* name() const override { return "NotImplemented"; }
  void apply(std::span<Tensor>, std::span<Tensor>) override {
    throw_error(ErrorKind::Runtime, str("derivative for ", op_, " is not implemented"));
  }

 private:
  const char* op_;
};

// History of a base after an in-place write to one of its views: the gradient of the region goes through the writing node, the rest
// passes unchanged.
class CopySlices final : public Node {
 public:
  const char* name() const override { return "CopySlices"; }
  void apply(std::span<Tensor> grads, std::span<Tensor> out) override {
    TRINE_CHECK(fn, "Trying to backward through the graph a second time; specify retain_graph=True if you need to");
    Tensor result = laid_out(grads[0], base_sizes, base_strides);
    std::vector<Tensor> in{clone(region.of(result))}, res(fn->edges.size());
    fn->needs_everything = true;
    fn->apply(in, res);
    Tensor own = res.empty() ? Tensor() : res[0];
    if (needs(0, 1)) out[0] = region.scatter(result, own.defined() ? expand_to(own, region.sizes) : zeros_like(in[0]));
    for (size_t i = 1; i < res.size(); i++)
      if (needs(i, 1)) out[i] = res[i];
  }
  void release() override {
    if (fn) {
      fn->release();
      fn->released = true;
      fn.reset();
    }
  }
  Ptr<Node> fn;
  Dims base_sizes, base_strides;
  Region region;
};

const char* origin_error(ViewOrigin o) {
  switch (o) {
    case ViewOrigin::NoGradMode:
      return " is a view that was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use case is ambiguous and error-prone, it is forbidden.";
    case ViewOrigin::MultipleOutputs:
      return " is the output of a function that returns multiple views. Such functions do not allow the output views to be modified inplace. You should replace the inplace operation by an out-of-place one.";
    case ViewOrigin::InferenceMode: return " is a view that was created in inference mode and is being modified inplace in normal mode.";
    default: return nullptr;
  }
}

}  // namespace

Tensor clone_below(const Tensor& t) {
  BelowAutograd below;
  return clone(t);
}

void check_inplace(const Tensor& self, const char* op) {
  TensorImpl* impl = self.impl();
  TRINE_CHECK(!impl->inference || grad_modes.inference, "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a normal tensor before doing inplace update.");
  if (!grad_enabled() || !self.requires_grad()) return;
  if (impl->base) {
    if (const char* why = origin_error(impl->view_origin)) throw_error(ErrorKind::Runtime, str(op, ": Output 0 of the view", why));
    TRINE_CHECK(!is_leaf(Tensor(impl->base)), op, ": a view of a leaf Variable that requires grad is being used in an in-place operation.");
    return;
  }
  TRINE_CHECK(!is_leaf(self), op, ": a leaf Variable that requires grad is being used in an in-place operation.");
}

void refuse_out(const char* op) {
  throw_error(ErrorKind::Runtime, str(op, "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad."));
}

void set_not_implemented(const Tensor& result, const char* op) {
  if (!is_differentiable(result.dtype())) return;
  set_history(result, Ptr<Node>(Ptr<NotImplemented>::adopt(new NotImplemented(op))), 0);
}

namespace {
void attach(const Tensor& result, const Ptr<Node>& node, uint32_t number) {
  AutogradMeta& m = autograd_meta(result);
  m.grad_fn = node;
  m.output = number;
  m.view_version = result.version();
  result.impl()->keys = result.impl()->keys | Key::Autograd;
}
}  // namespace

void set_history(const Tensor& result, const Ptr<Node>& node, uint32_t number) {
  if (!result.defined()) {
    node->inputs.push_back({Dims{}, DType::Float, Device{}});
    return;
  }
  uint32_t n = node->add_input(result);
  (void)number;
  if (!grad_enabled() || !is_differentiable(result.dtype())) return;
  if (!node->edges.empty() && !node->has_edges()) return;
  attach(result, node, n);
}

void set_history(const std::vector<Tensor>& results, const Ptr<Node>& node) {
  for (size_t i = 0; i < results.size(); i++) set_history(results[i], node, static_cast<uint32_t>(i));
}

void rebase_history(const Tensor& self, const Ptr<Node>& node) {
  TensorImpl* impl = self.impl();
  if (!grad_enabled() || !node->has_edges()) {
    node->add_input(self);
    return;
  }
  TRINE_CHECK(is_differentiable(self.dtype()), node->name(), ": a tensor of dtype ", self.dtype(), " cannot take the result of a differentiable in-place operation");
  if (!impl->base) {
    node->add_input(self);
    attach(self, node, 0);
    return;
  }
  if (const char* why = origin_error(impl->view_origin)) throw_error(ErrorKind::Runtime, str(node->name(), ": Output 0", why));
  Tensor base(impl->base);
  node->add_input(self);
  auto slices = make_node<CopySlices>();
  slices->fn = node;
  slices->base_sizes = Dims(base.sizes());
  slices->base_strides = Dims(base.strides());
  slices->region = Region(self, base);
  slices->edges.push_back(gradient_edge(base));
  for (size_t i = 1; i < node->edges.size(); i++) slices->edges.push_back(node->edges[i]);
  slices->add_input(base);
  attach(base, slices, 0);
  if (impl->autograd) impl->autograd->grad_fn.reset();
  impl->keys = impl->keys | Key::Autograd;
}

void mark_view(const Tensor& base, const Tensor& view, ViewOrigin origin) {
  TensorImpl* v = view.impl();
  if (view.is_same(base) || base.storage() != view.storage()) return;
  if (grad_modes.inference) return;
  v->base = base.impl()->base ? base.impl()->base : base.ptr();
  ViewOrigin inherited = base.impl()->base ? base.impl()->view_origin : ViewOrigin::Default;
  v->view_origin = inherited != ViewOrigin::Default ? inherited : !grad_enabled() ? ViewOrigin::NoGradMode : origin;
}

void mark_view(const Tensor& base, const std::vector<Tensor>& views, ViewOrigin origin) {
  for (const Tensor& v : views) mark_view(base, v, origin);
}

// ---- forward mode ------------------------------------------------------------------------------------------------------

std::vector<Tensor> tangent_of(TensorList l) {
  std::vector<Tensor> out;
  for (const Tensor& t : l) out.push_back(tangent_of(t));
  return out;
}

namespace {

// Tensors that have a tangent. Those that nothing else refers to are let go whenever the list has doubled.
struct DualTensors {
  std::vector<Tensor> list;
  size_t limit = 64;
  void add(const Tensor& t) {
    if (list.size() >= limit) {
      std::erase_if(list, [](const Tensor& old) { return old.impl()->use_count() == 1; });
      limit = std::max<size_t>(64, 2 * list.size());
    }
    list.push_back(t);
  }
};
thread_local DualTensors dual_tensors;

}  // namespace

void drop_tangents() {
  std::vector<Tensor> list = std::exchange(dual_tensors, {}).list;
  for (const Tensor& t : list)
    if (AutogradMeta* m = t.impl()->autograd) m->tangent = Tensor();
}

void set_tangent(const Tensor& result, const Tensor& tangent) {
  if (!tangent.defined() || !is_differentiable(result.dtype())) return;
  Tensor t = equal(tangent.sizes(), result.sizes()) ? tangent : expand(tangent, result.sizes());
  if (t.dtype() != result.dtype()) t = to(t, result.dtype());
  autograd_meta(result).tangent = t;
  dual_tensors.add(result);
  result.impl()->keys = result.impl()->keys | Key::Autograd;
}

void append_tangents(std::vector<Tensor>& tangents, const Tensor& t, bool differentiable) { tangents.push_back(differentiable ? tangent_of(t) : Tensor()); }

void append_tangents(std::vector<Tensor>& tangents, TensorList l, bool differentiable) {
  for (const Tensor& t : l) append_tangents(tangents, t, differentiable);
}

void set_tangents_by_double_backward(Node& node, std::vector<Tensor> results, const std::vector<Tensor>& tangents) {
  // vjp(v) is linear in v; differentiating <vjp(v), tangents> by v gives J tangents.
  GradMode on(true);
  struct WithoutForwardMode {
    int levels = std::exchange(grad_modes.forward_levels, 0);
    ~WithoutForwardMode() { grad_modes.forward_levels = levels; }
  };
  std::optional<WithoutForwardMode> without(std::in_place);
  std::vector<Tensor> v, out(node.edges.size());
  for (const Tensor& r : results) {
    Tensor z = batching::zeros_for(r, r.sizes());
    if (is_differentiable(z.dtype())) set_requires_grad(z, true);
    v.push_back(z);
  }
  node.needs_everything = true;
  std::vector<Tensor> in = v;
  node.apply(in, out);
  node.needs_everything = false;
  std::vector<Edge> roots;
  std::vector<Tensor> cotangents;
  for (size_t i = 0; i < out.size() && i < tangents.size(); i++)
    if (out[i].defined() && tangents[i].defined() && out[i].requires_grad()) {
      roots.push_back(gradient_edge(out[i]));
      Tensor t = tangents[i];
      if (!equal(t.sizes(), out[i].sizes())) t = expand(t, out[i].sizes());
      cotangents.push_back(batching::expand_levels(t, out[i]));
    }
  BackwardOptions options{.keep_graph = true, .create_graph = true};
  std::vector<size_t> index;
  for (size_t i = 0; i < v.size(); i++)
    if (v[i].requires_grad()) {
      options.inputs.push_back(gradient_edge(v[i]));
      index.push_back(i);
    }
  std::vector<Tensor> res = roots.empty() ? std::vector<Tensor>(index.size()) : run_backward(roots, cotangents, options);
  without.reset();
  for (size_t i = 0; i < index.size(); i++) set_tangent(results[index[i]], res[i].defined() ? res[i] : zeros_like(v[index[i]]));
}

std::vector<Dims> list_sizes(TensorList l) {
  std::vector<Dims> out;
  for (const Tensor& t : l) out.emplace_back(t.sizes());
  return out;
}

std::vector<DType> list_dtype(TensorList l) {
  std::vector<DType> out;
  for (const Tensor& t : l) out.push_back(t.dtype());
  return out;
}

void put_list(std::span<Tensor> out, size_t first, std::vector<Tensor> grads) {
  for (size_t i = 0; i < grads.size(); i++) out[first + i] = std::move(grads[i]);
}

}  // namespace trine::autograd
