#include "base/isa.h"

#include <algorithm>
#include <cstdlib>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "trine_build.h"

namespace trine {

#if defined(__x86_64__)
namespace {

// The F16C bit by hand: clang 14 has no name for it.
bool converts_half() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

}  // namespace
#endif

int isa_level() {
  static const int level = [] {
    int l = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") && converts_half()) {
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
