#include "cpu/attention.h"

#include <algorithm>
#include <limits>

#include "base/parallel.h"
#include "cpu/gemm.h"
#include "cpu/kernels/vec.h"
#include "cpu/scratch.h"
#include "math/math.h"

namespace trine::cpu {
namespace {

constexpr int64_t kQueries = 192, kKeys = 256;  // packing the keys is shared by many queries

template <class T> class QueryBlock {
 public:
  explicit QueryBlock(const Attention<T>& a) : a_(a), scores_(kQueries * kKeys), sum_(a.value_width * kQueries), top_(kQueries), total_(kQueries) {}

  void run(int64_t batch, int64_t head, int64_t q0) {
    const int64_t rows = std::min(kQueries, a_.queries - q0), kv = head / (a_.heads / a_.kv_heads);
    const T* q = a_.q.data + batch * a_.q.batch + head * a_.q.head + q0 * a_.q.row;
    const T* k = a_.k.data + batch * a_.k.batch + kv * a_.k.head;
    const T* v = a_.v.data + batch * a_.v.batch + kv * a_.v.head;
    std::fill_n(top_.data(), rows, -std::numeric_limits<T>::infinity());
    std::fill_n(total_.data(), rows, T(0));
    std::fill_n(sum_.data(), rows * a_.value_width, T(0));
    const int64_t limit = a_.causal ? std::min(a_.keys, q0 + rows) : a_.keys;
    for (int64_t k0 = 0; k0 < limit; k0 += kKeys) {
      const int64_t cols = std::min(kKeys, limit - k0);
      gemm(Gemm<T>{rows, cols, a_.width, q, a_.q.row, 1, k + k0 * a_.k.row, 1, a_.k.row, scores_.data(), cols});
      for (int64_t i = 0; i < rows; ++i) absorb(batch, head, q0 + i, i, k0, cols);
      Gemm<T> weighted{rows, a_.value_width, cols, scores_.data(), cols, 1, v + k0 * a_.v.row, a_.v.row, 1, sum_.data(), a_.value_width};
      weighted.accumulate = true;
      gemm(weighted);
    }
    T* out = a_.out + ((batch * a_.heads + head) * a_.queries + q0) * a_.value_width;
    for (int64_t i = 0; i < rows; ++i) {
      // A query that may see no key gets zeros.
      const T factor = total_[i] > 0 || total_[i] != total_[i] ? T(1) / total_[i] : T(0);
      for (int64_t j = 0; j < a_.value_width; ++j) out[i * a_.value_width + j] = sum_[i * a_.value_width + j] * factor;
    }
  }

 private:
  // Turns a row of scores into exponentials relative to the running maximum and rescales what was summed before.
  void absorb(int64_t batch, int64_t head, int64_t query, int64_t i, int64_t k0, int64_t cols) {
    T* row = scores_.data() + i * cols;
    const int64_t mask = batch * a_.mask_batch + head * a_.mask_head + query * a_.mask_row + k0 * a_.mask_col;
    for (int64_t j = 0; j < cols; ++j) row[j] *= a_.scale;
    if (a_.bias)
      for (int64_t j = 0; j < cols; ++j) row[j] += a_.bias[mask + j * a_.mask_col];
    if (a_.keep)
      for (int64_t j = 0; j < cols; ++j) row[j] = a_.keep[mask + j * a_.mask_col] ? row[j] : -std::numeric_limits<T>::infinity();
    if (a_.causal)
      for (int64_t j = std::max<int64_t>(0, query + 1 - k0); j < cols; ++j) row[j] = -std::numeric_limits<T>::infinity();
    const T best = std::max(top_[i], maximum(row, cols));
    if (best == -std::numeric_limits<T>::infinity()) {
      bool has_nan = false;
      for (int64_t j = 0; j < cols; ++j) has_nan |= row[j] != row[j];
      if (!has_nan) {
        std::fill_n(row, cols, T(0));
        return;
      }
    }
    for (int64_t j = 0; j < cols; ++j) row[j] = math::exp(row[j] - best);
    const T fresh = static_cast<T>(sum_of<T>(cols, [row](int64_t j) { return load(row + j); }, [row](int64_t j) { return row[j]; }));
    const T fade = math::exp(top_[i] - best);
    total_[i] = total_[i] * fade + fresh;
    if (fade != T(1))
      for (int64_t j = 0; j < a_.value_width; ++j) sum_[i * a_.value_width + j] *= fade;
    top_[i] = best;
  }

  const Attention<T>& a_;
  Scratch<T> scores_, sum_, top_, total_;
};

template <class T> void attend(const Attention<T>& a) {
  const int64_t blocks = (a.queries + kQueries - 1) / kQueries;
  const int64_t work = std::min(kQueries, a.queries) * a.keys * (a.width + a.value_width);
  parallel_for(0, a.batch * a.heads * blocks, std::max<int64_t>(1, (1 << 17) / std::max<int64_t>(work, 1)), [&](int64_t begin, int64_t end) {
    QueryBlock<T> block(a);
    for (int64_t u = begin; u < end; ++u) block.run(u / blocks / a.heads, u / blocks % a.heads, u % blocks * kQueries);
  });
}

}  // namespace

TRINE_ISA_DEFINE(attention_float, attend<float>);
TRINE_ISA_DEFINE(attention_double, attend<double>);

}  // namespace trine::cpu
