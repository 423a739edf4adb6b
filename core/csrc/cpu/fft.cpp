// Fourier transforms of tensors: plans, and the way of the data into the lanes of cpu/fft.h and back.
#include "cpu/fft.h"

#include <cmath>
#include <unordered_map>

#include "base/parallel.h"
#include "cpu/dense.h"
#include "cpu/scratch.h"
#include "trine/kernels.h"

namespace trine::cpu {

TRINE_ISA_TABLE(fft_run_float);
TRINE_ISA_TABLE(fft_run_double);

namespace {

void run(const FftPlan<float>& plan, float* re, float* im, int64_t lanes, float* scratch) { fft_run_float(plan, re, im, lanes, scratch); }
void run(const FftPlan<double>& plan, double* re, double* im, int64_t lanes, double* scratch) { fft_run_double(plan, re, im, lanes, scratch); }

constexpr int64_t kMaxRadix = 13;

// exp(-2 pi i k / n), from angles of at most an eighth turn, where sine and cosine lose nothing.
std::complex<double> root(int64_t k, int64_t n) {
  if (2 * k > n) return std::conj(root(n - k, n));
  if (4 * k > n) {
    // Past a quarter turn: mirrored at the imaginary axis.
    std::complex<double> r = root(n - 2 * k, 2 * n);
    return {-r.real(), r.imag()};
  }
  const double turn = 2 * M_PI / static_cast<double>(n);
  if (8 * k > n) {
    double rest = turn * (static_cast<double>(n - 4 * k) / 4);
    return {std::sin(rest), -std::cos(rest)};
  }
  return {std::cos(turn * static_cast<double>(k)), -std::sin(turn * static_cast<double>(k))};
}

template <class T> void append(std::vector<T>& re, std::vector<T>& im, std::complex<double> v) {
  re.push_back(static_cast<T>(v.real()));
  im.push_back(static_cast<T>(v.imag()));
}

bool smooth(int64_t n) {
  for (int64_t r = 2; r <= kMaxRadix; ++r)
    while (n % r == 0) n /= r;
  return n == 1;
}

template <class T> FftPlan<T> smooth_plan(int64_t n) {
  FftPlan<T> plan;
  plan.n = n;
  int64_t left = n;
  while (left > 1) {
    int64_t radix = left % 4 == 0 ? 4 : 2;
    while (left % radix) ++radix;
    FftPass<T> pass{radix, left / radix, {}, {}, {}, {}};
    for (int64_t p = 0; p < pass.count; ++p)
      for (int64_t j = 1; j < radix; ++j) append(pass.twiddle_re, pass.twiddle_im, root(p * j % left, left));
    for (int64_t k = 0; k < radix; ++k) append(pass.root_re, pass.root_im, root(k, radix));
    left = pass.count;
    plan.passes.push_back(std::move(pass));
  }
  return plan;
}

template <class T> FftPlan<T> make_plan(int64_t n) {
  if (smooth(n)) return smooth_plan<T>(n);
  FftPlan<T> plan;
  plan.n = n;
  int64_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  plan.inner = std::make_unique<FftPlan<T>>(smooth_plan<T>(m));
  // The chirp's spectrum is made in double whatever T is.
  std::vector<double> re(static_cast<size_t>(m)), im(static_cast<size_t>(m));
  for (int64_t k = 0; k < n; ++k) {
    // k * k modulo 2 n without overflow.
    std::complex<double> c = root(static_cast<int64_t>(static_cast<__int128>(k) * k % (2 * n)), 2 * n);
    append(plan.chirp_re, plan.chirp_im, c);
    for (int64_t at : {k, (m - k) % m}) re[static_cast<size_t>(at)] = c.real(), im[static_cast<size_t>(at)] = -c.imag();
  }
  FftPlan<double> exact = smooth_plan<double>(m);
  std::vector<double> scratch(static_cast<size_t>(exact.scratch(1)));
  run(exact, re.data(), im.data(), 1, scratch.data());
  for (int64_t k = 0; k < m; ++k) append(plan.spectrum_re, plan.spectrum_im, {re[static_cast<size_t>(k)] / static_cast<double>(m), im[static_cast<size_t>(k)] / static_cast<double>(m)});
  return plan;
}

// Lines of a tensor along one dimension: element k of line (o, i) at (o * length + k) * inner + i.
struct Lines {
  int64_t outer, inner;
  int64_t count() const { return outer * inner; }
  int64_t begin(int64_t line, int64_t length) const { return line / inner * length * inner + line % inner; }
};
Lines lines_of(DimsRef sizes, size_t dim) {
  Lines l{1, 1};
  for (size_t d = 0; d < sizes.size(); ++d)
    if (d != dim) (d < dim ? l.outer : l.inner) *= sizes[d];
  return l;
}

double scale_of(int64_t normalization, int64_t n) { return normalization == 0 ? 1.0 : normalization == 1 ? 1.0 / std::sqrt(static_cast<double>(n)) : 1.0 / static_cast<double>(n); }

constexpr int64_t kLanes = 16;

// Calls body(first line, lanes, re, im, scratch) for groups of lines that are transformed together.
template <class T, class F> void for_groups(const FftPlan<T>& plan, int64_t lines, const F& body) {
  int64_t groups = (lines + kLanes - 1) / kLanes;
  parallel_for(0, groups, std::max<int64_t>(1, 16384 / (plan.n * kLanes)), [&](int64_t begin, int64_t end) {
    int64_t lanes = std::min(kLanes, lines);
    Scratch<T> data(2 * plan.n * lanes), scratch(plan.scratch(lanes));
    for (int64_t g = begin; g < end; ++g) {
      int64_t used = std::min(kLanes, lines - g * kLanes);
      body(g * kLanes, used, data.data(), data.data() + plan.n * used, scratch.data());
    }
  });
}

template <class T> void transform_dim(std::complex<T>* data, DimsRef sizes, size_t dim, bool forward, T scale) {
  const int64_t n = sizes[dim];
  if (n <= 1 && scale == T(1)) return;
  const FftPlan<T>& plan = fft_plan<T>(n);
  Lines lines = lines_of(sizes, dim);
  for_groups(plan, lines.count(), [&](int64_t first, int64_t lanes, T* re, T* im, T* scratch) {
    for (int64_t q = 0; q < lanes; ++q) {
      const std::complex<T>* from = data + lines.begin(first + q, n);
      for (int64_t k = 0; k < n; ++k) re[k * lanes + q] = from[k * lines.inner].real(), im[k * lanes + q] = from[k * lines.inner].imag();
    }
    forward ? run(plan, re, im, lanes, scratch) : run(plan, im, re, lanes, scratch);
    for (int64_t q = 0; q < lanes; ++q) {
      std::complex<T>* to = data + lines.begin(first + q, n);
      for (int64_t k = 0; k < n; ++k) to[k * lines.inner] = {re[k * lanes + q] * scale, im[k * lanes + q] * scale};
    }
  });
}

// Real input: two lines travel as the real and the imaginary part of one.
template <class T> void real_to_complex(const T* in, std::complex<T>* out, DimsRef sizes, int64_t bins, size_t dim, T scale) {
  const int64_t n = sizes[dim];
  const FftPlan<T>& plan = fft_plan<T>(n);
  Lines lines = lines_of(sizes, dim);
  const int64_t pairs = (lines.count() + 1) / 2;
  for_groups(plan, pairs, [&](int64_t first, int64_t lanes, T* re, T* im, T* scratch) {
    for (int64_t q = 0; q < lanes; ++q) {
      const int64_t line = 2 * (first + q);
      const T* a = in + lines.begin(line, n);
      const T* b = line + 1 < lines.count() ? in + lines.begin(line + 1, n) : nullptr;
      for (int64_t k = 0; k < n; ++k) re[k * lanes + q] = a[k * lines.inner], im[k * lanes + q] = b ? b[k * lines.inner] : T(0);
    }
    run(plan, re, im, lanes, scratch);
    const T half = scale / 2;
    for (int64_t q = 0; q < lanes; ++q) {
      const int64_t line = 2 * (first + q);
      std::complex<T>* a = out + lines.begin(line, bins);
      std::complex<T>* b = line + 1 < lines.count() ? out + lines.begin(line + 1, bins) : nullptr;
      for (int64_t k = 0; k < bins; ++k) {
        const int64_t at = k * lanes + q, mirror = (k ? n - k : 0) * lanes + q;
        a[k * lines.inner] = {(re[at] + re[mirror]) * half, (im[at] - im[mirror]) * half};
        if (b) b[k * lines.inner] = {(im[at] + im[mirror]) * half, (re[mirror] - re[at]) * half};
      }
    }
  });
}

// Half spectra in, real lines out; the imaginary parts of the first and the middle bin are ignored.
template <class T> void complex_to_real(const std::complex<T>* in, T* out, DimsRef sizes, int64_t bins, size_t dim, T scale) {
  const int64_t n = sizes[dim];
  const FftPlan<T>& plan = fft_plan<T>(n);
  Lines lines = lines_of(sizes, dim);
  for_groups(plan, (lines.count() + 1) / 2, [&](int64_t first, int64_t lanes, T* re, T* im, T* scratch) {
    for (int64_t q = 0; q < lanes; ++q) {
      const int64_t line = 2 * (first + q);
      const std::complex<T>* a = in + lines.begin(line, bins);
      const std::complex<T>* b = line + 1 < lines.count() ? in + lines.begin(line + 1, bins) : nullptr;
      for (int64_t k = 0; k <= n / 2; ++k) {
        std::complex<T> x = k < bins ? a[k * lines.inner] : std::complex<T>(), y = b && k < bins ? b[k * lines.inner] : std::complex<T>();
        if (k == 0 || 2 * k == n) x = x.real(), y = y.real();
        // A + i B, and its mirror conj(A) + i conj(B).
        re[k * lanes + q] = x.real() - y.imag(), im[k * lanes + q] = x.imag() + y.real();
        if (k > 0 && 2 * k != n) re[(n - k) * lanes + q] = x.real() + y.imag(), im[(n - k) * lanes + q] = y.real() - x.imag();
      }
    }
    run(plan, im, re, lanes, scratch);
    for (int64_t q = 0; q < lanes; ++q) {
      const int64_t line = 2 * (first + q);
      T* a = out + lines.begin(line, n);
      T* b = line + 1 < lines.count() ? out + lines.begin(line + 1, n) : nullptr;
      for (int64_t k = 0; k < n; ++k) {
        a[k * lines.inner] = re[k * lanes + q] * scale;
        if (b) b[k * lines.inner] = im[k * lanes + q] * scale;
      }
    }
  });
}

int64_t signal_size(DimsRef sizes, DimsRef dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= sizes[static_cast<size_t>(wrap_dim(d, static_cast<int64_t>(sizes.size())))];
  return n;
}

}  // namespace

template <class T> const FftPlan<T>& fft_plan(int64_t n) {
  // Behind a pointer: the static thread-local block is small.
  thread_local auto map = std::make_unique<std::unordered_map<int64_t, FftPlan<T>>>();
  auto& plans = *map;
  auto found = plans.find(n);
  if (found != plans.end()) return found->second;
  if (plans.size() >= 64) plans.clear();
  return plans.emplace(n, make_plan<T>(n)).first->second;
}

void fft_c2c(Tensor& out, const Tensor& self, DimsRef dim, int64_t normalization, bool forward) {
  if (out.numel() == 0) return;
  DenseOutput y(out);
  convert_copy(y.tensor(), self);
  TRINE_DISPATCH_FLOAT(to_real(out.dtype()), "fft", {
    scalar_t scale = static_cast<scalar_t>(scale_of(normalization, signal_size(self.sizes(), dim)));
    for (size_t i = 0; i < dim.size(); ++i)
      transform_dim(y.data<std::complex<scalar_t>>(), out.sizes(), static_cast<size_t>(wrap_dim(dim[i], out.dim())), forward, i + 1 == dim.size() ? scale : scalar_t(1));
  });
  y.finish();
}

void fft_r2c(Tensor& out, const Tensor& self, DimsRef dim, int64_t normalization, bool onesided) {
  if (out.numel() == 0) return;
  if (!onesided) {
    convert_copy(out, self);
    return fft_c2c(out, out, dim, normalization, true);
  }
  Tensor x = plain(self);
  DenseOutput y(out);
  TRINE_DISPATCH_FLOAT(self.dtype(), "rfft", {
    scalar_t scale = static_cast<scalar_t>(scale_of(normalization, signal_size(self.sizes(), dim)));
    size_t last = static_cast<size_t>(wrap_dim(dim.back(), self.dim()));
    real_to_complex(x.data<scalar_t>(), y.data<std::complex<scalar_t>>(), self.sizes(), out.sizes()[last], last, scale);
    for (int64_t d : dim.first(dim.size() - 1)) transform_dim(y.data<std::complex<scalar_t>>(), out.sizes(), static_cast<size_t>(wrap_dim(d, out.dim())), true, scalar_t(1));
  });
  y.finish();
}

void fft_c2r(Tensor& out, const Tensor& self, DimsRef dim, int64_t normalization, int64_t) {
  if (out.numel() == 0) return;
  Tensor x = plain(self);
  if (dim.size() > 1 && x.is_same(self)) {
    x = empty(self.sizes(), self.dtype());
    convert_copy(x, self);
  }
  DenseOutput y(out);
  TRINE_DISPATCH_FLOAT(out.dtype(), "irfft", {
    scalar_t scale = static_cast<scalar_t>(scale_of(normalization, signal_size(out.sizes(), dim)));
    size_t last = static_cast<size_t>(wrap_dim(dim.back(), self.dim()));
    for (int64_t d : dim.first(dim.size() - 1)) transform_dim(x.data<std::complex<scalar_t>>(), x.sizes(), static_cast<size_t>(wrap_dim(d, out.dim())), false, scalar_t(1));
    complex_to_real(x.data<std::complex<scalar_t>>(), y.data<scalar_t>(), out.sizes(), self.sizes()[last], last, scale);
  });
  y.finish();
}

}  // namespace trine::cpu
