// Calling forms of grid sampling, affine grids, bags of embeddings and the CTC loss.
#include "composite/helpers.h"
#include "dispatch/tensor_operators.h"
#include "trine/kernels.h"

namespace trine::composite {

Tensor grid_sampler_nd(const char* op, const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, bool align, int64_t dims) {
  TRINE_CHECK(input.dim() == dims + 2, op, "(): expected a ", dims + 2, "D input, got shape ", input.sizes());
  return trine::grid_sampler(input, grid, mode, padding, align);
}

Tensor affine_grid_generator(const Tensor& theta, DimsRef size, bool align_corners) {
  const int64_t dims = static_cast<int64_t>(size.size()) - 2;
  TRINE_CHECK(dims == 2 || dims == 3, "affine_grid_generator: expected a size of 4 or 5 values, got ", size);
  TRINE_CHECK(theta.dim() == 3 && theta.size(0) == size[0] && theta.size(1) == dims && theta.size(2) == dims + 1, "affine_grid_generator: Expected a batch of ", dims, "D affine matrices of shape Nx", dims, "x", dims + 1,
              " for size ", size, ". Got ", theta.sizes(), ".");
  Dims shape(size.subspan(2));
  std::vector<Tensor> parts;
  for (int64_t d = dims; d-- > 0;) {  // x first, then y, then z, then ones
    const int64_t n = shape[static_cast<size_t>(d)];
    Tensor line = trine::linspace(Scalar(-1), Scalar(n > 1 ? 1 : -1), n, theta.dtype(), theta.device());
    if (n == 1) line = trine::zeros_like(line);
    if (!align_corners) line = line * Scalar(static_cast<double>(n - 1) / static_cast<double>(std::max<int64_t>(n, 1)));
    Dims view(static_cast<size_t>(dims), 1);
    view[static_cast<size_t>(d)] = n;
    parts.push_back(trine::expand(trine::reshape(line, view), shape));
  }
  parts.push_back(trine::ones(shape, theta.dtype(), theta.device()));
  const Tensor base = trine::reshape(trine::stack(parts, -1), Dims{1, -1, dims + 1});
  const Tensor grid = trine::matmul(trine::expand(base, Dims{size[0], base.size(1), dims + 1}), trine::transpose(theta, 1, 2));
  Dims result{size[0]};
  for (int64_t n : shape) result.push_back(n);
  result.push_back(dims);
  return trine::reshape(grid, result);
}

Tensor conv_tbc(const Tensor& self, const Tensor& weight, const Tensor& bias, int64_t pad) {
  TRINE_CHECK(self.dim() == 3, "conv_tbc: Input must have 3 dims: time, batch, in_channel, got shape ", self.sizes());
  TRINE_CHECK(weight.dim() == 3, "conv_tbc: Weight tensor must have 3 dims: kernel_width, in_channels, out_channels, got shape ", weight.sizes());
  TRINE_CHECK(bias.dim() == 1, "conv_tbc: Bias must be 1-D, got shape ", bias.sizes());
  TRINE_CHECK(self.size(2) == weight.size(1), "conv_tbc: Input dim 2 (input channels) is not == dim 1 in the weight tensor: ", self.sizes(), " and ", weight.sizes());
  TRINE_CHECK(weight.size(2) == bias.size(0), "conv_tbc: Bias size must equal dim 2 in the weight tensor (output channels): ", bias.sizes(), " and ", weight.sizes());
  const Tensor y = trine::conv1d(trine::permute(self, Dims{1, 2, 0}), trine::permute(weight, Dims{2, 1, 0}), bias, Dims{1}, Dims{pad});
  return trine::contiguous(trine::permute(y, Dims{2, 0, 1}), MemoryFormat::Contiguous);
}

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, DimsRef input_lengths, DimsRef target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) {
  const bool batched = log_probs.dim() == 3;
  TRINE_CHECK(batched || log_probs.dim() == 2, "ctc_loss: log_probs must be (time, batch, classes) or (time, classes), got shape ", log_probs.sizes());
  const Tensor p = batched ? log_probs : trine::unsqueeze(log_probs, 1);
  TRINE_CHECK(p.dtype() == DType::Float || p.dtype() == DType::Double, "ctc_loss: not implemented for '", legacy_name(p.dtype()), "'");
  const int64_t time = p.size(0), batch = p.size(1);
  TRINE_CHECK(blank >= 0 && blank < p.size(2), "ctc_loss: blank must be in label range, got ", blank, " for ", p.size(2), " classes");
  TRINE_CHECK(static_cast<int64_t>(input_lengths.size()) == batch, "ctc_loss: input_lengths must be of size batch_size, got ", input_lengths.size(), " for a batch of ", batch);
  TRINE_CHECK(static_cast<int64_t>(target_lengths.size()) == batch, "ctc_loss: target_lengths must be of size batch_size, got ", target_lengths.size(), " for a batch of ", batch);
  TRINE_CHECK(targets.dim() == 1 || (targets.dim() == 2 && targets.size(0) == batch), "ctc_loss: targets must be 1-D or (batch, longest), got shape ", targets.sizes(), " for a batch of ", batch);
  int64_t total = 0;
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t steps = input_lengths[static_cast<size_t>(b)], labels = target_lengths[static_cast<size_t>(b)];
    TRINE_CHECK(steps >= 0, "ctc_loss: Expected input_lengths to have value at least 0, but got value ", steps);
    TRINE_CHECK(steps <= time, "ctc_loss: Expected input_lengths to have value at most ", time, ", but got value ", steps);
    TRINE_CHECK(labels >= 0, "ctc_loss: Expected target_lengths to have value at least 0, but got value ", labels);
    TRINE_CHECK(targets.dim() == 1 || labels <= targets.size(1), "ctc_loss: Expected tensor to have size at least ", labels, " at dimension 1, but got size ", targets.size(1), " for argument 'targets'");
    total += labels;
  }
  TRINE_CHECK(targets.dim() == 2 || total == targets.size(0), "ctc_loss: Expected tensor to have size ", total, " at dimension 0, but got size ", targets.size(0), " for argument 'targets'");
  Tensor loss = std::get<0>(trine::_ctc_loss(p, targets, input_lengths, target_lengths, blank, zero_infinity));
  if (reduction == 1) {
    Dims lengths;
    for (int64_t n : target_lengths) lengths.push_back(std::max<int64_t>(n, 1));
    Tensor divisor = trine::empty(Dims{batch}, loss.dtype());
    TRINE_DISPATCH_FLOAT(loss.dtype(), "ctc_loss", { std::copy(lengths.begin(), lengths.end(), divisor.data<scalar_t>()); });
    return trine::mean(loss / divisor);
  }
  if (reduction == 2) return trine::sum(loss);
  return batched ? loss : trine::squeeze(loss, Dims{0});
}

namespace {
Dims lengths_of(const char* name, const Tensor& t) {
  TRINE_CHECK(is_integral(t.dtype(), false), "ctc_loss: ", name, " must be integral, got ", legacy_name(t.dtype()));
  const Tensor flat = trine::contiguous(trine::reshape(t.dtype() == DType::Int64 ? t : to(t, DType::Int64), Dims{-1}), MemoryFormat::Contiguous);
  return Dims(DimsRef(flat.data<int64_t>(), static_cast<size_t>(flat.numel())));
}
}  // namespace

Tensor ctc_loss_tensors(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) {
  const Dims steps = lengths_of("input_lengths", input_lengths), labels = lengths_of("target_lengths", target_lengths);
  return trine::ctc_loss(log_probs, targets, DimsRef(steps), DimsRef(labels), blank, reduction, zero_infinity);
}

}  // namespace trine::composite
