// What the reductions of this folder are put together from. A reduction is a class K with
//   T  element type of the loops (uint8_t stands for bool), A accumulator number, R result, `planes`
//   init(acc, width), row(x, n, acc, seen, first, params), columns(x, stride, rows, width, acc, seen, first, params),
//   combine(a, seen_a, b, seen_b, width), finish(acc, width, n, params, out, out2)
// as reduce.h describes them.
#pragma once
#include "cpu/isa_register.h"
#include "cpu/kernels/vec.h"
#include "cpu/reduce.h"
#include "math/math.h"

namespace trine::cpu {
namespace {

constexpr int64_t kRowBlock = 2048;  // elements: 8 KiB of float, well inside the first-level cache

// Not inlined: many entries at once would be kept in vector registers, which cpu/isa_register.h says why to avoid.
template <class K> [[gnu::noinline]] void add_loop(ReduceOp op, DType in, DType out, DType out2 = DType::Int64) {
  using T = typename K::T;
  using A = typename K::A;
  using R = typename K::R;
  ReduceLoop& l = reduce_tables[TRINE_ISA_INDEX].loops[static_cast<int>(op)][static_cast<int>(in)];
  isa_register(l.in, in);
  isa_register(l.out, out);
  isa_register(l.out2, out2);
  isa_register(l.planes, static_cast<int>(K::planes));
  isa_register(l.acc_size, static_cast<int>(sizeof(A)));
  isa_register(l.init, [](void* acc, int64_t width) { K::init(static_cast<A*>(acc), width); });
  isa_register(l.row, [](const void* x, int64_t n, void* acc, int64_t seen, int64_t first, const double* params) {
    K::row(static_cast<const T*>(x), n, static_cast<A*>(acc), seen, first, params);
  });
  isa_register(l.columns, [](const void* x, int64_t stride, int64_t rows, int64_t width, void* acc, int64_t seen, int64_t first, const double* params) {
    K::columns(static_cast<const T*>(x), stride, rows, width, static_cast<A*>(acc), seen, first, params);
  });
  isa_register(l.combine, [](void* a, int64_t na, const void* b, int64_t nb, int64_t width) { K::combine(static_cast<A*>(a), na, static_cast<const A*>(b), nb, width); });
  isa_register(l.finish, [](const void* acc, int64_t width, int64_t n, const double* params, void* out, void* out2) {
    K::finish(static_cast<const A*>(acc), width, n, params, static_cast<R*>(out), out2);
  });
}

template <class T> constexpr bool is_float = std::is_floating_point_v<T>;

// Floats are summed in many lanes over short stretches; stretches are added in double, or in two doubles when they are doubles already.
template <class T> inline void add_partial(double* acc, int64_t width, int64_t w, T value) {
  if constexpr (std::is_same_v<T, double>) {
    double sum = acc[w] + value, part = sum - acc[w];
    acc[width + w] += (acc[w] - (sum - part)) + (value - part);
    acc[w] = sum;
  } else {
    acc[w] += static_cast<double>(value);
  }
}
template <class T> constexpr int kSumPlanes = std::is_same_v<T, double> ? 2 : 1;

// What the error terms say about an infinite or NaN sum is nothing.
inline double total(const double* acc, int64_t width, int64_t w, int planes) {
  return planes == 2 && math::isfinite(acc[w]) ? acc[w] + acc[width + w] : acc[w];
}

}  // namespace
}  // namespace trine::cpu
