// Largest and smallest elements, with and without their positions. NaN is larger than every number for max and smaller for min: once it
// is met it stays. Of equal elements the first one counts.
#include "cpu/kernels/reduce_loops.h"

namespace trine::cpu {
namespace {

template <class T> constexpr T lowest = is_float<T> ? -math::infinity<T> : std::numeric_limits<T>::lowest();
template <class T> constexpr T highest = is_float<T> ? math::infinity<T> : std::numeric_limits<T>::max();

struct Larger {
  template <class T> static constexpr T start = lowest<T>;
  template <class T> static bool before(T a, T b) { return a > b; }
};
struct Smaller {
  template <class T> static constexpr T start = highest<T>;
  template <class T> static bool before(T a, T b) { return a < b; }
};

// Takes the place of the current value?
template <class Order, class T> inline bool replaces(T x, T current) {
  if constexpr (is_float<T>) return Order::before(x, current) || (x != x && current == current);
  return Order::before(x, current);
}

template <class Order, class T> T extreme_of(const T* x, int64_t n) {
  T best = Order::template start<T>;
  int64_t i = 0;
  if constexpr (is_float<T>) {
    constexpr int64_t L = kLanes<T>;
    if (n >= L) {
      Vec<T> acc[4];
      for (Vec<T>& v : acc) v = splat<T>(best);
      auto take = [](Vec<T> current, Vec<T> v) {
        auto better = std::is_same_v<Order, Larger> ? v > current : v < current;
        return (better | (v != v)) ? v : current;
      };
      for (; i + 4 * L <= n; i += 4 * L)
#pragma GCC unroll 4
        for (int v = 0; v < 4; ++v) acc[v] = take(acc[v], load(x + i + v * L));
      for (; i + L <= n; i += L) acc[0] = take(acc[0], load(x + i));
      best = fold_lanes<T>(take(take(acc[0], acc[1]), take(acc[2], acc[3])), [](T a, T b) { return replaces<Order>(b, a) ? b : a; });
    }
  }
  for (; i < n; ++i) best = replaces<Order>(x[i], best) ? x[i] : best;
  return best;
}

template <class Element, class Order> struct Extreme {
  using T = Element;
  using A = Element;
  using R = Element;
  static constexpr int planes = 1;
  static void init(A* acc, int64_t width) {
    for (int64_t i = 0; i < width; ++i) acc[i] = Order::template start<T>;
  }
  static void row(const T* x, int64_t n, A* acc, int64_t, int64_t, const double*) {
    T v = extreme_of<Order>(x, n);
    if (replaces<Order>(v, acc[0])) acc[0] = v;
  }
  static void columns(const T* x, int64_t stride, int64_t rows, int64_t width, A* acc, int64_t, int64_t, const double*) {
    for (int64_t r = 0; r < rows; ++r) {
      const T* p = x + r * stride;
      for (int64_t w = 0; w < width; ++w) acc[w] = Order::before(p[w], acc[w]) || p[w] != p[w] ? p[w] : acc[w];
    }
  }
  static void combine(A* a, int64_t, const A* b, int64_t, int64_t width) {
    for (int64_t w = 0; w < width; ++w)
      if (replaces<Order>(b[w], a[w])) a[w] = b[w];
  }
  static void finish(const A* acc, int64_t width, int64_t, const double*, R* out, void*) {
    for (int64_t w = 0; w < width; ++w) out[w] = acc[w];
  }
};

// The largest magnitude (or the smallest), which is the norm of infinite order.
template <class Element, class Order> struct ExtremeMagnitude {
  using T = Element;
  using A = Element;
  using R = Element;
  static constexpr int planes = 1;
  static void init(A* acc, int64_t width) {
    for (int64_t i = 0; i < width; ++i) acc[i] = std::is_same_v<Order, Larger> ? T(0) : highest<T>;
  }
  static void row(const T* x, int64_t n, A* acc, int64_t, int64_t, const double*) {
    T magnitude[kRowBlock];
    for (int64_t b = 0; b < n; b += kRowBlock) {
      int64_t m = n - b < kRowBlock ? n - b : kRowBlock;
      for (int64_t i = 0; i < m; ++i) magnitude[i] = math::fabs(x[b + i]);
      T v = extreme_of<Order>(magnitude, m);
      if (replaces<Order>(v, acc[0])) acc[0] = v;
    }
  }
  static void columns(const T* x, int64_t stride, int64_t rows, int64_t width, A* acc, int64_t, int64_t, const double*) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t w = 0; w < width; ++w) {
        T v = math::fabs(x[r * stride + w]);
        acc[w] = Order::before(v, acc[w]) || v != v ? v : acc[w];
      }
  }
  static void combine(A* a, int64_t, const A* b, int64_t, int64_t width) { Extreme<T, Order>::combine(a, 0, b, 0, width); }
  static void finish(const A* acc, int64_t width, int64_t n, const double* p, R* out, void* out2) { Extreme<T, Order>::finish(acc, width, n, p, out, out2); }
};

// Value and position in one accumulator: doubles hold both exactly, except for 64-bit integers, which are their own.
template <class Element, class Order> struct Positions {
  using T = Element;
  using A = std::conditional_t<std::is_same_v<Element, int64_t>, int64_t, double>;
  using R = Element;
  static constexpr int planes = 2;
  static void init(A* acc, int64_t width) {
    for (int64_t w = 0; w < width; ++w) {
      acc[w] = Order::template start<A>;
      acc[width + w] = -1;
    }
  }
  static int64_t find(const T* x, int64_t n, T value) {
    constexpr int64_t kStretch = 64;
    int64_t i = 0;
    for (; i + kStretch <= n; i += kStretch) {
      int hits = 0;
      for (int64_t l = 0; l < kStretch; ++l) hits += x[i + l] == value || (x[i + l] != x[i + l] && value != value);
      if (hits) break;
    }
    while (i < n && !(x[i] == value || (x[i] != x[i] && value != value))) ++i;
    return i;
  }
  static void row(const T* x, int64_t n, A* acc, int64_t, int64_t first, const double*) {
    for (int64_t b = 0; b < n; b += kRowBlock) {
      int64_t m = n - b < kRowBlock ? n - b : kRowBlock;
      T v = extreme_of<Order>(x + b, m);
      if (acc[1] < 0 || replaces<Order>(static_cast<A>(v), acc[0])) {
        acc[0] = static_cast<A>(v);
        acc[1] = static_cast<A>(first + b + find(x + b, m, v));
      }
    }
  }
  static void columns(const T* x, int64_t stride, int64_t rows, int64_t width, A* acc, int64_t, int64_t first, const double*) {
    A* place = acc + width;
    for (int64_t r = 0; r < rows; ++r) {
      const T* p = x + r * stride;
      const A at = static_cast<A>(first + r);
      for (int64_t w = 0; w < width; ++w) {
        A v = static_cast<A>(p[w]);
        bool take = (place[w] < 0) | Order::before(v, acc[w]) | ((v != v) & (acc[w] == acc[w]));
        acc[w] = take ? v : acc[w];
        place[w] = take ? at : place[w];
      }
    }
  }
  static void combine(A* a, int64_t, const A* b, int64_t, int64_t width) {
    for (int64_t w = 0; w < width; ++w)
      if (replaces<Order>(b[w], a[w])) {
        a[w] = b[w];
        a[width + w] = b[width + w];
      }
  }
  static void finish(const A* acc, int64_t width, int64_t, const double*, R* out, void* out2) {
    for (int64_t w = 0; w < width; ++w) out[w] = static_cast<R>(acc[w]);
    if (out2)
      for (int64_t w = 0; w < width; ++w) static_cast<int64_t*>(out2)[w] = static_cast<int64_t>(acc[width + w]);
  }
};

template <class T> void add_loops(DType t) {
  add_loop<Extreme<T, Larger>>(ReduceOp::Max, t, t);
  add_loop<Extreme<T, Smaller>>(ReduceOp::Min, t, t);
  add_loop<Positions<T, Larger>>(ReduceOp::ArgMax, t, t);
  add_loop<Positions<T, Smaller>>(ReduceOp::ArgMin, t, t);
  if constexpr (is_float<T>) {
    add_loop<ExtremeMagnitude<T, Larger>>(ReduceOp::NormMax, t, t);
    add_loop<ExtremeMagnitude<T, Smaller>>(ReduceOp::NormMin, t, t);
  }
}

const bool registered = [] {
  add_loops<uint8_t>(DType::Bool);
#define X(T, E, N) add_loops<T>(DType::E);
  TRINE_FORALL_INT(X) TRINE_FORALL_FLOAT(X)
#undef X
  return true;
}();

}  // namespace
}  // namespace trine::cpu
