// Composite functions of the matrix, neural network and transform tables that several entries call with different arguments.
#pragma once
#include <initializer_list>

#include "trine/ops.h"

namespace trine::composite {

Tensor add_product(const Tensor& self, const Tensor& product, const Scalar& beta, const Scalar& alpha);

Tensor conv_nd(const char* op, int64_t nd, const Tensor& input, const Tensor& weight, const Tensor& bias, DimsRef stride, DimsRef padding, DimsRef dilation, int64_t groups);
Tensor conv_transpose_nd(const char* op, int64_t nd, const Tensor& input, const Tensor& weight, const Tensor& bias, DimsRef stride, DimsRef padding, DimsRef output_padding, int64_t groups,
                         DimsRef dilation);

Tensor max_pool_nd(const Tensor& self, DimsRef kernel_size, DimsRef stride, DimsRef padding, DimsRef dilation, bool ceil_mode, int64_t nd);
std::tuple<Tensor, Tensor> max_pool_indices_nd(const Tensor& self, DimsRef kernel_size, DimsRef stride, DimsRef padding, DimsRef dilation, bool ceil_mode, int64_t nd);
Tensor avg_pool_nd(const Tensor& self, DimsRef kernel_size, DimsRef stride, DimsRef padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override, int64_t nd);

Tensor resample_op(const Tensor& self, DimsRef output_size, std::string_view mode, bool align_corners, std::initializer_list<std::optional<double>> scales, bool antialias);

}  // namespace trine::composite
