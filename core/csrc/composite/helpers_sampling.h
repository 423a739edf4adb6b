// Grid sampling and CTC, for table entries.
#pragma once
#include "trine/ops.h"

namespace trine::composite {

Tensor normal_numbers(double mean, double std, DimsRef size, Generator* generator, DType dtype, std::optional<Device> device);

Tensor grid_sampler_nd(const char* op, const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, bool align, int64_t dims);
Tensor ctc_loss_tensors(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank, int64_t reduction, bool zero_infinity);

}  // namespace trine::composite
