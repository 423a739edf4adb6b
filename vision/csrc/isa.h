// Loops are compiled once for the baseline and once for what newer x86 CPUs have, and chosen at run time by
// `__builtin_cpu_supports`. An ifunc would be shorter, but the sanitizers instrument its resolver, which runs before
// they are ready.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#define TRINE_VISION_X86 1
#endif

// A body that is inlined into each of its versions takes on their instruction set.
#define TRINE_ALWAYS_INLINE inline __attribute__((always_inline))
