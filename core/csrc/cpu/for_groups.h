// How drivers hand batches of small matrices to the kernels of cpu/matrix_groups.h.
#pragma once
#include "cpu/lapack.h"
#include "cpu/matrix_groups.h"

namespace trine::cpu {

template <class T> const MatrixGroups<T>& matrix_groups();

inline bool in_groups(const Tensor& A) {
  auto small = [](int64_t size) { return size >= 1 && size <= kGroupedSize; };
  return (A.dtype() == DType::Float || A.dtype() == DType::Double) && small(A.size(-2)) && small(A.size(-1)) && A.numel() >= kGroupedBatch * A.size(-2) * A.size(-1);
}

// Matrices that follow one another by rows or by columns: A itself where it can be.
class GroupMatrices {
 public:
  explicit GroupMatrices(const Tensor& A) : dense_(equal(rules::column_major(A.sizes()), A.strides()) ? A : plain(A)), by_rows_(dense_.is_contiguous()) {}
  template <class T> GroupInput<T> input() const { return {dense_.data<T>(), by_rows_}; }

 private:
  Tensor dense_;
  bool by_rows_;
};

// Calls kernel(job, first, count, work) for all groups of a batch; `operations` is the number per matrix, `room` that of registers per group.
template <class T, class Job> void for_groups(void (*kernel)(const Job&, int64_t, int64_t, T*), const Job& job, int64_t batch, double operations, int64_t room) {
  const int64_t lanes = matrix_groups<T>().lanes;
  for_matrices((batch + lanes - 1) / lanes, operations * static_cast<double>(lanes), [&](int64_t i) {
    Scratch<T> work(room * lanes);
    kernel(job, i * lanes, std::min(lanes, batch - i * lanes), work.data());
  });
}

}  // namespace trine::cpu
