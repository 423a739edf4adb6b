// What the generated autograd layer says: remember this call, this view, this in-place write, these tangents.
#pragma once
#include <tuple>

#include "autograd/node.h"
#include "trine/ops.h"

namespace trine::autograd {

inline bool recording() { return grad_modes.grad || grad_modes.forward_levels; }
inline bool has_tangent(const Tensor& t) { return t.defined() && t.impl()->autograd && t.impl()->autograd->tangent.defined(); }
inline bool has_tangent(TensorList l) {
  for (const Tensor& t : l)
    if (has_tangent(t)) return true;
  return false;
}
inline bool wants_grad(const Tensor& t) { return t.defined() && t.requires_grad(); }
inline bool wants_grad(TensorList l) {
  for (const Tensor& t : l)
    if (wants_grad(t)) return true;
  return false;
}
inline bool records(const Tensor& t) { return (grad_modes.grad && wants_grad(t)) || (grad_modes.forward_levels && has_tangent(t)); }
inline bool records(TensorList l) {
  for (const Tensor& t : l)
    if (records(t)) return true;
  return false;
}

template <class F> auto below_autograd(F&& f) {
  BelowAutograd below;
  return f();
}

Tensor clone_below(const Tensor& t);
void check_inplace(const Tensor& self, const char* op);
[[noreturn]] void refuse_out(const char* op);
void set_not_implemented(const Tensor& result, const char* op);

void set_history(const Tensor& result, const Ptr<Node>& node, uint32_t number);
void set_history(const std::vector<Tensor>& results, const Ptr<Node>& node);
void rebase_history(const Tensor& self, const Ptr<Node>& node);
void mark_view(const Tensor& base, const Tensor& view, ViewOrigin origin);
void mark_view(const Tensor& base, const std::vector<Tensor>& views, ViewOrigin origin);

// Forward mode.
inline Tensor tangent_of(const Tensor& t) { return has_tangent(t) ? t.impl()->autograd->tangent : Tensor(); }
std::vector<Tensor> tangent_of(TensorList l);
void set_tangent(const Tensor& result, const Tensor& tangent);
void append_tangents(std::vector<Tensor>& tangents, const Tensor& t, bool differentiable);
void append_tangents(std::vector<Tensor>& tangents, TensorList l, bool differentiable);
void set_tangents_by_double_backward(Node& node, std::vector<Tensor> results, const std::vector<Tensor>& tangents);
inline void set_tangents_by_double_backward(Node& node, const Tensor& result, const std::vector<Tensor>& tangents) {
  set_tangents_by_double_backward(node, std::vector<Tensor>{result}, tangents);
}
template <class... T> void set_tangents_by_double_backward(Node& node, const std::tuple<T...>& results, const std::vector<Tensor>& tangents) {
  std::vector<Tensor> list;
  std::apply([&](const auto&... r) { (list.push_back(r), ...); }, results);
  set_tangents_by_double_backward(node, std::move(list), tangents);
}

// Fields of generated nodes.
template <class T, class O> T keep_optional(const O& v) {
  if (!v) return std::nullopt;
  return typename T::value_type(v->begin(), v->end());
}
inline std::vector<double> keep_list(std::span<const double> l) { return {l.begin(), l.end()}; }
std::vector<Dims> list_sizes(TensorList l);
std::vector<DType> list_dtype(TensorList l);
void put_list(std::span<Tensor> out, size_t first, std::vector<Tensor> grads);

}  // namespace trine::autograd
