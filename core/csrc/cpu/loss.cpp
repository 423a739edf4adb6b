// Losses of class numbers: scores [N, C, K], targets [N, K].
#include "cpu/loss.h"

#include <cstring>

#include "base/parallel.h"
#include "cpu/convert.h"
#include "cpu/dense.h"
#include "cpu/reduce.h"
#include "cpu/scratch.h"
#include "trine/kernels.h"

namespace trine::cpu {

TRINE_ISA_TABLE(exp_row_float);
TRINE_ISA_TABLE(exp_row_double);
TRINE_ISA_TABLE(exp_columns_float);
TRINE_ISA_TABLE(exp_columns_double);

namespace {

struct Classes {
  int64_t n, c, k, ignore;
  Tensor target_holder;
  const int64_t* target;
  Classes(DimsRef sizes, const Tensor& t, int64_t ignore_index) : n(sizes[0]), c(sizes[1]), k(sizes[2]), ignore(ignore_index), target_holder(converted(t, DType::Int64)), target(target_holder.data<int64_t>()) {}
  // The class of an element, or -1 when it does not count.
  int64_t at(int64_t element) const {
    int64_t t = target[element];
    if (t == ignore) return -1;
    TRINE_CHECK_INDEX(t >= 0 && t < c, "Target ", t, " is out of bounds.");
    return t;
  }
  int64_t score(int64_t element, int64_t cls) const { return (element / k * c + cls) * k + element % k; }
};

// Losses and weights of all elements -> output and total weight: sums in double, in order.
template <class T> void reduce_losses(const Tensor& output, const Tensor& total_weight, const T* losses, const T* weights, int64_t count, int64_t reduction) {
  double loss = 0, weight = 0;
  for (int64_t i = 0; i < count; i++) weight += static_cast<double>(weights[i]);
  auto store = [](const Tensor& t, double v) { TRINE_DISPATCH_FLOATING(t.dtype(), "loss", *t.data<scalar_t>() = static_cast<scalar_t>(static_cast<std::conditional_t<std::is_same_v<scalar_t, double>, double, float>>(v))); };
  store(total_weight, weight);
  if (reduction == 0) return;
  for (int64_t i = 0; i < count; i++) loss += static_cast<double>(losses[i]);
  store(output, reduction == 2 ? loss : loss / weight);
}

}  // namespace

void nll_loss(Tensor& output, Tensor& total_weight, const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t ignore_index) {
  Classes classes(self.sizes(), target, ignore_index);
  DType compute = compute_type(self.dtype());
  Tensor scores = contiguous(self), w = weight.defined() ? converted(weight, compute) : Tensor();
  int64_t count = classes.n * classes.k;
  TRINE_DISPATCH_FLOATING(self.dtype(), "nll_loss", {
    using T = std::conditional_t<std::is_same_v<scalar_t, double>, double, float>;
    Scratch<T> losses(count);
    Scratch<T> weights(count);
    const scalar_t* x = scores.data<scalar_t>();
    const T* pw = w.defined() ? w.data<T>() : nullptr;
    parallel_for(0, count, 8192, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) {
        int64_t t = classes.at(i);
        weights[i] = t < 0 ? T(0) : pw ? pw[t] : T(1);
        losses[i] = t < 0 ? T(0) : -weights[i] * static_cast<T>(x[classes.score(i, t)]);
      }
    });
    reduce_losses(output, total_weight, losses.data(), weights.data(), count, reduction);
    if (reduction == 0)
      for (int64_t i = 0; i < count; i++) output.data<scalar_t>()[i] = static_cast<scalar_t>(losses[i]);
  });
}

void nll_loss_backward(Tensor& out, const Tensor& grad_output, const Tensor& target, const Tensor& weight, const Tensor& total_weight, DimsRef sizes, int64_t reduction, int64_t ignore_index) {
  Classes classes(sizes, target, ignore_index);
  DType compute = compute_type(out.dtype());
  Tensor grad = converted(grad_output, compute), w = weight.defined() ? converted(weight, compute) : Tensor();
  const double total = item(total_weight).to_double();
  trine::zero_(out);
  TRINE_DISPATCH_FLOATING(out.dtype(), "nll_loss_backward", {
    using T = std::conditional_t<std::is_same_v<scalar_t, double>, double, float>;
    const T* g = grad.data<T>();
    const T* pw = w.defined() ? w.data<T>() : nullptr;
    scalar_t* o = out.data<scalar_t>();
    for (int64_t i = 0; i < classes.n * classes.k; i++) {
      int64_t t = classes.at(i);
      if (t < 0) continue;
      T scale = reduction == 0 ? g[i] : reduction == 1 ? static_cast<T>(g[0] / total) : g[0];
      o[classes.score(i, t)] = static_cast<scalar_t>(-scale * (pw ? pw[t] : T(1)));
    }
  });
}

void cross_entropy(Tensor& output, Tensor& total_weight, Tensor& logsumexp, const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t ignore_index,
                   double label_smoothing) {
  Classes classes(self.sizes(), target, ignore_index);
  DType compute = compute_type(self.dtype());
  Tensor scores = converted(self, compute), w = weight.defined() ? converted(weight, compute) : Tensor();
  Reduction over_classes{&reduce_loop("cross_entropy_loss", ReduceOp::LogSumExp, compute), uint64_t{1} << 1};
  reduce(over_classes, logsumexp, nullptr, scores);
  int64_t count = classes.n * classes.k;
  TRINE_DISPATCH_FLOAT(compute, "cross_entropy_loss", {
    Scratch<scalar_t> losses(count);
    Scratch<scalar_t> weights(count);
    const scalar_t* x = scores.data<scalar_t>();
    const scalar_t* lse = logsumexp.data<scalar_t>();
    const scalar_t* pw = w.defined() ? w.data<scalar_t>() : nullptr;
    const double keep = 1 - label_smoothing;
    const double spread = label_smoothing / static_cast<double>(classes.c);
    parallel_for(0, count, label_smoothing > 0 ? std::max<int64_t>(1, 16384 / classes.c) : 8192, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) {
        int64_t t = classes.at(i);
        if (t < 0) {
          weights[i] = losses[i] = 0;
          continue;
        }
        weights[i] = pw ? pw[t] : scalar_t(1);
        double loss = keep * static_cast<double>(weights[i]) * static_cast<double>(lse[i] - x[classes.score(i, t)]);
        if (spread > 0) {
          double all = 0;
          for (int64_t c = 0; c < classes.c; c++) all += static_cast<double>((pw ? pw[c] : scalar_t(1)) * (lse[i] - x[classes.score(i, c)]));
          loss += spread * all;
        }
        losses[i] = static_cast<scalar_t>(loss);
      }
    });
    reduce_losses(output, total_weight, losses.data(), weights.data(), count, reduction);
    if (reduction == 0) {
      Tensor view = from_storage(output.storage(), output.dtype(), Dims{count}, Dims{1}, output.offset());
      converter(output.dtype(), compute)(view.data(), losses.data(), count);
    }
  });
}

// exp(x - logsumexp) is the softmax: one pass over the scores writes the whole gradient.
void cross_entropy_backward(Tensor& out, const Tensor& grad_output, const Tensor& self, const Tensor& target, const Tensor& weight, const Tensor& total_weight, const Tensor& logsumexp,
                            int64_t reduction, int64_t ignore_index, double label_smoothing) {
  if (out.numel() == 0) return;
  Classes classes(self.sizes(), target, ignore_index);
  DType compute = compute_type(self.dtype());
  Tensor scores = converted(self, compute), grad = converted(grad_output, compute), w = weight.defined() ? converted(weight, compute) : Tensor();
  Tensor sums = contiguous(logsumexp);
  DenseOutput dense(out, compute);
  const double total = item(total_weight).to_double();
  const double keep = 1 - label_smoothing, spread = label_smoothing / static_cast<double>(classes.c);
  double all_weights = static_cast<double>(classes.c);
  if (w.defined()) all_weights = item(trine::sum(w)).to_double();
  TRINE_DISPATCH_FLOAT(compute, "cross_entropy_loss", {
    const scalar_t* x = scores.data<scalar_t>();
    const scalar_t* g = grad.data<scalar_t>();
    const scalar_t* lse = sums.data<scalar_t>();
    const scalar_t* pw = w.defined() ? w.data<scalar_t>() : nullptr;
    scalar_t* o = dense.data<scalar_t>();
    const int64_t k = classes.k;
    parallel_for(0, classes.n, std::max<int64_t>(1, 16384 / (classes.c * k)), [&](int64_t b, int64_t e) {
      Scratch<scalar_t> scale(k);  // of the softmax
      Scratch<scalar_t> upstream(k);
      for (int64_t n = b; n < e; n++) {
        for (int64_t j = 0; j < k; j++) {
          int64_t i = n * k + j;
          int64_t t = classes.at(i);
          double u = t < 0 ? 0 : reduction == 0 ? g[i] : reduction == 1 ? g[0] / total : g[0];
          double weight_of_target = t < 0 ? 0 : pw ? static_cast<double>(pw[t]) : 1.0;
          upstream[j] = static_cast<scalar_t>(u);
          scale[j] = static_cast<scalar_t>(u * (keep * weight_of_target + spread * all_weights));
        }
        for (int64_t c = 0; c < classes.c; c++) {
          int64_t at = (n * classes.c + c) * k;
          if (k == 1) {
            exp_row(x + at, lse[n], scale[0], o + at, classes.c);
            break;
          }
          exp_columns(x + at, lse + n * k, scale.data(), o + at, k);
        }
        if (spread > 0)
          for (int64_t c = 0; c < classes.c; c++)
            for (int64_t j = 0; j < k; j++) o[(n * classes.c + c) * k + j] -= upstream[j] * static_cast<scalar_t>(spread * (pw ? static_cast<double>(pw[c]) : 1.0));
        for (int64_t j = 0; j < k; j++) {
          int64_t i = n * k + j;
          int64_t t = classes.at(i);
          if (t >= 0)
            o[classes.score(i, t)] -= static_cast<scalar_t>(upstream[j] * keep * (pw ? static_cast<double>(pw[t]) : 1.0));
          else
            for (int64_t c = 0; c < classes.c; c++) o[classes.score(i, c)] = 0;
        }
      }
    });
  });
  dense.finish();
}

}  // namespace trine::cpu
