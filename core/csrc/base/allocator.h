// The caching CPU allocator. Blocks are 64-byte aligned and reused: handing large blocks back to the system would cost a page fault
// for every 4 KiB of the next tensor, which is most of the time of a pointwise operator.
#pragma once
#include <cstddef>
#include <cstdint>

namespace trine {

void* cpu_allocate(size_t nbytes);  // never null for nbytes > 0; throws Error(OutOfMemory)
void cpu_free(void* p, size_t nbytes) noexcept;  // nbytes as given to cpu_allocate

struct MemoryStats {
  int64_t allocated_bytes;  // in use now
  int64_t peak_bytes;       // highest allocated_bytes since the last reset
  int64_t cached_bytes;     // kept for reuse
  int64_t allocations;      // calls of cpu_allocate so far
};
MemoryStats memory_stats();
void reset_peak_memory_stats();
void empty_cache();

// Test aid: the n-th allocation from now (1 is the next one) fails once. 0 turns it off.
void inject_allocation_fault(int64_t n);

// Fixed-size objects (tensors, storages, graph nodes) on a per-thread free list.
void* pool_allocate(size_t nbytes);
void pool_free(void* p, size_t nbytes) noexcept;

// Base class that puts an object into the pool.
struct Pooled {
  static void* operator new(size_t n) { return pool_allocate(n); }
  static void operator delete(void* p, size_t n) noexcept { pool_free(p, n); }
};

}  // namespace trine
