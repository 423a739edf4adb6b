// Convolution and its two gradients. Plain float and double tensors go to our direct kernels, channels_last and 16-bit ones to oneDNN; what
// neither covers goes through patch matrices, or through float32.
#include <cmath>

#include "base/parallel.h"
#include "cpu/conv_direct.h"
#include "cpu/conv_patches.h"
#include "cpu/dense.h"
#include "cpu/onednn.h"
#include "cpu/scratch.h"
#include "trine/kernels.h"
#include "trine/ops.h"

namespace trine::cpu {

TRINE_ISA_TABLE(conv_direct_float);
TRINE_ISA_TABLE(conv_direct_double);

namespace {

struct Normalization {
  const Tensor &weight, &bias, &mean, &var;
  double eps;
};

ConvShape make_shape(DimsRef input, DimsRef weight, DimsRef output, DimsRef stride, DimsRef padding, DimsRef dilation, int64_t groups) {
  ConvShape s{input[0], input[1], weight[0], groups, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}};
  size_t nd = stride.size(), skip = 3 - nd;
  for (size_t d = 0; d < nd; ++d) {
    s.in[skip + d] = input[2 + d], s.out[skip + d] = output[2 + d], s.kernel[skip + d] = weight[2 + d];
    s.stride[skip + d] = stride[d], s.padding[skip + d] = padding[d], s.dilation[skip + d] = dilation[d];
  }
  return s;
}

bool widened(DType t) { return t == DType::Half || t == DType::BFloat16; }

MemoryFormat layout_of(const Tensor& a, const Tensor& b) {
  MemoryFormat f = a.suggest_memory_format();
  return f != MemoryFormat::Contiguous ? f : b.suggest_memory_format();
}

// Splits complex operands and puts the result together; `real(out, a, b)` is the real operation, linear in both.
template <class Run> void complex_parts(Tensor& out, const Tensor& a, const Tensor& b, const Run& real) {
  DType t = to_real(out.dtype());
  auto part = [t](const Tensor& x, bool imaginary) {
    Dims strides(x.strides());
    for (int64_t& s : strides) s *= 2;
    Tensor view = from_storage(x.storage(), t, x.sizes(), strides, x.offset() * 2 + imaginary);
    return plain(view);
  };
  Tensor ar = part(a, false), ai = part(a, true), br = part(b, false), bi = part(b, true);
  auto product = [&](const Tensor& x, const Tensor& y) {
    Tensor r = empty(out.sizes(), t);
    real(r, x, y);
    return r;
  };
  Tensor rr = product(ar, br), ii = product(ai, bi), ri = product(ar, bi), ir = product(ai, br);
  DenseOutput dense(out);
  TRINE_DISPATCH_FLOAT(t, "convolution", {
    using C = std::complex<scalar_t>;
    C* to = dense.data<C>();
    for (int64_t i = 0; i < out.numel(); ++i)
      to[i] = C(rr.data<scalar_t>()[i] - ii.data<scalar_t>()[i], ri.data<scalar_t>()[i] + ir.data<scalar_t>()[i]);
  });
  dense.finish();
}

// Runs `op` on float32 copies.
template <class Run> void in_float(Tensor& out, const Tensor& a, const Tensor& b, const Run& op) {
  Tensor result = empty(out.sizes(), DType::Float);
  op(result, converted(a, DType::Float), converted(b, DType::Float));
  convert_copy(out, result);
}

// Weights [O, I/g, k...] of the convolution that computes the gradient of a stride-1 convolution: [I, O/g, flipped k...].
template <class T> Tensor flipped_weight(const Tensor& weight, const ConvShape& s) {
  Tensor flipped = empty(DimsRef(Dims{s.in_channels, s.group_out(), s.taps()}), weight.dtype());
  const T* from = weight.data<T>();
  T* to = flipped.data<T>();
  for (int64_t g = 0; g < s.groups; ++g)
    for (int64_t i = 0; i < s.group_in(); ++i)
      for (int64_t o = 0; o < s.group_out(); ++o) {
        const T* w = from + ((g * s.group_out() + o) * s.group_in() + i) * s.taps();
        T* f = to + ((g * s.group_in() + i) * s.group_out() + o) * s.taps();
        for (int64_t t = 0; t < s.taps(); ++t) f[t] = w[s.taps() - 1 - t];
      }
  return flipped;
}

bool stride_one(const ConvShape& s) {
  for (int d = 0; d < 3; ++d)
    if (s.stride[d] != 1 || s.dilation[d] * (s.kernel[d] - 1) < s.padding[d]) return false;
  return true;
}

template <class T> const T* data_or_null(const Tensor& t) { return t.defined() ? t.data<T>() : nullptr; }

template <class T>
void forward_plain(Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvShape& s, const Epilogue<T>* epilogue = nullptr) {
  Tensor x = plain(input), w = plain(weight), b = bias.defined() ? plain(bias) : bias;
  DenseOutput y(out);
  conv_direct(ConvArguments<T>{s, x.data<T>(), w.data<T>(), data_or_null<T>(b), y.data<T>(), epilogue});
  y.finish();
}

// Normalisation with known statistics is one factor and one summand for each channel; the convolution's bias joins the summand.
template <class T>
void forward_normalized(Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvShape& s, const Normalization& n, double low, double high, const Tensor& residual) {
  Tensor mean = plain(n.mean), var = plain(n.var), gamma = n.weight.defined() ? plain(n.weight) : n.weight, beta = n.bias.defined() ? plain(n.bias) : n.bias;
  Tensor b = bias.defined() ? plain(bias) : bias, added = residual.defined() ? plain(residual) : residual;
  const T *g = data_or_null<T>(gamma), *offset = data_or_null<T>(beta), *first = data_or_null<T>(b);
  Scratch<T> scale(s.out_channels), shift(s.out_channels);
  for (int64_t c = 0; c < s.out_channels; ++c) {
    scale[c] = (g ? g[c] : T(1)) / std::sqrt(var.data<T>()[c] + static_cast<T>(n.eps));
    shift[c] = ((first ? first[c] : T(0)) - mean.data<T>()[c]) * scale[c] + (offset ? offset[c] : T(0));
  }
  Epilogue<T> epilogue{scale.data(), shift.data(), data_or_null<T>(added), static_cast<T>(low), static_cast<T>(high)};
  forward_plain<T>(out, input, weight, Tensor(), s, &epilogue);
}

template <class T> void input_grad_plain(Tensor& out, const Tensor& grad, const Tensor& weight, const ConvShape& s) {
  Tensor g = plain(grad), w = plain(weight);
  DenseOutput y(out);
  if (stride_one(s)) {
    ConvShape back = s;
    back.in_channels = s.out_channels, back.out_channels = s.in_channels;
    for (int d = 0; d < 3; ++d) back.in[d] = s.out[d], back.out[d] = s.in[d], back.padding[d] = s.dilation[d] * (s.kernel[d] - 1) - s.padding[d];
    Tensor flipped = flipped_weight<T>(w, s);
    conv_direct(ConvArguments<T>{back, g.data<T>(), flipped.data<T>(), nullptr, y.data<T>()});
  } else {
    conv_input_grad_patches(s, g.data<T>(), w.data<T>(), y.data<T>());
  }
  y.finish();
}

template <class T> void weight_grad_plain(Tensor& out, const Tensor& grad, const Tensor& input, const ConvShape& s) {
  Tensor g = plain(grad), x = plain(input);
  DenseOutput y(out);
  conv_weight_grad_patches(s, g.data<T>(), x.data<T>(), y.data<T>());
  y.finish();
}

// Tries oneDNN; operands are brought into one layout first.
bool library_conv(ConvPass pass, const ConvShape& s, const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& output, MemoryFormat layout, size_t nd) {
  MemoryFormat weights = weight.is_contiguous() ? MemoryFormat::Contiguous : weight.suggest_memory_format();
  const Tensor& result = pass == ConvPass::Forward ? output : pass == ConvPass::BackwardInput ? input : weight;
  DenseOutput dense(result, result.dtype(), pass == ConvPass::BackwardWeight ? weights : layout);
  auto operand = [&](const Tensor& t, MemoryFormat f) { return t.is_same(result) ? dense.tensor() : plain(t, f); };
  Tensor x = operand(input, layout), w = operand(weight, weights), y = operand(output, layout), b = bias.defined() ? plain(bias) : bias;
  ConvOperands o{x.data(), w.data(), b.defined() ? b.data() : nullptr, y.data(), x.dtype(), layout != MemoryFormat::Contiguous, weights != MemoryFormat::Contiguous, static_cast<int>(nd)};
  if (!onednn_conv(pass, s, o)) return false;
  dense.finish();
  return true;
}

}  // namespace

void conv_forward(Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias, DimsRef stride, DimsRef padding, DimsRef dilation, int64_t groups) {
  if (out.numel() == 0) return;
  ConvShape s = make_shape(input.sizes(), weight.sizes(), out.sizes(), stride, padding, dilation, groups);
  DType t = out.dtype();
  if (trine::is_complex(t)) {
    complex_parts(out, input, weight, [&](Tensor& r, const Tensor& x, const Tensor& w) { conv_forward(r, x, w, Tensor(), stride, padding, dilation, groups); });
    if (bias.defined()) add_channel_bias(out, bias);
    return;
  }
  MemoryFormat layout = layout_of(input, weight);
  if ((widened(t) || (t == DType::Float && layout != MemoryFormat::Contiguous)) && s.in_channels > 0 && library_conv(ConvPass::Forward, s, input, weight, bias, out, layout, stride.size())) return;
  if (t == DType::Float) return forward_plain<float>(out, input, weight, bias, s);
  if (t == DType::Double) return forward_plain<double>(out, input, weight, bias, s);
  if (widened(t))
    return in_float(out, input, weight, [&](Tensor& r, const Tensor& x, const Tensor& w) {
      Tensor b = bias.defined() ? converted(bias, DType::Float) : bias;
      conv_forward(r, x, w, b, stride, padding, dilation, groups);
    });
  TRINE_DISPATCH_INT(t, "convolution", {
    Tensor x = plain(input), w = plain(weight), b = bias.defined() ? plain(bias) : bias;
    DenseOutput y(out);
    conv_naive(s, x.data<scalar_t>(), w.data<scalar_t>(), b.defined() ? b.data<scalar_t>() : nullptr, y.data<scalar_t>());
    y.finish();
    return;
  });
}

void conv_batch_norm(Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& norm_weight, const Tensor& norm_bias, const Tensor& mean, const Tensor& var, double eps,
                     DimsRef stride, DimsRef padding, DimsRef dilation, int64_t groups, double low, double high, const Tensor& residual) {
  if (out.numel() == 0) return;
  const DType t = out.dtype();
  const bool direct = t == DType::Double || (t == DType::Float && layout_of(input, weight) == MemoryFormat::Contiguous);
  const ConvShape s = make_shape(input.sizes(), weight.sizes(), out.sizes(), stride, padding, dilation, groups);
  // The kernel of single-plane groups knows no residual.
  if (direct && mean.dtype() == t && s.in_channels > 0 && !(residual.defined() && s.group_in() == 1)) {
    const Normalization n{norm_weight, norm_bias, mean, var, eps};
    if (t == DType::Float) return forward_normalized<float>(out, input, weight, bias, s, n, low, high, residual);
    return forward_normalized<double>(out, input, weight, bias, s, n, low, high, residual);
  }
  conv_forward(out, input, weight, bias, stride, padding, dilation, groups);
  Tensor y = trine::batch_norm(out, norm_weight, norm_bias, mean, var, false, 0.0, eps);
  if (residual.defined()) y = trine::add(y, residual, 1);
  trine::copy_(out, trine::clamp(y, std::optional<Scalar>(low), std::optional<Scalar>(high)));
}

void conv_input_grad(Tensor& out, const Tensor& grad, const Tensor& weight, DimsRef, DimsRef stride, DimsRef padding, DimsRef dilation, int64_t groups) {
  if (out.numel() == 0) return;
  DType t = out.dtype();
  if (grad.numel() == 0) {
    DenseOutput y(out);
    zero_fill(y.tensor());
    return y.finish();
  }
  ConvShape s = make_shape(out.sizes(), weight.sizes(), grad.sizes(), stride, padding, dilation, groups);
  if (trine::is_complex(t))
    return complex_parts(out, grad, weight, [&](Tensor& r, const Tensor& g, const Tensor& w) { conv_input_grad(r, g, w, {}, stride, padding, dilation, groups); });
  MemoryFormat layout = layout_of(grad, weight);
  bool direct = t == DType::Float && layout == MemoryFormat::Contiguous && stride_one(s);
  if (t != DType::Double && !direct && library_conv(ConvPass::BackwardInput, s, out, weight, Tensor(), grad, layout, stride.size())) return;
  if (t == DType::Float) return input_grad_plain<float>(out, grad, weight, s);
  if (t == DType::Double) return input_grad_plain<double>(out, grad, weight, s);
  if (widened(t))
    return in_float(out, grad, weight, [&](Tensor& r, const Tensor& g, const Tensor& w) { conv_input_grad(r, g, w, {}, stride, padding, dilation, groups); });
  TRINE_DISPATCH_INT(t, "conv_transpose", {
    Tensor g = plain(grad), w = plain(weight);
    DenseOutput y(out);
    conv_input_grad_naive(s, g.data<scalar_t>(), w.data<scalar_t>(), y.data<scalar_t>());
    y.finish();
    return;
  });
}

void conv_weight_grad(Tensor& out, const Tensor& grad, const Tensor& input, DimsRef, DimsRef stride, DimsRef padding, DimsRef dilation, int64_t groups) {
  if (out.numel() == 0) return;
  DType t = out.dtype();
  if (grad.numel() == 0) {
    DenseOutput y(out);
    zero_fill(y.tensor());
    return y.finish();
  }
  ConvShape s = make_shape(input.sizes(), out.sizes(), grad.sizes(), stride, padding, dilation, groups);
  if (trine::is_complex(t))
    return complex_parts(out, grad, input, [&](Tensor& r, const Tensor& g, const Tensor& x) { conv_weight_grad(r, g, x, {}, stride, padding, dilation, groups); });
  if (t != DType::Double && library_conv(ConvPass::BackwardWeight, s, input, out, Tensor(), grad, layout_of(input, grad), stride.size())) return;
  if (t == DType::Float) return weight_grad_plain<float>(out, grad, input, s);
  if (t == DType::Double) return weight_grad_plain<double>(out, grad, input, s);
  if (widened(t))
    return in_float(out, grad, input, [&](Tensor& r, const Tensor& g, const Tensor& x) { conv_weight_grad(r, g, x, {}, stride, padding, dilation, groups); });
  unsupported_dtype("convolution_backward", t);
}

}  // namespace trine::cpu
