// Gradients of indexing, sorting and joining.
#pragma once
#include <span>
#include <vector>

#include "trine/ops.h"

namespace trine::autograd {

Tensor index_backward(const Tensor& grad, DimsRef sizes, TensorList indices);
Tensor gather_backward(const Tensor& grad, DimsRef sizes, int64_t dim, const Tensor& index);
Tensor index_select_backward(const Tensor& grad, DimsRef sizes, int64_t dim, const Tensor& index);
Tensor index_grad_of_source(const Tensor& grad, int64_t dim, const Tensor& index, DimsRef source_sizes);
Tensor take_backward(const Tensor& grad, DimsRef sizes, const Tensor& index);
Tensor masked_select_backward(const Tensor& grad, DimsRef sizes, const Tensor& mask);
Tensor masked_scatter_backward(const Tensor& grad, const Tensor& mask, DimsRef source_sizes);
std::tuple<Tensor, Tensor> scatter_reduce_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce, bool include_self,
                                                   const Tensor& result);
std::vector<Tensor> cat_backward(const Tensor& grad, std::span<const Dims> sizes, int64_t dim);
Dims negated(DimsRef pad);
Tensor embedding_double_backward(const Tensor& grad, const Tensor& indices, int64_t padding_idx, DimsRef sizes);

}  // namespace trine::autograd
