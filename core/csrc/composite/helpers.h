// Composite functions that several table entries call with different arguments.
#pragma once
#include "composite/helpers_fft.h"
#include "composite/helpers_linalg.h"
#include "composite/helpers_loss.h"
#include "composite/helpers_nn.h"
#include "composite/helpers_quantize.h"
#include "composite/helpers_rnn.h"
#include "composite/helpers_sampling.h"
#include "trine/ops.h"

namespace trine::composite {

Tensor arange_op(const Scalar& start, const Scalar& end, const Scalar& step, DType dtype, std::optional<Device> device);
Tensor tri_indices(int64_t rows, int64_t cols, int64_t offset, DType dtype, bool lower);
Tensor quantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation, bool ignore_nan);
Tensor quantile_number(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation, bool ignore_nan);
Tensor trapezoid_dx(const Tensor& y, const Scalar& dx, int64_t dim, bool running);
Tensor trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim, bool running);
// Splits along the dimension that tensors of at least `least` dimensions have for it: hsplit, vsplit, dsplit.
std::vector<Tensor> nth_split_sections(const char* op, const Tensor& self, int64_t sections, int64_t least);
std::vector<Tensor> nth_split_indices(const char* op, const Tensor& self, DimsRef indices, int64_t least);

}  // namespace trine::composite
