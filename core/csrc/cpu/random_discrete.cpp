// Random integers, coins, permutations and draws by weight: PyTorch's streams (see random.cpp).
#include <cmath>
#include <limits>

#include "cpu/random_draw.h"
#include "cpu/scratch.h"
#include "dispatch/structured.h"
#include "trine/kernels.h"

namespace trine::cpu {
namespace {

// From this range on numbers are made of two words, so that the remainder is not visibly uneven.
constexpr uint64_t kTwoWordRange = uint64_t{1} << 28;

inline uint64_t pair(const uint32_t* words, int64_t i) { return static_cast<uint64_t>(words[2 * i]) << 32 | words[2 * i + 1]; }

// An integer as an element; bool and complex included.
template <class T> T element(int64_t v) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return T(static_cast<float>(v));
  else
    return static_cast<T>(v);
}

// base + bits mod range; range 0 stands for 2^64.
template <class T> void fill_integers(Generator& g, T* out, int64_t n, uint64_t range, int64_t base) {
  if (range != 0 && range < kTwoWordRange) {
    int64_t values[kDrawWords];
    for_words(g, n, 1, [&](const uint32_t* words, int64_t first, int64_t count) {
      random_int64(words, values, count, static_cast<uint32_t>(range), base);
      for (int64_t i = 0; i < count; i++) out[first + i] = element<T>(values[i]);
    });
    return;
  }
  for_words(g, n, 2, [&](const uint32_t* words, int64_t first, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
      uint64_t bits = pair(words, i);
      out[first + i] = element<T>(static_cast<int64_t>((range ? bits % range : bits) + static_cast<uint64_t>(base)));
    }
  });
}

// The largest integer up to which all are exact.
int64_t largest_exact(DType t) {
  switch (t) {
    case DType::Bool: return 1;
    case DType::UInt8: return 255;
    case DType::Int8: return 127;
    case DType::Int16: return 32767;
    case DType::Int32: return std::numeric_limits<int32_t>::max();
    case DType::Half: return 1 << 11;
    case DType::BFloat16: return 1 << 8;
    case DType::Float: return 1 << 24;
    case DType::Double: return int64_t{1} << 53;
    default: return std::numeric_limits<int64_t>::max();
  }
}

template <class T> void fill_bernoulli(Generator& g, T* out, int64_t n, double p) {
  uint8_t coins[kDrawWords / 2];
  for_words(g, n, 2, [&](const uint32_t* words, int64_t first, int64_t count) {
    if constexpr (std::is_same_v<T, float>) {
      bernoulli_float(words, out + first, count, p);
    } else if constexpr (sizeof(T) == 1) {
      bernoulli_bytes(words, reinterpret_cast<uint8_t*>(out + first), count, p);
    } else {
      bernoulli_bytes(words, coins, count, p);
      for (int64_t i = 0; i < count; i++) out[first + i] = element<T>(coins[i]);
    }
  });
}

// Knuth's product of uniforms for small rates, else Hoermann's transformed rejection PTRS (Insurance: Mathematics and
// Economics 12, 1993).
int64_t sample_poisson(double rate, Generator& g) {
  if (rate == 0) return 0;
  if (rate < 10) {
    double limit = std::exp(-rate), product = 1.0;
    for (int64_t k = 0;; k++) {
      product *= g.uniform_double();
      if (!(product > limit)) return k;
    }
  }
  double root = std::sqrt(rate), log_rate = std::log(rate);
  double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), vr = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    double u = g.uniform_double() - 0.5, v = g.uniform_double();
    double us = 0.5 - std::fabs(u);
    auto k = static_cast<int64_t>(std::floor((2 * a / us + b) * u + rate + 0.43));
    if (us >= 0.07 && v <= vr) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <= -rate + static_cast<double>(k) * log_rate - std::lgamma(static_cast<double>(k) + 1)) return k;
  }
}

// Draws by weight with replacement: the cumulated weights are searched for each uniform number.
template <class T> void draw_with_replacement(Generator& g, const T* weights, int64_t categories, int64_t samples, int64_t* out) {
  using Sum = std::conditional_t<is_reduced_floating(dtype_v<T>), float, T>;
  Scratch<Sum> cumulated(categories);
  Sum sum(0);
  for (int64_t i = 0; i < categories; i++) cumulated[i] = sum += static_cast<Sum>(weights[i]);
  TRINE_CHECK(sum > 0, "multinomial: invalid distribution (sum of probabilities <= 0)");
  for (int64_t i = 0; i < categories; i++) cumulated[i] /= sum;
  cumulated[categories - 1] = 1;
  for (int64_t s = 0; s < samples; s++) {
    double u = g.uniform_double();
    out[s] = std::lower_bound(cumulated.data(), cumulated.data() + categories, u, [](Sum c, double v) { return static_cast<double>(c) < v; }) - cumulated.data();
  }
}

// Draws without replacement: the largest of weight / exponential noise, in falling order.
template <class T> void draw_largest(const T* weights, T* noise, int64_t categories, int64_t samples, int64_t* out, int64_t* order) {
  for (int64_t i = 0; i < categories; i++) {
    noise[i] = T(weights[i] / noise[i]);
    order[i] = i;
  }
  std::partial_sort(order, order + samples, order + categories, [&](int64_t x, int64_t y) { return noise[x] > noise[y] || (noise[x] == noise[y] && x < y); });
  std::copy(order, order + samples, out);
}

}  // namespace

void random_from_to(const Tensor& self, int64_t from, std::optional<int64_t> to, Generator* generator) {
  TRINE_CHECK(!self.is_complex(), "random_: check_random_bounds handles only integral, floating-point and boolean types");
  check_writable("random_", self);
  Generator& g = generator_or_default(generator);
  uint64_t range;
  int64_t base = from;
  if (to) {
    TRINE_CHECK(from < *to, "random_ expects 'from' to be less than 'to', but got from=", from, " >= to=", *to);
    range = static_cast<uint64_t>(*to) - static_cast<uint64_t>(from);
  } else {
    bool everything = from == std::numeric_limits<int64_t>::min();  // all bit patterns, as they come
    base = everything ? 0 : from;
    range = everything ? 0 : static_cast<uint64_t>(largest_exact(self.dtype())) - static_cast<uint64_t>(from) + 1;
  }
  if (is_integral(self.dtype(), true) && self.dtype() != DType::Int64) {
    int64_t high = largest_exact(self.dtype()), low = is_signed(self.dtype()) ? -high - 1 : 0;
    TRINE_CHECK(from >= low && from <= high, "random_: from=", from, " is out of bounds for ", self.dtype());
    TRINE_CHECK(!to || (*to - 1 >= low && *to - 1 <= high), "random_: to - 1 = ", to.value_or(0) - 1, " is out of bounds for ", self.dtype());
  }
  std::lock_guard lock(g.mutex());
  TRINE_DISPATCH_REAL(self.dtype(), "random_", fill_in_memory_order<scalar_t>(self, [&](scalar_t* out) { fill_integers(g, out, self.numel(), range, base); }));
}

void random_full(const Tensor& self, Generator* generator) {
  check_writable("random_", self);
  Generator& g = generator_or_default(generator);
  std::lock_guard lock(g.mutex());
  uint64_t range = static_cast<uint64_t>(largest_exact(self.dtype())) + 1;
  bool one_word = itemsize(self.dtype()) < 8;  // whatever the range
  TRINE_DISPATCH_REAL(self.dtype(), "random_", fill_in_memory_order<scalar_t>(self, [&](scalar_t* out) {
                        for_words(g, self.numel(), one_word ? 1 : 2, [&](const uint32_t* words, int64_t first, int64_t count) {
                          for (int64_t i = 0; i < count; i++) out[first + i] = element<scalar_t>(static_cast<int64_t>((one_word ? words[i] : pair(words, i)) % range));
                        });
                      }));
}

void bernoulli_number(const Tensor& self, double p, Generator* generator) {
  check_writable("bernoulli_", self);
  TRINE_CHECK(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  Generator& g = generator_or_default(generator);
  std::lock_guard lock(g.mutex());
  TRINE_DISPATCH_REAL(self.dtype(), "bernoulli_", fill_in_memory_order<scalar_t>(self, [&](scalar_t* out) { fill_bernoulli(g, out, self.numel(), p); }));
}

void bernoulli_tensor(const Tensor& self, const Tensor& p, Generator* generator) {
  check_writable("bernoulli_", self);
  TRINE_CHECK_IMPLEMENTED(p.is_floating(), "bernoulli_: expected probabilities of a floating point dtype, got ", p.dtype());
  Generator& g = generator_or_default(generator);
  // In the order of self's memory; float32 weights are met with one word, float64 ones with two.
  bool two_words = p.dtype() == DType::Double;
  Tensor ordered = permuted_view(expand_to(p, self.sizes()), memory_order(self));
  Tensor probabilities = empty(ordered.sizes(), two_words ? DType::Double : DType::Float);
  convert_copy(probabilities, ordered);
  auto check = [](double v) { TRINE_CHECK(v >= 0 && v <= 1, "bernoulli_ expects all probabilities to be in [0, 1], but got p=", v); };
  std::lock_guard lock(g.mutex());
  TRINE_DISPATCH_REAL(self.dtype(), "bernoulli_", fill_in_memory_order<scalar_t>(self, [&](scalar_t* out) {
                        for_words(g, self.numel(), two_words ? 2 : 1, [&](const uint32_t* words, int64_t first, int64_t count) {
                          for (int64_t i = 0; i < count; i++) {
                            double u = two_words ? static_cast<double>(pair(words, i) & ((uint64_t{1} << 53) - 1)) * 0x1p-53 : static_cast<double>(words[i] & 0xffffff) * 0x1p-24;
                            double v = two_words ? probabilities.data<double>()[first + i] : probabilities.data<float>()[first + i];
                            check(v);
                            out[first + i] = element<scalar_t>(u < v);
                          }
                        });
                      }));
}

bool is_nonnegative(const Tensor& self) {
  Tensor values = empty(self.sizes(), DType::Double);
  convert_copy(values, self);
  const double* v = values.data<double>();
  return std::all_of(v, v + values.numel(), [](double x) { return x >= 0; });
}

// A Fisher-Yates shuffle; beyond kWide elements one word would favour the low positions.
void randperm_(const Tensor& self, Generator* generator) {
  check_writable("randperm", self);
  int64_t n = self.numel();
  TRINE_CHECK(n == 0 || n - 1 <= largest_exact(self.dtype()), "randperm: n=", n, " does not fit into ", self.dtype());
  TRINE_CHECK_IMPLEMENTED(self.dtype() != DType::Bool && !self.is_complex(), "randperm: not implemented for ", self.dtype());
  Generator& g = generator_or_default(generator);
  constexpr int64_t kWide = std::numeric_limits<uint32_t>::max() / 20;
  bool one_word = n < kWide;
  std::lock_guard lock(g.mutex());
  TRINE_DISPATCH_REAL(self.dtype(), "randperm", fill_in_memory_order<scalar_t>(self, [&](scalar_t* out) {
                        for (int64_t i = 0; i < n; i++) out[i] = element<scalar_t>(i);
                        for_words(g, n - 1, one_word ? 1 : 2, [&](const uint32_t* words, int64_t first, int64_t count) {
                          for (int64_t k = 0; k < count; k++) {
                            int64_t i = first + k;
                            uint64_t left = static_cast<uint64_t>(n - i);
                            uint64_t step = one_word ? words[k] % static_cast<uint32_t>(left) : pair(words, k) % left;
                            std::swap(out[i], out[i + static_cast<int64_t>(step)]);
                          }
                        });
                      }));
}

void poisson(Tensor& out, const Tensor& self, Generator* generator) {
  Dims order = memory_order(out);
  Tensor ordered = permuted_view(self, order), rates = empty(ordered.sizes(), DType::Double);
  convert_copy(rates, ordered);
  Generator& g = generator_or_default(generator);
  std::lock_guard lock(g.mutex());
  TRINE_DISPATCH_FLOATING(self.dtype(), "poisson", fill_in_memory_order<scalar_t>(out, [&](scalar_t* to) {
                            for (int64_t i = 0; i < out.numel(); i++) {
                              double rate = rates.data<double>()[i];
                              TRINE_CHECK(rate >= 0, "poisson: expected rates >= 0, got ", rate);
                              to[i] = element<scalar_t>(sample_poisson(rate, g));
                            }
                          }));
}

void multinomial(Tensor& out, const Tensor& self, int64_t num_samples, bool replacement, Generator* generator) {
  int64_t categories = self.size(-1), rows = self.dim() == 2 ? self.size(0) : 1;
  Tensor weights = empty(self.sizes(), self.dtype()), drawn = empty(out.sizes(), DType::Int64);
  convert_copy(weights, self);
  Generator& g = generator_or_default(generator);
  TRINE_DISPATCH_FLOATING(self.dtype(), "multinomial", {
    const scalar_t* w = weights.data<scalar_t>();
    for (int64_t i = 0; i < weights.numel(); i++) {
      float v = static_cast<float>(w[i]);
      TRINE_CHECK(v >= 0 && v < std::numeric_limits<float>::infinity(), "multinomial: probability tensor contains either `inf`, `nan` or element < 0");
    }
    if (replacement && num_samples > 1) {
      std::lock_guard lock(g.mutex());
      for (int64_t r = 0; r < rows; r++) draw_with_replacement(g, w + r * categories, categories, num_samples, drawn.data<int64_t>() + r * num_samples);
    } else {
      for (int64_t r = 0; r < rows; r++)
        TRINE_CHECK(std::any_of(w + r * categories, w + (r + 1) * categories, [](scalar_t v) { return static_cast<float>(v) > 0; }),
                    "multinomial: invalid distribution (sum of probabilities <= 0)");
      Tensor noise = empty(self.sizes(), self.dtype());
      cpu::exponential_(noise, 1.0, &g);
      Scratch<int64_t> order(categories);
      for (int64_t r = 0; r < rows; r++)
        draw_largest(w + r * categories, noise.data<scalar_t>() + r * categories, categories, num_samples, drawn.data<int64_t>() + r * num_samples, order.data());
    }
  });
  convert_copy(out, drawn);
}

}  // namespace trine::cpu
