// Quantiles, histograms, membership, combinations.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "composite/helpers.h"
#include "dispatch/tensor_operators.h"
#include "tensor/promotion.h"
#include "trine/kernels.h"

namespace trine::composite {
namespace {

// Ranks are whole numbers or lie between two of them: `rank` has the last dimension of q, `sorted` that of the values.
Tensor at_ranks(const Tensor& sorted, const Tensor& rank, std::string_view interpolation) {
  auto take = [&](const Tensor& index) { return gather(sorted, -1, to(index, DType::Int64)); };
  if (interpolation == "lower") return take(floor(rank));
  if (interpolation == "higher") return take(ceil(rank));
  if (interpolation == "nearest") return take(round(rank));
  Tensor below = floor(rank), above = ceil(rank);
  if (interpolation == "midpoint") return lerp(take(below), take(above), Scalar(0.5));
  return lerp(take(below), take(above), rank - below);
}

}  // namespace

Tensor quantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation, bool ignore_nan) {
  const char* op = ignore_nan ? "nanquantile" : "quantile";
  TRINE_CHECK(self.numel() > 0, op, "() input tensor must be non-empty");
  TRINE_CHECK(q.dim() <= 1, op, "() q must be a scalar or 1D tensor, got shape ", q.sizes());
  TRINE_CHECK(self.dtype() == DType::Float || self.dtype() == DType::Double, op, "() input tensor must be either float or double dtype, got ", name(self.dtype()));
  TRINE_CHECK(self.dtype() == q.dtype(), op, "() q tensor must be same dtype as the input tensor, got ", name(q.dtype()), " for ", name(self.dtype()));
  constexpr std::string_view kModes[] = {"linear", "lower", "higher", "midpoint", "nearest"};
  TRINE_CHECK(std::find(std::begin(kModes), std::end(kModes), interpolation) != std::end(kModes), op, "() interpolation must be one of linear, lower, higher, midpoint or nearest, but got ", interpolation);
  TRINE_CHECK(q.is_meta() || q.numel() == 0 || item(trine::all(bitwise_and(ge(q, wrapped_number(0.0)), le(q, wrapped_number(1.0))))).to<bool>(), op, "() q values must be in the range [0, 1]");
  Tensor values = dim ? trine::movedim(self, Dims{wrap_dim(*dim, self.dim())}, Dims{-1}) : trine::reshape(self, Dims{-1});
  if (dim && self.dim() == 0) values = trine::reshape(self, Dims{-1});
  Tensor sorted = std::get<0>(sort(values, -1, false));
  const int64_t n = sorted.size(-1), ranks = q.numel();
  Dims expanded(sorted.sizes());
  expanded.back() = ranks;
  Tensor nan = isnan(sorted), rank;
  Tensor points = trine::reshape(q, Dims{ranks});
  if (ignore_nan) {
    Tensor count = trine::sum(bitwise_not(nan), std::optional<DimsRef>(Dims{-1}), true);  // NaN sorts to the end
    rank = trine::clamp(points * (count - Scalar(1)), std::optional<Scalar>(0.0), std::optional<Scalar>());
  } else {
    rank = expand(points * Scalar(static_cast<double>(n - 1)), expanded);
    rank = where(trine::any(nan, std::optional<DimsRef>(Dims{-1}), true), trine::full_like(rank, Scalar(static_cast<double>(n - 1))), rank);
  }
  Tensor result = at_ranks(sorted, to(rank, self.dtype()), interpolation);
  // q's dimension comes first, as in PyTorch; a single q has none.
  if (!dim && keepdim) {
    Dims shape(static_cast<size_t>(self.dim()), 1);
    shape.push_back(ranks);
    result = trine::reshape(result, shape);
  } else if (keepdim) {
    result = trine::movedim(unsqueeze(result, -2), Dims{-2}, Dims{wrap_dim(*dim, self.dim())});
  }
  result = trine::movedim(result, Dims{-1}, Dims{0});
  return q.dim() == 0 ? trine::squeeze(result, Dims{0}) : result;
}

Tensor quantile_number(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation, bool ignore_nan) {
  TRINE_CHECK(q >= 0 && q <= 1, ignore_nan ? "nanquantile" : "quantile", "() q must be in the range [0, 1] but got ", q);
  return quantile(self, scalar_tensor_op(Scalar(q), self.dtype(), self.device()), dim, keepdim, interpolation, ignore_nan);
}

Tensor isin(const Tensor& elements, const Tensor& test_elements, bool, bool invert) {
  for (const Tensor& t : {elements, test_elements}) TRINE_CHECK(!t.is_complex(), "Unsupported input type encountered for isin(): ", legacy_name(t.dtype()));
  if (test_elements.numel() == 0) return trine::full(elements.sizes(), Scalar(invert), DType::Bool, elements.device());
  const DType t = result_type(elements, test_elements);
  Tensor known = std::get<0>(sort(trine::reshape(to(test_elements, t), Dims{-1}), -1, false)), asked = contiguous(to(elements, t));
  Tensor place = trine::clamp(searchsorted(known, asked), std::optional<Scalar>(), std::optional<Scalar>(known.numel() - 1));
  Tensor found = eq(trine::reshape(index_select(known, 0, trine::reshape(place, Dims{-1})), asked.sizes()), asked);
  return invert ? logical_not(found) : found;
}

Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  TRINE_CHECK(self.dim() == 1, "combinations: Expect a 1D vector, but got shape ", self.sizes());
  TRINE_CHECK(r >= 0, "combinations: Expect a non-negative number, but got ", r);
  if (r == 0) return empty_op(Dims{0}, self.dtype(), self.device());
  const int64_t n = self.numel();
  std::vector<int64_t> rows;
  std::vector<int64_t> chosen(static_cast<size_t>(r));
  for (int64_t i = 0; i < r; ++i) chosen[i] = with_replacement ? 0 : i;
  bool more = n > 0 && (with_replacement || r <= n);
  while (more) {
    rows.insert(rows.end(), chosen.begin(), chosen.end());
    int64_t at = r - 1;
    auto last = [&](int64_t i) { return with_replacement ? n - 1 : n - r + i; };
    while (at >= 0 && chosen[at] == last(at)) --at;
    more = at >= 0;
    if (!more) break;
    ++chosen[at];
    for (int64_t i = at + 1; i < r; ++i) chosen[i] = with_replacement ? chosen[at] : chosen[i - 1] + 1;
  }
  Tensor index = empty(Dims{static_cast<int64_t>(rows.size())}, DType::Int64);
  std::copy(rows.begin(), rows.end(), index.data<int64_t>());
  return trine::reshape(index_select(self, 0, index), Dims{static_cast<int64_t>(rows.size()) / r, r});
}

std::tuple<Tensor, Tensor> histogram_edges(const Tensor& self, const Tensor& bins, const Tensor& weight, bool density) {
  TRINE_CHECK_IMPLEMENTED(is_floating(self.dtype()), "histogram: not implemented for ", name(self.dtype()));
  TRINE_CHECK(bins.dim() == 1 && bins.numel() >= 1, "histogram: bins must be a non-empty 1D tensor of edges, got shape ", bins.sizes());
  TRINE_CHECK(bins.dtype() == self.dtype(), "histogram: input tensor and bins tensor should have the same dtype, but got input with dtype ", name(self.dtype()), " and bins with dtype ", name(bins.dtype()));
  TRINE_CHECK(!weight.defined() || (equal(weight.sizes(), self.sizes()) && weight.dtype() == self.dtype()), "histogram: weight must have the shape ", self.sizes(), " and type ", name(self.dtype()), " of the input");
  const int64_t count = bins.numel() - 1;
  Tensor x = trine::reshape(self, Dims{-1}), w = weight.defined() ? trine::reshape(weight, Dims{-1}) : ones_like(x), edges = contiguous(bins);
  if (count == 0) return {empty_op(Dims{0}, self.dtype(), self.device()), clone(bins)};
  // Bins are half open but for the last, which has its upper edge too.
  Tensor low = select(edges, 0, 0), high = select(edges, 0, count);
  Tensor inside = bitwise_and(ge(x, low), le(x, high));
  Tensor bin = trine::clamp(searchsorted(edges, contiguous(x), false, true) - Scalar(1), std::optional<Scalar>(0), std::optional<Scalar>(count - 1));
  Tensor hist = index_add(trine::full(Dims{count}, Scalar(0), self.dtype(), self.device()), 0, bin, where(inside, w, Scalar(0)));
  if (density) hist = hist / trine::sum(hist) / (trine::narrow(edges, 0, 1, count) - trine::narrow(edges, 0, 0, count));
  return {hist, clone(bins)};
}

std::tuple<Tensor, Tensor> histogram_count(const Tensor& self, int64_t bins, std::optional<std::span<const double>> range, const Tensor& weight, bool density) {
  TRINE_CHECK(bins > 0, "histogram: bins must be > 0, but got ", bins);
  double low = 0, high = 0;
  if (range) {
    TRINE_CHECK(range->size() == 2, "histogram: range must have 2 elements, got ", range->size());
    low = (*range)[0], high = (*range)[1];
    TRINE_CHECK(low <= high, "histogram: min should not exceed max, got ", low, " and ", high);
  } else if (self.numel() > 0) {
    low = item(to(amin(self), DType::Double)).to_double(), high = item(to(amax(self), DType::Double)).to_double();
  }
  TRINE_CHECK(std::isfinite(low) && std::isfinite(high), "histogram: dimension's input range [", low, ", ", high, "] is not finite");
  if (low == high) low -= 0.5, high += 0.5;
  return histogram_edges(self, trine::linspace(Scalar(low), Scalar(high), bins + 1, self.dtype(), self.device()), weight, density);
}

const Tensor& fill_diagonal(const Tensor& self, const Scalar& value, bool wrap) {
  TRINE_CHECK(self.dim() >= 2, "fill_diagonal_: dimensions must larger than 1, got shape ", self.sizes());
  for (int64_t n : self.sizes()) TRINE_CHECK(self.dim() == 2 || n == self.sizes()[0], "fill_diagonal_: all dimensions of input must be of equal length, got shape ", self.sizes());
  int64_t length = self.sizes()[0], step = 0;
  for (int64_t n : self.sizes()) length = std::min(length, n);
  for (int64_t s : self.strides()) step += s;
  fill_(as_strided(self, Dims{length}, Dims{step}, self.offset()), value);
  const int64_t rows = self.sizes()[0], columns = self.sizes()[1];
  if (wrap && self.dim() == 2 && rows > columns + 1) {
    // The next diagonal begins a row below the end of the one before.
    for (int64_t first = columns + 1; first < rows; first += columns + 1) {
      const int64_t n = std::min(columns, rows - first);
      fill_(as_strided(self, Dims{n}, Dims{step}, self.offset() + first * self.strides()[0]), value);
    }
  }
  return self;
}

}  // namespace trine::composite
