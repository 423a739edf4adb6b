// OpenBLAS and our threads.
#include "cpu/lapack.h"

extern "C" {
void scipy_openblas_set_num_threads(int n);
}

namespace trine::cpu {

void prepare_lapack() {
  // OpenBLAS would start threads of its own beside ours.
  static const bool once = (scipy_openblas_set_num_threads(1), true);
  static_cast<void>(once);
}

}  // namespace trine::cpu
