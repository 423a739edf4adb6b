#include "base/isa.h"

#include <algorithm>
#include <cstdlib>

#include "trine_build.h"

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
    // A build may leave instruction sets out; then the highest that is there serves.
#if defined(TRINE_HAVE_ISA_AVX512)
    constexpr int built = 2;
#elif defined(TRINE_HAVE_ISA_AVX2)
    constexpr int built = 1;
#else
    constexpr int built = 0;
#endif
    l = std::min(l, built);
    if (const char* wanted = std::getenv("TRINE_ISA")) {
      int w = std::atoi(wanted);
      if (w >= 0 && w < l) l = w;
    }
    return l;
  }();
  return level;
}

}  // namespace trine
