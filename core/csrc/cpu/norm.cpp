#include "cpu/norm.h"

#include <cmath>

#include "cpu/dense.h"
#include "cpu/scratch.h"
#include "trine/kernels.h"

namespace trine::cpu {

#define X(NAME, PARAMS) \
  TRINE_ISA_TABLE(NAME##_float); \
  TRINE_ISA_TABLE(NAME##_double);
TRINE_NORM_KERNELS(X)
#undef X

namespace {

// The kernels of one element type under one name.
template <class T> struct Kernels;
#define X(NAME, PARAMS) static constexpr const auto& NAME = NAME##_float;
template <> struct Kernels<float> { TRINE_NORM_KERNELS(X) };
#undef X
#define X(NAME, PARAMS) static constexpr const auto& NAME = NAME##_double;
template <> struct Kernels<double> { TRINE_NORM_KERNELS(X) };
#undef X

Tensor optional(const Tensor& t, DType dtype) { return t.defined() ? converted(t, dtype) : t; }
template <class T> const T* data(const Tensor& t) { return t.defined() ? t.data<T>() : nullptr; }

template <class T> RowNorm<T> rows_of(const Tensor& x, int64_t rows, const Tensor& weight, const Tensor& bias) {
  int64_t length = rows ? x.numel() / rows : 0;
  return {rows, length, 1, length, 1, x.data<T>(), data<T>(weight), data<T>(bias)};
}
template <class T> RowNorm<T> groups_of(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias) {
  int64_t rows = x.sizes()[0] * groups, length = rows ? x.numel() / rows : 0, channels = x.sizes()[1] / groups;
  return {rows, length, channels ? length / channels : 0, channels, groups, x.data<T>(), data<T>(weight), data<T>(bias)};
}

template <class Shape> void normalize_rows(Tensor& out, Tensor& mean, Tensor& rstd, const Tensor& input, const Tensor& weight, const Tensor& bias, double eps, const Shape& shape) {
  DType t = compute_type(out.dtype());
  Tensor x = converted(input, t), w = optional(weight, t), b = optional(bias, t);
  DenseOutput y(out, t), m(mean, t), r(rstd, t);
  TRINE_DISPATCH_FLOAT(t, "layer_norm", { Kernels<scalar_t>::row_norm(shape(scalar_t{}, x, w, b), eps, y.data<scalar_t>(), m.data<scalar_t>(), r.data<scalar_t>()); });
  y.finish();
  m.finish();
  r.finish();
}

template <class Shape>
void normalize_rows_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& grad, const Tensor& input, const Tensor& mean, const Tensor& rstd, const Tensor& weight, const Shape& shape) {
  DType t = compute_type(input.dtype());
  Tensor g = converted(grad, t), x = converted(input, t), m = converted(mean, t), r = converted(rstd, t), w = optional(weight, t);
  DenseOutput out(dx, t), out_w(dw, t), out_b(db, t);
  TRINE_DISPATCH_FLOAT(t, "layer_norm_backward", {
    auto n = shape(scalar_t{}, x, w, Tensor());
    Kernels<scalar_t>::row_norm_grad(n, g.data<scalar_t>(), m.data<scalar_t>(), r.data<scalar_t>(), out.data<scalar_t>());
    Kernels<scalar_t>::row_norm_grad_affine(n, g.data<scalar_t>(), m.data<scalar_t>(), r.data<scalar_t>(), dw.numel() ? out_w.data<scalar_t>() : nullptr,
                                            db.numel() ? out_b.data<scalar_t>() : nullptr);
  });
  out.finish();
  out_w.finish();
  out_b.finish();
}

int64_t leading(DimsRef sizes, size_t inner_dims) {
  int64_t n = 1;
  for (size_t d = 0; d + inner_dims < sizes.size(); ++d) n *= sizes[d];
  return n;
}

// ---- batch norm -----------------------------------------------------------------------------------------------------
// Channels-last tensors are rows of channels; everything else is planes.
struct BatchLayout {
  MemoryFormat format;
  NormShape shape;
  explicit BatchLayout(const Tensor& x) : format(x.suggest_memory_format()), shape{x.sizes()[0], x.sizes()[1], 1} {
    int64_t plane = x.sizes()[0] && x.sizes()[1] ? x.numel() / (x.sizes()[0] * x.sizes()[1]) : 0;
    if (format != MemoryFormat::Contiguous) shape.batch *= plane;
    else shape.plane = plane;
  }
};

template <class T> struct ChannelFactors {
  Scratch<T> scale, shift;
  explicit ChannelFactors(int64_t n) : scale(n), shift(n) {}
};

}  // namespace

void cosine_similarity(Tensor& out, const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  if (out.numel() == 0) return;
  DType t = compute_type(out.dtype());
  Tensor x = converted(x1, t), y = converted(x2, t);
  DenseOutput dense(out, t);
  int64_t outer = 1, inner = 1;
  const int64_t along = wrap_dim(dim, x.dim());
  for (int64_t d = 0; d < x.dim(); d++)
    if (d != along) (d < along ? outer : inner) *= x.sizes()[d];
  TRINE_DISPATCH_FLOAT(t, "cosine_similarity",
                       { Kernels<scalar_t>::cosine(x.data<scalar_t>(), y.data<scalar_t>(), outer, x.dim() ? x.sizes()[along] : 1, inner, eps, dense.data<scalar_t>()); });
  dense.finish();
}

void native_layer_norm(Tensor& out, Tensor& mean, Tensor& rstd, const Tensor& input, DimsRef normalized_shape, const Tensor& weight, const Tensor& bias, double eps) {
  if (out.numel() == 0) return;
  int64_t rows = leading(input.sizes(), normalized_shape.size());
  normalize_rows(out, mean, rstd, input, weight, bias, eps,
                 [rows](auto type, const Tensor& x, const Tensor& w, const Tensor& b) { return rows_of<decltype(type)>(x, rows, w, b); });
}

void layer_norm_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& grad, const Tensor& input, DimsRef normalized_shape, const Tensor& mean, const Tensor& rstd, const Tensor& weight) {
  int64_t rows = leading(input.sizes(), normalized_shape.size());
  normalize_rows_grad(dx, dw, db, grad, input, mean, rstd, weight,
                      [rows](auto type, const Tensor& x, const Tensor& w, const Tensor& b) { return rows_of<decltype(type)>(x, rows, w, b); });
}

void native_group_norm(Tensor& out, Tensor& mean, Tensor& rstd, const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t num_groups, double eps) {
  if (out.numel() == 0) return;
  normalize_rows(out, mean, rstd, input, weight, bias, eps,
                 [=](auto type, const Tensor& x, const Tensor& w, const Tensor& b) { return groups_of<decltype(type)>(x, num_groups, w, b); });
}

void group_norm_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& grad, const Tensor& input, const Tensor& mean, const Tensor& rstd, const Tensor& weight, int64_t num_groups) {
  normalize_rows_grad(dx, dw, db, grad, input, mean, rstd, weight,
                      [=](auto type, const Tensor& x, const Tensor& w, const Tensor& b) { return groups_of<decltype(type)>(x, num_groups, w, b); });
}

void batch_norm_stats(Tensor& mean, Tensor& variance, const Tensor& input) {
  if (input.sizes()[1] == 0) return;
  DType t = compute_type(input.dtype());
  BatchLayout layout(input);
  Tensor x = converted(input, t, layout.format);
  DenseOutput m(mean, t), v(variance, t);
  TRINE_DISPATCH_FLOAT(t, "batch_norm", { Kernels<scalar_t>::channel_moments(layout.shape, x.data<scalar_t>(), m.data<scalar_t>(), v.data<scalar_t>()); });
  m.finish();
  v.finish();
}

void batch_norm_apply(Tensor& out, const Tensor& input, const Tensor& mean, const Tensor& variance, const Tensor& weight, const Tensor& bias, bool, double eps) {
  if (out.numel() == 0) return;
  DType t = compute_type(out.dtype());
  BatchLayout layout(input);
  Tensor x = converted(input, t, layout.format), w = optional(weight, t), b = optional(bias, t), m = converted(mean, t), v = converted(variance, t);
  DenseOutput y(out, t, layout.format);
  TRINE_DISPATCH_FLOAT(t, "batch_norm", {
    ChannelFactors<scalar_t> f(layout.shape.channels);
    for (int64_t c = 0; c < layout.shape.channels; ++c) {
      scalar_t scale = scalar_t(1) / std::sqrt(v.data<scalar_t>()[c] + static_cast<scalar_t>(eps));
      if (w.defined()) scale *= w.data<scalar_t>()[c];
      f.scale[c] = scale;
      f.shift[c] = (b.defined() ? b.data<scalar_t>()[c] : scalar_t(0)) - m.data<scalar_t>()[c] * scale;
    }
    Kernels<scalar_t>::channel_scale(layout.shape, x.data<scalar_t>(), f.scale.data(), f.shift.data(), y.data<scalar_t>());
  });
  y.finish();
}

void batch_norm_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& grad, const Tensor& input, const Tensor& mean, const Tensor& variance, const Tensor& weight, bool training, double eps) {
  DType t = compute_type(input.dtype());
  BatchLayout layout(input);
  Tensor g = converted(grad, t, layout.format), x = converted(input, t, layout.format), w = optional(weight, t), m = converted(mean, t), v = converted(variance, t);
  DenseOutput out(dx, t, layout.format), out_w(dw, t), out_b(db, t);
  const NormShape& s = layout.shape;
  TRINE_DISPATCH_FLOAT(t, "batch_norm_backward", {
    Scratch<scalar_t> sums(s.channels), centered(s.channels), of_x(s.channels), of_dy(s.channels), shift(s.channels);
    Kernels<scalar_t>::channel_products(s, x.data<scalar_t>(), g.data<scalar_t>(), m.data<scalar_t>(), sums.data(), centered.data());
    double count = static_cast<double>(s.batch * s.plane);
    for (int64_t c = 0; c < s.channels; ++c) {
      double scale = 1.0 / std::sqrt(static_cast<double>(v.data<scalar_t>()[c]) + eps), factor = w.defined() ? static_cast<double>(w.data<scalar_t>()[c]) : 1.0;
      if (dw.numel()) out_w.data<scalar_t>()[c] = static_cast<scalar_t>(static_cast<double>(centered[c]) * scale);
      if (db.numel()) out_b.data<scalar_t>()[c] = sums[c];
      of_dy[c] = static_cast<scalar_t>(factor * scale);
      // The mean and the variance depend on x only while training.
      double slope = training ? -factor * scale * scale * scale * static_cast<double>(centered[c]) / count : 0.0;
      of_x[c] = static_cast<scalar_t>(slope);
      shift[c] = training ? static_cast<scalar_t>(-factor * scale * static_cast<double>(sums[c]) / count - slope * static_cast<double>(m.data<scalar_t>()[c])) : scalar_t(0);
    }
    if (dx.numel()) Kernels<scalar_t>::channel_combine(s, x.data<scalar_t>(), g.data<scalar_t>(), of_x.data(), of_dy.data(), shift.data(), out.data<scalar_t>());
  });
  out.finish();
  out_w.finish();
  out_b.finish();
}

}  // namespace trine::cpu
