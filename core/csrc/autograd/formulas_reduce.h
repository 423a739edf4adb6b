// Gradients of reductions and scans.
#pragma once
#include "trine/ops.h"

namespace trine::autograd {

// A reduced tensor with the reduced dimensions back (size 1), and expanded to the shape before the reduction.
Tensor restore_reduced(const Tensor& t, std::optional<DimsRef> dim, bool keepdim, DimsRef sizes);
Tensor expand_reduced(const Tensor& grad, std::optional<DimsRef> dim, bool keepdim, DimsRef sizes);

Tensor mean_backward(const Tensor& grad, std::optional<DimsRef> dim, bool keepdim, DimsRef sizes);
Tensor prod_backward(const Tensor& grad, const Tensor& self, const Tensor& result, std::optional<int64_t> dim, bool keepdim);
Tensor amax_backward(const Tensor& grad, const Tensor& self, const Tensor& result, DimsRef dim, bool keepdim);
// Of operators that pick one element along a dimension: max, sort, topk, ...
Tensor select_values_backward(const Tensor& grad, int64_t dim, const Tensor& indices, DimsRef sizes, bool keepdim);
Tensor logsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result, DimsRef dim, bool keepdim);
Tensor var_backward(const Tensor& grad, const Tensor& self, std::optional<DimsRef> dim, const std::optional<Scalar>& correction, bool keepdim);
Tensor std_backward(const Tensor& grad, const Tensor& self, const Tensor& result, std::optional<DimsRef> dim, const std::optional<Scalar>& correction, bool keepdim);
Tensor var_mean_backward(const Tensor& grad_var, const Tensor& grad_mean, const Tensor& self, std::optional<DimsRef> dim, const std::optional<Scalar>& correction, bool keepdim);
Tensor std_mean_backward(const Tensor& grad_std, const Tensor& grad_mean, const Tensor& self, const Tensor& result, std::optional<DimsRef> dim,
                         const std::optional<Scalar>& correction, bool keepdim);
Tensor norm_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& result, std::optional<DimsRef> dim, bool keepdim);

// Sum from the end towards the front, the transpose of cumsum.
Tensor reversed_cumsum(const Tensor& t, int64_t dim);
Tensor cumprod_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim);
Tensor cummax_backward(const Tensor& grad, DimsRef sizes, const Tensor& indices, int64_t dim);
Tensor logcumsumexp_tangent(const Tensor& self, const Tensor& tangent, int64_t dim);
Tensor logcumsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim);

}  // namespace trine::autograd
