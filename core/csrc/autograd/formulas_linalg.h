// Derivatives of solvers and decompositions. Gradients that are undefined are those of results that nobody used.
#pragma once
#include <tuple>

#include "trine/ops.h"

namespace trine::autograd {

using Gradients2 = std::tuple<Tensor, Tensor>;

Tensor cholesky_backward(const Tensor& grad, const Tensor& L, bool upper);
Tensor lu_factor_backward(const Tensor& grad, const Tensor& LU, const Tensor& pivots);
Tensor inv_backward(const Tensor& grad, const Tensor& inverse);
Gradients2 linalg_solve_backward(const Tensor& grad, const Tensor& A, const Tensor& X, const Tensor& LU, const Tensor& pivots, bool left);
Gradients2 triangular_backward(const Tensor& grad, const Tensor& A, const Tensor& X, bool upper, bool left, bool unitriangular);
Tensor det_backward(const Tensor& grad, const Tensor& result, const Tensor& A, const Tensor& LU, const Tensor& pivots);
Tensor slogdet_backward(const Tensor& grad_sign, const Tensor& grad_log, const Tensor& sign, const Tensor& A, const Tensor& LU, const Tensor& pivots);

Tensor qr_backward(const Tensor& gQ, const Tensor& gR, const Tensor& Q, const Tensor& R, std::string_view mode);
Gradients2 householder_product_backward(const Tensor& grad, const Tensor& A, const Tensor& tau);
std::tuple<Tensor, Tensor, Tensor> ormqr_backward(const Tensor& grad, const Tensor& A, const Tensor& tau, const Tensor& other, bool left, bool transpose);
Tensor pinv_backward(const Tensor& grad, const Tensor& inverse, const Tensor& A);
Gradients2 lstsq_backward(const Tensor& grad, const Tensor& grad_residuals, const Tensor& A, const Tensor& B, const Tensor& X);

Tensor eigh_backward(const Tensor& gL, const Tensor& gV, const Tensor& L, const Tensor& V);
Tensor eig_backward(const Tensor& gL, const Tensor& gV, const Tensor& L, const Tensor& V, DType dtype);
Tensor svd_backward(const Tensor& gU, const Tensor& gS, const Tensor& gVh, const Tensor& U, const Tensor& S, const Tensor& Vh);
Tensor matrix_exp_backward(const Tensor& grad, const Tensor& A);

}  // namespace trine::autograd
