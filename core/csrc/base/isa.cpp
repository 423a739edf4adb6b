#include "base/isa.h"

#include <cstdlib>

namespace trine {

int isa_level() {
  static const int level = [] {
    int l = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c")) {
      l = 1;
      if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) l = 2;
    }
#endif
    if (const char* wanted = std::getenv("TRINE_ISA")) {
      int w = std::atoi(wanted);
      if (w >= 0 && w < l) l = w;
    }
    return l;
  }();
  return level;
}

}  // namespace trine
