// Convolutions of our own on contiguous (NCHW) tensors, compiled once per instruction set.
#pragma once
#include "cpu/conv_shape.h"
#include "cpu/epilogue.h"
#include "cpu/isa.h"

namespace trine::cpu {

// input [batch, channels, D, H, W], weight [out_channels, channels / groups, kD, kH, kW], bias [out_channels] or nullptr. An epilogue's
// residual lies as the output; with an epilogue there is no bias.
template <class T> struct ConvArguments {
  ConvShape shape;
  const T* input;
  const T* weight;
  const T* bias;
  T* output;
  const Epilogue<T>* epilogue = nullptr;
};

TRINE_ISA_DECLARE(void, conv_direct_float, (const ConvArguments<float>&));
TRINE_ISA_DECLARE(void, conv_direct_double, (const ConvArguments<double>&));

inline void conv_direct(const ConvArguments<float>& c) { conv_direct_float(c); }
inline void conv_direct(const ConvArguments<double>& c) { conv_direct_double(c); }

}  // namespace trine::cpu
