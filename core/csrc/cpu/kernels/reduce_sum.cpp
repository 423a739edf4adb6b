// Sums and products: sum, nansum, mean, norms.
#include <algorithm>

#include "cpu/kernels/reduce_loops.h"

namespace trine::cpu {
namespace {

struct Identity {
  template <class T> static T map(T x, T) { return x; }
};
struct NanToZero {
  template <class T> static T map(T x, T) { return x != x ? T(0) : x; }
};
// On vectors and on numbers.
struct Magnitude {
  template <class T> static T map(T x, T) { return x < T{} ? -x : x; }
};
struct Square {
  template <class T> static T map(T x, T) { return x * x; }
};
template <class Map> constexpr bool maps_vectors = std::is_same_v<Map, Identity> || std::is_same_v<Map, Magnitude> || std::is_same_v<Map, Square>;
struct NonZero {
  template <class T> static T map(T x, T) { return x != T(0) ? T(1) : T(0); }
};
struct Power {
  template <class T> static T map(T x, T p) { return math::pow(math::fabs(x), p); }
};

// The root that makes a norm of a sum; params[0] is the order.
struct NoRoot {
  static double apply(double x, const double* params) { return x / params[0]; }
};
struct Plain {
  static double apply(double x, const double*) { return x; }
};
struct SquareRoot {
  static double apply(double x, const double*) { return math::sqrt(x); }
};
struct Root {
  static double apply(double x, const double* params) { return math::pow(x, 1.0 / params[0]); }
};

// One block of at most kRowBlock elements. Memory is asked for ahead of its use: the processor's own prefetching stops at every page.
template <class Map, class T> T sum_block(const T* x, int64_t n) {
  constexpr int64_t L = kLanes<T>, kAhead = 4096 / sizeof(T);
  Vec<T> acc[4] = {};
  int64_t i = 0;
  for (; i + 4 * L <= n; i += 4 * L) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      if (v * kVecBytes % 64 == 0) __builtin_prefetch(x + i + v * L + kAhead);
      acc[v] += Map::map(load(x + i + v * L), Vec<T>{});
    }
  }
  for (; i + L <= n; i += L) acc[0] += Map::map(load(x + i), Vec<T>{});
  T rest = 0;
  for (; i < n; ++i) rest += Map::map(x[i], T(0));
  return n < L ? rest : sum_lanes<T>((acc[0] + acc[1]) + (acc[2] + acc[3])) + rest;
}

// The same for rows narrower than a vector that follow each other without a gap: `width` vectors hold whole rows, and every lane stays
// with its column.
template <class T, int Width> void sum_narrow(const T* x, int64_t rows, double* acc) {
  constexpr int64_t L = kLanes<T>, kStretch = 32;
  int64_t n = rows * Width, i = 0;
  while (i + Width * L <= n) {
    Vec<T> sum[Width] = {};
    for (int64_t r = 0; r < kStretch && i + Width * L <= n; ++r, i += Width * L)
#pragma GCC unroll 16
      for (int v = 0; v < Width; ++v) sum[v] += load(x + i + v * L);
    T lane[Width * L];
    for (int v = 0; v < Width; ++v) store(lane + v * L, sum[v]);
    for (int64_t l = 0; l < Width * L; ++l) add_partial(acc, Width, l % Width, lane[l]);
  }
  for (; i < n; ++i) add_partial(acc, Width, i % Width, x[i]);
}
template <class T> bool sum_if_narrow(const T* x, int64_t stride, int64_t rows, int64_t width, double* acc) {
  if (stride != width || width > 8) return false;
  switch (width) {
    case 1: return sum_narrow<T, 1>(x, rows, acc), true;
    case 2: return sum_narrow<T, 2>(x, rows, acc), true;
    case 3: return sum_narrow<T, 3>(x, rows, acc), true;
    case 4: return sum_narrow<T, 4>(x, rows, acc), true;
    case 5: return sum_narrow<T, 5>(x, rows, acc), true;
    case 6: return sum_narrow<T, 6>(x, rows, acc), true;
    case 7: return sum_narrow<T, 7>(x, rows, acc), true;
    default: return sum_narrow<T, 8>(x, rows, acc), true;
  }
}

// acc[w] += sum over rows of map(x[r][w]), for floats.
template <class T, class Map> void sum_columns(const T* x, int64_t stride, int64_t rows, int64_t width, double* acc, int64_t acc_width, T p) {
  constexpr int64_t L = kLanes<T>, kStretch = 32;
  for (int64_t r = 0; r < rows; r += kStretch) {
    int64_t end = r + kStretch < rows ? r + kStretch : rows, w = 0;
    if constexpr (std::is_same_v<Map, Identity>) {
      for (; w + 4 * L <= width; w += 4 * L) {
        Vec<T> sum[4] = {};
        for (int64_t i = r; i < end; ++i)
#pragma GCC unroll 4
          for (int v = 0; v < 4; ++v) sum[v] += load(x + i * stride + w + v * L);
        T lane[4 * L];
        for (int v = 0; v < 4; ++v) store(lane + v * L, sum[v]);
        for (int64_t l = 0; l < 4 * L; ++l) add_partial(acc, acc_width, w + l, lane[l]);
      }
    }
    for (; w < width; w += L) {
      int64_t lanes = L < width - w ? L : width - w;
      T lane[L] = {};
      if (lanes == L) {
        for (int64_t i = r; i < end; ++i)
          for (int64_t l = 0; l < L; ++l) lane[l] += Map::map(x[i * stride + w + l], p);
      } else {
        for (int64_t i = r; i < end; ++i)
          for (int64_t l = 0; l < lanes; ++l) lane[l] += Map::map(x[i * stride + w + l], p);
      }
      for (int64_t l = 0; l < lanes; ++l) add_partial(acc, acc_width, w + l, lane[l]);
    }
  }
}

template <class Element, class Map, class Final> struct FloatSum {
  using T = Element;
  using A = double;
  using R = Element;
  static constexpr int planes = kSumPlanes<T>;
  static void init(A* acc, int64_t width) {
    for (int64_t i = 0; i < width * planes; ++i) acc[i] = 0;
  }
  static void row(const T* x, int64_t n, A* acc, int64_t, int64_t, const double* params) {
    for (int64_t b = 0; b < n; b += kRowBlock) {
      int64_t m = n - b < kRowBlock ? n - b : kRowBlock;
      if constexpr (maps_vectors<Map>) {
        add_partial(acc, 1, 0, sum_block<Map>(x + b, m));
      } else {
        T mapped[kRowBlock];
        const T p = static_cast<T>(params[0]);
        for (int64_t i = 0; i < m; ++i) mapped[i] = Map::map(x[b + i], p);
        add_partial(acc, 1, 0, sum_block<Identity>(mapped, m));
      }
    }
  }
  static void columns(const T* x, int64_t stride, int64_t rows, int64_t width, A* acc, int64_t, int64_t, const double* params) {
    if constexpr (std::is_same_v<Map, Identity>)
      if (sum_if_narrow(x, stride, rows, width, acc)) return;
    sum_columns<T, Map>(x, stride, rows, width, acc, width, static_cast<T>(params[0]));
  }
  static void combine(A* a, int64_t, const A* b, int64_t, int64_t width) {
    for (int64_t w = 0; w < width; ++w) {
      if constexpr (planes == 2) {
        add_partial<double>(a, width, w, b[w]);
        a[width + w] += b[width + w];
      } else {
        a[w] += b[w];
      }
    }
  }
  static void finish(const A* acc, int64_t width, int64_t, const double* params, R* out, void*) {
    for (int64_t w = 0; w < width; ++w) out[w] = static_cast<R>(Final::apply(total(acc, width, w, planes), params));
  }
};

// Interleaved real and imaginary parts: lanes of even number are real.
template <class Real> struct ComplexSum {
  using T = std::complex<Real>;
  using A = double;
  using R = T;
  static constexpr int planes = 2;
  static void init(A* acc, int64_t width) {
    for (int64_t i = 0; i < width * 2; ++i) acc[i] = 0;
  }
  static void row(const T* x, int64_t n, A* acc, int64_t, int64_t, const double*) {
    constexpr int64_t L = 8;
    for (int64_t b = 0; b < n; b += kRowBlock) {
      int64_t end = n - b < kRowBlock ? n : b + kRowBlock, i = b;
      Real re[L] = {}, im[L] = {};
      for (; i + L <= end; i += L)
        for (int64_t l = 0; l < L; ++l) {
          re[l] += x[i + l].real();
          im[l] += x[i + l].imag();
        }
      for (; i < end; ++i) {
        re[0] += x[i].real();
        im[0] += x[i].imag();
      }
      for (int64_t l = 0; l < L; ++l) {
        acc[0] += re[l];
        acc[1] += im[l];
      }
    }
  }
  static void columns(const T* x, int64_t stride, int64_t rows, int64_t width, A* acc, int64_t, int64_t, const double*) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t w = 0; w < width; ++w) {
        acc[w] += x[r * stride + w].real();
        acc[width + w] += x[r * stride + w].imag();
      }
  }
  static void combine(A* a, int64_t, const A* b, int64_t, int64_t width) {
    for (int64_t i = 0; i < 2 * width; ++i) a[i] += b[i];
  }
  static void finish(const A* acc, int64_t width, int64_t, const double* params, R* out, void*) {
    for (int64_t w = 0; w < width; ++w) out[w] = T(static_cast<Real>(acc[w] / params[0]), static_cast<Real>(acc[width + w] / params[0]));
  }
};

// Integers wrap around, so they are added as unsigned numbers.
template <class Element, class Op> struct IntegerFold {
  using T = Element;
  using A = uint64_t;
  using R = int64_t;
  static constexpr int planes = 1;
  static void init(A* acc, int64_t width) {
    for (int64_t i = 0; i < width; ++i) acc[i] = Op::start;
  }
  static void row(const T* x, int64_t n, A* acc, int64_t, int64_t, const double*) {
    A total = acc[0];
    for (int64_t i = 0; i < n; ++i) total = Op::apply(total, static_cast<A>(static_cast<int64_t>(x[i])));
    acc[0] = total;
  }
  static void columns(const T* x, int64_t stride, int64_t rows, int64_t width, A* acc, int64_t, int64_t, const double*) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t w = 0; w < width; ++w) acc[w] = Op::apply(acc[w], static_cast<A>(static_cast<int64_t>(x[r * stride + w])));
  }
  static void combine(A* a, int64_t, const A* b, int64_t, int64_t width) {
    for (int64_t w = 0; w < width; ++w) a[w] = Op::apply(a[w], b[w]);
  }
  static void finish(const A* acc, int64_t width, int64_t, const double*, R* out, void*) {
    for (int64_t w = 0; w < width; ++w) out[w] = static_cast<int64_t>(acc[w]);
  }
};
struct Add {
  static constexpr uint64_t start = 0;
  static uint64_t apply(uint64_t a, uint64_t b) { return a + b; }
};
struct Multiply {
  static constexpr uint64_t start = 1;
  static uint64_t apply(uint64_t a, uint64_t b) { return a * b; }
};

template <class Element, class Wide> struct Product {
  using T = Element;
  using A = Wide;
  using R = Element;
  static constexpr int planes = 1;
  static void init(A* acc, int64_t width) {
    for (int64_t i = 0; i < width; ++i) acc[i] = A(1);
  }
  static void row(const T* x, int64_t n, A* acc, int64_t, int64_t, const double*) {
    int64_t i = 0;
    if constexpr (is_float<T>) {
      constexpr int64_t L = kLanes<T>;
      // Short stretches in the elements' own type, so that their products seldom leave its range: subnormal numbers are slow.
      while (i + 4 * L <= n) {
        Vec<T> product[4];
        for (Vec<T>& v : product) v = splat<T>(T(1));
        for (const int64_t end = std::min(n, i + kRowBlock); i + 4 * L <= end; i += 4 * L)
#pragma GCC unroll 4
          for (int v = 0; v < 4; ++v) product[v] *= load(x + i + v * L);
        acc[0] *= static_cast<A>(fold_lanes<T>((product[0] * product[1]) * (product[2] * product[3]), [](T a, T b) { return a * b; }));
      }
    }
    for (; i < n; ++i) acc[0] *= static_cast<A>(x[i]);
  }
  static void columns(const T* x, int64_t stride, int64_t rows, int64_t width, A* acc, int64_t, int64_t, const double*) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t w = 0; w < width; ++w) acc[w] *= static_cast<A>(x[r * stride + w]);
  }
  static void combine(A* a, int64_t, const A* b, int64_t, int64_t width) {
    for (int64_t w = 0; w < width; ++w) a[w] *= b[w];
  }
  static void finish(const A* acc, int64_t width, int64_t, const double*, R* out, void*) {
    for (int64_t w = 0; w < width; ++w) out[w] = static_cast<R>(acc[w]);
  }
};

template <class T> void add_float_loops() {
  constexpr DType t = dtype_v<T>;
  add_loop<FloatSum<T, Identity, NoRoot>>(ReduceOp::Sum, t, t);
  add_loop<FloatSum<T, NanToZero, NoRoot>>(ReduceOp::NanSum, t, t);
  add_loop<FloatSum<T, NonZero, Plain>>(ReduceOp::Norm0, t, t);
  add_loop<FloatSum<T, Magnitude, Plain>>(ReduceOp::Norm1, t, t);
  add_loop<FloatSum<T, Square, SquareRoot>>(ReduceOp::Norm2, t, t);
  add_loop<FloatSum<T, Power, Root>>(ReduceOp::NormP, t, t);
  add_loop<Product<T, double>>(ReduceOp::Prod, t, t);
}
template <class T> void add_integer_loops(DType t) {
  add_loop<IntegerFold<T, Add>>(ReduceOp::Sum, t, DType::Int64);
  add_loop<IntegerFold<T, Multiply>>(ReduceOp::Prod, t, DType::Int64);
}

const bool registered = [] {
  add_float_loops<float>();
  add_float_loops<double>();
  add_integer_loops<uint8_t>(DType::Bool);
#define X(T, E, N) add_integer_loops<T>(DType::E);
  TRINE_FORALL_INT(X)
#undef X
  add_loop<ComplexSum<float>>(ReduceOp::Sum, DType::ComplexFloat, DType::ComplexFloat);
  add_loop<ComplexSum<double>>(ReduceOp::Sum, DType::ComplexDouble, DType::ComplexDouble);
  add_loop<Product<cfloat, cdouble>>(ReduceOp::Prod, DType::ComplexFloat, DType::ComplexFloat);
  add_loop<Product<cdouble, cdouble>>(ReduceOp::Prod, DType::ComplexDouble, DType::ComplexDouble);
  return true;
}();

}  // namespace
}  // namespace trine::cpu
