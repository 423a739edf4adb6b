#include "trine/kernels.h"

namespace trine::composite {

std::vector<Tensor> foreach_norm(TensorList self, const Scalar& ord) {
  std::vector<Tensor> out;
  out.reserve(self.size());
  for (const Tensor& t : self) out.push_back(trine::linalg_vector_norm(t, ord));
  return out;
}

}  // namespace trine::composite
