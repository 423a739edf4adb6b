// Sums, means and maxima of bags of embedding rows.
#include <algorithm>

#include "base/parallel.h"
#include "cpu/dense.h"
#include "cpu/index_rows.h"
#include "cpu/scratch.h"
#include "trine/kernels.h"

namespace trine::cpu {
namespace {

enum BagMode : int64_t { kSum, kMean, kMax };

void add_scaled(float* to, const float* from, float scale, int64_t n) { add_row_float(to, from, scale, n); }
void add_scaled(double* to, const double* from, double scale, int64_t n) { add_row_double(to, from, scale, n); }

// The largest of each column over the rows of a bag, and the numbers of the rows they stand in (-1: none).
template <class T> void bag_maximum(const T* table, const int64_t* rows, int64_t begin, int64_t end, int64_t padding_idx, int64_t width, T* out, int64_t* at) {
  std::fill(out, out + width, T(0));
  std::fill(at, at + width, int64_t{-1});
  for (int64_t k = begin; k < end; ++k) {
    if (rows[k] == padding_idx) continue;
    const T* row = table + rows[k] * width;
    for (int64_t j = 0; j < width; ++j)
      if (at[j] < 0 || row[j] > out[j]) out[j] = row[j], at[j] = rows[k];
  }
}

}  // namespace

void embedding_bag_forward(Tensor& out, Tensor& offset2bag, Tensor& bag_size, Tensor& max_indices, const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool, int64_t mode, bool,
                           const Tensor& per_sample_weights, bool, int64_t padding_idx) {
  const int64_t bags = out.size(0), width = out.size(1), n = indices.numel(), rows = weight.size(0);
  const DType compute = compute_type(out.dtype());
  const Tensor table = converted(weight, compute), which = converted(indices, DType::Int64), starts = converted(offsets, DType::Int64);
  const Tensor scales = per_sample_weights.defined() ? converted(per_sample_weights, compute) : Tensor();
  DenseOutput sums(out, compute), bag_of(offset2bag, DType::Int64), sizes(bag_size, DType::Int64), maxima(max_indices, DType::Int64);
  const int64_t *index = which.data<int64_t>(), *start = starts.data<int64_t>();
  for (int64_t k = 0; k < n; ++k)
    TRINE_CHECK(index[k] >= 0 && index[k] < rows, "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be ", index[k], " with num_embeddings ", rows);
  auto begin = [&](int64_t b) { return b < starts.numel() ? start[b] : n; };
  auto end = [&](int64_t b) { return b + 1 < starts.numel() ? start[b + 1] : n; };
  TRINE_CHECK(starts.numel() == 0 || start[0] == 0, "embedding_bag: offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got ", start[0]);
  for (int64_t b = 0; b < starts.numel(); ++b)
    TRINE_CHECK(start[b] >= 0 && start[b] <= n && start[b] <= end(b), "embedding_bag: offsets must ascend and be at most the number of indices, ", n, ", but got ", start[b], " at position ", b);
  for (int64_t b = 0; b < bags; ++b) {
    int64_t count = 0;
    for (int64_t k = begin(b); k < end(b); ++k) bag_of.data<int64_t>()[k] = b, count += index[k] != padding_idx;
    sizes.data<int64_t>()[b] = count;
  }
  TRINE_DISPATCH_FLOAT(compute, "embedding_bag", {
    parallel_for(0, bags, std::max<int64_t>(1, 16384 * bags / std::max<int64_t>(1, n * width)), [&](int64_t first, int64_t last) {
      for (int64_t b = first; b < last; ++b) {
        scalar_t* to = sums.data<scalar_t>() + b * width;
        if (mode == kMax) {
          bag_maximum(table.data<scalar_t>(), index, begin(b), end(b), padding_idx, width, to, maxima.data<int64_t>() + b * width);
          continue;
        }
        std::fill(to, to + width, scalar_t(0));
        const int64_t count = sizes.data<int64_t>()[b];
        const scalar_t share = mode == kMean && count > 0 ? scalar_t(1) / static_cast<scalar_t>(count) : scalar_t(1);
        for (int64_t k = begin(b); k < end(b); ++k)
          if (index[k] != padding_idx) add_scaled(to, table.data<scalar_t>() + index[k] * width, scales.defined() ? scales.data<scalar_t>()[k] : scalar_t(1), width);
        if (share != 1)
          for (int64_t j = 0; j < width; ++j) to[j] *= share;
      }
    });
  });
  sums.finish();
  bag_of.finish();
  sizes.finish();
  maxima.finish();
}

// Each thread has rows of the table to itself and walks all indices.
void embedding_bag_dense_backward(Tensor& out, const Tensor& grad, const Tensor& indices, const Tensor& offset2bag, const Tensor& bag_size, const Tensor& per_sample_weights, int64_t num_weights,
                                  bool scale_grad_by_freq, int64_t mode, int64_t padding_idx) {
  const DType compute = compute_type(out.dtype());
  DenseOutput sums(out, compute);
  zero_fill(sums.tensor());
  const int64_t n = indices.numel(), width = out.size(1);
  const Tensor g = converted(grad, compute), which = converted(indices, DType::Int64), bag_of = converted(offset2bag, DType::Int64), sizes = converted(bag_size, DType::Int64);
  const Tensor scales = per_sample_weights.defined() ? converted(per_sample_weights, compute) : Tensor();
  const int64_t *index = which.data<int64_t>(), *bag = bag_of.data<int64_t>(), *size = sizes.data<int64_t>();
  std::vector<int64_t> counts(scale_grad_by_freq ? static_cast<size_t>(num_weights) : 0);
  for (int64_t k = 0; k < n && scale_grad_by_freq; ++k) counts[static_cast<size_t>(index[k])]++;
  if (n > 0 && width > 0)
    TRINE_DISPATCH_FLOAT(compute, "embedding_bag_dense_backward", {
      parallel_for(0, num_weights, std::max<int64_t>(1, num_weights * 32768 / std::max<int64_t>(1, n * width)), [&](int64_t first, int64_t last) {
        for (int64_t k = 0; k < n; ++k) {
          const int64_t row = index[k];
          if (row < first || row >= last || row == padding_idx) continue;
          scalar_t scale = scales.defined() ? scales.data<scalar_t>()[k] : scalar_t(1);
          if (mode == kMean) scale /= static_cast<scalar_t>(size[bag[k]]);
          if (scale_grad_by_freq) scale /= static_cast<scalar_t>(counts[static_cast<size_t>(row)]);
          add_scaled(sums.data<scalar_t>() + row * width, g.data<scalar_t>() + bag[k] * width, scale, width);
        }
      });
    });
  sums.finish();
}

// Rows that are looked up, shrunk in place to the greatest norm. Each row once.
void embedding_renorm_(const Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
  std::vector<int64_t> rows(static_cast<size_t>(indices.numel()));
  const Tensor which = converted(indices, DType::Int64);
  std::copy(which.data<int64_t>(), which.data<int64_t>() + which.numel(), rows.begin());
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  for (int64_t r : rows) {
    TRINE_CHECK_INDEX(r >= 0 && r < self.size(0), "embedding_renorm_: index ", r, " is out of range for a table of ", self.size(0), " rows");
    const Tensor row = select(self, 0, r);
    const double size = item(linalg_vector_norm(row, Scalar(norm_type))).to<double>();
    if (size > max_norm) mul_(row, wrapped_number(Scalar(max_norm / (size + 1e-7))));
  }
}

}  // namespace trine::cpu
