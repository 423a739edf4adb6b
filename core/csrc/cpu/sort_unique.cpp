// Different elements, and searching in sorted rows.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/parallel.h"
#include "cpu/index_common.h"
#include "cpu/sort.h"
#include "tensor/promotion.h"
#include "trine/kernels.h"

namespace trine::cpu {
namespace {

template <class T> bool same(T a, T b) { return a == b; }
template <> bool same(Half a, Half b) { return static_cast<float>(a) == static_cast<float>(b); }
template <> bool same(BFloat16 a, BFloat16 b) { return static_cast<float>(a) == static_cast<float>(b); }

using Three = std::tuple<Tensor, Tensor, Tensor>;

// `order` visits the elements so that equal ones are neighbours; is_same(a, b) compares two of them. Gives the first element of each run in
// `firsts`, and inverse and counts as asked for.
template <class Same>
std::pair<Tensor, Tensor> runs_of(const std::vector<int64_t>& order, std::vector<int64_t>& firsts, DimsRef inverse_shape, bool inverse, bool counts, Same is_same) {
  Tensor where = empty(inverse ? inverse_shape : DimsRef(Dims{0}), DType::Int64);
  int64_t* w = where.data<int64_t>();
  std::vector<int64_t> lengths;
  for (size_t i = 0; i < order.size(); i++) {
    if (i == 0 || !is_same(order[i - 1], order[i])) {
      firsts.push_back(order[i]);
      lengths.push_back(0);
    }
    lengths.back()++;
    if (inverse) w[order[i]] = static_cast<int64_t>(firsts.size()) - 1;
  }
  Tensor how_often = empty(Dims{counts ? static_cast<int64_t>(lengths.size()) : 0}, DType::Int64);
  if (counts && !lengths.empty()) std::memcpy(how_often.data(), lengths.data(), lengths.size() * 8);
  return {where, how_often};
}

Three unique_in_order(const Tensor& self, const std::vector<int64_t>& order, bool inverse, bool counts) {
  Tensor flat = contiguous(self);
  std::vector<int64_t> firsts;
  std::pair<Tensor, Tensor> rest;
  Tensor values;
  TRINE_DISPATCH_ALL(self.dtype(), "unique", {
    const scalar_t* x = flat.data<scalar_t>();
    rest = runs_of(order, firsts, self.sizes(), inverse, counts, [&](int64_t a, int64_t b) { return same(x[a], x[b]); });
    values = empty(Dims{static_cast<int64_t>(firsts.size())}, self.dtype());
    for (size_t i = 0; i < firsts.size(); i++) values.data<scalar_t>()[i] = x[firsts[i]];
  });
  return {values, rest.first, rest.second};
}

}  // namespace

Three unique(const Tensor& self, bool, bool return_inverse, bool return_counts) {
  return unique_in_order(self, sorted_order(contiguous(self)), return_inverse, return_counts);
}

Three unique_runs(const Tensor& self, bool return_inverse, bool return_counts) {
  std::vector<int64_t> order(static_cast<size_t>(self.numel()));
  std::iota(order.begin(), order.end(), 0);
  return unique_in_order(self, order, return_inverse, return_counts);
}

Three unique_dim(const Tensor& self, int64_t dim, bool, bool return_inverse, bool return_counts) {
  int64_t d = wrap_dim(dim, self.dim());
  TRINE_CHECK(self.dim() > 0, "unique: a 0-dim tensor has no dimension ", dim);
  // Slices as rows of a contiguous matrix.
  Dims order_of_dims{d};
  for (int64_t i = 0; i < self.dim(); i++)
    if (i != d) order_of_dims.push_back(i);
  Tensor rows = contiguous(permute(self, order_of_dims));
  int64_t n = self.sizes()[d], width = n ? self.numel() / n : 0;
  std::vector<int64_t> order(static_cast<size_t>(n)), firsts;
  std::iota(order.begin(), order.end(), 0);
  std::pair<Tensor, Tensor> rest;
  TRINE_DISPATCH_REAL(self.dtype(), "unique_dim", {
    using V = std::conditional_t<std::is_same_v<scalar_t, Half> || std::is_same_v<scalar_t, BFloat16>, float, scalar_t>;
    const scalar_t* x = rows.data<scalar_t>();
    auto compare = [&](int64_t a, int64_t b) {
      for (int64_t c = 0; c < width; c++) {
        V p = x[a * width + c];
        V q = x[b * width + c];
        if (p < q) return -1;
        if (q < p) return 1;
      }
      return 0;
    };
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return compare(a, b) < 0; });
    rest = runs_of(order, firsts, Dims{n}, return_inverse, return_counts, [&](int64_t a, int64_t b) { return compare(a, b) == 0; });
  });
  Tensor chosen = empty(Dims{static_cast<int64_t>(firsts.size())}, DType::Int64);
  if (!firsts.empty()) std::memcpy(chosen.data(), firsts.data(), firsts.size() * 8);
  return {trine::index_select(self, d, chosen), rest.first, rest.second};
}

void searchsorted(Tensor& out, const Tensor& sorted_sequence, const Tensor& self, bool, bool right) {
  if (out.numel() == 0) return;
  DType t = promote_types(sorted_sequence.dtype(), self.dtype());
  DType compute = compute_type(t);
  Tensor edges = converted(sorted_sequence, compute), values = converted(self, compute);
  DenseOutput dense(out, DType::Int64);
  int64_t n = edges.size(-1), per_row = edges.dim() == 1 ? values.numel() : values.size(-1);
  TRINE_DISPATCH_REAL(compute, "searchsorted", {
    const scalar_t* e = edges.data<scalar_t>();
    const scalar_t* v = values.data<scalar_t>();
    int64_t* o = dense.data<int64_t>();
    auto before = [](scalar_t a, scalar_t b) { return a < b || (b != b && a == a); };  // NaN comes last
    parallel_for(0, values.numel(), 2048, [&](int64_t b, int64_t end) {
      for (int64_t i = b; i < end; i++) {
        const scalar_t* row = e + (edges.dim() == 1 ? 0 : i / per_row * n);
        o[i] = (right ? std::upper_bound(row, row + n, v[i], before) : std::lower_bound(row, row + n, v[i], before)) - row;
      }
    });
  });
  dense.finish();
}

}  // namespace trine::cpu
