// Random numbers by distribution: PyTorch's streams, drawn in bulk. Numbers are drawn in the order in which a tensor
// lies in memory, and only the arithmetic on them is shared among threads: results do not depend on their number.
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "cpu/random_draw.h"
#include "dispatch/structured.h"
#include "trine/kernels.h"

namespace trine::cpu {

TRINE_ISA_TABLE(mt19937_twist);
TRINE_ISA_TABLE(mt19937_temper);
TRINE_ISA_TABLE(philox_blocks);
TRINE_ISA_TABLE(uniform_float);
TRINE_ISA_TABLE(uniform_double);
TRINE_ISA_TABLE(box_muller_float);
TRINE_ISA_TABLE(bernoulli_bytes);
TRINE_ISA_TABLE(bernoulli_float);
TRINE_ISA_TABLE(exponential_float);
TRINE_ISA_TABLE(random_int64);
TRINE_ISA_TABLE(masked_scale_float);
TRINE_ISA_TABLE(masked_scale_double);

namespace {

[[maybe_unused]] const bool loops_chosen = [] {
  engine_loops.twist = [](uint32_t* s) { mt19937_twist(s); };
  engine_loops.temper = [](const uint32_t* s, uint32_t* out, int64_t n) { mt19937_temper(s, out, n); };
  engine_loops.philox = [](uint64_t key, uint64_t block, uint32_t* out, int64_t blocks) { philox_blocks(key, block, out, blocks); };
  return true;
}();

void fill_uniform(Generator& g, float* out, int64_t n, double from, double to) {
  for_words(g, n, 1, [&](const uint32_t* words, int64_t i, int64_t count) {
    uniform_float(words, out + i, count, static_cast<float>(from), static_cast<float>(to));
  });
}
void fill_uniform(Generator& g, double* out, int64_t n, double from, double to) {
  for_words(g, n, 2, [&](const uint32_t* words, int64_t i, int64_t count) { uniform_double(words, out + i, count, from, to); });
}
// A number that rounds up to the excluded bound becomes the included one.
template <class H> void fill_uniform(Generator& g, H* out, int64_t n, double from, double to) {
  H low(static_cast<float>(from)), high(static_cast<float>(to));
  float wide[kDrawWords];
  for_words(g, n, 1, [&](const uint32_t* words, int64_t i, int64_t count) {
    uniform_float(words, wide, count, static_cast<float>(from), static_cast<float>(to));
    for (int64_t k = 0; k < count; k++) {
      H value(wide[k]);
      out[i + k] = value.bits == high.bits ? low : value;
    }
  });
}

// Pairs of sixteen: eight radii and eight angles give sixteen normal numbers. The fused steps are those of PyTorch's build.
void box_muller(double* data, int64_t n, double mean, double std) {
  parallel_for(0, n / 16, 1024, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; b++)
      for (int64_t j = 0; j < 8; j++) {
        double* d = data + 16 * b + j;
        double radius = std::sqrt(-2.0 * std::log(1.0 - d[0])), angle = 2.0 * 3.141592653589793 * d[8];
        d[0] = std::fma(radius * std::cos(angle), std, mean);
        d[8] = std::fma(radius * std::sin(angle), std, mean);
      }
  });
}
void box_muller(float* data, int64_t n, double mean, double std) {
  parallel_for(0, n / 16, 2048, [&](int64_t begin, int64_t end) {
    box_muller_float(data + 16 * begin, 16 * (end - begin), static_cast<float>(mean), static_cast<float>(std));
  });
}

// n >= 16. A last incomplete block is completed by drawing the last sixteen numbers anew.
template <class T> void fill_normal(Generator& g, T* out, int64_t n, double mean, double std) {
  fill_uniform(g, out, n, 0.0, 1.0);
  box_muller(out, n / 16 * 16, mean, std);
  if (n % 16 == 0) return;
  fill_uniform(g, out + n - 16, 16, 0.0, 1.0);
  box_muller(out + n - 16, 16, mean, std);
}
// In float32; here the incomplete block is never drawn a first time.
template <class H> void fill_normal_narrow(Generator& g, H* out, int64_t n, double mean, double std) {
  float wide[kDrawWords];
  auto write = [&](H* to, int64_t count) {
    fill_uniform(g, wide, count, 0.0, 1.0);
    box_muller(wide, count, mean, std);
    for (int64_t i = 0; i < count; i++) to[i] = H(wide[i]);
  };
  int64_t whole = n / 16 * 16;
  for (int64_t i = 0; i < whole; i += kDrawWords) write(out + i, std::min(kDrawWords, whole - i));
  if (n != whole) write(out + n - 16, 16);
}
void fill_normal(Generator& g, Half* out, int64_t n, double mean, double std) { fill_normal_narrow(g, out, n, mean, std); }
void fill_normal(Generator& g, BFloat16* out, int64_t n, double mean, double std) { fill_normal_narrow(g, out, n, mean, std); }

template <class T> T narrow(double v) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return T(static_cast<float>(v));
  else
    return static_cast<T>(v);
}

void check_float(const char* op, const Tensor& self) {
  TRINE_CHECK_IMPLEMENTED(is_differentiable(self.dtype()), op, ": not implemented for ", self.dtype(), "; expected a floating point tensor");
}

template <class F> void transform(const char* op, const Tensor& self, Generator* generator, F&& f) {
  check_writable(op, self);
  Generator& g = generator_or_default(generator);
  std::lock_guard lock(g.mutex());
  TRINE_DISPATCH_FLOATING(self.dtype(), op, fill_in_memory_order<scalar_t>(self, [&](scalar_t* out) { map_doubles(g, out, self.numel(), f); }));
}

}  // namespace

void uniform_(const Tensor& self, double from, double to, Generator* generator) {
  check_float("uniform_", self);
  check_writable("uniform_", self);
  TRINE_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from, " > to=", to);
  Generator& g = generator_or_default(generator);
  std::lock_guard lock(g.mutex());
  as_real(self, [&](const Tensor& real) {
    TRINE_DISPATCH_FLOATING(real.dtype(), "uniform_", {
      double limit = sizeof(scalar_t) == 8 ? std::numeric_limits<double>::max() : sizeof(scalar_t) == 4 ? std::numeric_limits<float>::max()
                     : real.dtype() == DType::Half ? 65504.0 : 3.38953138925153547590e38;
      TRINE_CHECK(from >= -limit && to <= limit && to - from <= limit, "uniform_ expects to-from <= ", limit, " (the range of ", real.dtype(), "), but found from=", from,
                  " and to=", to);
      fill_in_memory_order<scalar_t>(real, [&](scalar_t* out) { fill_uniform(g, out, real.numel(), from, to); });
    });
  });
}

void normal_(const Tensor& self, double mean, double std, Generator* generator) {
  check_float("normal_", self);
  check_writable("normal_", self);
  TRINE_CHECK(std >= 0.0, "normal_ expects std >= 0.0, but found std ", std);
  if (self.is_complex()) std /= std::sqrt(2.0);  // the two parts share the variance
  Generator& g = generator_or_default(generator);
  std::lock_guard lock(g.mutex());
  as_real(self, [&](const Tensor& real) {
    TRINE_DISPATCH_FLOATING(real.dtype(), "normal_", {
      if (real.numel() >= 16 && real.is_contiguous()) {
        fill_normal(g, real.data<scalar_t>(), real.numel(), mean, std);
      } else {
        fill_in_memory_order<scalar_t>(real, [&](scalar_t* out) {
          for (int64_t i = 0; i < real.numel(); i++) out[i] = narrow<scalar_t>(std::fma(g.normal_double(), std, mean));
        });
      }
    });
  });
}

void exponential_(const Tensor& self, double lambd, Generator* generator) {
  TRINE_CHECK(self.is_floating(), "exponential_: the exponential distribution is continuous, expected a floating point tensor, got ", self.dtype());
  TRINE_CHECK(lambd > 0.0, "exponential_ expects lambda > 0.0, but found lambda=", lambd);
  if (self.dtype() != DType::Float) return transform("exponential_", self, generator, [=](double u) { return -1.0 / lambd * std::log1p(-u); });
  check_writable("exponential_", self);
  Generator& g = generator_or_default(generator);
  std::lock_guard lock(g.mutex());
  fill_in_memory_order<float>(self, [&](float* out) {
    for_words(g, self.numel(), 2, [&](const uint32_t* words, int64_t i, int64_t count) { exponential_float(words, out + i, count, lambd); });
  });
}

void cauchy_(const Tensor& self, double median, double sigma, Generator* generator) {
  TRINE_CHECK(self.is_floating(), "cauchy_: the Cauchy distribution is continuous, expected a floating point tensor, got ", self.dtype());
  TRINE_CHECK(sigma > 0.0, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  transform("cauchy_", self, generator, [=](double u) { return std::fma(sigma, std::tan(3.141592653589793 * (u - 0.5)), median); });
}

void geometric_(const Tensor& self, double p, Generator* generator) {
  TRINE_CHECK(p > 0.0 && p < 1.0, "geometric_ expects p to be in (0, 1), but got p=", p);
  check_writable("geometric_", self);
  Generator& g = generator_or_default(generator);
  std::lock_guard lock(g.mutex());
  double scale = std::log(1.0 - p);
  TRINE_DISPATCH_REAL(self.dtype(), "geometric_", fill_in_memory_order<scalar_t>(self, [&](scalar_t* out) {
                        map_doubles(g, out, self.numel(), [=](double u) { return std::ceil(std::log(u) / scale); });
                      }));
}

void log_normal_(const Tensor& self, double mean, double std, Generator* generator) {
  TRINE_CHECK_IMPLEMENTED(self.is_floating(), "log_normal_: expected a floating point tensor, got ", self.dtype());
  TRINE_CHECK(std > 0.0, "log_normal_ expects std > 0.0, but found std=", std);
  check_writable("log_normal_", self);
  Generator& g = generator_or_default(generator);
  std::lock_guard lock(g.mutex());
  TRINE_DISPATCH_FLOATING(self.dtype(), "log_normal_", fill_in_memory_order<scalar_t>(self, [&](scalar_t* out) {
                            for (int64_t i = 0; i < self.numel(); i++) out[i] = narrow<scalar_t>(std::exp(std::fma(g.normal_double(), std, mean)));
                          }));
}

}  // namespace trine::cpu
