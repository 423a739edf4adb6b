// Fourier transforms of tensors: the lines of a dimension, in groups or one by one, over the kernels of cpu/fft.h.
#include "cpu/fft.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/parallel.h"
#include "cpu/pointwise.h"
#include "cpu/scratch.h"
#include "trine/kernels.h"

namespace trine::cpu {

TRINE_ISA_TABLE(fft_kernels_float);
TRINE_ISA_TABLE(fft_kernels_double);
template <> const FftKernels<float>& fft_kernels<float>() { return *fft_kernels_float(); }
template <> const FftKernels<double>& fft_kernels<double>() { return *fft_kernels_double(); }

namespace {

constexpr int64_t kLongLine = 4096;     // from here on a line is transformed alone
constexpr int64_t kParallelLine = 1 << 15;  // from here on by several threads
constexpr int64_t kMatrixLine = 256;    // from here on alone as a matrix, where there are few lines or the matrix fills whole registers

double scale_of(int64_t normalization, int64_t n) { return normalization == 0 ? 1.0 : normalization == 1 ? 1.0 / std::sqrt(static_cast<double>(n)) : 1.0 / static_cast<double>(n); }

// The lines of one dimension, and where each begins in the input and in the output. In units of elements.
struct Geometry {
  Dims sizes, in_strides, out_strides;  // of the other dimensions; the last one has the smallest stride in the output
  int64_t in_stride, out_stride, count = 1;

  Geometry(DimsRef shape, DimsRef in, DimsRef out, size_t dim) : in_stride(in[dim]), out_stride(out[dim]) {
    Dims order;
    for (size_t d = 0; d < shape.size(); ++d)
      if (d != dim && shape[d] != 1) order.push_back(static_cast<int64_t>(d));
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return out[static_cast<size_t>(a)] > out[static_cast<size_t>(b)]; });
    for (int64_t d : order) {
      const size_t i = static_cast<size_t>(d);
      sizes.push_back(shape[i]), in_strides.push_back(in[i]), out_strides.push_back(out[i]);
      count *= shape[i];
    }
  }
  // Where lines `first` and following begin.
  void begins(int64_t first, int64_t count, int64_t in_unit, int64_t out_unit, int64_t* in, int64_t* out) const {
    for (int64_t q = 0; q < count;) {
      begin(first + q, in + q, out + q);
      in[q] *= in_unit, out[q] *= out_unit;
      if (sizes.empty()) return;
      // The rest of this row of lines follows in equal steps.
      const int64_t row = std::min(count, q + sizes.back() - (first + q) % sizes.back());
      for (++q; q < row; ++q) in[q] = in[q - 1] + in_strides.back() * in_unit, out[q] = out[q - 1] + out_strides.back() * out_unit;
    }
  }
  void begin(int64_t line, int64_t* in, int64_t* out) const {
    *in = *out = 0;
    for (size_t d = sizes.size(); d-- > 0;) {
      const int64_t i = line % sizes[d];
      *in += i * in_strides[d], *out += i * out_strides[d];
      line /= sizes[d];
    }
  }
};

template <class T> void line_of_matrix(const FftPlan<T>& plan, bool forward, T scale, const T* in, int64_t in_stride, T* out, int64_t out_stride) {
  const FftKernels<T>& k = fft_kernels<T>();
  const int64_t column_groups = (plan.columns->n + k.lanes - 1) / k.lanes, row_groups = (plan.rows->n + k.lanes - 1) / k.lanes;
  const int64_t size = (2 * plan.n + 15) / 16 * 16, room = 4 * k.lanes * std::max(plan.rows->room(), plan.columns->room());
  if (plan.n < kParallelLine) {
    Scratch<T> space(size + room);
    T *middle = space.data(), *work = middle + size;
    k.columns(plan, forward, in, in_stride, middle, 0, column_groups, work);
    return k.rows(plan, forward, scale, middle, out, out_stride, 0, row_groups, work);
  }
  Scratch<T> middle(size);
  parallel_for(0, column_groups, 1, [&](int64_t first, int64_t last) {
    Scratch<T> work(room);
    k.columns(plan, forward, in, in_stride, middle.data(), first, last, work.data());
  });
  parallel_for(0, row_groups, 1, [&](int64_t first, int64_t last) {
    Scratch<T> work(room);
    k.rows(plan, forward, scale, middle.data(), out, out_stride, first, last, work.data());
  });
}

template <class T> void copy_pairs(T* to, int64_t to_stride, const T* from, int64_t from_stride, int64_t n, T scale, bool exchange) {
  for (int64_t k = 0; k < n; ++k) {
    const T re = from[k * from_stride] * scale, im = from[k * from_stride + 1] * scale;
    to[k * to_stride] = exchange ? im : re, to[k * to_stride + 1] = exchange ? re : im;
  }
}

template <class T> void transform_alone(const FftPlan<T>& plan, T* data) {
  if (plan.matrix()) return line_of_matrix<T>(plan, true, T(1), data, 2, data, 2);
  Scratch<T> work(plan.line_work(fft_kernels<T>().lanes));
  fft_kernels<T>().line(plan, data, work.data());
}

// One line by itself.
template <class T> void line(const FftJob<T>& job, const T* in, int64_t in_stride, T* out, int64_t out_stride) {
  const FftPlan<T>& plan = *job.plan;
  if (job.kind == FftKind::Complex && plan.matrix()) return line_of_matrix(plan, job.forward, job.scale, in, in_stride, out, out_stride);
  const int64_t h = job.n / 2;
  if (job.kind == FftKind::RealToHalf && plan.matrix() && job.real_twiddle && in_stride == 1 && out_stride == 2 && job.bins == h + 1) {
    line_of_matrix(plan, true, job.scale, in, 2, out, 2);
    return fft_kernels<T>().split(out, h, job.real_twiddle);
  }
  Scratch<T> data(2 * (plan.n + 1));
  T* x = data.data();
  if (job.kind == FftKind::Complex) {
    copy_pairs(x, 2, in, in_stride, job.n, T(1), !job.forward);
    transform_alone(plan, x);
    copy_pairs(out, out_stride, x, 2, job.n, job.scale, !job.forward);
  } else if (job.kind == FftKind::RealToHalf) {
    const bool pairs = job.real_twiddle != nullptr;
    for (int64_t k = 0; k < job.n; ++k) {
      x[pairs ? k : 2 * k] = in[k * in_stride];
      if (!pairs) x[2 * k + 1] = 0;
    }
    transform_alone(plan, x);
    if (pairs) fft_kernels<T>().split(x, h, job.real_twiddle);
    copy_pairs(out, out_stride, x, 2, job.bins, job.scale, false);
  } else {
    const bool pairs = job.real_twiddle != nullptr;
    const int64_t have = std::min(job.bins, h + 1);
    copy_pairs(x, 2, in, in_stride, have, T(1), false);
    std::fill(x + 2 * have, x + 2 * (plan.n + 1), T(0));
    if (pairs) {
      fft_kernels<T>().join(x, h, job.real_twiddle);
    } else {
      // The whole spectrum, real and imaginary parts exchanged.
      x[1] = x[0], x[0] = 0;
      for (int64_t k = 1; k <= h; ++k) {
        const T re = x[2 * k], im = x[2 * k + 1];
        x[2 * k] = im, x[2 * k + 1] = re, x[2 * (job.n - k)] = -im, x[2 * (job.n - k) + 1] = re;
      }
    }
    transform_alone(plan, x);
    for (int64_t k = 0; k < job.n; ++k) out[k * out_stride] = x[pairs ? k ^ 1 : 2 * k + 1] * job.scale;
  }
}

// in_unit, out_unit: 2 where the elements are complex.
template <class T> void transform_lines(const FftJob<T>& job, const Geometry& g, const T* in, int64_t in_unit, T* out, int64_t out_unit) {
  const FftKernels<T>& kernels = fft_kernels<T>();
  const FftPlan<T>& plan = *job.plan;
  const bool few = 2 * g.count <= kernels.lanes;
  const bool columns = plan.direct() && g.in_stride != 1;
  const bool whole = plan.matrix() && plan.rows->n % kernels.lanes == 0 && plan.columns->n % kernels.lanes == 0 && g.in_stride == 1 && g.out_stride == 1 &&
                     (job.kind == FftKind::Complex || (job.kind == FftKind::RealToHalf && job.real_twiddle));
  if ((plan.n >= kLongLine && !columns) || (few && (plan.n >= kMatrixLine || g.count == 1)) || whole) {
    auto run = [&](int64_t first, int64_t last) {
      for (int64_t q = first; q < last; ++q) {
        int64_t from, to;
        g.begin(q, &from, &to);
        line(job, in + from * in_unit, g.in_stride * in_unit, out + to * out_unit, g.out_stride * out_unit);
      }
    };
    // A few very long lines are each split among the threads instead.
    if (plan.n >= kParallelLine && g.count < num_threads()) return run(0, g.count);
    return parallel_for(0, g.count, std::max<int64_t>(1, 16384 / plan.n), run);
  }
  const bool twos = job.kind != FftKind::Complex && !job.real_twiddle;
  const int64_t width = kernels.lanes * (twos ? 2 : 1), groups = (g.count + width - 1) / width;
  parallel_for(0, groups, std::max<int64_t>(1, 32768 / (plan.n * width)), [&](int64_t first, int64_t last) {
    Scratch<T> work(2 * kernels.lanes * (plan.group_work() + plan.room()));
    int64_t from[2 * 16], to[2 * 16];
    for (int64_t group = first; group < last; ++group) {
      const int64_t begin = group * width, count = std::min(width, g.count - begin);
      g.begins(begin, count, in_unit, out_unit, from, to);
      kernels.group(job, {in, from, g.in_stride * in_unit}, {out, to, g.out_stride * out_unit}, count, work.data());
    }
  });
}

template <class T> T* numbers(const Tensor& t) { return static_cast<T*>(t.data()); }

template <class T> void complex_lines(const Tensor& in, const Tensor& out, size_t dim, bool forward, T scale) {
  const int64_t n = out.sizes()[dim];
  const Geometry g(out.sizes(), in.strides(), out.strides(), dim);
  const auto plan = fft_plan<T>(n);
  transform_lines<T>({FftKind::Complex, forward, scale, n, n, plan.get(), nullptr}, g, numbers<T>(in), 2, numbers<T>(out), 2);
}

template <class T> void real_lines(FftKind kind, const Tensor& in, const Tensor& out, size_t dim, T scale) {
  const bool to_half = kind == FftKind::RealToHalf;
  const int64_t n = (to_half ? in : out).sizes()[dim];
  const Geometry g(out.sizes(), in.strides(), out.strides(), dim);
  const auto real = n % 2 == 0 ? fft_real<T>(n) : nullptr;
  const auto plan = real ? real->half : fft_plan<T>(n);
  const int64_t bins = to_half ? std::min(out.sizes()[dim], n / 2 + 1) : in.sizes()[dim];
  transform_lines<T>({kind, to_half, scale, n, bins, plan.get(), real ? real->twiddle.data() : nullptr}, g, numbers<T>(in), to_half ? 1 : 2, numbers<T>(out),
                     to_half ? 2 : 1);
}

// The second half of the spectrum of a real line mirrors the first.
template <class T> void mirror(const Tensor& out, size_t dim) {
  const int64_t n = out.sizes()[dim];
  const Geometry g(out.sizes(), out.strides(), out.strides(), dim);
  parallel_for(0, g.count, std::max<int64_t>(1, 16384 / n), [&](int64_t first, int64_t last) {
    for (int64_t q = first; q < last; ++q) {
      int64_t from, to;
      g.begin(q, &from, &to);
      std::complex<T>* y = static_cast<std::complex<T>*>(out.data()) + to;
      for (int64_t k = n / 2 + 1; k < n; ++k) y[k * g.out_stride] = std::conj(y[(n - k) * g.out_stride]);
    }
  });
}

// Dimensions, the one with the smallest stride first.
Dims by_stride(DimsRef dim, const Tensor& t) {
  Dims dims(dim);
  for (int64_t& d : dims) d = wrap_dim(d, t.dim());
  std::stable_sort(dims.begin(), dims.end(), [&](int64_t a, int64_t b) { return t.strides()[static_cast<size_t>(a)] < t.strides()[static_cast<size_t>(b)]; });
  return dims;
}

int64_t signal_size(DimsRef sizes, DimsRef dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= sizes[static_cast<size_t>(wrap_dim(d, static_cast<int64_t>(sizes.size())))];
  return n;
}

}  // namespace

void fft_c2c(Tensor& out, const Tensor& self, DimsRef dim, int64_t normalization, bool forward) {
  if (out.numel() == 0) return;
  if (dim.empty()) return convert_copy(out, self);
  TRINE_DISPATCH_FLOAT(to_real(out.dtype()), "fft", {
    scalar_t scale = static_cast<scalar_t>(scale_of(normalization, signal_size(self.sizes(), dim)));
    Tensor from = self;
    for (int64_t d : by_stride(dim, out)) {
      complex_lines<scalar_t>(from, out, static_cast<size_t>(d), forward, scale);
      from = out, scale = 1;
    }
  });
}

void fft_r2c(Tensor& out, const Tensor& self, DimsRef dim, int64_t normalization, bool onesided) {
  if (out.numel() == 0) return;
  TRINE_DISPATCH_FLOAT(self.dtype(), "rfft", {
    const size_t last = static_cast<size_t>(wrap_dim(dim.back(), self.dim()));
    real_lines<scalar_t>(FftKind::RealToHalf, self, out, last, static_cast<scalar_t>(scale_of(normalization, signal_size(self.sizes(), dim))));
    if (!onesided) mirror<scalar_t>(out, last);
    for (int64_t d : by_stride(dim.first(dim.size() - 1), out)) complex_lines<scalar_t>(out, out, static_cast<size_t>(d), true, scalar_t(1));
  });
}

void fft_c2r(Tensor& out, const Tensor& self, DimsRef dim, int64_t normalization, int64_t) {
  if (out.numel() == 0) return;
  const Tensor x = dim.size() > 1 ? _fft_c2c(self, dim.first(dim.size() - 1), 0, false) : self;
  TRINE_DISPATCH_FLOAT(out.dtype(), "irfft", {
    real_lines<scalar_t>(FftKind::HalfToReal, x, out, static_cast<size_t>(wrap_dim(dim.back(), self.dim())), static_cast<scalar_t>(scale_of(normalization, signal_size(out.sizes(), dim))));
  });
}

}  // namespace trine::cpu
