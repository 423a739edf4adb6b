// Shapes and layouts of convolutions. Tensors are [batch, channels, spatial...] with one to three spatial dimensions.
#pragma once
#include "dispatch/structured.h"

namespace trine::rules {

// The layout PyTorch gives a convolution's result: channels_last as soon as the input or the weight has it.
inline MemoryFormat conv_format(const Tensor& input, const Tensor& weight) {
  MemoryFormat f = input.suggest_memory_format();
  return f != MemoryFormat::Contiguous ? f : weight.suggest_memory_format();
}

inline void check_conv(const char* op, const Tensor& input, const Tensor& weight, DimsRef stride, DimsRef padding, DimsRef dilation, int64_t groups) {
  const int64_t nd = weight.dim() - 2;
  TRINE_CHECK(nd >= 1 && nd <= 3, op, ": weight must have 3 to 5 dimensions, got shape ", weight.sizes());
  TRINE_CHECK(input.dim() == weight.dim(), op, ": expected input with ", weight.dim(), " dimensions for weight of shape ", weight.sizes(), ", got input of shape ", input.sizes());
  TRINE_CHECK(groups > 0, op, ": groups must be positive, got ", groups);
  for (DimsRef list : {stride, padding, dilation})
    TRINE_CHECK(static_cast<int64_t>(list.size()) == nd, op, ": stride, padding and dilation need ", nd, " values for weight of shape ", weight.sizes(), ", got ", list);
  for (size_t d = 0; d < static_cast<size_t>(nd); ++d) {
    TRINE_CHECK(stride[d] > 0, op, ": non-positive stride is not supported, got ", stride);
    TRINE_CHECK(dilation[d] > 0, op, ": dilation should be greater than zero, got ", dilation);
    TRINE_CHECK(padding[d] >= 0, op, ": negative padding is not supported, got ", padding);
  }
  TRINE_CHECK(input.dtype() == weight.dtype(), op, ": Input type (", legacy_name(input.dtype()), ") and weight type (", legacy_name(weight.dtype()), ") should be the same");
}

inline int64_t conv_length(int64_t in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
  int64_t room = in + 2 * padding - dilation * (kernel - 1) - 1;
  return room < 0 ? -1 : room / stride + 1;
}

inline TensorSpec conv_forward_spec(const Tensor& input, const Tensor& weight, const Tensor& bias, DimsRef stride, DimsRef padding, DimsRef dilation, int64_t groups) {
  const char* op = "convolution";
  check_conv(op, input, weight, stride, padding, dilation, groups);
  TRINE_CHECK(weight.sizes()[0] % groups == 0 && weight.sizes()[0] >= groups, op, ": Given groups=", groups, ", expected weight to be at least ", groups,
              " at dimension 0 and divisible by it, but got weight of size ", weight.sizes());
  TRINE_CHECK(input.sizes()[1] == weight.sizes()[1] * groups, op, ": Given groups=", groups, ", weight of size ", weight.sizes(), ", expected input", input.sizes(), " to have ",
              weight.sizes()[1] * groups, " channels, but got ", input.sizes()[1], " channels instead");
  if (bias.defined())
    TRINE_CHECK(bias.dim() == 1 && bias.sizes()[0] == weight.sizes()[0] && bias.dtype() == input.dtype(), op, ": expected bias to be 1-dimensional with ", weight.sizes()[0],
                " elements of type ", name(input.dtype()), ", but got bias of size ", bias.sizes(), " of type ", name(bias.dtype()));
  Dims sizes{input.sizes()[0], weight.sizes()[0]};
  for (size_t d = 0; d < stride.size(); ++d) {
    int64_t n = conv_length(input.sizes()[d + 2], weight.sizes()[d + 2], stride[d], padding[d], dilation[d]);
    TRINE_CHECK(n > 0, op, ": Kernel size can't be greater than actual input size: input ", input.sizes(), ", weight ", weight.sizes(), ", padding ", padding, ", dilation ", dilation);
    sizes.push_back(n);
  }
  return {sizes, input.dtype(), conv_format(input, weight)};
}

inline TensorSpec conv_batch_norm_spec(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& norm_weight, const Tensor& norm_bias, const Tensor& mean, const Tensor& var,
                                       DimsRef stride, DimsRef padding, DimsRef dilation, int64_t groups, const Tensor& residual) {
  TensorSpec out = conv_forward_spec(input, weight, bias, stride, padding, dilation, groups);
  for (const Tensor* t : {&norm_weight, &norm_bias, &mean, &var})
    TRINE_CHECK(!t->defined() || (t->dim() == 1 && t->sizes()[0] == out.sizes[1]), "batch_norm: expected statistics, weight and bias of ", out.sizes[1], " elements, got shape ", t->sizes());
  if (residual.defined())
    TRINE_CHECK(equal(residual.sizes(), out.sizes) && residual.dtype() == out.dtype, "conv_batch_norm: expected a residual of shape ", out.sizes, " and type ", name(out.dtype), ", got ", residual.sizes(),
                " of type ", name(residual.dtype()));
  return out;
}

// Gradient of the input (and transposed convolution): `input_size` is the shape of the result.
inline TensorSpec conv_input_grad_spec(const Tensor& grad, const Tensor& weight, DimsRef input_size, DimsRef stride, DimsRef padding, DimsRef dilation, int64_t groups) {
  check_conv("conv_transpose", grad, weight, stride, padding, dilation, groups);
  TRINE_CHECK(grad.sizes()[1] == weight.sizes()[0] && weight.sizes()[0] % groups == 0, "conv_transpose: Given transposed=1, weight of size ", weight.sizes(), ", expected input",
              grad.sizes(), " to have ", weight.sizes()[0], " channels (a multiple of groups=", groups, "), but got ", grad.sizes()[1], " channels instead");
  return {input_size, grad.dtype(), conv_format(grad, weight)};
}

inline TensorSpec conv_weight_grad_spec(const Tensor& grad, const Tensor& input, DimsRef weight_size) {
  MemoryFormat f = input.suggest_memory_format();
  return {weight_size, grad.dtype(), f != MemoryFormat::Contiguous ? f : grad.suggest_memory_format()};
}

}  // namespace trine::rules
