// Optimizer steps: all parameters in one call, cut into pieces that threads share.
#include "cpu/optim.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/parallel.h"
#include "cpu/dense.h"
#include "cpu/optim_rules.h"
#include "trine/kernels.h"

namespace trine::cpu {

TRINE_ISA_TABLE(sgd_float);
TRINE_ISA_TABLE(sgd_double);
TRINE_ISA_TABLE(adam_float);
TRINE_ISA_TABLE(adam_double);
TRINE_ISA_TABLE(update_float);
TRINE_ISA_TABLE(update_double);

namespace {

constexpr int64_t kPiece = 16 * 1024;

// A tensor of a parameter as the loops want it: itself, or a converted contiguous copy that is written back.
class Operand {
 public:
  Operand(const char* op, const Tensor& t, const Tensor& param, bool shared_layout) : tensor_(t) {
    TRINE_CHECK(equal(t.sizes(), param.sizes()), op, ": a parameter of shape ", param.sizes(), " met a gradient or state of shape ", t.sizes());
    DType compute = compute_type(param.dtype());
    dense_ = shared_layout && t.dtype() == compute ? t : converted(t, compute);
  }
  const Tensor& dense() const { return dense_; }
  void write_back() const {
    if (!dense_.is_same(tensor_)) convert_copy(tensor_, dense_);
    tensor_.bump_version();
  }

 private:
  const Tensor& tensor_;
  Tensor dense_;
};

// Memory order does not matter to elementwise loops as long as all tensors share it.
bool shares_layout(const Tensor& param, std::initializer_list<const Tensor*> others) {
  if (!param.is_non_overlapping_and_dense()) return false;
  for (const Tensor* t : others)
    if (t->defined() && !equal(t->strides(), param.strides())) return false;
  return true;
}

struct Piece {
  size_t param;
  int64_t first, count;
};

std::vector<Piece> pieces_of(TensorList params) {
  std::vector<Piece> out;
  for (size_t p = 0; p < params.size(); p++)
    for (int64_t at = 0; at < params[p].numel(); at += kPiece) out.push_back({p, at, std::min(kPiece, params[p].numel() - at)});
  return out;
}

void check_lengths(const char* op, TensorList params, std::initializer_list<TensorList> others) {
  for (TensorList l : others) TRINE_CHECK(l.empty() || l.size() == params.size(), op, ": got ", params.size(), " parameters but a list of ", l.size());
}

void check_param(const char* op, const Tensor& p) { TRINE_CHECK(is_floating(p.dtype()), op, ": parameters must be real floating point tensors, got ", name(p.dtype())); }

// The operands of all parameters, `width` each, and the loops over their pieces.
struct Batch {
  std::vector<Operand> operands;
  size_t width;
  template <class T> T* at(const Piece& piece, size_t k) const { return operands[piece.param * width + k].dense().data<T>() + piece.first; }
  template <class F> void run(TensorList params, F&& f) const {
    std::vector<Piece> pieces = pieces_of(params);
    parallel_for(0, static_cast<int64_t>(pieces.size()), 4, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) f(pieces[i]);
    });
  }
};

struct UpdateRule {
  std::string_view name;
  size_t states, numbers;
};

template <class... R> constexpr std::array<UpdateRule, sizeof...(R)> describe(optim_rules::List<R...>) { return {UpdateRule{R::name, R::states, R::numbers}...}; }

struct AdamOptions {
  const char* op;
  double lr, beta1, beta2, weight_decay, eps;
  bool amsgrad, maximize, decoupled;
};

void adam_step(const AdamOptions& o, TensorList params, TensorList grads, TensorList means, TensorList squares, TensorList largest, TensorList steps) {
  check_lengths(o.op, params, {grads, means, squares, largest, steps});
  const size_t width = o.amsgrad ? 5 : 4;
  Batch batch{{}, width};
  batch.operands.reserve(params.size() * width);
  for (size_t i = 0; i < params.size(); i++) {
    check_param(o.op, params[i]);
    const Tensor none;
    bool shared = shares_layout(params[i], {&grads[i], &means[i], &squares[i], o.amsgrad ? &largest[i] : &none});
    const Tensor* list[] = {&params[i], &grads[i], &means[i], &squares[i], o.amsgrad ? &largest[i] : &none};
    for (size_t k = 0; k < width; k++) batch.operands.emplace_back(o.op, *list[k], params[i], shared);
  }
  batch.run(params, [&](const Piece& piece) {
    TRINE_DISPATCH_FLOAT(compute_type(params[piece.param].dtype()), o.op, {
      const double t = item(steps[piece.param]).to_double();
      AdamStep<scalar_t> s{};
      s.param = batch.at<scalar_t>(piece, 0);
      s.grad = batch.at<scalar_t>(piece, 1);
      s.mean = batch.at<scalar_t>(piece, 2);
      s.square = batch.at<scalar_t>(piece, 3);
      s.largest = o.amsgrad ? batch.at<scalar_t>(piece, 4) : nullptr;
      s.beta1 = static_cast<scalar_t>(o.beta1);
      s.beta2 = static_cast<scalar_t>(o.beta2);
      s.one_minus_beta1 = static_cast<scalar_t>(1 - o.beta1);
      s.one_minus_beta2 = static_cast<scalar_t>(1 - o.beta2);
      s.weight_decay = static_cast<scalar_t>(o.decoupled ? 0 : o.weight_decay);
      s.shrink = static_cast<scalar_t>(o.decoupled ? 1 - o.lr * o.weight_decay : 1);
      s.eps = static_cast<scalar_t>(o.eps);
      s.step_size = static_cast<scalar_t>(o.lr / (1 - std::pow(o.beta1, t)));
      s.root_correction = static_cast<scalar_t>(std::sqrt(1 - std::pow(o.beta2, t)));
      s.maximize = o.maximize;
      run_step(s, piece.count);
    });
  });
  for (size_t i = 0; i < batch.operands.size(); i++)
    if (i % width != 1) batch.operands[i].write_back();
}

}  // namespace

void fused_sgd(TensorList self, TensorList grads, TensorList buffers, double weight_decay, double momentum, double lr, double dampening, bool nesterov, bool maximize, bool is_first_step) {
  const char* op = "_fused_sgd_";
  check_lengths(op, self, {grads, buffers});
  const size_t width = buffers.empty() ? 2 : 3;
  Batch batch{{}, width};
  batch.operands.reserve(self.size() * width);
  for (size_t i = 0; i < self.size(); i++) {
    check_param(op, self[i]);
    const Tensor none;
    const Tensor* list[] = {&self[i], &grads[i], width == 3 ? &buffers[i] : &none};
    bool shared = shares_layout(self[i], {list[1], list[2]});
    for (size_t k = 0; k < width; k++) batch.operands.emplace_back(op, *list[k], self[i], shared);
  }
  batch.run(self, [&](const Piece& piece) {
    TRINE_DISPATCH_FLOAT(compute_type(self[piece.param].dtype()), op, {
      SgdStep<scalar_t> s{};
      s.param = batch.at<scalar_t>(piece, 0);
      s.grad = batch.at<scalar_t>(piece, 1);
      s.buffer = width == 3 ? batch.at<scalar_t>(piece, 2) : nullptr;
      s.weight_decay = static_cast<scalar_t>(weight_decay);
      s.momentum = static_cast<scalar_t>(momentum);
      s.lr = static_cast<scalar_t>(lr);
      s.undamped = static_cast<scalar_t>(1 - dampening);
      s.nesterov = nesterov;
      s.maximize = maximize;
      s.first = is_first_step;
      run_step(s, piece.count);
    });
  });
  for (size_t i = 0; i < batch.operands.size(); i++)
    if (i % width != 1) batch.operands[i].write_back();
}

void fused_adam(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1, double beta2,
                double weight_decay, double eps, bool amsgrad, bool maximize) {
  adam_step({"_fused_adam_", lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, false}, self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps);
}

void fused_adamw(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1, double beta2,
                 double weight_decay, double eps, bool amsgrad, bool maximize) {
  adam_step({"_fused_adamw_", lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, true}, self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps);
}

void optimizer_update(std::string_view rule, TensorList self, TensorList grads, TensorList states, std::span<const double> numbers, bool maximize) {
  static constexpr auto rules = describe(optim_rules::All{});
  const char* op = "_optimizer_update_";
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const UpdateRule& r) { return r.name == rule; });
  TRINE_CHECK(found != rules.end(), op, ": there is no rule ", rule);
  TRINE_CHECK(numbers.size() == found->numbers, op, ": ", rule, " takes ", found->numbers, " numbers, got ", numbers.size());
  TRINE_CHECK(grads.size() == self.size() && states.size() == self.size() * found->states, op, ": ", rule, " needs a gradient and ", found->states, " states for each of ", self.size(), " parameters, got ",
              grads.size(), " and ", states.size());
  const int index = static_cast<int>(found - rules.begin());
  const size_t width = 2 + found->states;
  Batch batch{{}, width};
  batch.operands.reserve(self.size() * width);
  for (size_t i = 0; i < self.size(); i++) {
    check_param(op, self[i]);
    const Tensor none;
    const Tensor* list[2 + kMaxStates] = {&self[i], &grads[i], &none, &none, &none};
    for (size_t k = 0; k < found->states; k++) list[2 + k] = &states[i * found->states + k];
    const bool shared = shares_layout(self[i], {list[1], list[2], list[3], list[4]});
    for (size_t k = 0; k < width; k++) batch.operands.emplace_back(op, *list[k], self[i], shared);
  }
  batch.run(self, [&](const Piece& piece) {
    TRINE_DISPATCH_FLOAT(compute_type(self[piece.param].dtype()), op, {
      UpdateStep<scalar_t> u{};
      u.param = batch.at<scalar_t>(piece, 0);
      u.grad = batch.at<scalar_t>(piece, 1);
      for (size_t k = 0; k < found->states; k++) u.state[k] = batch.at<scalar_t>(piece, 2 + k);
      for (size_t k = 0; k < numbers.size(); k++) u.number[k] = static_cast<scalar_t>(numbers[k]);
      u.maximize = maximize;
      run_update(index, u, piece.count);
    });
  });
  for (size_t i = 0; i < batch.operands.size(); i++)
    if (i % width != 1) batch.operands[i].write_back();
}

void foreach_mul(TensorList self, const Tensor& other) {
  TRINE_CHECK(other.numel() == 1, "_foreach_mul_: expected a tensor of one element, got shape ", other.sizes());
  for (const Tensor& t : self) trine::mul_(t, other);
}

}  // namespace trine::cpu
