#include "trine/kernels.h"

namespace trine::composite {
namespace {

template <class F> std::vector<Tensor> each(TensorList tensors, F&& f) {
  std::vector<Tensor> out;
  out.reserve(tensors.size());
  for (const Tensor& t : tensors) out.push_back(f(t));
  return out;
}

Tensor at_least_2d(const Tensor& t) { return t.dim() == 0 ? trine::reshape(t, Dims{1, 1}) : t.dim() == 1 ? trine::unsqueeze(t, 0) : t; }

}  // namespace

Tensor stack(TensorList tensors, int64_t dim) {
  TRINE_CHECK(!tensors.empty(), "stack expects a non-empty TensorList");
  int64_t d = wrap_dim(dim, tensors[0].dim() + 1);
  for (size_t i = 1; i < tensors.size(); i++)
    TRINE_CHECK(equal(tensors[i].sizes(), tensors[0].sizes()), "stack expects each tensor to be equal size, but got ", tensors[0].sizes(), " at entry 0 and ", tensors[i].sizes(), " at entry ", i);
  return trine::cat(each(tensors, [&](const Tensor& t) { return trine::unsqueeze(t, d); }), d);
}

Tensor hstack(TensorList tensors) {
  TRINE_CHECK(!tensors.empty(), "hstack expects a non-empty TensorList");
  auto parts = each(tensors, [](const Tensor& t) { return t.dim() == 0 ? trine::unsqueeze(t, 0) : t; });
  return trine::cat(parts, parts[0].dim() == 1 ? 0 : 1);
}

Tensor vstack(TensorList tensors) {
  TRINE_CHECK(!tensors.empty(), "vstack expects a non-empty TensorList");
  return trine::cat(each(tensors, at_least_2d), 0);
}

Tensor dstack(TensorList tensors) {
  TRINE_CHECK(!tensors.empty(), "dstack expects a non-empty TensorList");
  return trine::cat(each(tensors, [](const Tensor& t) { return t.dim() >= 3 ? t : trine::unsqueeze(at_least_2d(t), 2); }), 2);
}

Tensor column_stack(TensorList tensors) {
  TRINE_CHECK(!tensors.empty(), "column_stack expects a non-empty TensorList");
  return trine::hstack(each(tensors, [](const Tensor& t) { return t.dim() <= 1 ? trine::reshape(t, Dims{t.numel(), 1}) : t; }));
}

}  // namespace trine::composite
