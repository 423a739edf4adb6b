// Plans of Fourier transforms: factors, roots of unity, the spectra of convolutions. Everything is computed in double.
#include <cmath>
#include <unordered_map>

#include "cpu/fft.h"
#include "cpu/scratch.h"

namespace trine::cpu {
namespace {

constexpr int64_t kMaxRadix = 13;
constexpr int64_t kMaxDirect = 8192;  // longer lines are only transformed as matrices
constexpr int64_t kMinMatrix = 256;

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

template <class T> void append(std::vector<T>& pairs, std::complex<double> v) {
  pairs.push_back(static_cast<T>(v.real()));
  pairs.push_back(static_cast<T>(v.imag()));
}

bool smooth(int64_t n) {
  for (int64_t r = 2; r <= kMaxRadix; ++r)
    while (n % r == 0) n /= r;
  return n == 1;
}

int64_t next_radix(int64_t left) {
  // Powers of two as eights, with fours at the end instead of a two.
  if (left % 8 == 0 && left != 16) return 8;
  if (left % 4 == 0) return 4;
  int64_t radix = 2;
  while (left % radix) ++radix;
  return radix;
}

template <class T> void add_passes(FftPlan<T>& plan) {
  for (int64_t left = plan.n; left > 1;) {
    const int64_t radix = next_radix(left);
    FftPass<T> pass{radix, left / radix, {}, {}};
    for (int64_t p = 0; p < pass.count; ++p)
      for (int64_t j = 1; j < radix; ++j) append(pass.twiddle, root(p * j % left, left));
    for (int64_t k = 0; k < radix; ++k) append(pass.root, root(k, radix));
    left = pass.count;
    plan.passes.push_back(std::move(pass));
  }
}

template <class T> FftPlan<T> smooth_plan(int64_t n, bool allow_matrix = true) {
  FftPlan<T> plan;
  plan.n = n;
  const int64_t lanes = fft_kernels<T>().lanes;
  if (allow_matrix && n >= kMinMatrix) {
    // The factor next to the square root; whole registers of columns, if that costs little.
    int64_t best = 0;
    double best_cost = 0;
    for (int64_t a = 1; a * a <= n; ++a) {
      if (n % a) continue;
      for (int64_t rows : {a, n / a}) {
        const int64_t columns = n / rows;
        auto padded = [&](int64_t x) { return static_cast<double>((x + lanes - 1) / lanes * lanes) / static_cast<double>(x); };
        const double cost = padded(rows) + padded(columns) + 0.05 * std::log2(static_cast<double>(std::max(rows, columns)) / static_cast<double>(std::min(rows, columns)));
        if (!best || cost < best_cost) best = rows, best_cost = cost;
      }
    }
    const int64_t rows = best, columns = n / best;
    if (std::min(rows, columns) > 1) {
      plan.rows = std::make_unique<FftPlan<T>>(smooth_plan<T>(rows, false));
      plan.columns = std::make_unique<FftPlan<T>>(smooth_plan<T>(columns, false));
      for (int64_t e = 0; e < rows * ((columns + lanes - 1) / lanes); ++e) append(plan.coarse, root(e * lanes % n, n));
      for (int64_t k = 0; k < rows; ++k)
        for (int part = 0; part < 2; ++part)
          for (int64_t l = 0; l < lanes; ++l) {
            const std::complex<double> w = root(k * l % n, n);
            plan.fine.push_back(static_cast<T>(part ? w.imag() : w.real()));
          }
    }
  }
  if (!plan.rows || n <= kMaxDirect) add_passes(plan);
  return plan;
}

// The shortest length from `least` on whose only factors are 2, 3 and 5, an eighth of it whole.
int64_t convolution_length(int64_t least) {
  int64_t best = 8;
  while (best < least) best *= 2;
  for (int64_t five = 8; five < best; five *= 5)
    for (int64_t three = five; three < best; three *= 3)
      for (int64_t n = three; n < best; n *= 2)
        if (n >= least) best = n;
  return best;
}

// The spectrum of a filter, divided by its length, made in double whatever T is.
template <class T> void set_spectrum(FftPlan<T>& plan, std::vector<double> filter) {
  const FftPlan<double> exact = smooth_plan<double>(plan.inner->n);
  Scratch<double> data(2 * exact.n), work(exact.line_work(fft_kernels<double>().lanes));
  std::copy(filter.begin(), filter.end(), data.data());
  fft_kernels<double>().line(exact, data.data(), work.data());
  for (int64_t k = 0; k < 2 * exact.n; ++k) plan.spectrum.push_back(static_cast<T>(data[k] / static_cast<double>(exact.n)));
}

int64_t power(int64_t base, int64_t exponent, int64_t modulus) {
  __int128 result = 1, b = base;
  for (; exponent; exponent /= 2, b = b * b % modulus)
    if (exponent % 2) result = result * b % modulus;
  return static_cast<int64_t>(result);
}

// A generator of the numbers 1 .. n - 1 under multiplication modulo the prime n.
int64_t generator(int64_t n) {
  for (int64_t g = 2;; ++g) {
    bool all = true;
    int64_t left = n - 1;
    for (int64_t f = 2; left > 1 && all; ++f) {
      if (left % f) continue;
      while (left % f == 0) left /= f;
      all = power(g, (n - 1) / f, n) != 1;
    }
    if (all) return g;
  }
}

bool prime(int64_t n) {
  for (int64_t f = 2; f * f <= n; ++f)
    if (n % f == 0) return false;
  return true;
}

template <class T> FftPlan<T> make_plan(int64_t n) {
  if (smooth(n)) return smooth_plan<T>(n);
  FftPlan<T> plan;
  plan.n = n;
  if (n < int64_t{1} << 31 && smooth(n - 1) && prime(n)) {
    const int64_t m = n - 1, g = generator(n), back = power(g, n - 2, n);
    plan.inner = std::make_unique<FftPlan<T>>(smooth_plan<T>(m));
    std::vector<double> filter;
    for (int64_t q = 0, there = 1, here = 1; q < m; ++q) {
      plan.gather.push_back(static_cast<int32_t>(there));
      plan.scatter.push_back(static_cast<int32_t>(here));
      append(filter, root(here, n));
      there = there * g % n, here = here * back % n;
    }
    set_spectrum(plan, std::move(filter));
    return plan;
  }
  const int64_t m = convolution_length(2 * n - 1);
  plan.inner = std::make_unique<FftPlan<T>>(smooth_plan<T>(m));
  std::vector<double> filter(static_cast<size_t>(2 * m));
  for (int64_t k = 0; k < n; ++k) {
    // k * k modulo 2 n without overflow.
    const std::complex<double> c = root(static_cast<int64_t>(static_cast<__int128>(k) * k % (2 * n)), 2 * n);
    append(plan.chirp, c);
    for (int64_t at : {k, (m - k) % m}) filter[static_cast<size_t>(2 * at)] = c.real(), filter[static_cast<size_t>(2 * at + 1)] = -c.imag();
  }
  set_spectrum(plan, std::move(filter));
  return plan;
}

template <class T> FftReal<T> make_real(int64_t n) {
  FftReal<T> real{fft_plan<T>(n / 2), {}};
  for (int64_t k = 0; 4 * k <= n; ++k) append(real.twiddle, root(k, n));
  return real;
}

// This thread's plans; a plan that is in use outlives them. Behind a pointer: the static thread-local block is small.
template <class P, P (*make)(int64_t)> std::shared_ptr<const P> cached(int64_t n) {
  thread_local auto plans = std::make_unique<std::unordered_map<int64_t, std::shared_ptr<const P>>>();
  const auto found = plans->find(n);
  if (found != plans->end()) return found->second;
  if (plans->size() >= 64) plans->clear();
  auto plan = std::make_shared<const P>(make(n));
  return plans->emplace(n, std::move(plan)).first->second;
}

}  // namespace

template <> std::shared_ptr<const FftPlan<float>> fft_plan<float>(int64_t n) { return cached<FftPlan<float>, make_plan<float>>(n); }
template <> std::shared_ptr<const FftPlan<double>> fft_plan<double>(int64_t n) { return cached<FftPlan<double>, make_plan<double>>(n); }
template <> std::shared_ptr<const FftReal<float>> fft_real<float>(int64_t n) { return cached<FftReal<float>, make_real<float>>(n); }
template <> std::shared_ptr<const FftReal<double>> fft_real<double>(int64_t n) { return cached<FftReal<double>, make_real<double>>(n); }

}  // namespace trine::cpu
