#include "dispatch/pointwise.h"

#include "trine/ops.h"

namespace trine {
namespace {

PointwiseBackend backends[kNumBackends] = {};

struct Types {
  DType compute, result;
};

Types infer_types(const PointwiseDef& def, const Tensor* const* in, const Scalar* scalars) {
  DType t;
  if (def.num_inputs == 2 && def.raw_inputs == 0 && def.promoted_scalars == 0) {
    t = result_type(*in[0], *in[1]);
  } else {
    Promotion p;
    for (int i = 0; i < def.num_inputs; i++)
      if (!(def.raw_inputs >> i & 1)) p.add(*in[i]);
    for (int i = 0; i < def.num_scalars; i++)
      if (def.promoted_scalars >> i & 1) p.add(scalars[i]);
    t = p.result();
  }
  switch (def.rule) {
    case PointwiseRule::Float: t = is_integral(t, true) ? default_dtype() : t; return {t, t};
    case PointwiseRule::Compare:
    case PointwiseRule::Predicate: return {t, DType::Bool};
    case PointwiseRule::Real: return {t, to_real(t)};
    default: return {t, t};
  }
}

void check_raw_inputs(const PointwiseDef& def, const Tensor* const* in) {
  for (int i = 0; i < def.num_inputs; i++)
    if (def.raw_inputs >> i & 1)
      TRINE_CHECK(in[i]->dtype() == DType::Bool || in[i]->dtype() == DType::UInt8, def.name, " expected condition to be a boolean tensor, but got a tensor with dtype ", legacy_name(in[i]->dtype()));
}

void check_loop(const PointwiseDef& def, DType compute) {
  if (def.complex_error) TRINE_CHECK(!is_complex(compute), def.complex_error);
  if (!def.loops->fn[0][static_cast<int>(compute_type(compute))]) unsupported_dtype(def.name, compute);
}

void run(const PointwiseDef& def, const Tensor& out, const Tensor* const* in, const Scalar* scalars, DType compute) {
  DeviceType type = out.device().type;
  if (type == DeviceType::Meta) return;
  auto* fn = backends[static_cast<int>(type)];
  if (!fn) missing_kernel(def.name, static_cast<Key>(type));
  fn(def, out, in, scalars, compute);
}

Dims broadcast_all(const PointwiseDef& def, const Tensor* const* in) {
  Dims shape(in[0]->sizes());
  for (int i = 1; i < def.num_inputs; i++)
    if (!equal(shape, in[i]->sizes())) shape = broadcast_shapes(shape, in[i]->sizes(), def.name);
  return shape;
}

Device device_of(const PointwiseDef& def, const Tensor* const* in) {
  Device d = in[0]->device();
  bool same = true;
  for (int i = 1; i < def.num_inputs; i++) same &= in[i]->device() == d;
  if (same) return d;
  // A 0-dim CPU tensor goes along with any device.
  const Tensor* lead = in[0];
  for (int i = 0; i < def.num_inputs; i++)
    if (!in[i]->is_cpu() && (lead->is_cpu() || in[i]->dim() > 0)) {
      if (lead->is_cpu()) lead = in[i];
    }
  for (int i = 0; i < def.num_inputs; i++)
    TRINE_CHECK(in[i]->device() == lead->device() || (in[i]->is_cpu() && in[i]->dim() == 0), def.name,
                ": Expected all tensors to be on the same device, but found at least two devices, ", lead->device(), " and ", in[i]->device(), "!");
  return lead->device();
}

Tensor allocate_result(const PointwiseDef& def, const Tensor* const* in, DType dtype, Device device) {
  bool plain = true;
  for (int i = 0; i < def.num_inputs; i++) plain &= in[i]->is_contiguous();
  if (plain) {
    bool same = true;
    for (int i = 1; i < def.num_inputs; i++) same &= equal(in[0]->sizes(), in[i]->sizes());
    if (same) return empty(in[0]->sizes(), dtype, device);
  }
  Dims shape = broadcast_all(def, in);
  if (plain) {
    bool channels_last = false;  // a contiguous tensor of ambiguous shape decides nothing, broadcasting keeps the order
    for (int i = 0; i < def.num_inputs; i++) channels_last |= !equal(in[i]->sizes(), shape) && in[i]->dim() == static_cast<int64_t>(shape.size());
    if (!channels_last) return empty(shape, dtype, device);
  }
  Dims expanded[kMaxPointwiseInputs];
  DimsRef refs[kMaxPointwiseInputs];
  for (int i = 0; i < def.num_inputs; i++) {
    size_t lead = shape.size() - in[i]->sizes().size();
    expanded[i] = Dims(shape.size(), 0);
    for (size_t d = lead; d < shape.size(); d++)
      expanded[i][d] = in[i]->sizes()[d - lead] == 1 && shape[d] != 1 ? 0 : in[i]->strides()[d - lead];
    refs[i] = expanded[i];
  }
  auto order = memory_order(shape, std::span<const DimsRef>(refs, def.num_inputs));
  return empty_strided(shape, dense_strides(shape, order), dtype, device);
}

}  // namespace

void register_pointwise_backend(DeviceType type, PointwiseBackend fn) { backends[static_cast<int>(type)] = fn; }

SmallVector<int, 6> memory_order(DimsRef shape, std::span<const DimsRef> operands) {
  SmallVector<int, 6> order;
  for (size_t d = shape.size(); d-- > 0;) order.push_back(static_cast<int>(d));
  // -1: a stays inside b, 1: a belongs outside b, 0: no operand says.
  auto compare = [&](int a, int b) {
    for (DimsRef strides : operands) {
      int64_t sa = strides[a], sb = strides[b];
      if (sa == 0 || sb == 0) continue;
      if (sa != sb) return sa < sb ? -1 : 1;
      if (shape[a] > shape[b]) return 1;
    }
    return 0;
  };
  for (int i = 1; i < static_cast<int>(order.size()); i++) {
    int at = i;
    for (int j = i - 1; j >= 0; j--) {
      int c = compare(order[j], order[at]);
      if (c < 0) break;
      if (c > 0) {
        std::swap(order[j], order[at]);
        at = j;
      }
    }
  }
  return order;
}

Dims dense_strides(DimsRef shape, std::span<const int> order) {
  Dims out(shape.size());
  int64_t n = 1;
  for (int d : order) {
    out[d] = n;
    n *= std::max<int64_t>(shape[d], 1);
  }
  return out;
}

Tensor pointwise(const PointwiseDef& def, const Tensor* const* in, const Scalar* scalars) {
  if (def.raw_inputs) check_raw_inputs(def, in);
  Types types = infer_types(def, in, scalars);
  check_loop(def, types.compute);
  Tensor out = allocate_result(def, in, types.result, device_of(def, in));
  // A result made of Python numbers only is as weak as they are.
  bool weak = true;
  for (int i = 0; i < def.num_inputs; i++) weak &= in[i]->impl()->wrapped_number;
  if (weak) out.impl()->wrapped_number = true;
  run(def, out, in, scalars, types.compute);
  return out;
}

void pointwise_out(const PointwiseDef& def, const Tensor& out, const Tensor* const* in, const Scalar* scalars) {
  if (def.raw_inputs) check_raw_inputs(def, in);
  Types types = infer_types(def, in, scalars);
  check_loop(def, types.compute);
  TRINE_CHECK(can_cast(types.result, out.dtype()), def.name, ": result type ", legacy_name(types.result), " can't be cast to the desired output type ", legacy_name(out.dtype()));
  Dims shape = broadcast_all(def, in);
  resize_output(out, shape, def.name);
  check_writable(def.name, out);
  for (int i = 0; i < def.num_inputs; i++)
    if (may_overlap(out, *in[i]) && !(out.offset() == in[i]->offset() && equal(out.sizes(), in[i]->sizes()) && equal(out.strides(), in[i]->strides()) && out.dtype() == in[i]->dtype())) {
      copy_(out, pointwise(def, in, scalars));
      return;
    }
  run(def, out, in, scalars, types.compute);
}

void pointwise_inplace(const PointwiseDef& def, const Tensor& self, const Tensor* const* in, const Scalar* scalars) {
  Dims shape = broadcast_all(def, in);
  TRINE_CHECK(equal(shape, self.sizes()), def.name, "_: output with shape ", self.sizes(), " doesn't match the broadcast shape ", DimsRef(shape));
  pointwise_out(def, self, in, scalars);
}

}  // namespace trine
