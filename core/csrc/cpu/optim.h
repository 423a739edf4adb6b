// Loops of the optimizers, compiled once per instruction set. All arrays are contiguous and of one type.
#pragma once
#include <cstddef>

#include "cpu/isa.h"

namespace trine::cpu {

template <class T> struct SgdStep {
  T* param;
  const T* grad;
  T* buffer;  // nullptr without momentum
  T weight_decay, momentum, lr, undamped;
  bool nesterov, maximize, first;
};
template <class T> struct AdamStep {
  T* param;
  const T* grad;
  T* mean;
  T* square;
  T* largest;  // nullptr without amsgrad
  T beta1, beta2, one_minus_beta1, one_minus_beta2, weight_decay, eps;
  T shrink;            // 1 - lr * weight_decay of AdamW, else 1
  T step_size;         // lr / (1 - beta1^t)
  T root_correction;   // sqrt(1 - beta2^t)
  bool maximize;
};

// A step that is one expression for each element: cpu/optim_rules.h. `rule` is its place in the list there.
// The most states and numbers a rule may have.
constexpr size_t kMaxStates = 3, kMaxNumbers = 8;
template <class T> struct UpdateStep {
  T* param;
  const T* grad;
  T* state[kMaxStates];
  T number[kMaxNumbers];
  bool maximize;
};
TRINE_ISA_DECLARE(void, update_float, (int rule, const UpdateStep<float>&, int64_t n));
TRINE_ISA_DECLARE(void, update_double, (int rule, const UpdateStep<double>&, int64_t n));

TRINE_ISA_DECLARE(void, sgd_float, (const SgdStep<float>&, int64_t n));
TRINE_ISA_DECLARE(void, sgd_double, (const SgdStep<double>&, int64_t n));
TRINE_ISA_DECLARE(void, adam_float, (const AdamStep<float>&, int64_t n));
TRINE_ISA_DECLARE(void, adam_double, (const AdamStep<double>&, int64_t n));

inline void run_update(int rule, const UpdateStep<float>& u, int64_t n) { update_float(rule, u, n); }
inline void run_update(int rule, const UpdateStep<double>& u, int64_t n) { update_double(rule, u, n); }
inline void run_step(const SgdStep<float>& s, int64_t n) { sgd_float(s, n); }
inline void run_step(const SgdStep<double>& s, int64_t n) { sgd_double(s, n); }
inline void run_step(const AdamStep<float>& s, int64_t n) { adam_float(s, n); }
inline void run_step(const AdamStep<double>& s, int64_t n) { adam_double(s, n); }

}  // namespace trine::cpu
