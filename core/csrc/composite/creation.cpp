// Creation, casting and resizing over the operators below.
#include <cmath>

#include "autograd/declare.h"
#include "autograd/node.h"
#include "base/numeric_modes.h"
#include "batching/batched.h"
#include "composite/helpers.h"
#include "trine/kernels.h"

namespace trine::composite {
namespace {

// What memory that nothing was written to holds where programs ask for the same result every time.
Scalar uninitialized_value(DType dtype) {
  if (is_differentiable(dtype)) return Scalar(std::numeric_limits<double>::quiet_NaN());
  if (!is_signed(dtype)) return Scalar(dtype == DType::Bool ? 1 : 255);
  return Scalar(std::numeric_limits<int64_t>::max() >> (64 - 8 * itemsize(dtype)));
}

const Tensor& uninitialized(const Tensor& t) {
  if (numeric_modes.fill_uninitialized.load(std::memory_order_relaxed) && !t.is_meta()) fill_(t, uninitialized_value(t.dtype()));
  return t;
}

DType number_dtype(DType dtype, const Scalar& v) { return dtype == DType::Undefined ? v.dtype() : dtype; }

}  // namespace

Tensor make_empty(DimsRef size, DType dtype, std::optional<Device> device, std::optional<MemoryFormat> format) {
  Tensor t = trine::empty(size, dtype, device.value_or(Device{}), format.value_or(MemoryFormat::Contiguous));
  t.impl()->inference = grad_modes.inference;
  return uninitialized(t);
}

Tensor make_empty_strided(DimsRef size, DimsRef stride, DType dtype, std::optional<Device> device) {
  return uninitialized(trine::empty_strided(size, stride, dtype, device.value_or(Device{})));
}

Tensor make_empty_like(const Tensor& self, DType dtype, std::optional<Device> device, std::optional<MemoryFormat> format) {
  if (device && *device != self.device()) {
    Tensor shape = empty_strided(self.sizes(), strides_like(self), DType::Bool, Device{DeviceType::Meta});
    Dims strides = format.value_or(MemoryFormat::Preserve) == MemoryFormat::Preserve ? Dims(shape.strides()) : strides_for(self.sizes(), *format);
    return uninitialized(trine::empty_strided(self.sizes(), strides, dtype == DType::Undefined ? self.dtype() : dtype, *device));
  }
  if (batching::is_batched(self)) return batching::make(make_empty_like(batching::value(self), dtype, std::nullopt, MemoryFormat::Preserve), batching::levels(self));
  return uninitialized(trine::empty_like(self, dtype, format.value_or(MemoryFormat::Preserve)));
}

Tensor zeros_op(DimsRef size, DType dtype, std::optional<Device> device) { return zero_(empty_op(size, dtype, device)); }

Tensor full_op(DimsRef size, const Scalar& value, DType dtype, std::optional<Device> device) { return fill_(empty_op(size, number_dtype(dtype, value), device), value); }

Tensor arange_op(const Scalar& start, const Scalar& end, const Scalar& step, DType dtype, std::optional<Device> device) {
  if (dtype == DType::Undefined) dtype = start.is_integral() && end.is_integral() && step.is_integral() ? DType::Int64 : default_dtype();
  for (const Scalar& s : {start, end, step}) TRINE_CHECK(!s.is_complex() || s.to_complex().imag() == 0, "arange: value cannot be converted to type double without overflow");
  TRINE_CHECK(!step.equals(0), "arange: step must be nonzero");
  double n;
  bool all_int = start.is_integral() && end.is_integral() && step.is_integral();
  if (all_int) {
    int64_t span = end.to_int() - start.to_int(), s = step.to_int();
    TRINE_CHECK(span == 0 || (span > 0) == (s > 0), "upper bound and lower bound inconsistent with step sign");
    n = static_cast<double>(s > 0 ? (span + s - 1) / s : (span + s + 1) / s);
  } else {
    double span = end.to_double() - start.to_double(), s = step.to_double();
    TRINE_CHECK(std::isfinite(span), "arange: unsupported range: ", start.to_double(), " -> ", end.to_double());
    TRINE_CHECK(span == 0 || (span > 0) == (s > 0), "upper bound and lower bound inconsistent with step sign");
    n = std::ceil(span / s);
  }
  TRINE_CHECK(n >= 0 && n < 9e18, "arange: invalid size, possible overflow?");
  return arange_(empty_op(Dims{static_cast<int64_t>(n)}, dtype, device), start, step);
}

Tensor linspace_op(const Scalar& start, const Scalar& end, int64_t steps, DType dtype, std::optional<Device> device) {
  TRINE_CHECK(steps >= 0, "number of steps must be non-negative");
  if (dtype == DType::Undefined) dtype = start.is_complex() || end.is_complex() ? to_complex(default_dtype()) : default_dtype();
  return linspace_(empty_op(Dims{steps}, dtype, device), start, end);
}

Tensor eye_op(int64_t n, std::optional<int64_t> m, DType dtype, std::optional<Device> device) {
  TRINE_CHECK(n >= 0 && m.value_or(0) >= 0, "eye: n and m must be greater or equal to 0, got ", n, " and ", m.value_or(n));
  Tensor t = zeros(Dims{n, m.value_or(n)}, dtype, device);
  fill_(diagonal(t), Scalar(1));
  return t;
}

Tensor tri_indices(int64_t rows, int64_t cols, int64_t offset, DType dtype, bool lower) {
  std::vector<int64_t> r, c;
  for (int64_t i = 0; i < rows; i++) {
    int64_t b = lower ? 0 : std::clamp<int64_t>(i + offset, 0, cols), e = lower ? std::clamp<int64_t>(i + offset + 1, 0, cols) : cols;
    for (int64_t j = b; j < e; j++) {
      r.push_back(i);
      c.push_back(j);
    }
  }
  int64_t n = static_cast<int64_t>(r.size());
  Tensor out = trine::empty(Dims{2, n}, DType::Int64);
  std::copy(r.begin(), r.end(), out.data<int64_t>());
  std::copy(c.begin(), c.end(), out.data<int64_t>() + n);
  return dtype == DType::Undefined ? out : to(out, dtype);
}

Tensor copy_into_like(const Tensor& self, const Tensor& src, bool) { return copy_(make_empty_like(batching::expand_levels(self, src), DType::Undefined, std::nullopt, std::nullopt), src); }

Tensor to_dtype(const Tensor& self, DType dtype, bool, bool copy, std::optional<MemoryFormat> format) {
  MemoryFormat f = format.value_or(MemoryFormat::Preserve);
  bool same_layout = f == MemoryFormat::Preserve || self.is_contiguous(f);
  if (self.dtype() == dtype && !copy && same_layout) return self;
  if (self.dtype() == dtype) return clone(self, f);
  return cast(self, dtype, f);
}

Tensor to_device(const Tensor& self, std::optional<Device> device, DType dtype, bool non_blocking, bool copy, std::optional<MemoryFormat> format) {
  if (dtype == DType::Undefined) dtype = self.dtype();
  Device target = device.value_or(self.device());
  if (target.type == self.device().type) return to_dtype(self, dtype, non_blocking, copy, format);
  Tensor source = to_dtype(self, dtype, non_blocking, false, format);
  if (target.type == DeviceType::Meta) return to_meta(source);
  TRINE_CHECK_IMPLEMENTED(!self.is_meta(), "Cannot copy out of meta tensor; no data!");
  Tensor out = trine::empty_strided(source.sizes(), strides_like(source), dtype, target);
  return copy_(out, source);
}

Tensor detach_op(const Tensor& self) { return detach_shallow(self); }

const Tensor& resize_op(const Tensor& self, DimsRef size, std::optional<MemoryFormat> format) {
  TRINE_CHECK(!self.requires_grad() || !grad_enabled(), "resize_: cannot resize variables that require grad");
  const int64_t had = static_cast<int64_t>(self.storage() ? self.storage()->nbytes() : 0) / itemsize(self.dtype());
  resize_impl(self, size, strides_for(size, format.value_or(MemoryFormat::Contiguous)));
  const int64_t has = static_cast<int64_t>(self.storage()->nbytes()) / itemsize(self.dtype());
  if (has > had) uninitialized(as_strided(detach_shallow(self), Dims{has - had}, Dims{1}, had));
  return self;
}

}  // namespace trine::composite
