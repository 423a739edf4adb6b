// The optimizers whose step is an expression of one element: its parameter p, gradient g, states s and the numbers c of this step. Each
// is listed once here, with how many states and numbers it has; a further one is a struct and a word in the list below.
#pragma once
#include "math/math.h"

namespace trine::cpu::optim_rules {

#define TRINE_RULE(NAME, STATES, NUMBERS)       \
  struct NAME {                                 \
    static constexpr const char* name = #NAME;  \
    static constexpr size_t states = STATES, numbers = NUMBERS; \
    template <class T> TRINE_FN static void step(T& p, T g, T* s, const T* c); \
  };                                            \
  template <class T> TRINE_FN void NAME::step(T& p, T g, [[maybe_unused]] T* s, const T* c)

// Numbers: rho, 1 - rho, eps, lr, weight decay. States: mean square of gradients and of changes.
TRINE_RULE(adadelta, 2, 5) {
  g += c[4] * p;
  s[0] = c[0] * s[0] + c[1] * g * g;
  T change = math::sqrt(s[1] + c[2]) / math::sqrt(s[0] + c[2]) * g;
  s[1] = c[0] * s[1] + c[1] * change * change;
  p -= c[3] * change;
}
// Numbers: decayed lr, eps, weight decay. State: sum of squares.
TRINE_RULE(adagrad, 1, 3) {
  g += c[2] * p;
  s[0] += g * g;
  p -= c[0] * (g / (math::sqrt(s[0]) + c[1]));
}
// Numbers: 1 - beta1, beta2, eps, corrected lr, weight decay. States: mean, largest magnitude.
TRINE_RULE(adamax, 2, 5) {
  g += c[4] * p;
  s[0] += c[0] * (g - s[0]);
  T magnitude = math::fabs(g) + c[2];
  T faded = c[1] * s[1];
  s[1] = faded > magnitude ? faded : magnitude;
  p -= c[3] * (s[0] / s[1]);
}
// Numbers: eta, 1 - lambd eta, mu, weight decay. State: the average.
TRINE_RULE(asgd, 1, 4) {
  g += c[3] * p;
  p = p * c[1] - c[0] * g;
  s[0] = c[2] == T(1) ? p : s[0] + (p - s[0]) * c[2];
}
// Numbers: 1 - beta1, beta2, 1 - beta2, bias correction of the square, eps, factors of gradient and mean, weight decay. States: mean, mean square.
TRINE_RULE(nadam, 2, 8) {
  g += c[7] * p;
  s[0] += c[0] * (g - s[0]);
  s[1] = c[1] * s[1] + c[2] * g * g;
  T root = math::sqrt(s[1] / c[3]) + c[4];
  p -= c[5] * (g / root) + c[6] * (s[0] / root);
}
// The same with decoupled weight decay: the last number is 1 - lr weight_decay.
TRINE_RULE(nadam_decoupled, 2, 8) {
  p *= c[7];
  s[0] += c[0] * (g - s[0]);
  s[1] = c[1] * s[1] + c[2] * g * g;
  T root = math::sqrt(s[1] / c[3]) + c[4];
  p -= c[5] * (g / root) + c[6] * (s[0] / root);
}
// Numbers: 1 - beta1, beta2, 1 - beta2, eps, corrected lr, rectification (0 in the first steps, which are plain momentum), weight decay, shrinkage.
TRINE_RULE(radam, 2, 8) {
  p *= c[7];
  g += c[6] * p;
  s[0] += c[0] * (g - s[0]);
  s[1] = c[1] * s[1] + c[2] * g * g;
  T rectified = c[5] == T(0) ? T(1) : c[5] / (math::sqrt(s[1]) + c[3]);
  p -= c[4] * s[0] * rectified;
}
// Numbers: alpha, 1 - alpha, eps, lr, weight decay, momentum. States: mean square, then mean (centered), then buffer (momentum).
TRINE_RULE(rmsprop, 1, 5) {
  g += c[4] * p;
  s[0] = c[0] * s[0] + c[1] * g * g;
  p -= c[3] * (g / (math::sqrt(s[0]) + c[2]));
}
TRINE_RULE(rmsprop_momentum, 2, 6) {
  g += c[4] * p;
  s[0] = c[0] * s[0] + c[1] * g * g;
  s[1] = c[5] * s[1] + g / (math::sqrt(s[0]) + c[2]);
  p -= c[3] * s[1];
}
TRINE_RULE(rmsprop_centered, 2, 5) {
  g += c[4] * p;
  s[0] = c[0] * s[0] + c[1] * g * g;
  s[1] += c[1] * (g - s[1]);
  p -= c[3] * (g / (math::sqrt(s[0] - s[1] * s[1]) + c[2]));
}
TRINE_RULE(rmsprop_centered_momentum, 3, 6) {
  g += c[4] * p;
  s[0] = c[0] * s[0] + c[1] * g * g;
  s[1] += c[1] * (g - s[1]);
  s[2] = c[5] * s[2] + g / (math::sqrt(s[0] - s[1] * s[1]) + c[2]);
  p -= c[3] * s[2];
}
// Numbers: shrinking and growing factor, smallest and largest step. States: the gradient before, the step.
TRINE_RULE(rprop, 2, 4) {
  T turned = g * s[0];
  T factor = turned > T(0) ? c[1] : (turned < T(0) ? c[0] : T(1));
  T size = s[1] * factor;
  size = size < c[2] ? c[2] : size;
  size = size > c[3] ? c[3] : size;
  g = turned < T(0) ? T(0) : g;
  p -= math::sign(g) * size;
  s[0] = g;
  s[1] = size;
}
#undef TRINE_RULE

template <class... R> struct List {};
using All = List<adadelta, adagrad, adamax, asgd, nadam, nadam_decoupled, radam, rmsprop, rmsprop_momentum, rmsprop_centered, rmsprop_centered_momentum, rprop>;

}  // namespace trine::cpu::optim_rules
