#include "autograd/node.h"

#include <atomic>
#include <mutex>

#include "autograd/record.h"
#include "autograd/region.h"
#include "batching/batched.h"

namespace trine {

thread_local GradModes grad_modes;
thread_local AnomalyMode anomaly_mode;

namespace {
thread_local uint64_t next_sequence = 0;
TraceFn trace_function = nullptr;
PackHook pack_hook = nullptr;
std::mutex accumulator_mutex;
}  // namespace

void set_trace_function(TraceFn fn) { trace_function = fn; }
void set_pack_hook(PackHook hook) { pack_hook = hook; }

Node::Node() : sequence(next_sequence++) {
  if (__builtin_expect(anomaly_mode.enabled, 0) && trace_function) extras().forward_trace = trace_function();
}

Node::~Node() = default;

NodeExtras& Node::extras() {
  if (!extras_) extras_ = std::make_unique<NodeExtras>();
  return *extras_;
}

void Node::destroy() {
  // Deleting a node drops its edges, which deletes the next nodes, and so on: a queue turns that recursion into a loop.
  thread_local std::vector<Node*>* pending = nullptr;
  if (pending) {
    pending->push_back(this);
    return;
  }
  std::vector<Node*> queue{this};
  pending = &queue;
  while (!queue.empty()) {
    Node* n = queue.back();
    queue.pop_back();
    delete n;
  }
  pending = nullptr;
}

void Node::add_edges(const Tensor& t) { edges.push_back(t.defined() ? gradient_edge(t) : Edge{}); }

void Node::add_edges(TensorList l) {
  for (const Tensor& t : l) add_edges(t);
}

uint32_t Node::add_input(const Tensor& result) {
  inputs.push_back({Dims(result.sizes()), result.dtype(), result.device(), Dims(batching::levels(result))});
  return static_cast<uint32_t>(inputs.size() - 1);
}

// ---- saved tensors ---------------------------------------------------------------------------------------------------

SavedTensor::SavedTensor(SavedTensor&& o) noexcept
    : data_(std::move(o.data_)), version_(o.version_), output_(o.output_), is_output_(o.is_output_), requires_grad_(o.requires_grad_), was_saved_(o.was_saved_), packed_(std::exchange(o.packed_, nullptr)) {}

SavedTensor::~SavedTensor() { delete packed_; }

void SavedTensor::save(const Tensor& t) {
  if (!t.defined()) return;
  TRINE_CHECK(!t.impl()->inference || !grad_enabled(), "Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal tensor and use it in autograd.");
  was_saved_ = true;
  version_ = t.version();
  if (pack_hook && (packed_ = pack_hook(t))) {
    requires_grad_ = t.requires_grad();
    return;
  }
  data_ = t;
}

void SavedTensor::save_output(const Tensor& t, uint32_t number) {
  if (!t.defined()) return;
  was_saved_ = true;
  is_output_ = true;
  output_ = number;
  version_ = t.version();
  requires_grad_ = t.requires_grad();
  if (pack_hook && (packed_ = pack_hook(detach_shallow(t)))) return;
  data_ = detach_shallow(t);
}

void SavedTensor::keep_tangent(const Tensor& result) {
  if (was_saved_ && is_output_ && autograd::has_tangent(result)) tangent_ = result.impl()->autograd->tangent;
}

void SavedTensor::release() {
  data_ = tangent_ = Tensor();
  delete packed_;
  packed_ = nullptr;
}

Tensor SavedTensor::unpack(Node* owner) const {
  if (!was_saved_) return {};
  TRINE_CHECK(!owner->released && !empty(), "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). "
              "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
              "through the graph a second time or if you need to access saved tensors after calling backward.");
  Tensor t = packed_ ? packed_->unpack() : data_;
  TRINE_CHECK(packed_ || t.version() == version_ || t.impl()->no_version, owner->name(), ": one of the variables needed for gradient computation has been modified by an inplace operation: [trine.",
              legacy_name(t.dtype()), "Tensor ", t.sizes(), "]", is_output_ ? str(", which is output ", output_, " of ", owner->name(), ",") : std::string(), " is at version ", t.version(),
              "; expected version ", version_, " instead. Hint: enable anomaly detection to find the operation that failed to compute its gradient, with set_detect_anomaly(True).");
  if (!is_output_ && !packed_) return t;
  if (!requires_grad_) return t;
  Tensor r = detach_shallow(t);
  if (is_output_) {
    AutogradMeta& m = autograd_meta(r);
    m.grad_fn = Ptr<Node>::share(owner);
    m.output = output_;
    r.impl()->keys = r.impl()->keys | Key::Autograd;
    if (tangent_.defined() && grad_modes.forward_levels) autograd::set_tangent(r, tangent_);
  } else {
    return t;
  }
  return r;
}

void SavedList::save(TensorList l) {
  list_ = std::vector<SavedTensor>(l.size());
  for (size_t i = 0; i < l.size(); i++) list_[i].save(l[i]);
}

std::vector<Tensor> SavedList::unpack(Node* owner) const {
  TRINE_CHECK(!released_, owner->name(), ": Trying to backward through the graph a second time; specify retain_graph=True if you need to");
  std::vector<Tensor> out;
  out.reserve(list_.size());
  for (const SavedTensor& s : list_) out.push_back(s.unpack(owner));
  return out;
}

// ---- per-tensor state -----------------------------------------------------------------------------------------------

void destroy_autograd_meta(AutogradMeta* meta) noexcept { delete meta; }

AutogradMeta& autograd_meta(const Tensor& t) {
  TensorImpl* impl = t.impl();
  if (!impl->autograd) impl->autograd = new AutogradMeta;
  return *impl->autograd;
}

bool Tensor::requires_grad() const {
  const AutogradMeta* m = impl_->autograd;
  if (m && (m->requires_grad || m->grad_fn)) return true;
  return impl_->base && Tensor(impl_->base).requires_grad();
}

Tensor Tensor::grad() const { return impl_->autograd ? impl_->autograd->grad : Tensor(); }

Ptr<Node> grad_fn(const Tensor& t) {
  TensorImpl* impl = t.impl();
  if (!impl->base) return impl->autograd ? impl->autograd->grad_fn : Ptr<Node>();
  // A view: after an in-place write to the storage its history is that of the base, seen through its geometry.
  Tensor base(impl->base);
  if (impl->autograd && impl->autograd->grad_fn && impl->autograd->view_version == t.version()) return impl->autograd->grad_fn;
  if (!base.requires_grad() || !is_differentiable(t.dtype())) return impl->autograd ? impl->autograd->grad_fn : Ptr<Node>();
  if (impl->view_origin == ViewOrigin::NoGradMode || impl->view_origin == ViewOrigin::InferenceMode) return impl->autograd ? impl->autograd->grad_fn : Ptr<Node>();
  AutogradMeta& m = autograd_meta(t);
  GradMode on(true);
  Tensor replay = autograd::Region(t, base).of(base);
  m.grad_fn = replay.impl()->autograd->grad_fn;
  m.output = 0;
  m.view_version = t.version();
  impl->keys = impl->keys | Key::Autograd;
  return m.grad_fn;
}

bool is_leaf(const Tensor& t) { return !grad_fn(t); }

Edge gradient_edge(const Tensor& t) {
  if (Ptr<Node> fn = grad_fn(t)) return {fn, t.impl()->autograd->output};
  AutogradMeta* m = t.impl()->autograd;
  if (!m || !m->requires_grad) return {};
  std::lock_guard lock(accumulator_mutex);
  if (m->accumulator && m->accumulator->try_retain()) return {Ptr<Node>::adopt(m->accumulator), 0};
  auto node = Ptr<AccumulateGrad>::adopt(new AccumulateGrad(t));
  m->accumulator = node.get();
  return {node, 0};
}

void set_requires_grad(const Tensor& t, bool on) {
  if (on)
    TRINE_CHECK(is_differentiable(t.dtype()), "only Tensors of floating point and complex dtype can require gradients, got ", t.dtype());
  TRINE_CHECK(on || is_leaf(t), "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph that doesn't require "
              "differentiation use var_no_grad = var.detach().");
  TRINE_CHECK(!on || !t.impl()->inference || grad_modes.inference, "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  if (!on && !t.impl()->autograd) return;
  if (is_leaf(t)) autograd_meta(t).requires_grad = on;
  if (on)
    t.impl()->keys = t.impl()->keys | Key::Autograd;
  else if (!t.impl()->autograd->tangent.defined())
    t.impl()->keys = t.impl()->keys - Key::Autograd;
}

Tensor detach_shallow(const Tensor& t) {
  if (batching::is_batched(t)) return batching::make(batching::value(t), batching::levels(t));
  Tensor r = make_view(t, t.sizes(), t.strides(), t.offset());
  r.impl()->wrapped_number = t.impl()->wrapped_number;
  r.impl()->shape_locked = t.impl()->shape_locked;
  return r;
}

AccumulateGrad::AccumulateGrad(const Tensor& leaf) : variable(leaf) {
  sequence = UINT64_MAX;  // leaves are served first: their memory is final
  add_input(leaf);
}

AccumulateGrad::~AccumulateGrad() {
  std::lock_guard lock(accumulator_mutex);
  AutogradMeta* m = variable.impl()->autograd;
  if (m && m->accumulator == this) m->accumulator = nullptr;
}

void AccumulateGrad::apply(std::span<Tensor> grads, std::span<Tensor>) {
  AutogradMeta& m = autograd_meta(variable);
  Tensor g = grads[0];
  for (size_t i = 0; i < m.hooks.size(); i++)
    if (Tensor r = m.hooks[i].second->call(g); r.defined()) g = r;
  if (!m.grad.defined()) {
    bool fresh = g.ptr()->use_count() <= 2 && g.storage()->use_count() == 1 && !g.impl()->base;  // nobody else looks at it
    bool layout = equal(g.strides(), variable.strides()) || !variable.is_non_overlapping_and_dense();
    if (grad_enabled()) {
      m.grad = clone(g);
    } else if (fresh && layout) {
      m.grad = detach_shallow(g);
    } else {
      Tensor copy = variable.is_non_overlapping_and_dense() ? empty_strided(variable.sizes(), variable.strides(), g.dtype(), g.device()) : empty_like(g);
      copy_(copy, g);
      m.grad = copy;
    }
  } else if (grad_enabled()) {
    m.grad = add(m.grad, g);
  } else {
    add_(m.grad, g);
  }
  for (size_t i = 0; i < m.after_accumulate.size(); i++) m.after_accumulate[i].second->call(variable);
}

}  // namespace trine
