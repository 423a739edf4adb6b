// Linear solvers over their structured operators.
#include "composite/helpers_nn.h"
#include "dispatch/tensor_operators.h"
#include "trine/kernels.h"

namespace trine::composite {

Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left) {
  TRINE_CHECK(A.dim() >= 2 && A.size(-1) == A.size(-2), "linalg.solve: A must be batches of square matrices, but they are of shape ", A.sizes());
  TRINE_CHECK(is_floating(A.dtype()) || A.is_complex(), "linalg.solve: Expected a floating point or complex tensor as input. Got ", legacy_name(A.dtype()));
  // B is a batch of vectors when it has the shape of A without its last dimension.
  const bool vector = B.dim() == 1 || (A.dim() - 1 == B.dim() && equal(B.sizes(), A.sizes().first(A.sizes().size() - 1)));
  TRINE_CHECK(left || !vector, "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)");
  Tensor b = vector ? trine::unsqueeze(B, -1) : B, a = A;
  if (!left) a = trine::transpose(A, -2, -1), b = trine::transpose(B, -2, -1);
  TRINE_CHECK(b.dim() >= 2 && b.size(-2) == a.size(-1), "linalg.solve: Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B", " (", A.sizes(), " and ", B.sizes(), ")");
  Dims batch = broadcast_shapes(a.sizes().first(a.sizes().size() - 2), b.sizes().first(b.sizes().size() - 2), "linalg.solve"), sa = batch, sb = batch;
  for (int64_t d : {int64_t{-2}, int64_t{-1}}) sa.push_back(a.size(d)), sb.push_back(b.size(d));
  Tensor x = _linalg_solve(trine::expand(a, sa), trine::expand(b, sb));
  if (!left) return trine::transpose(x, -2, -1);
  return vector ? trine::squeeze(x, Dims{-1}) : x;
}

}  // namespace trine::composite
