// Run-time choice of the instruction set. Files in cpu/kernels/ are compiled once per level; each registers its functions under its level.
#pragma once
#include <cstdint>

#include "base/isa.h"

namespace trine::cpu {

using trine::isa_level;
using trine::kIsaLevels;

// A function that exists once per level. In a kernel file: TRINE_ISA_DEFINE(name, function).
template <class Fn> struct IsaFunction {
  Fn* fn[kIsaLevels] = {};
  Fn* get() const {
    for (int l = isa_level(); l > 0; l--)
      if (fn[l]) return fn[l];
    return fn[0];
  }
  template <class... A> auto operator()(A&&... a) const { return get()(static_cast<A&&>(a)...); }
};

// In a header:      TRINE_ISA_DECLARE(void, sum_rows_f32, (const float* x, float* out, int64_t n));
// In one .cpp:      TRINE_ISA_TABLE(sum_rows_f32)
// In kernels/*.cpp: TRINE_ISA_DEFINE(sum_rows_f32, my_implementation)
#define TRINE_ISA_DECLARE(RET, NAME, PARAMS) extern ::trine::cpu::IsaFunction<RET PARAMS> NAME
#define TRINE_ISA_TABLE(NAME) decltype(NAME) NAME
#ifdef TRINE_ISA_INDEX
#define TRINE_ISA_DEFINE(NAME, FN) static const bool isa_registered_##NAME = (NAME.fn[TRINE_ISA_INDEX] = FN, true)
#endif

}  // namespace trine::cpu
