// The loops of the optimizers in cpu/optim_rules.h.
#include "cpu/optim_rules.h"

#include "cpu/optim.h"

namespace trine::cpu {
namespace {

template <class Rule, class T> void update_loop(const UpdateStep<T>& u, int64_t n) {
  T* __restrict param = u.param;
  const T* __restrict grad = u.grad;
  T* __restrict s0 = u.state[0];
  T* __restrict s1 = u.state[1];
  T* __restrict s2 = u.state[2];
  const T sign = u.maximize ? T(-1) : T(1);
  T c[kMaxNumbers];
  for (size_t k = 0; k < kMaxNumbers; ++k) c[k] = u.number[k];
  for (int64_t i = 0; i < n; ++i) {
    T s[kMaxStates] = {s0[i], Rule::states > 1 ? s1[i] : T(0), Rule::states > 2 ? s2[i] : T(0)};
    T p = param[i];
    Rule::step(p, sign * grad[i], s, c);
    param[i] = p;
    s0[i] = s[0];
    if constexpr (Rule::states > 1) s1[i] = s[1];
    if constexpr (Rule::states > 2) s2[i] = s[2];
  }
}

template <class T, class... R> void run(optim_rules::List<R...>, int rule, const UpdateStep<T>& u, int64_t n) {
  constexpr void (*loops[])(const UpdateStep<T>&, int64_t) = {update_loop<R, T>...};
  loops[rule](u, n);
}

template <class T> void update(int rule, const UpdateStep<T>& u, int64_t n) { run<T>(optim_rules::All{}, rule, u, n); }

TRINE_ISA_DEFINE(update_float, update<float>);
TRINE_ISA_DEFINE(update_double, update<double>);

}  // namespace
}  // namespace trine::cpu
