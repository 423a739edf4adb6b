#include "dispatch/structured.h"

#include "dispatch/boxing.h"
#include "trine/ops.h"

namespace trine {

Tensor allocate(const TensorSpec& spec, Device device) {
  if (spec.strides) return empty_strided(spec.sizes, *spec.strides, spec.dtype, device);
  return empty(spec.sizes, spec.dtype, device, spec.format);
}

Device common_device(const char* op, std::initializer_list<const Tensor*> tensors) {
  const Tensor* first = nullptr;
  for (const Tensor* t : tensors) {
    if (!t->defined()) continue;
    if (!first || (first->dim() == 0 && first->is_cpu() && t->dim() != 0)) {
      if (!first || first->device() != t->device()) first = t;
      continue;
    }
    if (t->device() != first->device() && !(t->dim() == 0 && t->is_cpu()))
      throw_error(ErrorKind::Runtime, str(op, ": Expected all tensors to be on the same device, but found at least two devices, ", first->device(), " and ", t->device(), "!"));
  }
  return first ? first->device() : Device{};
}

Device common_device(const char* op, TensorList tensors) {
  const Tensor* first = nullptr;
  for (const Tensor& t : tensors) {
    if (!t.defined()) continue;
    if (!first) first = &t;
    TRINE_CHECK(t.device() == first->device(), op, ": Expected all tensors to be on the same device, but found at least two devices, ", first->device(), " and ", t.device(), "!");
  }
  return first ? first->device() : Device{};
}

void check_writable(const char* op, const Tensor& t) {
  TRINE_CHECK(!has_internal_overlap(t), op, ": unsupported operation: more than one element of the written-to tensor refers to a single memory location (shape ",
              t.sizes(), ", strides ", t.strides(), "). Please clone() the tensor before performing the operation.");
}

void check_no_overlap(const char* op, const Tensor& written, const Tensor& read) {
  TRINE_CHECK(!read.defined() || !may_overlap(written, read), op, ": unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location (shapes ",
              read.sizes(), " and ", written.sizes(), "). Please clone() the tensor before performing the operation.");
}

void check_no_overlap(const char* op, const Tensor& written, TensorList read) {
  for (const Tensor& t : read) check_no_overlap(op, written, t);
}

OutTarget::OutTarget(const char* op, const Tensor& out, const TensorSpec& spec, std::initializer_list<const Tensor*> inputs, bool in_place) : out_(out) {
  TRINE_CHECK(can_cast(spec.dtype, out.dtype()), op, ": result type ", legacy_name(spec.dtype), " can't be cast to the desired output type ", legacy_name(out.dtype()));
  if (in_place)
    TRINE_CHECK(equal(out.sizes(), spec.sizes), op, ": output with shape ", out.sizes(), " doesn't match the broadcast shape ", DimsRef(spec.sizes));
  else
    resize_output(out, spec.sizes, op);
  check_writable(op, out);
  bool meets = false;
  for (const Tensor* t : inputs) meets |= t->defined() && may_overlap(out, *t);
  if (spec.dtype != out.dtype() || meets) temporary_ = empty(spec.sizes, spec.dtype, out.device());
}

void OutTarget::finish() {
  if (temporary_.defined()) copy_(out_, temporary_);
}

void store_result(const char* op, const Tensor& out, const Tensor& value) {
  TRINE_CHECK(can_cast(value.dtype(), out.dtype()), op, ": result type ", legacy_name(value.dtype()), " can't be cast to the desired output type ", legacy_name(out.dtype()));
  resize_output(out, value.sizes(), op);
  check_writable(op, out);
  copy_(out, value);
}

}  // namespace trine
