// Functions that the `grad:` formulas of the operator tables call, beside the operators themselves.
#pragma once
#include "autograd/formulas_index.h"
#include "autograd/formulas_linalg.h"
#include "autograd/formulas_loss.h"
#include "autograd/formulas_nn.h"
#include "autograd/formulas_reduce.h"
#include "autograd/formulas_rnn.h"
#include "autograd/formulas_special.h"
#include "autograd/node.h"
#include "dispatch/tensor_operators.h"
#include "trine/ops.h"

namespace trine::autograd {

// Numbers and tangents that may be absent.
Tensor maybe_multiply(const Tensor& t, const Scalar& s);
Scalar one_minus(const Scalar& w);
Tensor add_tangents(const Tensor& a, const Tensor& b);

// Pointwise.
Tensor pow_backward_self(const Tensor& grad, const Tensor& self, const Tensor& exponent);
Tensor pow_backward_exponent(const Tensor& grad, const Tensor& self, const Tensor& exponent, const Tensor& result);
Tensor abs_backward(const Tensor& grad, const Tensor& self);
Tensor masked_tie(const Tensor& grad, const Tensor& self, const Tensor& other, bool larger);
Tensor silu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self);
Tensor mish_backward(const Tensor& grad, const Tensor& self);
Tensor gelu_tanh_backward(const Tensor& grad, const Tensor& self);
Tensor softplus_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self, const Scalar& beta, const Scalar& threshold);

// Views.
Dims inverse_permutation(DimsRef dims);
Tensor select_backward(const Tensor& grad, DimsRef sizes, int64_t dim, int64_t index);
Tensor slice_backward(const Tensor& grad, DimsRef sizes, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step);
Tensor diagonal_backward(const Tensor& grad, DimsRef sizes, int64_t offset, int64_t dim1, int64_t dim2);
Tensor unfold_backward(const Tensor& grad, DimsRef sizes, int64_t dimension, int64_t size, int64_t step);
Tensor unbind_backward(std::span<const Tensor> grads, DimsRef sizes, int64_t dim);
Tensor split_backward(std::span<const Tensor> grads, DimsRef sizes, int64_t dim);
// `t` with the given strides, zeros in the gaps: what formulas that speak of memory look at.
Tensor laid_out(const Tensor& t, DimsRef sizes, DimsRef strides);
Tensor as_strided_backward(const Tensor& grad, DimsRef base_sizes, DimsRef base_strides, DimsRef sizes, DimsRef strides, int64_t offset);

}  // namespace trine::autograd
