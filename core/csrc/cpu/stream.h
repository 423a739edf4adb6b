// Stores that go past the caches, for results too large to stay there: a cached store first reads the line it is about to overwrite,
// which is a third of the traffic of an addition.
#pragma once
#include <cstddef>
#include <cstdint>

#include "cpu/isa.h"

namespace trine::cpu {

// Below this a result may still be in the cache when it is used.
constexpr int64_t kStreamBytes = int64_t{32} << 20;

// memcpy past the caches. stream_fence() makes it visible to other threads before whatever this thread stores next.
TRINE_ISA_DECLARE(void, stream_copy, (void* to, const void* from, size_t bytes));
TRINE_ISA_DECLARE(void, stream_fence, ());

}  // namespace trine::cpu
