// A 32 x 32 block of C lives in four tiles while k runs; A and B are packed tile by tile, B with pairs of k interleaved as the unit wants it.
#include "cpu/gemm_amx.h"

#if defined(__AVX512F__) && defined(__linux__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "cpu/scratch.h"
#endif

namespace trine::cpu {
namespace {

#if defined(__AVX512F__) && defined(__linux__)
#define TRINE_AMX __attribute__((target("amx-tile,amx-bf16,avx512bf16")))

constexpr int64_t kTile = 32;        // rows and columns of a block of C, and k of one step
constexpr int64_t kTileBytes = 1024;
constexpr int64_t kBlockCols = 256;  // columns of B packed at a time stay in the second cache
constexpr int64_t kBlockSteps = 16;  // steps of k after which A's panel would leave the first cache

bool available() {
  static const bool yes = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
    constexpr unsigned kBFloat16 = 1u << 22, kTiles = 1u << 24;
    if ((d & kBFloat16) == 0 || (d & kTiles) == 0) return false;
    if (!__get_cpuid_count(7, 1, &a, &b, &c, &d) || (a & (1u << 5)) == 0) return false;  // AVX512_BF16
    constexpr long kRequestPermission = 0x1023, kTileData = 18;
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }();
  return yes;
}

struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// Rows [i0, i0 + 32) as steps of two tiles [16 rows][32 k].
void pack_a(const GemmBFloat16& g, int64_t i0, int64_t steps, uint16_t* to) {
  for (int64_t s = 0; s < steps; ++s)
    for (int64_t i = i0; i < i0 + kTile; ++i, to += kTile) {
      int64_t count = i < g.m ? std::min(kTile, g.k - s * kTile) : 0;
      const uint16_t* from = g.a + i * g.a_row + s * kTile;
      if (count == kTile) _mm512_storeu_si512(to, _mm512_loadu_si512(from));
      else _mm512_storeu_si512(to, _mm512_maskz_loadu_epi16(count > 0 ? (1u << count) - 1 : 0, from));
    }
}

// Columns [j0, j0 + 32) and k of steps [s0, s1) as two tiles a step: [16 pairs of k][16 columns][2].
void pack_b(const GemmBFloat16& g, int64_t j0, int64_t s0, int64_t s1, uint16_t* to) {
  alignas(64) static constexpr uint16_t kInterleave[32] = {0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47};
  const __m512i interleave = _mm512_load_si512(kInterleave);
  const bool rows_contiguous = g.b_col == 1, pairs_contiguous = g.b_row == 1 && g.b_col < (int64_t(1) << 26);
  const __m512i column = _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), _mm512_set1_epi32(static_cast<int>(pairs_contiguous ? g.b_col : 0)));
  for (int64_t s = s0; s < s1; ++s)
    for (int64_t half = 0; half < 2; ++half)
      for (int64_t p = 0; p < 16; ++p, to += kTile) {
        const int64_t k = s * kTile + 2 * p, j = j0 + 16 * half, cols = std::clamp<int64_t>(g.n - j, 0, 16);
        const uint16_t* from = g.b + k * g.b_row + j * g.b_col;
        const __mmask16 mask = static_cast<__mmask16>((1u << cols) - 1);
        if (rows_contiguous) {
          __m512i low = k < g.k ? _mm512_castsi256_si512(_mm256_maskz_loadu_epi16(mask, from)) : _mm512_setzero_si512();
          __m512i high = k + 1 < g.k ? _mm512_castsi256_si512(_mm256_maskz_loadu_epi16(mask, from + g.b_row)) : _mm512_setzero_si512();
          _mm512_storeu_si512(to, _mm512_permutex2var_epi16(low, interleave, high));
        } else if (pairs_contiguous && k + 1 < g.k) {
          _mm512_storeu_si512(to, _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), mask, column, from, 2));
        } else {
          for (int64_t c = 0; c < 16; ++c)
            for (int64_t odd = 0; odd < 2; ++odd) to[2 * c + odd] = c < cols && k + odd < g.k ? from[odd * g.b_row + c * g.b_col] : uint16_t(0);
        }
      }
}

TRINE_AMX inline void block_32x32(const uint16_t* a, const uint16_t* b, int64_t steps, float* c, int64_t c_stride, bool add) {
  float* lower = c + 16 * c_stride;
  const int64_t stride = c_stride * 4;
  if (add) {
    _tile_loadd(0, c, stride);
    _tile_loadd(1, c + 16, stride);
    _tile_loadd(2, lower, stride);
    _tile_loadd(3, lower + 16, stride);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (int64_t s = 0; s < steps; ++s) {
    const char *at = reinterpret_cast<const char*>(a) + s * 2 * kTileBytes, *bt = reinterpret_cast<const char*>(b) + s * 2 * kTileBytes;
    _tile_loadd(4, at, 64);
    _tile_loadd(6, bt, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, bt + kTileBytes, 64);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, at + kTileBytes, 64);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, c, stride);
  _tile_stored(1, c + 16, stride);
  _tile_stored(2, lower, stride);
  _tile_stored(3, lower + 16, stride);
}

TRINE_AMX void store_rows(const GemmBFloat16& g, const float* sums, int64_t i0, int64_t j0, int64_t cols) {
  for (int64_t i = 0; i < std::min(kTile, g.m - i0); ++i)
    for (int64_t j = 0; j < cols; j += 16) {
      const __mmask16 mask = static_cast<__mmask16>((1u << std::min<int64_t>(16, cols - j)) - 1);
      __m512 v = _mm512_loadu_ps(sums + i * kBlockCols + j);
      if (g.bias) {
        __m512i wide = _mm512_maskz_cvtepu16_epi32(mask, _mm256_maskz_loadu_epi16(mask, g.bias + j0 + j));
        v = _mm512_add_ps(v, _mm512_castsi512_ps(_mm512_maskz_slli_epi32(mask, wide, 16)));
      }
      _mm256_mask_storeu_epi16(g.c + (i0 + i) * g.c_row + j0 + j, mask, (__m256i)_mm512_cvtneps_pbh(v));
    }
}

TRINE_AMX void compute_rows(const GemmBFloat16& g, const uint16_t* a, const uint16_t* b, int64_t steps, int64_t first, int64_t last, int64_t j0, int64_t cols) {
  TileConfig config;
  _tile_loadconfig(&config);
  Scratch<float> sums(kTile * kBlockCols);
  for (int64_t panel = first; panel < last; ++panel) {
    for (int64_t s0 = 0; s0 < steps; s0 += kBlockSteps) {
      int64_t count = std::min(kBlockSteps, steps - s0);
      for (int64_t j = 0; j < cols; j += kTile)
        block_32x32(a + (panel * steps + s0) * kTileBytes, b + (j / kTile * steps + s0) * kTileBytes, count, sums.data() + j, kBlockCols, s0 > 0);
    }
    store_rows(g, sums.data(), panel * kTile, j0, cols);
  }
  _tile_release();
}

bool multiply(const GemmBFloat16& g) {
  if (!available()) return false;
  const int64_t steps = (g.k + kTile - 1) / kTile, panels = (g.m + kTile - 1) / kTile;
  const int64_t per_thread = std::max<int64_t>(1, 2000000 / std::max<int64_t>(kTile * kBlockCols * g.k, 1));
  Scratch<uint16_t> a(panels * steps * kTileBytes), b(steps * kTileBytes * (kBlockCols / kTile));
  parallel_for(0, panels, per_thread * 8, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) pack_a(g, p * kTile, steps, a.data() + p * steps * kTileBytes);
  });
  for (int64_t j0 = 0; j0 < g.n; j0 += kBlockCols) {
    int64_t cols = std::min(kBlockCols, g.n - j0), col_panels = (cols + kTile - 1) / kTile;
    // Rows of B are walked in memory order across the panels: one panel at a time would touch a new page at every row.
    parallel_for(0, steps, 16, [&](int64_t begin, int64_t end) {
      for (int64_t step = begin; step < end; ++step)
        for (int64_t p = 0; p < col_panels; ++p) pack_b(g, j0 + p * kTile, step, step + 1, b.data() + (p * steps + step) * kTileBytes);
    });
    parallel_for(0, panels, per_thread, [&](int64_t begin, int64_t end) { compute_rows(g, a.data(), b.data(), steps, begin, end, j0, cols); });
  }
  return true;
}
#else
bool multiply(const GemmBFloat16&) { return false; }
#endif

}  // namespace

TRINE_ISA_DEFINE(gemm_amx, multiply);

}  // namespace trine::cpu
