// Element type conversion of contiguous memory, and movement between strided and contiguous memory.
#pragma once
#include "base/dtype.h"

namespace trine::cpu {

using ConvertFn = void (*)(void* dst, const void* src, int64_t n);
// The conversion between two types, for this machine's instruction set; never null.
ConvertFn converter(DType to, DType from);

// n elements of `size` bytes between a strided (stride in bytes) and a contiguous place. Stride 0 repeats one element.
void gather(void* dst, const char* src, int64_t stride, int64_t n, int size);
void scatter(char* dst, int64_t stride, const void* src, int64_t n, int size);

}  // namespace trine::cpu
