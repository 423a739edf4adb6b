#include "cpu/stream.h"

#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace trine::cpu {
namespace {

#if defined(__SSE2__)
constexpr size_t kLine = 64;

// One line in as few stores as there are, so that no part of it leaves the write buffer alone.
inline void stream_line(char* to, const char* from) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
#elif defined(__AVX2__)
  for (size_t i = 0; i < kLine; i += 32) _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)));
#else
  for (size_t i = 0; i < kLine; i += 16) _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
#endif
}

void copy(void* to, const void* from, size_t bytes) {
  char* t = static_cast<char*>(to);
  const char* f = static_cast<const char*>(from);
  const size_t head = (kLine - reinterpret_cast<uintptr_t>(t) % kLine) % kLine;
  if (bytes < head + kLine) {
    std::memcpy(t, f, bytes);
    return;
  }
  std::memcpy(t, f, head);
  t += head, f += head, bytes -= head;
  for (; bytes >= kLine; bytes -= kLine, t += kLine, f += kLine) stream_line(t, f);
  std::memcpy(t, f, bytes);
}
void fence() { _mm_sfence(); }
#else
void copy(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }
void fence() {}
#endif

TRINE_ISA_DEFINE(stream_copy, copy);
TRINE_ISA_DEFINE(stream_fence, fence);

}  // namespace
}  // namespace trine::cpu
