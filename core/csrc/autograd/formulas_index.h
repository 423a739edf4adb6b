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
std::tuple<Tensor, Tensor> index_reduce_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce, bool include_self,
                                                 const Tensor& result);
std::vector<Tensor> cat_backward(const Tensor& grad, std::span<const Dims> sizes, int64_t dim);
Dims negated(DimsRef pad);
Tensor embedding_double_backward(const Tensor& grad, const Tensor& indices, int64_t padding_idx, DimsRef sizes);
Tensor embedding_bag_backward(const Tensor& grad, const Tensor& indices, const Tensor& offset2bag, const Tensor& bag_size, const Tensor& max_indices, const Tensor& per_sample_weights, int64_t num_weights,
                              bool scale_grad_by_freq, int64_t mode, int64_t padding_idx);
Tensor embedding_bag_weights_backward(const Tensor& grad, const Tensor& weight, const Tensor& indices, const Tensor& offset2bag, int64_t padding_idx);

}  // namespace trine::autograd
