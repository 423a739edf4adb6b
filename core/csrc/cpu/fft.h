// One-dimensional Fourier transforms of any length: plans, and what cpu/kernels/fft.cpp does with them.
//
// Groups of as many lines as a register has lanes are transformed together: element k of the group is a register of real parts and one of
// imaginary parts. Stockham's self-sorting passes of radix 2 to 13; prime lengths by Rader's algorithm, other lengths by Bluestein's. Lines
// that are long or few, or fill whole registers, are transformed one by one: as a matrix, whose columns and rows are groups (the four-step algorithm).
#pragma once
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/isa.h"
#include "cpu/lines.h"

namespace trine::cpu {

template <class T> struct FftPass {
  int64_t radix, count;        // `count` butterflies of `radix` points
  std::vector<T> twiddle;      // [count][radix - 1] pairs
  std::vector<T> root;         // [radix] pairs: exp(-2 pi i k / radix)
};

template <class T> struct FftPlan {
  int64_t n = 1;
  std::vector<FftPass<T>> passes;
  // The line as a matrix of rows x columns, where the length allows it.
  std::unique_ptr<FftPlan> rows, columns;  // transforms of length rows->n (down a column) and columns->n (along a row)
  std::vector<T> coarse, fine;             // exp(-2 pi i k lanes g / n) at [k g], and exp(-2 pi i k l / n) at [k][re, im][l]
  // Rader and Bluestein: a cyclic convolution by transforms of length `inner->n`.
  std::unique_ptr<FftPlan> inner;
  std::vector<T> spectrum;                 // [inner->n] pairs, divided by inner->n
  std::vector<T> chirp;                    // Bluestein: [n] pairs
  std::vector<int32_t> gather, scatter;    // Rader: the order in which elements 1 .. n - 1 are read and written

  bool matrix() const { return rows != nullptr; }
  bool direct() const { return n == 1 || !passes.empty(); }
  // Pairs of registers that a transform of a group needs: the data's, and the algorithm's.
  int64_t room() const { return n + 1; }
  int64_t group_work() const { return room() + (inner ? 2 * inner->room() : room()); }
  // Elements of T that the transform of a single line needs beside the line.
  int64_t line_work(int64_t lanes) const {
    if (matrix()) return 2 * n + 16 + 4 * lanes * (rows->room() > columns->room() ? rows->room() : columns->room());
    return inner ? 2 * inner->n + 16 + inner->line_work(lanes) : 2 * n;
  }
};

template <class T> struct FftReal {  // of a real line of even length 2 h
  std::shared_ptr<const FftPlan<T>> half;
  std::vector<T> twiddle;            // exp(-2 pi i k / 2 h) for k = 0 .. h / 2, pairs
};

enum class FftKind { Complex, RealToHalf, HalfToReal };

// A transform of up to `lanes` lines (twice as many for real ones of odd length).
template <class T> struct FftJob {
  FftKind kind;
  bool forward;
  T scale;
  int64_t n, bins;             // of the real line, of the half spectrum
  const FftPlan<T>* plan;      // of length n, or n / 2 for real lines of even length
  const T* real_twiddle;       // FftReal's, or null
};

template <class T> struct FftKernels {
  int64_t lanes;
  void (*group)(const FftJob<T>& job, Lines<const T> in, Lines<T> out, int64_t count, T* work);
  // The steps of a line as a matrix, for groups [first, last) of columns, then of rows; `middle` holds n pairs.
  void (*columns)(const FftPlan<T>& plan, bool forward, const T* in, int64_t stride, T* middle, int64_t first, int64_t last, T* work);
  void (*rows)(const FftPlan<T>& plan, bool forward, T scale, const T* middle, T* out, int64_t stride, int64_t first, int64_t last, T* work);
  // A contiguous complex line in place, forward and unscaled.
  void (*line)(const FftPlan<T>& plan, T* data, T* work);
  // Between the transform of a real line's pairs and its spectrum: h + 1 pairs in place.
  void (*split)(T* data, int64_t h, const T* twiddle);
  void (*join)(T* data, int64_t h, const T* twiddle);  // real and imaginary parts come out exchanged
};

TRINE_ISA_DECLARE(const FftKernels<float>*, fft_kernels_float, ());
TRINE_ISA_DECLARE(const FftKernels<double>*, fft_kernels_double, ());

template <class T> const FftKernels<T>& fft_kernels();

// From this thread's cache.
template <class T> std::shared_ptr<const FftPlan<T>> fft_plan(int64_t n);
template <class T> std::shared_ptr<const FftReal<T>> fft_real(int64_t n);  // n is even

}  // namespace trine::cpu
