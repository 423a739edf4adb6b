#include "cpu/convert.h"

#include <cstring>

#include "cpu/convert_table.h"
#include "cpu/index_rows.h"

namespace trine::cpu {

TRINE_ISA_TABLE(repeat_element);

ConvertTable convert_tables[kIsaLevels];

ConvertFn converter(DType to, DType from) { return convert_tables[isa_level()].fn[static_cast<int>(to)][static_cast<int>(from)]; }

namespace {

struct Bytes16 {
  uint64_t a, b;
};

template <class T> void gather_as(void* dst, const char* src, int64_t stride, int64_t n) {
  auto* d = static_cast<T*>(dst);
  for (int64_t i = 0; i < n; i++) std::memcpy(d + i, src + i * stride, sizeof(T));
}

template <class T> void scatter_as(char* dst, int64_t stride, const void* src, int64_t n) {
  auto* s = static_cast<const T*>(src);
  for (int64_t i = 0; i < n; i++) std::memcpy(dst + i * stride, s + i, sizeof(T));
}

}  // namespace

void gather(void* dst, const char* src, int64_t stride, int64_t n, int size) {
  if (stride == size) {
    std::memcpy(dst, src, static_cast<size_t>(n) * size);
    return;
  }
  if (stride == 0) return repeat_element(dst, src, n, size);
  switch (size) {
    case 1: return gather_as<uint8_t>(dst, src, stride, n);
    case 2: return gather_as<uint16_t>(dst, src, stride, n);
    case 4: return gather_as<uint32_t>(dst, src, stride, n);
    case 8: return gather_as<uint64_t>(dst, src, stride, n);
    default: return gather_as<Bytes16>(dst, src, stride, n);
  }
}

void scatter(char* dst, int64_t stride, const void* src, int64_t n, int size) {
  if (stride == size) {
    std::memcpy(dst, src, static_cast<size_t>(n) * size);
    return;
  }
  switch (size) {
    case 1: return scatter_as<uint8_t>(dst, stride, src, n);
    case 2: return scatter_as<uint16_t>(dst, stride, src, n);
    case 4: return scatter_as<uint32_t>(dst, stride, src, n);
    case 8: return scatter_as<uint64_t>(dst, stride, src, n);
    default: return scatter_as<Bytes16>(dst, stride, src, n);
  }
}

}  // namespace trine::cpu
