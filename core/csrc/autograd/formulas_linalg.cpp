// Notation: ^H is the conjugate transpose, gX the gradient with respect to X.
#include "autograd/formulas_linalg.h"

#include "autograd/formulas_nn.h"
#include "autograd/record.h"
#include "batching/batched.h"
#include "dispatch/tensor_operators.h"

namespace trine::autograd {
namespace {

Tensor tri_solve(const Tensor& A, const Tensor& B, bool upper, bool left = true, bool unit = false) { return linalg_solve_triangular(A, B, upper, left, unit); }
Tensor column(const Tensor& v) { return unsqueeze(v, -1); }
Tensor row(const Tensor& v) { return unsqueeze(v, -2); }
Tensor diagonal_of(const Tensor& A) { return diagonal(A, 0, -2, -1); }
Tensor on_diagonal(const Tensor& v) { return diag_embed(v, 0, -2, -1); }
Tensor as_complex(const Tensor& re, const Tensor& im) {
  const Tensor parts[] = {re, im};
  return view_as_complex(stack(parts, -1));
}
Tensor as_complex_like(const Tensor& t, const Tensor& like) { return like.is_complex() && !t.is_complex() ? to(t, like.dtype()) : t; }
bool is_differentiated(const Tensor& a, const Tensor& b) { return records(a) || records(b); }

// x_j - x_i at (i, j), with ones on the diagonal.
Tensor differences(const Tensor& x) {
  Tensor d = row(x) - column(x);
  return d + on_diagonal(ones_like(x));
}

}  // namespace

Tensor cholesky_backward(const Tensor& grad, const Tensor& factor, bool upper) {
  const Tensor L = upper ? adjoint(factor) : factor, g = upper ? adjoint(grad) : grad;
  Tensor phi = tril(matmul(adjoint(L), g), 0);
  phi = phi - on_diagonal(diagonal_of(phi)) * Scalar(0.5);
  Tensor gA = tri_solve(L, tri_solve(adjoint(L), phi, true), false, false);
  return (gA + adjoint(gA)) * Scalar(0.5);
}

Tensor lu_factor_backward(const Tensor& grad, const Tensor& LU, const Tensor& pivots) {
  const int64_t m = LU.size(-2), n = LU.size(-1), k = std::min(m, n);
  auto top = [&](const Tensor& t) { return narrow(t, -2, 0, k); };
  auto first = [&](const Tensor& t) { return narrow(t, -1, 0, k); };
  const Tensor square = first(top(LU));
  Tensor L = tril(square, -1) + eye(k, k, LU.dtype(), LU.device()), U = triu(square, 0);
  Tensor gL = tril(first(top(grad)), -1), gU = triu(first(top(grad)), 0), beside, below;
  if (n > k) {  // U = [U1 | U2] with U2 = L^-1 P^T A2
    const Tensor U2 = narrow(LU, -1, k, n - k), gU2 = narrow(grad, -1, k, n - k);
    beside = tri_solve(adjoint(L), gU2, true, true, true);
    gL = gL - matmul(beside, adjoint(U2));
  }
  if (m > k) {  // L = [L1; L2] with L2 = A2 U^-1
    const Tensor L2 = narrow(LU, -2, k, m - k), gL2 = narrow(grad, -2, k, m - k);
    below = tri_solve(adjoint(U), gL2, false, false);
    gU = gU - matmul(adjoint(L2), below);
  }
  Tensor inner = tril(matmul(adjoint(L), gL), -1) + triu(matmul(gU, adjoint(U)), 0);
  Tensor gA = tri_solve(adjoint(L), tri_solve(adjoint(U), inner, false, false), true, true, true);
  if (beside.defined()) {
    const Tensor parts[] = {gA, beside};
    gA = cat(parts, -1);
  }
  if (below.defined()) {
    const Tensor parts[] = {gA, below};
    gA = cat(parts, -2);
  }
  const Tensor back = argsort(_pivots_to_permutation(pivots, m), -1, false);
  return gather(gA, -2, expand(column(back), gA.sizes()));
}

Tensor inv_backward(const Tensor& grad, const Tensor& inverse) {
  const Tensor h = adjoint(inverse);
  return -matmul(h, matmul(grad, h));
}

Gradients2 linalg_solve_backward(const Tensor& grad, const Tensor& A, const Tensor& X, const Tensor& LU, const Tensor& pivots, bool left) {
  Tensor gB = is_differentiated(grad, A) ? linalg_solve(adjoint(A), grad, left) : linalg_lu_solve(LU, pivots, grad, left, true);
  return {left ? -matmul(gB, adjoint(X)) : -matmul(adjoint(X), gB), gB};
}

Gradients2 triangular_backward(const Tensor& grad, const Tensor& A, const Tensor& X, bool upper, bool left, bool unitriangular) {
  Tensor gB = tri_solve(adjoint(A), grad, !upper, left, unitriangular);
  Tensor gA = left ? -matmul(gB, adjoint(X)) : -matmul(adjoint(X), gB);
  const int64_t off = unitriangular ? 1 : 0;
  return {upper ? triu(gA, off) : tril(gA, -off), gB};
}

Tensor det_backward(const Tensor& grad, const Tensor& result, const Tensor& A, const Tensor& LU, const Tensor& pivots) {
  if (A.numel() == 0) return zeros_like(A);
  const Tensor g = column(column(grad * conj_of(result)));
  Tensor I = expand(eye(A.size(-1), A.size(-1), A.dtype(), A.device()), A.sizes());
  const bool singular = !A.is_meta() && item(any(batching::value(result) == Scalar(0))).to<bool>();
  if (!singular) return is_differentiated(grad, A) ? linalg_solve(adjoint(A), I * g, true) : linalg_lu_solve(LU, pivots, I * g, true, true);
  // det(A) A^-H is the cofactor matrix, which exists for every A: U diag(products of the other singular values) Vh, times det(U Vh).
  auto [U, S, Vh] = _linalg_svd(A, false, true);
  const int64_t n = S.size(-1);
  Tensor others = expand(row(S), Dims(A.sizes()));
  others = masked_fill(others, eye(n, n, DType::Bool, A.device()), Scalar(1));
  const Tensor cofactors = matmul(U * row(as_complex_like(prod(others, -1), U)), Vh);
  return cofactors * column(column(grad * conj_of(linalg_det(U) * linalg_det(Vh))));
}

Tensor slogdet_backward(const Tensor& grad_sign, const Tensor& grad_log, const Tensor& sign, const Tensor& A, const Tensor& LU, const Tensor& pivots) {
  Tensor g = grad_log.defined() ? grad_log : Tensor();
  if (A.is_complex()) {
    Tensor turn = grad_sign.defined() ? imag(grad_sign * conj(sign)) : zeros_like(real(sign));
    g = as_complex(g.defined() ? g : zeros_like(turn), turn);
  } else if (!g.defined()) {
    return zeros_like(A);  // the sign of a real matrix is constant
  }
  const Tensor I = expand(eye(A.size(-1), A.size(-1), A.dtype(), A.device()), A.sizes()), scaled = I * column(column(g));
  return is_differentiated(g, A) || is_differentiated(sign, sign) ? linalg_solve(adjoint(A), scaled, true) : linalg_lu_solve(LU, pivots, scaled, true, true);
}

Tensor qr_backward(const Tensor& gQ, const Tensor& gR, const Tensor& Q, const Tensor& R, std::string_view mode) {
  TRINE_CHECK(mode != "r", "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, mode='reduced') if you are going to require gradients of the output");
  const int64_t m = Q.size(-2), n = R.size(-1), k = R.size(-2);
  TRINE_CHECK(mode != "complete" || m <= n, "The QR decomposition is not differentiable when mode='complete' and nrows > ncols");
  Tensor gq = gQ.defined() ? gQ : zeros_like(Q), gr = gR.defined() ? gR : zeros_like(R), U = R, beside;
  if (n > k) {  // A = [X | Y], R = [U | V] with X = Q U and V = Q^H Y
    U = narrow(R, -1, 0, k);
    const Tensor V = narrow(R, -1, k, n - k), gV = narrow(gr, -1, k, n - k);
    beside = matmul(Q, gV);
    gq = gq + matmul(matmul(Q, V), adjoint(gV));
    gr = narrow(gr, -1, 0, k);
  }
  Tensor M = triu(matmul(gr, adjoint(U)) - matmul(adjoint(Q), gq), 0);
  Tensor whole = M + adjoint(triu(M, 1));
  if (whole.is_complex()) whole = whole - on_diagonal(as_complex(zeros_like(real(diagonal_of(M))), imag(diagonal_of(M))));
  Tensor gA = tri_solve(adjoint(U), gq + matmul(Q, whole), false, false);
  if (!beside.defined()) return gA;
  const Tensor parts[] = {gA, beside};
  return cat(parts, -1);
}

namespace {

// Gradients of H_1 ... H_k X, H_i = I - tau_i v_i v_i^H; `reversed`: of H_k^H ... H_1^H X.
std::tuple<Tensor, Tensor, Tensor> reflections_backward(const Tensor& grad, const Tensor& A, const Tensor& tau, const Tensor& X, bool reversed) {
  const int64_t k = tau.size(-1), n = A.size(-1), m = A.size(-2);
  if (k == 0 || A.numel() == 0) return {zeros_like(A), zeros_like(tau), grad};
  const Tensor V = tril(A, -1) + eye(m, n, A.dtype(), A.device());
  const Tensor factors = reversed ? conj_of(tau) : tau;
  auto vector = [&](int64_t i) { return narrow(V, -1, i, 1); };
  auto factor = [&](int64_t i) { return column(narrow(factors, -1, i, 1)); };
  auto at = [&](int64_t step) { return reversed ? k - 1 - step : step; };  // the reflection at a place of the product
  std::vector<Tensor> before(static_cast<size_t>(k));                      // what each reflection is applied to
  Tensor P = X;
  for (int64_t step = k; step-- > 0;) {
    before[static_cast<size_t>(step)] = P;
    const Tensor v = vector(at(step));
    P = P - factor(at(step)) * matmul(v, matmul(adjoint(v), P));
  }
  std::vector<Tensor> gV(static_cast<size_t>(k)), gtau(static_cast<size_t>(k));
  Tensor G = grad;
  for (int64_t step = 0; step < k; ++step) {
    const int64_t i = at(step);
    const Tensor v = vector(i), t = factor(i), vG = matmul(adjoint(v), G), &p = before[static_cast<size_t>(step)], vP = matmul(adjoint(v), p);
    Tensor g = -matmul(vG, adjoint(vP));
    gtau[static_cast<size_t>(i)] = squeeze(reversed ? conj_of(g) : g, Dims{-1});
    gV[static_cast<size_t>(i)] = -(conj_of(t) * matmul(G, adjoint(vP)) + t * matmul(p, adjoint(vG)));
    G = G - conj_of(t) * matmul(v, vG);
  }
  if (n > k) gV.push_back(zeros_like(narrow(A, -1, k, n - k)));
  return {tril(cat(gV, -1), -1), cat(gtau, -1), G};
}

}  // namespace

Gradients2 householder_product_backward(const Tensor& grad, const Tensor& A, const Tensor& tau) {
  const Tensor I = expand(eye(A.size(-2), A.size(-1), A.dtype(), A.device()), A.sizes());
  auto [gA, gtau, unused] = reflections_backward(grad, A, tau, I, false);
  return {gA, gtau};
}

std::tuple<Tensor, Tensor, Tensor> ormqr_backward(const Tensor& grad, const Tensor& A, const Tensor& tau, const Tensor& other, bool left, bool transpose) {
  if (left) return reflections_backward(grad, A, tau, other, transpose);
  auto [gA, gtau, gX] = reflections_backward(adjoint(grad), A, tau, adjoint(other), !transpose);
  return {gA, gtau, adjoint(gX)};
}

// d(A^+) = -A^+ dA A^+ + A^+ A^+H dA^H (I - A A^+) + (I - A^+ A) dA^H A^+H A^+
Tensor pinv_backward(const Tensor& grad, const Tensor& P, const Tensor& A) {
  const Tensor Ph = adjoint(P), gh = adjoint(grad);
  Tensor right = matmul(matmul(gh, P), Ph), left = matmul(Ph, matmul(P, gh));
  return right - matmul(A, matmul(P, right)) + left - matmul(matmul(left, P), A) - matmul(Ph, matmul(grad, Ph));
}

Gradients2 lstsq_backward(const Tensor& grad, const Tensor& grad_residuals, const Tensor& A, const Tensor& B, const Tensor& X) {
  Tensor gA = zeros_like(A), gB = zeros_like(B);
  if (grad.defined()) {
    const Tensor P = linalg_pinv(A, std::optional<double>(), std::optional<double>(), false);
    gB = matmul(adjoint(P), grad);
    gA = pinv_backward(matmul(grad, adjoint(B)), P, A);
  }
  if (grad_residuals.defined() && grad_residuals.numel() > 0) {
    Tensor rest = (matmul(A, X) - B) * row(grad_residuals * Scalar(2));
    gB = gB - rest;
    gA = gA + matmul(rest, adjoint(X));
  }
  return {gA, gB};
}

Tensor eigh_backward(const Tensor& gL, const Tensor& gV, const Tensor& L, const Tensor& V) {
  if (!gV.defined()) return gL.defined() ? matmul(V * row(gL), adjoint(V)) : zeros_like(V);
  Tensor inner = matmul(adjoint(V), gV);
  inner = (inner - on_diagonal(diagonal_of(inner))) / differences(L);
  if (gL.defined()) inner = inner + on_diagonal(as_complex_like(gL, inner));
  return matmul(V, matmul(inner, adjoint(V)));
}

Tensor eig_backward(const Tensor& gL, const Tensor& gV, const Tensor& L, const Tensor& V, DType dtype) {
  const Tensor Vh = adjoint(V);
  Tensor gA;
  if (!gV.defined()) {
    gA = gL.defined() ? linalg_solve(Vh, column(gL) * Vh, true) : zeros_like(V);
  } else {
    // Eigenvectors have unit norm: the part of gV along each of them is taken away.
    Tensor inner = matmul(Vh, gV);
    inner = inner - matmul(Vh, V * row(as_complex_like(real(diagonal_of(inner)), V)));
    inner = inner / conj(differences(L));
    inner = inner - on_diagonal(diagonal_of(inner));
    if (gL.defined()) inner = inner + on_diagonal(gL);
    gA = linalg_solve(Vh, matmul(inner, Vh), true);
  }
  return is_complex(dtype) ? gA : real(gA);
}

Tensor svd_backward(const Tensor& gU, const Tensor& gS, const Tensor& gVh, const Tensor& U0, const Tensor& S, const Tensor& Vh0) {
  const int64_t k = S.size(-1);
  // Columns beyond the k first are not determined.
  const Tensor U = narrow(U0, -1, 0, k), Vh = narrow(Vh0, -2, 0, k);
  const int64_t m = U.size(-2), n = Vh.size(-1);
  if (!gU.defined() && !gVh.defined()) return gS.defined() ? matmul(U * row(gS), Vh) : matmul(U * row(zeros_like(S)), Vh);
  auto skew = [](const Tensor& X) { return X - adjoint(X); };
  const Tensor square = S * S, E = differences(square);
  Tensor inner = on_diagonal(as_complex_like(gS.defined() ? gS : zeros_like(S), U));
  Tensor gu = gU.defined() ? narrow(gU, -1, 0, k) : Tensor(), gvh = gVh.defined() ? narrow(gVh, -2, 0, k) : Tensor(), around;
  if (gu.defined()) {
    const Tensor turn = skew(matmul(adjoint(U), gu));
    inner = inner + turn / E * row(S);
    // A turn of the phases of U and V together changes nothing; what U alone says about them is counted once.
    if (U.is_complex()) inner = inner - on_diagonal(diagonal_of(turn) * S) + on_diagonal(diagonal_of(turn) / (S * Scalar(2)));
    if (m > k) {
      const Tensor scaled = gu / row(S);
      around = matmul(scaled - matmul(U, matmul(adjoint(U), scaled)), Vh);
    }
  }
  if (gvh.defined()) {
    const Tensor turn = skew(matmul(Vh, adjoint(gvh)));
    Tensor part = column(S) * (turn / E);
    if (U.is_complex()) part = part - on_diagonal(diagonal_of(part));
    inner = inner + part;
  }
  Tensor gA = matmul(U, matmul(inner, Vh));
  if (around.defined()) gA = gA + around;
  if (gvh.defined() && n > k) {
    const Tensor scaled = gvh / column(S);
    gA = gA + matmul(U, scaled - matmul(matmul(scaled, adjoint(Vh)), Vh));
  }
  return gA;
}

// exp of [[A^H, G], [0, A^H]] has the gradient in its upper right block.
Tensor matrix_exp_backward(const Tensor& grad, const Tensor& A) {
  const int64_t n = A.size(-1);
  const Tensor Ah = adjoint(A), upper[] = {Ah, grad}, lower[] = {zeros_like(Ah), Ah};
  const Tensor halves[] = {cat(upper, -1), cat(lower, -1)};
  return narrow(narrow(linalg_matrix_exp(cat(halves, -2)), -2, 0, n), -1, n, n);
}

}  // namespace trine::autograd
