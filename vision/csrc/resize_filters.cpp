#include "resize_filters.h"

#include <algorithm>
#include <cmath>

namespace trine::vision {
namespace {

constexpr double kPi = 3.14159265358979323846;

double sinc(double x) { return x == 0.0 ? 1.0 : std::sin(x * kPi) / (x * kPi); }

double box(double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }

double triangle(double x) { return std::max(0.0, 1.0 - std::abs(x)); }

double hamming(double x) {
  x = std::abs(x);
  if (x == 0.0) return 1.0;
  return x < 1.0 ? sinc(x) * (0.54f + 0.46f * std::cos(kPi * x)) : 0.0;
}

// Keys' cubic convolution with a = -0.5.
double cubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
  return x < 2.0 ? (((x - 5.0) * x + 8.0) * x - 4.0) * a : 0.0;
}

double lanczos3(double x) { return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0; }

struct Shape {
  double (*value)(double);
  double support;
};

Shape shape_of(ResizeFilter filter) {
  switch (filter) {
    case ResizeFilter::bicubic: return {cubic, 2.0};
    case ResizeFilter::lanczos: return {lanczos3, 3.0};
    case ResizeFilter::box: return {box, 0.5};
    case ResizeFilter::hamming: return {hamming, 1.0};
    default: return {triangle, 1.0};
  }
}

int32_t to_fixed(double weight) {
  const double scaled = weight * (1 << kWeightBits);
  return static_cast<int32_t>(scaled < 0.0 ? scaled - 0.5 : scaled + 0.5);
}

}  // namespace

WeightTable make_weights(size_t source_size, double begin, double end, size_t target_size, ResizeFilter filter) {
  const Shape shape = shape_of(filter);
  const double scale = (end - begin) / static_cast<double>(target_size);
  const double stretch = std::max(scale, 1.0);  // downscaling widens the filter: this is the antialiasing
  const double shrink = 1.0 / stretch;
  const double support = shape.support * stretch;
  const int limit = static_cast<int>(source_size);

  WeightTable table;
  table.taps = static_cast<int>(std::ceil(support)) * 2 + 1;
  table.first.resize(target_size);
  table.count.resize(target_size);
  table.weights.assign(target_size * static_cast<size_t>(table.taps), 0);

  std::vector<double> line(static_cast<size_t>(table.taps));
  for (size_t i = 0; i < target_size; ++i) {
    const double center = begin + (static_cast<double>(i) + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(center - support + 0.5));
    const int count = std::min(limit, static_cast<int>(center + support + 0.5)) - first;
    double sum = 0.0;
    for (int t = 0; t < count; ++t) {
      const double weight = shape.value((t + first - center + 0.5) * shrink);
      line[static_cast<size_t>(t)] = weight;
      sum += weight;
    }
    int32_t* out = &table.weights[i * static_cast<size_t>(table.taps)];
    for (int t = 0; t < count; ++t) {
      const double weight = line[static_cast<size_t>(t)];
      out[t] = to_fixed(sum != 0.0 ? weight / sum : weight);
    }
    table.first[i] = first;
    table.count[i] = count;
  }
  return table;
}

}  // namespace trine::vision
