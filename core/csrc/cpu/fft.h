// One-dimensional complex transforms of any length on split real and imaginary parts, several at a time: element k of transform q lies at
// [k * lanes + q]. Stockham's self-sorting passes of radix 2 to 13; other lengths by Bluestein's algorithm.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/isa.h"

namespace trine::cpu {

template <class T> struct FftPass {
  int64_t radix, count;               // `count` butterflies of `radix` points
  std::vector<T> twiddle_re, twiddle_im;  // [count][radix - 1]
  std::vector<T> root_re, root_im;        // [radix]: exp(-2 pi i k / radix)
};

template <class T> struct FftPlan {
  int64_t n = 1;
  std::vector<FftPass<T>> passes;
  // Bluestein: convolution with a chirp by transforms of length `inner->n`.
  std::unique_ptr<FftPlan> inner;
  std::vector<T> chirp_re, chirp_im;        // [n]
  std::vector<T> spectrum_re, spectrum_im;  // [inner->n], divided by inner->n

  int64_t scratch(int64_t lanes) const { return 2 * lanes * (inner ? 2 * inner->n : n); }  // elements of T that a run needs
};

// The plan of a length, from this thread's cache.
template <class T> const FftPlan<T>& fft_plan(int64_t n);

// Transforms re, im in place. The inverse (unscaled) is the same call with re and im exchanged.
TRINE_ISA_DECLARE(void, fft_run_float, (const FftPlan<float>& plan, float* re, float* im, int64_t lanes, float* scratch));
TRINE_ISA_DECLARE(void, fft_run_double, (const FftPlan<double>& plan, double* re, double* im, int64_t lanes, double* scratch));

}  // namespace trine::cpu
