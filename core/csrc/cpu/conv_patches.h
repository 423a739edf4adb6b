// Convolution gradients through patch matrices (im2col), for the element types and processors that oneDNN does not serve, and the plain
// loop that integer convolution uses. All tensors contiguous, [batch, channels, D, H, W].
#pragma once
#include "cpu/conv_shape.h"
#include "tensor/tensor.h"

namespace trine::cpu {

template <class T> void conv_input_grad_patches(const ConvShape& s, const T* grad, const T* weight, T* input_grad);
template <class T> void conv_weight_grad_patches(const ConvShape& s, const T* grad, const T* input, T* weight_grad);
template <class T> void conv_naive(const ConvShape& s, const T* input, const T* weight, const T* bias, T* output);
template <class T> void conv_input_grad_naive(const ConvShape& s, const T* grad, const T* weight, T* input_grad);

// out[n, c, ...] += bias[c].
void add_channel_bias(const Tensor& out, const Tensor& bias);

}  // namespace trine::cpu
