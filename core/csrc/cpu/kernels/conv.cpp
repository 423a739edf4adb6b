// Entry points of the direct convolutions of one instruction set.
#include "cpu/conv_direct.h"

#include "cpu/kernels/conv_dense.h"
#include "cpu/kernels/conv_depthwise.h"

namespace trine::cpu {
namespace {

template <class T> void convolve(const ConvArguments<T>& args) {
  if (args.shape.group_in() == 1) depthwise_conv(args);
  else dense_conv(args);
}

}  // namespace

TRINE_ISA_DEFINE(conv_direct_float, convolve<float>);
TRINE_ISA_DEFINE(conv_direct_double, convolve<double>);

}  // namespace trine::cpu
