// The instruction set that kernels use on this machine.
#pragma once

namespace trine {

// Levels as built: 0 base (x86-64-v2, or the platform's floor), 1 AVX2+FMA, 2 AVX-512. Chosen by CPUID feature bits, never by model name
// (virtual machines report wrong models); TRINE_ISA=0..2 lowers it, for tests.
int isa_level();
constexpr int kIsaLevels = 3;

}  // namespace trine
