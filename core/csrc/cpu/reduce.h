// Reductions. An operator is a few loops over contiguous memory (kernels/reduce_*.cpp, once per instruction set); the walk over strided
// tensors, the conversion of element types and the division among threads happen once, in reduce.cpp.
//
// Work is cut into units whose size depends on the shape alone, and the results of units are combined in order: the same bits come out
// whatever the number of threads.
#pragma once
#include "cpu/isa.h"
#include "tensor/tensor.h"

namespace trine::cpu {

enum class ReduceOp : uint8_t { Sum, NanSum, Prod, Max, Min, ArgMax, ArgMin, Moments, LogSumExp, Norm0, Norm1, Norm2, NormP, NormMax, NormMin, Count };
constexpr int kReduceOps = static_cast<int>(ReduceOp::Count);

// An accumulator consists of `planes` numbers of `acc_size` bytes; accumulators of `width` neighbouring results keep plane p at
// acc + p * width. `seen` counts the elements an accumulator has taken in, `first` is the position of the next one in the whole reduction.
struct ReduceLoop {
  DType in = DType::Undefined;   // the loops' element type
  DType out = DType::Undefined;  // what finish() writes to out,
  DType out2 = DType::Int64;     // and to out2
  int planes = 0, acc_size = 0;
  void (*init)(void* acc, int64_t width) = nullptr;
  void (*row)(const void* x, int64_t n, void* acc, int64_t seen, int64_t first, const double* params) = nullptr;
  void (*columns)(const void* x, int64_t row_stride, int64_t rows, int64_t width, void* acc, int64_t seen, int64_t first, const double* params) = nullptr;
  void (*combine)(void* a, int64_t seen_a, const void* b, int64_t seen_b, int64_t width) = nullptr;
  void (*finish)(const void* acc, int64_t width, int64_t n, const double* params, void* out, void* out2) = nullptr;
};

struct ReduceTable {
  ReduceLoop loops[kReduceOps][kNumDTypes];
};
extern ReduceTable reduce_tables[kIsaLevels];

// The loops of `op` for elements of type `in`; throws when there are none.
const ReduceLoop& reduce_loop(const char* name, ReduceOp op, DType in);

// out (and out2, when the operator has a second result) = reduction of self over the dimensions of the mask. `ordered` keeps the logical
// order of the elements, which positions (argmax) depend on.
struct Reduction {
  const ReduceLoop* loop;
  uint64_t dims;
  double params[2] = {0, 0};
  bool ordered = false;
};
void reduce(const Reduction& r, const Tensor& out, const Tensor* out2, const Tensor& self);

}  // namespace trine::cpu
