// The backward pass: nodes run in the order of their sequence numbers, latest first, once all gradients they wait for have arrived.
#include <algorithm>
#include <queue>

#include "autograd/record.h"
#include "batching/batched.h"

namespace trine {
namespace {

// Node* -> T, open addressing: two look-ups per edge are the engine's own cost.
template <class T> class NodeMap {
 public:
  NodeMap() : slots_(64) {}
  T& operator[](Node* key) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    Slot& s = find(key);
    if (!s.key) {
      s.key = key;
      count_++;
    }
    return s.value;
  }
  T* get(Node* key) {
    Slot& s = find(key);
    return s.key ? &s.value : nullptr;
  }

 private:
  struct Slot {
    Node* key = nullptr;
    T value{};
  };
  Slot& find(Node* key) {
    size_t i = (reinterpret_cast<uintptr_t>(key) >> 5) * 0x9E3779B97F4A7C15ull >> 20;
    for (;; i++) {
      Slot& s = slots_[i & (slots_.size() - 1)];
      if (!s.key || s.key == key) return s;
    }
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (Slot& s : old)
      if (s.key) {
        Slot& t = find(s.key);
        t.key = s.key;
        t.value = std::move(s.value);
      }
  }
  std::vector<Slot> slots_;
  size_t count_ = 0;
};

struct State {
  int waiting = 0;                 // edges that still have to deliver
  bool needed = true;              // on a path to the requested inputs
  bool expanded = false;
  SmallVector<Tensor, 1> buffer;   // gradients arrived so far, one per forward result
};

struct Later {
  bool operator()(const Node* a, const Node* b) const { return a->sequence < b->sequence; }
};

// Sums what the elements of a batch contribute to a tensor that they share.
Tensor leave_batch(Tensor g, const Node& from, const GradientMeta& to) {
  if (!batching::is_batched(g)) return g;
  for (const GradientMeta& result : from.inputs)
    if (!result.levels.empty()) g = batching::sum_other_levels(g, result.levels, to.levels);
  return g;
}

// Makes `g` fit what the forward result looked like: sums broadcast dimensions, converts the dtype.
Tensor fit(Tensor g, const GradientMeta& meta, const Node& from) {
  if (!equal(g.sizes(), meta.sizes)) {
    bool reducible = g.sizes().size() >= meta.sizes.size();
    for (size_t i = 0; reducible && i < meta.sizes.size(); i++) {
      int64_t have = g.sizes()[g.sizes().size() - meta.sizes.size() + i];
      reducible = meta.sizes[i] == have || meta.sizes[i] == 1;
    }
    TRINE_CHECK(reducible, "Function ", from.name(), " returned an invalid gradient: got shape ", g.sizes(), " but expected shape compatible with ", meta.sizes);
    g = sum_to_size(g, meta.sizes);
  }
  if (g.dtype() != meta.dtype) {
    if (is_complex(g.dtype()) && !is_complex(meta.dtype)) g = real(g);
    if (g.dtype() != meta.dtype) g = to(g, meta.dtype);
  }
  TRINE_CHECK(g.device().type == meta.device.type, "Function ", from.name(), " returned a gradient on device ", g.device(), " but expected ", meta.device);
  return g;
}

void accumulate(Tensor& slot, Tensor g, bool create_graph) {
  if (!slot.defined()) {
    slot = std::move(g);
    return;
  }
  // Writing into a gradient that only this buffer sees saves one allocation per extra use of a tensor.
  bool own = !create_graph && !batching::is_batched(g) && !batching::is_batched(slot) && slot.ptr()->use_count() == 1 && slot.storage()->use_count() == 1 && slot.dtype() == g.dtype() && slot.is_non_overlapping_and_dense();
  if (own)
    add_(slot, g);
  else
    slot = add(slot, g);
}

struct Capture {
  Node* node;
  uint32_t input;
};

class Pass {
 public:
  Pass(const BackwardOptions& options) : options_(options), results_(options.inputs.size()) {}

  std::vector<Tensor> run(const std::vector<Edge>& roots, std::vector<Tensor>& grads) {
    count(roots);
    if (!options_.inputs.empty()) mark_needed(roots);
    for (size_t i = 0; i < roots.size(); i++) {
      State& s = states_[roots[i].node.get()];
      deliver(s, roots[i], fit(grads[i], roots[i].node->inputs[roots[i].input], *roots[i].node));
      grads[i] = Tensor();
    }
    for (const Edge& e : roots) {
      Node* n = e.node.get();
      State& s = states_[n];
      if (s.waiting == 0 && s.needed && !std::exchange(s.expanded, true)) ready_.push(n);
    }
    while (!ready_.empty()) {
      Node* n = ready_.top();
      ready_.pop();
      step(*n);
    }
    for (size_t i = 0; i < options_.inputs.size(); i++)
      if (Tensor& r = results_[i]; options_.accumulate && r.defined()) {
        Tensor g[1] = {r};
        if (options_.inputs[i].node->sequence == UINT64_MAX) options_.inputs[i].node->apply(g, {});
      }
    return std::move(results_);
  }

 private:
  void count(const std::vector<Edge>& roots) {
    std::vector<Node*> stack;
    for (const Edge& e : roots)
      if (State& s = states_[e.node.get()]; !s.expanded) {
        s.expanded = true;
        stack.push_back(e.node.get());
      }
    while (!stack.empty()) {
      Node* n = stack.back();
      stack.pop_back();
      visited_.push_back(n);
      for (const Edge& e : n->edges)
        if (e.node) {
          State& s = states_[e.node.get()];
          s.waiting++;
          if (!std::exchange(s.expanded, true)) stack.push_back(e.node.get());
        }
    }
    for (Node* n : visited_) states_[n].expanded = false;
  }

  // A node is needed when a requested input lies behind it. Nodes are older than those that lead to them, so one sweep in
  // ascending order of age settles it.
  void mark_needed(const std::vector<Edge>&) {
    for (Node* n : visited_) states_[n].needed = false;
    std::vector<Node*> order = visited_;
    std::sort(order.begin(), order.end(), [](const Node* a, const Node* b) { return (a->sequence + 1) < (b->sequence + 1); });
    std::vector<Node*> target;
    for (const Edge& e : options_.inputs) target.push_back(e.node.get());
    bool changed = true;
    while (changed) {  // a second sweep is needed only where threads mixed their sequence numbers
      changed = false;
      for (Node* n : order) {
        State& s = states_[n];
        if (s.needed) continue;
        bool needed = std::find(target.begin(), target.end(), n) != target.end();
        for (size_t i = 0; !needed && i < n->edges.size(); i++)
          if (Node* next = n->edges[i].node.get()) needed = states_[next].needed;
        if (needed) s.needed = changed = true;
      }
    }
  }

  void deliver(State& s, const Edge& e, Tensor g) {
    if (s.buffer.size() < e.node->inputs.size()) s.buffer.resize(e.node->inputs.size());
    accumulate(s.buffer[e.input], std::move(g), options_.create_graph);
  }

  void step(Node& node) {
    State& s = states_[&node];
    std::vector<Tensor> in(std::make_move_iterator(s.buffer.begin()), std::make_move_iterator(s.buffer.end()));
    s.buffer.clear();
    in.resize(node.inputs.size());
    NodeExtras* extras = node.has_extras() ? &node.extras() : nullptr;
    if (extras) run_tensor_hooks(*extras, in);
    bool only_captured = false;
    for (size_t i = 0; i < options_.inputs.size(); i++)
      if (options_.inputs[i].node.get() == &node) {
        Tensor g = in[options_.inputs[i].input];
        if (node.sequence == UINT64_MAX && g.defined() && !options_.accumulate) g = leaf_hooks(static_cast<AccumulateGrad&>(node), g);
        results_[i] = g;
        only_captured = true;
      }
    bool go_on = options_.inputs.empty() || leads_on(node);
    if (!go_on || (only_captured && node.sequence == UINT64_MAX)) return finish(node, {});
    bool any = false;
    for (size_t i = 0; i < in.size(); i++) any |= in[i].defined();
    std::vector<Tensor> out(node.edges.size());
    if (any || in.empty()) {
      if (!node.takes_undefined_grads())
        for (size_t i = 0; i < in.size(); i++)
          if (!in[i].defined()) in[i] = zeros(node.inputs[i].sizes, node.inputs[i].dtype, node.inputs[i].device);
      if (extras)
        for (size_t i = 0; i < extras->pre_hooks.size(); i++) extras->pre_hooks[i].second->call(in, nullptr);
      call(node, in, out);
      if (extras)
        for (size_t i = 0; i < extras->post_hooks.size(); i++) extras->post_hooks[i].second->call(out, &in);
    }
    in.clear();
    finish(node, std::move(out));
  }

  bool leads_on(const Node& node) {
    for (const Edge& e : node.edges)
      if (e.node && states_[e.node.get()].needed) return true;
    return false;
  }

  static Tensor leaf_hooks(AccumulateGrad& node, Tensor g) {
    AutogradMeta& m = autograd_meta(node.variable);
    for (size_t i = 0; i < m.hooks.size(); i++)
      if (Tensor r = m.hooks[i].second->call(g); r.defined()) g = r;
    return g;
  }

  void run_tensor_hooks(NodeExtras& extras, std::vector<Tensor>& in) {
    for (size_t i = 0; i < extras.tensor_hooks.size(); i++) {
      auto& [index, hook] = extras.tensor_hooks[i];
      if (index < in.size() && in[index].defined())
        if (Tensor r = hook->call(in[index]); r.defined()) in[index] = r;
    }
    for (auto& [index, impl] : extras.retained)
      if (index < in.size() && in[index].defined()) {
        AutogradMeta& m = *impl->autograd;
        m.grad = m.grad.defined() ? add(m.grad, in[index]) : clone(in[index]);
      }
  }

  void call(Node& node, std::vector<Tensor>& in, std::vector<Tensor>& out) {
    if (!anomaly_mode.enabled) return node.apply(in, out);
    std::string trace = node.has_extras() ? node.extras().forward_trace : std::string();
    try {
      node.apply(in, out);
    } catch (const Error&) {
      warn(str("Error detected in ", node.name(), ". Traceback of forward call that caused the error:\n", trace));
      throw;
    }
    if (!anomaly_mode.check_nan) return;
    for (size_t i = 0; i < out.size(); i++)
      if (out[i].defined() && is_differentiable(out[i].dtype()) && item(any(isnan(detach_shallow(out[i])))).to<bool>()) {
        warn(str("Error detected in ", node.name(), ". Traceback of forward call that caused the error:\n", trace));
        throw_error(ErrorKind::Runtime, str("Function '", node.name(), "' returned nan values in its ", i, "th output."));
      }
  }

  void finish(Node& node, std::vector<Tensor> out) {
    if (!options_.keep_graph && node.sequence != UINT64_MAX) {
      node.release();
      node.released = true;
    }
    for (size_t i = 0; i < node.edges.size(); i++) {
      const Edge& e = node.edges[i];
      if (!e.node) continue;
      State* s = states_.get(e.node.get());
      if (i < out.size() && out[i].defined() && s->needed) deliver(*s, e, fit(leave_batch(std::move(out[i]), node, e.node->inputs[e.input]), e.node->inputs[e.input], node));
      if (--s->waiting == 0 && s->needed && !std::exchange(s->expanded, true)) ready_.push(e.node.get());
    }
  }

  const BackwardOptions& options_;
  std::vector<Tensor> results_;
  NodeMap<State> states_;
  std::vector<Node*> visited_;
  std::priority_queue<Node*, std::vector<Node*>, Later> ready_;
};

}  // namespace

std::vector<Tensor> run_backward(std::vector<Edge> roots, std::vector<Tensor> grads, const BackwardOptions& options) {
  GradMode mode(options.create_graph);
  return Pass(options).run(roots, grads);
}

}  // namespace trine
