#include "cpu/softmax.h"

#include "cpu/dense.h"
#include "trine/kernels.h"

namespace trine::cpu {

TRINE_ISA_TABLE(softmax_float);
TRINE_ISA_TABLE(softmax_double);
TRINE_ISA_TABLE(softmax_grad_float);
TRINE_ISA_TABLE(softmax_grad_double);

namespace {

SoftmaxShape make_shape(DimsRef sizes, int64_t dim, bool logarithm) {
  SoftmaxShape s{1, 1, 1, logarithm};
  if (sizes.empty()) return s;
  size_t d = static_cast<size_t>(wrap_dim(dim, static_cast<int64_t>(sizes.size())));
  for (size_t i = 0; i < sizes.size(); ++i) (i < d ? s.outer : i == d ? s.length : s.inner) *= sizes[i];
  return s;
}

void forward(Tensor& out, const Tensor& self, int64_t dim, bool logarithm) {
  if (out.numel() == 0) return;
  SoftmaxShape s = make_shape(self.sizes(), dim, logarithm);
  DType t = compute_type(out.dtype());
  Tensor x = converted(self, t);
  DenseOutput y(out, t);
  if (t == DType::Float) softmax_float(s, x.data<float>(), y.data<float>());
  else if (t == DType::Double) softmax_double(s, x.data<double>(), y.data<double>());
  else unsupported_dtype("softmax", t);
  y.finish();
}

void backward(Tensor& out, const Tensor& grad, const Tensor& output, int64_t dim, bool logarithm) {
  if (out.numel() == 0) return;
  SoftmaxShape s = make_shape(output.sizes(), dim, logarithm);
  DType t = compute_type(out.dtype());
  Tensor g = converted(grad, t), p = converted(output, t);
  DenseOutput y(out, t);
  if (t == DType::Float) softmax_grad_float(s, g.data<float>(), p.data<float>(), y.data<float>());
  else if (t == DType::Double) softmax_grad_double(s, g.data<double>(), p.data<double>(), y.data<double>());
  else unsupported_dtype("softmax_backward", t);
  y.finish();
}

}  // namespace

void softmax_forward(Tensor& out, const Tensor& self, int64_t dim) { forward(out, self, dim, false); }
void log_softmax_forward(Tensor& out, const Tensor& self, int64_t dim) { forward(out, self, dim, true); }
void softmax_grad(Tensor& out, const Tensor& grad, const Tensor& output, int64_t dim) { backward(out, grad, output, dim, false); }
void log_softmax_grad(Tensor& out, const Tensor& grad, const Tensor& output, int64_t dim) { backward(out, grad, output, dim, true); }

}  // namespace trine::cpu
