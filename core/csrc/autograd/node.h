// The recorded graph: a node per differentiable call, edges to the nodes of its inputs.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "autograd/declare.h"
#include "tensor/tensor.h"

namespace trine {

class Node;

struct Edge {
  Ptr<Node> node;
  uint32_t input = 0;  // which of the node's inputs (that is, results of the forward call)
};

// What a gradient arriving at a node must look like.
struct GradientMeta {
  Dims sizes;
  DType dtype;
  Device device;
  Dims levels{};  // of a batched result
};

// Code of the user that sees, and may replace, one gradient.
class TensorHook : public RefCounted {
 public:
  virtual ~TensorHook() = default;
  virtual Tensor call(const Tensor& grad) = 0;  // undefined: keep the gradient
  virtual void* python_callable() const { return nullptr; }
  void destroy() { delete this; }
};

// Code of the user that sees all gradients of a node: before (grads of results) or after it ran (grads of inputs and of results).
class NodeHook : public RefCounted {
 public:
  virtual ~NodeHook() = default;
  virtual void call(std::vector<Tensor>& grads, const std::vector<Tensor>* results_grads) = 0;
  void destroy() { delete this; }
};

struct NodeExtras {  // absent on almost every node
  std::vector<std::pair<uint32_t, Ptr<TensorHook>>> tensor_hooks;
  std::vector<std::pair<uint32_t, TensorImpl*>> retained;  // non-leaf tensors that keep their gradient
  std::vector<std::pair<int64_t, Ptr<NodeHook>>> pre_hooks, post_hooks;
  int64_t next_hook_id = 0;
  std::string forward_trace;  // anomaly mode: where the forward call happened
  void* python_metadata = nullptr;
};

class Node : public RefCounted, public Pooled {
 public:
  Node();
  virtual ~Node();
  virtual const char* name() const = 0;
  // grads: one per forward result, defined. out: one per edge, left undefined where no gradient flows.
  virtual void apply(std::span<Tensor> grads, std::span<Tensor> out) = 0;
  virtual void release() {}  // drops saved tensors
  virtual bool takes_undefined_grads() const { return false; }

  void add_edges(const Tensor& t);
  void add_edges(TensorList l);
  void skip_edges(size_t n) { edges.resize(edges.size() + n); }
  bool needs(size_t first, size_t count) const {
    if (needs_everything) return count > 0;
    for (size_t i = first; i < first + count; i++)
      if (edges[i].node) return true;
    return false;
  }
  bool has_edges() const {
    for (const Edge& e : edges)
      if (e.node) return true;
    return false;
  }
  uint32_t add_input(const Tensor& result);  // declares a forward result; gives its number
  NodeExtras& extras();
  bool has_extras() const { return extras_ != nullptr; }

  SmallVector<Edge, 2> edges;
  SmallVector<GradientMeta, 1> inputs;
  uint64_t sequence;              // later calls have higher numbers and run first
  bool released = false;
  bool needs_everything = false;  // forward-mode by double backward asks for all gradients
  void* python_object = nullptr;  // the Python node of autograd.Function, or the wrapper handed to Python

  void destroy();  // iterative: a chain of a million nodes must not overflow the stack

 private:
  std::unique_ptr<NodeExtras> extras_;
};

template <class N> Ptr<N> make_node() { return Ptr<N>::adopt(new N); }

// A tensor kept for the backward pass, with the version it had.
class SavedTensor {
 public:
  void save(const Tensor& t);
  void save_output(const Tensor& t, uint32_t number);  // a result of the node itself: kept without its history, to avoid a cycle
  void keep_tangent(const Tensor& result);  // of a saved result, which gets its tangent after it was saved
  Tensor unpack(Node* owner) const;
  void release();
  bool empty() const { return !data_.defined() && !packed_; }

 private:
  Tensor data_, tangent_;
  uint32_t version_ = 0, output_ = 0;
  bool is_output_ = false, requires_grad_ = false, was_saved_ = false;
  class PackedTensor* packed_ = nullptr;  // by saved_tensors_hooks
 public:
  SavedTensor() = default;
  SavedTensor(const SavedTensor&) = delete;
  SavedTensor(SavedTensor&& o) noexcept;
  SavedTensor& operator=(SavedTensor&&) = delete;
  ~SavedTensor();
};

class SavedList {
 public:
  void save(TensorList l);
  std::vector<Tensor> unpack(Node* owner) const;
  void release() { list_.clear(); released_ = true; }

 private:
  std::vector<SavedTensor> list_;
  bool released_ = false;
};

// saved_tensors_hooks: pack() keeps the tensor in whatever form the user likes.
class PackedTensor {
 public:
  virtual ~PackedTensor() = default;
  virtual Tensor unpack() = 0;
};
using PackHook = PackedTensor* (*)(const Tensor& t);  // nullptr: no hooks are active
void set_pack_hook(PackHook hook);

// ---- per-tensor state -----------------------------------------------------------------------------------------------
class AccumulateGrad;

struct AutogradMeta : Pooled {
  bool requires_grad = false;
  bool retains_grad = false;
  uint32_t output = 0;
  uint32_t view_version = 0;            // storage version for which grad_fn was made (views)
  Ptr<Node> grad_fn;
  AccumulateGrad* accumulator = nullptr;  // weak: the node owns the tensor
  Tensor grad;
  Tensor tangent;                       // forward mode
  std::vector<std::pair<int64_t, Ptr<TensorHook>>> hooks;             // of a leaf
  std::vector<std::pair<int64_t, Ptr<TensorHook>>> after_accumulate;  // of a leaf; called with the tensor
  int64_t next_hook_id = 0;
};
AutogradMeta& autograd_meta(const Tensor& t);  // makes it

// The node that a gradient of t goes to: its grad_fn, or the accumulator of a leaf. Null when t takes no gradient.
Edge gradient_edge(const Tensor& t);
Ptr<Node> grad_fn(const Tensor& t);  // null for leaves; brings views up to date after in-place writes
void set_requires_grad(const Tensor& t, bool on);
bool is_leaf(const Tensor& t);
Tensor detach_shallow(const Tensor& t);  // same storage and version, no history

class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(const Tensor& leaf);
  ~AccumulateGrad() override;
  const char* name() const override { return "AccumulateGrad"; }
  void apply(std::span<Tensor> grads, std::span<Tensor> out) override;
  Tensor variable;
};

// ---- engine -----------------------------------------------------------------------------------------------------------
struct BackwardOptions {
  bool keep_graph = false, create_graph = false;
  std::vector<Edge> inputs = {};  // empty: accumulate into leaves
  bool accumulate = false;       // with inputs: accumulate into .grad of these leaves instead of returning
};
std::vector<Tensor> run_backward(std::vector<Edge> roots, std::vector<Tensor> grads, const BackwardOptions& options);

struct AnomalyMode {
  bool enabled = false, check_nan = true;
};
extern thread_local AnomalyMode anomaly_mode;
// Set by bindings/: where Python is now, for anomaly mode.
using TraceFn = std::string (*)();
void set_trace_function(TraceFn fn);

}  // namespace trine
