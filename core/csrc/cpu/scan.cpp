// Running sums, products and extremes along a dimension. Lines are independent; inside a line the order of additions is that of the
// elements, in double for floats, so that no number of threads changes a bit.
#include <cmath>

#include "cpu/dense.h"
#include "cpu/rows.h"
#include "trine/kernels.h"

namespace trine::cpu {
namespace {

template <class T> struct Wide { using type = T; };
template <> struct Wide<float> { using type = double; };
template <> struct Wide<cfloat> { using type = cdouble; };
template <> struct Wide<int64_t> { using type = uint64_t; };

// Contiguous input and output of one type; `step(accumulator, x)` gives the next result.
template <class T, class A, class Step> void scan(const Tensor& out, const Tensor& in, int64_t dim, A start, Step step) {
  Lines lines(in, dim);
  const T* x = in.data<T>();
  T* o = out.data<T>();
  constexpr int64_t kSide = 64;
  if (lines.stride == 1 || lines.size == 1) {
    for_lines(lines, [&](int64_t b, int64_t e) {
      for (int64_t line = b; line < e; line++) {
        A acc = start;
        int64_t at = lines.offset(line);
        for (int64_t i = 0; i < lines.size; i++) {
          acc = step(acc, x[at + i]);
          o[at + i] = static_cast<T>(acc);
        }
      }
    });
    return;
  }
  // Neighbouring lines advance together.
  int64_t inner = lines.stride, blocks = (inner + kSide - 1) / kSide, outer = lines.count / inner;
  parallel_for(0, outer * blocks, std::max<int64_t>(1, 32768 / (kSide * lines.size)), [&](int64_t b, int64_t e) {
    for (int64_t unit = b; unit < e; unit++) {
      int64_t first = unit % blocks * kSide, side = std::min(kSide, inner - first), at = unit / blocks * inner * lines.size + first;
      A acc[kSide];
      for (A& a : acc) a = start;
      for (int64_t i = 0; i < lines.size; i++, at += inner)
        for (int64_t l = 0; l < side; l++) {
          acc[l] = step(acc[l], x[at + l]);
          o[at + l] = static_cast<T>(acc[l]);
        }
    }
  });
}

template <class Body> void on_dense(const Tensor& out, const Tensor& self, Body body) {
  DType t = compute_type(out.dtype());
  Tensor in = converted(self, t);
  DenseOutput dense(out, t);
  body(dense.tensor(), in);
  dense.finish();
}

template <class Op> void scan_with(const char* name, const Tensor& out, const Tensor& self, int64_t dim, Op op, int start) {
  if (self.numel() == 0) return;
  int64_t d = wrap_dim(dim, self.dim());
  on_dense(out, self, [&](const Tensor& to, const Tensor& in) {
    TRINE_SWITCH_(TRINE_CASES_BOOL({ scan<scalar_t, int64_t>(to, in, d, start, op); }) TRINE_CASES_INT({
                    using A = typename Wide<scalar_t>::type;
                    scan<scalar_t, A>(to, in, d, static_cast<A>(start), op);
                  }) TRINE_CASES_FLOAT({
                    using A = typename Wide<scalar_t>::type;
                    scan<scalar_t, A>(to, in, d, static_cast<A>(start), op);
                  }) TRINE_CASES_COMPLEX({
                    using A = typename Wide<scalar_t>::type;
                    scan<scalar_t, A>(to, in, d, A(start), op);
                  }),
                  to.dtype(), name);
  });
}

template <class Before> void running_extreme(const char* name, const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, Before before) {
  if (self.numel() == 0) return;
  int64_t d = wrap_dim(dim, self.dim());
  Tensor in = contiguous(self);
  DenseOutput dense_values(values), dense_indices(indices);
  TRINE_DISPATCH_REAL(self.dtype(), name, {
    Lines lines(in, d);
    const scalar_t* x = in.data<scalar_t>();
    scalar_t* o = dense_values.data<scalar_t>();
    int64_t* place = dense_indices.data<int64_t>();
    for_lines(lines, [&](int64_t b, int64_t e) {
      for (int64_t line = b; line < e; line++) {
        int64_t at = lines.offset(line);
        scalar_t best = x[at];
        int64_t where = 0;
        for (int64_t i = 0; i < lines.size; i++, at += lines.stride) {
          // The last of equal elements counts, and NaN stays.
          scalar_t v = x[at];
          bool nan = v != v;
          if (nan || (!(best != best) && !before(best, v))) {
            best = v;
            where = i;
          }
          o[at] = best;
          place[at] = where;
        }
      }
    });
  });
  dense_values.finish();
  dense_indices.finish();
}

}  // namespace

void cumsum(Tensor& out, const Tensor& self, int64_t dim, DType) {
  scan_with("cumsum", out, self, dim, [](auto acc, auto x) { return acc + static_cast<decltype(acc)>(x); }, 0);
}

void cumprod(Tensor& out, const Tensor& self, int64_t dim, DType) {
  scan_with("cumprod", out, self, dim, [](auto acc, auto x) { return acc * static_cast<decltype(acc)>(x); }, 1);
}

void logcumsumexp(Tensor& out, const Tensor& self, int64_t dim) {
  if (self.numel() == 0) return;
  int64_t d = wrap_dim(dim, self.dim());
  on_dense(out, self, [&](const Tensor& to, const Tensor& in) {
    if (to.is_complex()) {
      TRINE_SWITCH_(TRINE_CASES_COMPLEX({
                      scan<scalar_t, cdouble>(to, in, d, cdouble(-INFINITY, 0), [](cdouble acc, scalar_t x) {
                        cdouble v(x);
                        if (acc.real() == -INFINITY) return v;
                        cdouble high = acc.real() > v.real() ? acc : v;
                        cdouble low = acc.real() > v.real() ? v : acc;
                        return high + std::log(1.0 + std::exp(low - high));
                      });
                    }),
                    to.dtype(), "logcumsumexp");
      return;
    }
    TRINE_DISPATCH_FLOAT(to.dtype(), "logcumsumexp", {
      scan<scalar_t, double>(to, in, d, -INFINITY, [](double acc, scalar_t x) {
        double v = static_cast<double>(x), high = acc > v || acc != acc ? acc : v, low = acc > v || acc != acc ? v : acc;
        if (std::isinf(high) && !(low != low)) return high == low || high > 0 ? high : low;
        return high + std::log1p(std::exp(low - high));
      });
    });
  });
}

void cummax(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim) {
  running_extreme("cummax", values, indices, self, dim, [](auto best, auto v) { return best > v; });
}

void cummin(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim) {
  running_extreme("cummin", values, indices, self, dim, [](auto best, auto v) { return best < v; });
}

}  // namespace trine::cpu
