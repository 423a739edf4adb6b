// The public convolutions: arguments are checked and completed, the work is done by _conv_forward and _conv_input_grad.
#include "composite/helpers_nn.h"
#include "dispatch/tensor_operators.h"
#include "trine/kernels.h"

namespace trine::composite {
namespace {

Dims spread(const char* op, const char* what, DimsRef list, size_t nd) {
  TRINE_CHECK(list.size() == nd || list.size() == 1, op, ": expected ", what, " to be a single integer value or a list of ", nd, " values to match the convolution dimensions, but got ",
              what, "=", list);
  Dims out;
  for (size_t d = 0; d < nd; ++d) out.push_back(list[list.size() == 1 ? 0 : d]);
  return out;
}

// Input without a batch dimension gets one; the result loses it again.
struct Batched {
  Tensor input;
  bool added;
  Batched(const char* op, const Tensor& t, int64_t nd) : input(t), added(t.dim() == nd + 1) {
    TRINE_CHECK(t.dim() == nd + 1 || t.dim() == nd + 2, op, ": Expected ", nd + 1, "D (unbatched) or ", nd + 2, "D (batched) input, but got input of size: ", t.sizes());
    if (added) input = trine::unsqueeze(t, 0);
  }
  Tensor restore(const Tensor& result) const { return added ? trine::squeeze(result, Dims{0}) : result; }
};

Tensor transposed(const char* op, const Tensor& input, const Tensor& weight, const Tensor& bias, DimsRef stride, DimsRef padding, DimsRef dilation, DimsRef output_padding, int64_t groups) {
  TRINE_CHECK(weight.dim() == input.dim(), op, ": expected input with ", weight.dim(), " dimensions for weight of shape ", weight.sizes(), ", got input of shape ", input.sizes());
  Dims size{input.size(0), weight.size(1) * groups};
  for (size_t d = 0; d < stride.size(); ++d) {
    TRINE_CHECK(output_padding[d] >= 0 && (output_padding[d] < stride[d] || output_padding[d] < dilation[d]), op, ": output padding must be smaller than either stride or dilation, but got output_padding ",
                output_padding, ", stride ", stride, ", dilation ", dilation);
    int64_t n = (input.sizes()[d + 2] - 1) * stride[d] - 2 * padding[d] + dilation[d] * (weight.sizes()[d + 2] - 1) + output_padding[d] + 1;
    TRINE_CHECK(n > 0, op, ": the output would have size ", n, " in dimension ", d, " for input ", input.sizes(), " and weight ", weight.sizes());
    size.push_back(n);
  }
  Tensor out = _conv_input_grad(input, weight, size, stride, padding, dilation, groups);
  if (!bias.defined()) return out;
  TRINE_CHECK(bias.dim() == 1 && bias.numel() == out.size(1), op, ": expected bias to be 1-dimensional with ", out.size(1), " elements, but got bias of size ", bias.sizes());
  Dims shape(static_cast<size_t>(out.dim()), 1);
  shape[1] = bias.numel();
  return add(out, trine::reshape(bias, shape));
}

}  // namespace

Tensor convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, DimsRef stride, DimsRef padding, DimsRef dilation, bool is_transposed, DimsRef output_padding, int64_t groups) {
  const char* op = "convolution";
  TRINE_CHECK(weight.dim() >= 3, op, ": weight should have at least three dimensions, got shape ", weight.sizes());
  const size_t nd = static_cast<size_t>(weight.dim() - 2);
  Dims s = spread(op, "stride", stride, nd), p = spread(op, "padding", padding, nd), d = spread(op, "dilation", dilation, nd);
  if (!is_transposed) return _conv_forward(input, weight, bias, s, p, d, groups);
  return transposed(op, input, weight, bias, s, p, d, spread(op, "output_padding", output_padding, nd), groups);
}

Tensor conv_nd(const char* op, int64_t nd, const Tensor& input, const Tensor& weight, const Tensor& bias, DimsRef stride, DimsRef padding, DimsRef dilation, int64_t groups) {
  TRINE_CHECK(weight.dim() == nd + 2, op, ": expected weight with ", nd + 2, " dimensions, got shape ", weight.sizes());
  if (input.dim() == nd + 2 && static_cast<int64_t>(stride.size()) == nd && static_cast<int64_t>(padding.size()) == nd && static_cast<int64_t>(dilation.size()) == nd)
    return _conv_forward(input, weight, bias, stride, padding, dilation, groups);
  Batched x(op, input, nd);
  const size_t n = static_cast<size_t>(nd);
  return x.restore(_conv_forward(x.input, weight, bias, spread(op, "stride", stride, n), spread(op, "padding", padding, n), spread(op, "dilation", dilation, n), groups));
}

Tensor conv_transpose_nd(const char* op, int64_t nd, const Tensor& input, const Tensor& weight, const Tensor& bias, DimsRef stride, DimsRef padding, DimsRef output_padding, int64_t groups,
                         DimsRef dilation) {
  TRINE_CHECK(weight.dim() == nd + 2, op, ": expected weight with ", nd + 2, " dimensions, got shape ", weight.sizes());
  Batched x(op, input, nd);
  const size_t n = static_cast<size_t>(nd);
  return x.restore(transposed(op, x.input, weight, bias, spread(op, "stride", stride, n), spread(op, "padding", padding, n), spread(op, "dilation", dilation, n),
                              spread(op, "output_padding", output_padding, n), groups));
}

}  // namespace trine::composite
