#include "cpu/pool.h"

#include "cpu/dense.h"
#include "cpu/pool_loops.h"
#include "trine/kernels.h"

namespace trine::cpu {

TRINE_ISA_TABLE(max_pool_float);
TRINE_ISA_TABLE(max_pool_double);
TRINE_ISA_TABLE(avg_pool_float);
TRINE_ISA_TABLE(avg_pool_double);
TRINE_ISA_TABLE(avg_pool_grad_float);
TRINE_ISA_TABLE(avg_pool_grad_double);

namespace {

// `in` and `out` are whole shapes that agree up to their last nd dimensions.
PoolShape make_shape(DimsRef in, DimsRef out, size_t nd) {
  PoolShape s{1, {}};
  for (size_t d = 0; d + nd < in.size(); ++d) s.planes *= in[d];
  for (size_t d = 0; d < nd; ++d) s.axis[3 - nd + d].in = in[in.size() - nd + d], s.axis[3 - nd + d].out = out[out.size() - nd + d];
  return s;
}

PoolShape windowed(DimsRef in, DimsRef out, DimsRef kernel, DimsRef stride, DimsRef padding, DimsRef dilation) {
  size_t nd = kernel.size();
  PoolShape s = make_shape(in, out, nd);
  for (size_t d = 0; d < nd; ++d) {
    PoolAxis& a = s.axis[3 - nd + d];
    a.kernel = kernel[d], a.stride = stride[d], a.padding = padding[d], a.dilation = dilation.empty() ? 1 : dilation[d];
  }
  return s;
}

PoolShape adaptive(DimsRef in, DimsRef out, size_t nd) {
  PoolShape s = make_shape(in, out, nd);
  for (PoolAxis& a : s.axis) a.adaptive = true, a.kernel = a.out ? (a.in + a.out - 1) / a.out + 1 : 1;
  return s;
}

void run_max(const PoolShape& s, const Tensor& self, Tensor& out, Tensor* indices) {
  if (out.numel() == 0) return;
  DType t = compute_type(out.dtype());
  Tensor x = converted(self, t);
  DenseOutput y(out, t);
  std::optional<DenseOutput> at;
  if (indices) at.emplace(*indices);
  int64_t* positions = indices ? at->data<int64_t>() : nullptr;
  if (t == DType::Float) max_pool_float(s, x.data<float>(), y.data<float>(), positions);
  else if (t == DType::Double) max_pool_double(s, x.data<double>(), y.data<double>(), positions);
  else TRINE_DISPATCH_INT(t, "max_pool", { max_pool_planes(s, x.data<scalar_t>(), y.data<scalar_t>(), positions); });
  y.finish();
  if (at) at->finish();
}

void run_average(const PoolShape& s, const Averaging& a, const Tensor& self, Tensor& out, const char* op) {
  if (out.numel() == 0) return;
  DType t = compute_type(out.dtype());
  Tensor x = converted(self, t);
  DenseOutput y(out, t);
  if (t == DType::Float) avg_pool_float(s, a, x.data<float>(), y.data<float>());
  else if (t == DType::Double) avg_pool_double(s, a, x.data<double>(), y.data<double>());
  else if (t == DType::Int64) avg_pool_planes(s, a, x.data<int64_t>(), y.data<int64_t>());
  else unsupported_dtype(op, t);
  y.finish();
}

void run_average_grad(const PoolShape& s, const Averaging& a, const Tensor& grad, Tensor& out, const char* op) {
  if (out.numel() == 0) return;
  DType t = compute_type(out.dtype());
  Tensor g = converted(grad, t);
  DenseOutput y(out, t);
  if (t == DType::Float) avg_pool_grad_float(s, a, g.data<float>(), y.data<float>());
  else if (t == DType::Double) avg_pool_grad_double(s, a, g.data<double>(), y.data<double>());
  else unsupported_dtype(op, t);
  y.finish();
}

constexpr Averaging kMean{false, 0};

}  // namespace

void max_pool_values(Tensor& out, const Tensor& self, DimsRef kernel_size, DimsRef stride, DimsRef padding, DimsRef dilation, bool) {
  run_max(windowed(self.sizes(), out.sizes(), kernel_size, stride, padding, dilation), self, out, nullptr);
}

void max_pool(Tensor& out, Tensor& indices, const Tensor& self, DimsRef kernel_size, DimsRef stride, DimsRef padding, DimsRef dilation, bool) {
  run_max(windowed(self.sizes(), out.sizes(), kernel_size, stride, padding, dilation), self, out, &indices);
}

void adaptive_max_pool(Tensor& out, Tensor& indices, const Tensor& self, DimsRef output_size) { run_max(adaptive(self.sizes(), out.sizes(), output_size.size()), self, out, &indices); }

void avg_pool(Tensor& out, const Tensor& self, DimsRef kernel_size, DimsRef stride, DimsRef padding, bool, bool count_include_pad, std::optional<int64_t> divisor_override) {
  run_average(windowed(self.sizes(), out.sizes(), kernel_size, stride, padding, {}), {count_include_pad, divisor_override.value_or(0)}, self, out, "avg_pool");
}

void avg_pool_backward(Tensor& out, const Tensor& grad, DimsRef kernel_size, DimsRef stride, DimsRef padding, bool, bool count_include_pad, std::optional<int64_t> divisor_override,
                       DimsRef) {
  run_average_grad(windowed(out.sizes(), grad.sizes(), kernel_size, stride, padding, {}), {count_include_pad, divisor_override.value_or(0)}, grad, out, "avg_pool_backward");
}

void adaptive_avg_pool(Tensor& out, const Tensor& self, DimsRef output_size) {
  run_average(adaptive(self.sizes(), out.sizes(), output_size.size()), kMean, self, out, "adaptive_avg_pool");
}

void adaptive_avg_pool_backward(Tensor& out, const Tensor& grad, DimsRef, int64_t pooled_dims) {
  run_average_grad(adaptive(out.sizes(), grad.sizes(), static_cast<size_t>(pooled_dims)), kMean, grad, out, "adaptive_avg_pool_backward");
}

// The two ways between a plane and the positions a maximum came from: each is the gradient of the other.
void pool_scatter(Tensor& out, const Tensor& grad, const Tensor& indices, DimsRef, int64_t pooled_dims) {
  if (out.numel() == 0) return;
  PoolShape s = make_shape(out.sizes(), grad.sizes(), static_cast<size_t>(pooled_dims));
  DType t = compute_type(out.dtype());
  Tensor g = converted(grad, t), at = plain(indices);
  DenseOutput y(out, t);
  TRINE_DISPATCH_FLOAT(t, "max_pool_backward", {
    const scalar_t* from = g.data<scalar_t>();
    const int64_t* position = at.data<int64_t>();
    scalar_t* to = y.data<scalar_t>();
    parallel_for(0, s.planes, pool_grain(s), [&](int64_t begin, int64_t end) {
      std::fill_n(to + begin * s.in_plane(), (end - begin) * s.in_plane(), scalar_t(0));
      for (int64_t i = begin * s.out_plane(); i < end * s.out_plane(); ++i) to[i / s.out_plane() * s.in_plane() + position[i]] += from[i];
    });
  });
  y.finish();
}

void pool_gather(Tensor& out, const Tensor& self, const Tensor& indices, int64_t pooled_dims) {
  if (out.numel() == 0) return;
  PoolShape s = make_shape(self.sizes(), out.sizes(), static_cast<size_t>(pooled_dims));
  DType t = compute_type(out.dtype());
  Tensor x = converted(self, t), at = plain(indices);
  DenseOutput y(out, t);
  TRINE_DISPATCH_FLOAT(t, "max_pool_backward", {
    const scalar_t* from = x.data<scalar_t>();
    const int64_t* position = at.data<int64_t>();
    scalar_t* to = y.data<scalar_t>();
    for (int64_t i = 0; i < out.numel(); ++i) to[i] = from[i / s.out_plane() * s.in_plane() + position[i]];
  });
  y.finish();
}

}  // namespace trine::cpu
