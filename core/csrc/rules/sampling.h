// Shapes of resampling at given places, fractional pooling, bags of embeddings and the CTC loss.
#pragma once
#include "dispatch/structured.h"

namespace trine::rules {

inline TensorSpec grid_sampler_spec(const Tensor& input, const Tensor& grid, int64_t mode) {
  const char* op = "grid_sampler()";
  TRINE_CHECK(input.dim() == grid.dim() && (input.dim() == 4 || input.dim() == 5), op, ": expected 4D or 5D input and grid with same number of dimensions, but got input with sizes ", input.sizes(),
              " and grid with sizes ", grid.sizes());
  TRINE_CHECK(input.dtype() == grid.dtype(), op, ": expected input and grid to have same dtype, but input has ", legacy_name(input.dtype()), " and grid has ", legacy_name(grid.dtype()));
  TRINE_CHECK(input.size(0) == grid.size(0), op, ": expected grid and input to have same batch size, but got input with sizes ", input.sizes(), " and grid with sizes ", grid.sizes());
  TRINE_CHECK(grid.size(-1) == input.dim() - 2, op, ": expected grid to have size ", input.dim() - 2, " in last dimension, but got grid with sizes ", grid.sizes());
  for (int64_t d = 2; d < input.dim(); ++d) TRINE_CHECK(input.size(d) > 0, op, ": expected input to have non-empty spatial dimensions, but input has sizes ", input.sizes(), " with dimension ", d, " being empty");
  TRINE_CHECK(input.dim() == 4 || mode != 2, op, ": bicubic interpolation only supports 4D input");
  TRINE_CHECK(mode >= 0 && mode <= 2, op, ": interpolation_mode must be 0, 1 or 2, got ", mode);
  Dims sizes{input.size(0), input.size(1)};
  for (int64_t d = 1; d + 1 < grid.dim(); ++d) sizes.push_back(grid.size(d));
  return TensorSpec(sizes, input.dtype());
}
inline std::array<TensorSpec, 2> grid_sampler_backward_spec(const Tensor& input, const Tensor& grid) {
  return {TensorSpec(input.sizes(), input.dtype()), TensorSpec(grid.sizes(), grid.dtype())};
}

inline std::array<TensorSpec, 2> fractional_max_pool_spec(const Tensor& self, DimsRef kernel, DimsRef output, const Tensor& samples) {
  const size_t nd = kernel.size();
  const char* op = nd == 2 ? "fractional_max_pool2d" : "fractional_max_pool3d";
  const int64_t dims = static_cast<int64_t>(nd);
  TRINE_CHECK(output.size() == nd, op, ": output_size must have ", nd, " values, got ", output);
  TRINE_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, op, ": Expected ", nd + 1, "D or ", nd + 2, "D tensor, but got: ", self.sizes());
  const int64_t batch = self.dim() == dims + 2 ? self.size(0) : 1;
  TRINE_CHECK(samples.dim() == 3 && samples.size(0) >= batch && samples.size(1) == self.size(-dims - 1) && samples.size(2) == dims, op, ": Expect _random_samples of shape [", batch, ", ", self.size(-dims - 1), ", ", dims,
              "], got ", samples.sizes());
  TRINE_CHECK(samples.dtype() == self.dtype(), op, ": Expect _random_samples to have the same dtype as input");
  Dims sizes(self.sizes());
  for (size_t d = 0; d < nd; ++d) {
    const int64_t in = self.size(static_cast<int64_t>(d) - dims);
    TRINE_CHECK(kernel[d] > 0 && output[d] > 0 && output[d] + kernel[d] - 1 <= in, op, ": pool size ", kernel, " too large relative to input ", self.sizes(), " for output ", output);
    sizes[sizes.size() - nd + d] = output[d];
  }
  return {TensorSpec(sizes, self.dtype()), TensorSpec(sizes, DType::Int64)};
}

inline std::array<TensorSpec, 4> embedding_bag_spec(const Tensor& weight, const Tensor& indices, const Tensor& offsets, int64_t mode, bool sparse, const Tensor& scales, bool include_last_offset) {
  const char* op = "embedding_bag";
  TRINE_CHECK_IMPLEMENTED(!sparse, op, ": sparse gradients are not supported, use sparse=False");
  for (const Tensor* t : {&indices, &offsets})
    TRINE_CHECK(t->dtype() == DType::Int64 || t->dtype() == DType::Int32, op, ": expected indices and offsets of type Long or Int, but got ", legacy_name(t->dtype()));
  TRINE_CHECK(weight.dim() == 2 && indices.dim() == 1 && offsets.dim() == 1, op, ": weight must be 2D, indices and offsets 1D, got shapes ", weight.sizes(), ", ", indices.sizes(), " and ", offsets.sizes());
  TRINE_CHECK(is_floating(weight.dtype()), op, ": weight must be of a floating type, got ", legacy_name(weight.dtype()));
  TRINE_CHECK(mode >= 0 && mode <= 2, op, ": mode must be 0 (sum), 1 (mean) or 2 (max), got ", mode);
  if (scales.defined()) {
    TRINE_CHECK(mode == 0, op, ": per_sample_weights only supported with mode='sum'");
    TRINE_CHECK(scales.dtype() == weight.dtype(), op, ": expected weight and per_sample_weights to have the same dtype, got ", legacy_name(weight.dtype()), " and ", legacy_name(scales.dtype()));
    TRINE_CHECK(scales.dim() == 1 && scales.numel() == indices.numel(), op, ": expected per_sample_weights of shape ", indices.sizes(), ", got ", scales.sizes());
  }
  TRINE_CHECK(!include_last_offset || offsets.numel() >= 1, op, ": include_last_offset: number of offsets should be at least 1");
  const int64_t bags = offsets.numel() - include_last_offset, width = weight.size(1);
  return {TensorSpec(Dims{bags, width}, weight.dtype()), TensorSpec(indices.sizes(), indices.dtype()), TensorSpec(Dims{bags}, indices.dtype()),
          TensorSpec(mode == 2 ? Dims{bags, width} : Dims{0}, indices.dtype())};
}

inline std::array<TensorSpec, 2> ctc_spec(const Tensor& log_probs, DimsRef target_lengths) {
  int64_t longest = 0;
  for (int64_t n : target_lengths) longest = std::max(longest, n);
  return {TensorSpec(Dims{log_probs.size(1)}, log_probs.dtype()), TensorSpec(Dims{log_probs.size(1), log_probs.size(0), 2 * longest + 1}, log_probs.dtype())};
}

}  // namespace trine::rules
