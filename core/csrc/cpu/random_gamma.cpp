// Gamma, Dirichlet and binomial numbers, in PyTorch's streams (see random.cpp), and how gamma and beta numbers move with their parameters.
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "cpu/random_draw.h"
#include "dispatch/structured.h"
#include "math/math.h"
#include "trine/kernels.h"

namespace trine::cpu {
namespace {

// Inputs, broadcast to `out`, as double in the order of its memory.
template <size_t N> struct Ordered {
  Ordered(const Tensor& out, const std::array<const Tensor*, N>& inputs) {
    Dims order = memory_order(out);
    for (size_t k = 0; k < N; k++) {
      Tensor view = permuted_view(expand_to(*inputs[k], out.sizes()), order);
      values[k] = empty(view.sizes(), DType::Double);
      convert_copy(values[k], view);
      data[k] = values[k].template data<double>();
    }
  }
  std::array<Tensor, N> values;
  std::array<const double*, N> data;
};

// Calls fill(out's elements) with out's type, float or double.
template <class F> void fill_floats(const Tensor& out, F&& fill) {
  if (out.dtype() == DType::Double)
    fill_in_memory_order<double>(out, fill);
  else
    fill_in_memory_order<float>(out, fill);
}

// Marsaglia and Tsang, A simple method for generating gamma variables (ACM TOMS 26, 2000). Shapes below one are raised by one, and
// the number is multiplied by a power of a uniform one. T is the result's type, in which PyTorch's stream rounds the parameters, after
// a third in float precision.
template <class T> T sample_gamma(T shape, Generator& g) {
  if (!(shape > 0)) return 0;
  double scale = 1;
  if (shape < 1) {
    scale = std::pow(1 - g.uniform_double(), static_cast<double>(1 / shape));
    shape += 1;
  }
  double d = static_cast<double>(shape - T(1.0f / 3.0f)), c = 1 / std::sqrt(9 * d);
  for (;;) {
    double x, y;
    do {
      x = g.normal_double();
      y = 1 + c * x;
    } while (y <= 0);
    double v = y * y * y, u = 1 - g.uniform_double(), xx = x * x;
    if (u < 1 - static_cast<double>(0.0331f) * xx * xx || std::log(u) < 0.5 * xx + d * (1 - v + std::log(v))) return static_cast<T>(scale * d * v);
  }
}

// lgamma(k + 1) beyond Stirling's formula for k + 1/2.
double stirling_rest(double k) {
  static constexpr double kSmall[] = {0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
                                      0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return kSmall[static_cast<int>(k)];
  double next = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / next) / next) / (k + 1);
}

// Successes in few trials: the gaps between them are geometric.
double count_gaps(double count, double p, Generator& g) {
  double log_failure = std::log1p(-p), trials = 0, successes = 0;
  for (;; successes += 1) {
    trials += std::ceil(std::log(g.uniform_double()) / log_failure);
    if (trials > count) return successes;
  }
}

// Transformed rejection with squeeze, BTRS (Hoermann, Journal of Statistical Computation and Simulation 46, 1993), for count * p >= 10, p <= 1/2.
// Products of the two parameters are rounded to the result's type, as in PyTorch's stream.
template <class T> double reject_binomial(T count, T p, Generator& g) {
  double deviation = std::sqrt(static_cast<double>(count * p * (1 - p)));
  double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * static_cast<double>(p), center = static_cast<double>(count * p) + 0.5;
  double squeeze = 0.92 - 4.2 / b, odds = static_cast<double>(p / (1 - p)), alpha = (2.83 + 5.1 / b) * deviation, mode = static_cast<double>(std::floor((count + 1) * p));
  double n = static_cast<double>(count);
  for (;;) {
    double u = g.uniform_double() - 0.5, v = g.uniform_double();
    double us = 0.5 - std::fabs(u), k = std::floor((2 * a / us + b) * u + center);
    if (us >= 0.07 && v <= squeeze) return k;
    if (k < 0 || k > n) continue;
    v = std::log(v * alpha / (a / (us * us) + b));
    double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (n - mode + 1))) + (n + 1) * std::log((n - mode + 1) / (n - k + 1)) +
              (k + 0.5) * std::log(odds * (n - k + 1) / (k + 1)) + stirling_rest(mode) + stirling_rest(n - mode) - stirling_rest(k) -
              stirling_rest(n - k);
    if (v <= bound) return k;
  }
}

template <class T> T sample_binomial(T count, T p, Generator& g) {
  if (count <= 0 || p <= 0) return 0;
  if (p >= 1) return count;
  if (p != p || count != count || std::isinf(count)) return std::numeric_limits<T>::quiet_NaN();
  T rarer = p <= T(0.5) ? p : 1 - p;
  T drawn = static_cast<T>(count * rarer >= 10 ? reject_binomial(count, rarer, g) : count_gaps(static_cast<double>(count), static_cast<double>(rarer), g));
  return p <= T(0.5) ? drawn : count - drawn;
}

// The relative size of a term after which series end: results in float are worth nine digits.
template <class T> constexpr double kSeriesPrecision = std::is_same_v<T, float> ? 1e-9 : 1e-15;

// How far the quantiles z of Gamma(a, 1) move with a: -(dF/da) / (dF/dz) (Figurnov, Mohamed and Mnih, Implicit reparameterization
// gradients, 2018). With t = z s the two sides of the integral of pdf(t) (log t - digamma(a)) over [0, z] and [z, inf) are
//     -z ((log z - digamma(a)) A + dA/da),   A = integral of s^(a-1) exp(z (1 - s)) over [0, 1] = sum of z^n / (a (a+1) ... (a+n))
//     +z ((log z - digamma(a)) B + dB/da),   B = the same over [1, inf), a continued fraction
// of which the first is taken below the mean and the second above it, where neither cancels.
double gamma_motion(double a, double z, double precision) {
  if (!(a > 0) || !(z >= 0) || std::isinf(a) || std::isinf(z)) return math::nan<double>;
  if (z == 0) return 0;
  if (a > 1e5) {  // Cornish and Fisher's expansion: z = a + w sqrt(a) + (w^2 - 1) / 3 + (w^3 - 7 w) / (36 sqrt(a)) + ...
    double root = std::sqrt(a), w = (z - a) / root;
    for (int i = 0; i < 8; i++) w = (z - a - (w * w - 1) / 3 - (w * w * w - 7 * w) / (36 * root)) / root;
    return 1 + w / (2 * root) - (w * w * w - 7 * w) / (72 * a * root);
  }
  double offset = std::log(z) - math::digamma(a);
  if (z <= a + 1) {
    double term = 1 / a, harmonic = 1 / a, sum = term, slope = -term * harmonic;
    for (double n = a + 1; term * harmonic > precision * std::fabs(slope) || term > precision * sum; n += 1) {
      double reciprocal = 1 / n;
      term *= z * reciprocal;
      harmonic += reciprocal;
      sum += term;
      slope -= term * harmonic;
    }
    return -z * (offset * sum + slope);
  }
  // Lentz's method, with the derivatives by a beside the values.
  double b = z + 1 - a, c = 1e300, dc = 0, d = 1 / b, dd = d * d, h = d, dh = dd;
  for (double i = 1; i < 1e5; i += 1) {
    double numerator = -i * (i - a);  // its derivative is i, that of b is -1
    b += 2;
    double x = numerator * d + b, dx = i * d + numerator * dd - 1;
    dc = -1 + (i - numerator * dc / c) / c;
    c = b + numerator / c;
    d = 1 / x;
    dd = -dx * d * d;
    double change = d * c, dchange = dd * c + d * dc;
    dh = dh * change + h * dchange;
    h *= change;
    if (std::fabs(change - 1) < precision && std::fabs(h * dchange) < precision * std::fabs(dh)) break;
  }
  return z * (offset * h + dh);
}

// The same for quantiles x of Beta(a, b) as a grows; `below` and `above` are the two sides of the integral. With t = x s
//     A = integral of s^(a-1) ((1 - x s) / (1 - x))^(b-1) over [0, 1] = (1 - x) sum of (a+b)_n / (a)_(n+1) x^n,
// and its mirror image for the side above x, where only (1 - y s)^(a-1) depends on a.
double beta_motion(double x, double a, double b, double precision) {
  if (!(a > 0) || !(b > 0) || !(x >= 0 && x <= 1)) return math::nan<double>;
  if (x == 0 || x == 1) return 0;
  double total = a + b, mean = a / total, y = 1 - x, offset = std::log(x) - math::digamma(a) + math::digamma(total);
  bool below = x <= mean, slow = (below ? x : y) > 0.98;
  // A series that hardly converges gives way to the other side's, unless that one would be a difference of nearly equal numbers.
  if (slow && std::fabs(x - mean) < 6 * std::sqrt(mean * (1 - mean) / (total + 1))) below = !below;
  double first = below ? a : b, argument = below ? x : y;
  double term = (below ? y : x) / first, rate = below ? -1 / a : 0, sum = term, slope = term * rate;
  for (double n = 0; n < 1e7; n += 1) {
    term *= (total + n) / (first + 1 + n) * argument;
    rate += 1 / (total + n) - (below ? 1 / (a + 1 + n) : 0);
    sum += term;
    slope += term * rate;
    bool falling = (total + n + 1) * argument < first + 2 + n;
    if (falling && term < precision * sum * (1 - argument) && std::fabs(term * rate) <= precision * std::fabs(slope) * (1 - argument)) break;
  }
  double integral = offset * sum + slope;
  return below ? -x * integral : y * integral;
}

}  // namespace

void standard_gamma(Tensor& out, const Tensor& self, Generator* generator) {
  Ordered<1> in(out, {&self});
  Generator& g = generator_or_default(generator);
  std::lock_guard lock(g.mutex());
  fill_floats(out, [&]<class T>(T* to) {
    // Zero would have no logarithm.
    for (int64_t i = 0; i < out.numel(); i++) to[i] = std::max(std::numeric_limits<T>::min(), sample_gamma(static_cast<T>(in.data[0][i]), g));
  });
}

void sample_dirichlet(Tensor& out, const Tensor& self, Generator* generator) {
  Tensor shapes = empty(self.sizes(), DType::Double), drawn = empty(self.sizes(), DType::Double);
  convert_copy(shapes, self);
  Generator& g = generator_or_default(generator);
  int64_t n = self.dim() ? self.size(-1) : 1;
  bool wide = self.dtype() == DType::Double;
  {
    std::lock_guard lock(g.mutex());
    for (int64_t i = 0; i < self.numel(); i++) drawn.data<double>()[i] = sample_gamma(shapes.data<double>()[i], g);
  }
  // Neither zero nor one: both have no log-density.
  double smallest = wide ? std::numeric_limits<double>::min() : static_cast<double>(std::numeric_limits<float>::min()), largest = 1 - (wide ? 0x1p-53 : 0x1p-24);
  for (int64_t row = 0; row < self.numel(); row += n) {
    double *p = drawn.data<double>() + row, sum = 0;
    for (int64_t i = 0; i < n; i++) sum += p[i];
    for (int64_t i = 0; i < n; i++) p[i] = std::min(largest, std::max(smallest, p[i] / sum));
  }
  convert_copy(out, drawn);
}

void binomial(Tensor& out, const Tensor& count, const Tensor& prob, Generator* generator) {
  Ordered<2> in(out, {&count, &prob});
  Generator& g = generator_or_default(generator);
  std::lock_guard lock(g.mutex());
  fill_floats(out, [&]<class T>(T* to) {
    for (int64_t i = 0; i < out.numel(); i++) to[i] = sample_binomial(static_cast<T>(in.data[0][i]), static_cast<T>(in.data[1][i]), g);
  });
}

void standard_gamma_grad(Tensor& out, const Tensor& self, const Tensor& output) {
  Ordered<2> in(out, {&self, &output});
  fill_floats(out, [&]<class T>(T* to) {
    parallel_for(0, out.numel(), 256, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) to[i] = static_cast<T>(gamma_motion(in.data[0][i], in.data[1][i], kSeriesPrecision<T>));
    });
  });
}

void dirichlet_grad(Tensor& out, const Tensor& x, const Tensor& alpha, const Tensor& total) {
  Ordered<3> in(out, {&x, &alpha, &total});
  fill_floats(out, [&]<class T>(T* to) {
    parallel_for(0, out.numel(), 256, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        double at = in.data[0][i], shape = in.data[1][i];
        to[i] = static_cast<T>(beta_motion(at, shape, in.data[2][i] - shape, kSeriesPrecision<T>) / (1 - at));
      }
    });
  });
}

}  // namespace trine::cpu
