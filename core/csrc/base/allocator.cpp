#include "base/allocator.h"

#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#include "base/error.h"

namespace trine {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kSmallLimit = 64 * 1024;        // at most this: cached per thread
constexpr size_t kHugePage = size_t{1} << 21;    // at least this: ask for huge pages
constexpr int kStepsPerDouble = 8;               // at most 1/8 of a block is wasted
constexpr int kFirstBits = 6;                    // the smallest class is 64 bytes
constexpr int kClasses = (48 - kFirstBits) * kStepsPerDouble;
constexpr int kPerThread = 64;                   // blocks of one class a thread may keep

// Classes are 64 * 2^k * (1 + s/8): geometric, so any size maps to its class with a few bit operations.
int size_class(size_t n) {
  if (n <= kAlignment) return 0;
  int bits = std::bit_width(n - 1) - 1;  // 2^bits <= n-1 < 2^(bits+1)
  int step = static_cast<int>((n - 1) >> (bits - 3)) & 7;
  return (bits - kFirstBits) * kStepsPerDouble + step + 1;
}

size_t class_bytes(int c) {
  int bits = c / kStepsPerDouble + kFirstBits, step = c % kStepsPerDouble;
  size_t n = (size_t{8} + step) << (bits - 3);
  return (n + kAlignment - 1) & ~(kAlignment - 1);
}

struct Counters {
  std::atomic<int64_t> allocated{0}, peak{0}, cached{0}, calls{0}, fault{0};
} counters;

size_t cache_limit() {
  static const size_t limit = [] {
    const char* mb = std::getenv("TRINE_CACHE_MB");
    return (mb ? std::strtoull(mb, nullptr, 10) : 4096) << 20;
  }();
  return limit;
}

struct Central {
  std::mutex mutex;
  std::vector<void*> free[kClasses];
};
// Never destroyed: threads may free tensors while the process ends.
Central& central() {
  static Central* c = new Central;
  return *c;
}

void* system_allocate(size_t bytes) {
  size_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
  void* p = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (p && bytes >= kHugePage) madvise(p, bytes, MADV_HUGEPAGE);
  return p;
}

void* central_take(int c, size_t bytes) {
  Central& all = central();
  std::lock_guard lock(all.mutex);
  if (all.free[c].empty()) return nullptr;
  void* p = all.free[c].back();
  all.free[c].pop_back();
  counters.cached.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  return p;
}

void central_give(int c, size_t bytes, void* p) noexcept {
  if (counters.cached.load(std::memory_order_relaxed) + bytes > cache_limit()) {
    std::free(p);
    return;
  }
  Central& all = central();
  std::lock_guard lock(all.mutex);
  try {
    all.free[c].push_back(p);
    counters.cached.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  } catch (const std::bad_alloc&) {
    std::free(p);
  }
}

struct FreeNode {
  FreeNode* next;
};

constexpr int kSmallClasses = 81;  // classes up to kSmallLimit
constexpr size_t kPoolStep = 32, kPoolLimit = 512;
constexpr int kPoolClasses = kPoolLimit / kPoolStep + 1;
constexpr int kPoolKeep = 1024;  // objects of one size a thread may keep

// Free lists of a thread. On the heap: the room for thread-locals that a library loaded at run time may claim is a few hundred bytes.
struct ThreadLists {
  FreeNode* block[kSmallClasses];
  int blocks[kSmallClasses];
  FreeNode* object[kPoolClasses];
  int objects[kPoolClasses];
};
thread_local ThreadLists* lists = nullptr;
thread_local bool lists_closed = false;  // the thread is ending: its other thread-locals may still free tensors

struct ListsOwner {
  ~ListsOwner() {
    ThreadLists* l = lists;
    lists = nullptr;
    lists_closed = true;
    if (!l) return;
    for (int c = 0; c < kSmallClasses; c++)
      while (FreeNode* n = l->block[c]) {
        l->block[c] = n->next;
        central_give(c, class_bytes(c), n);
      }
    for (FreeNode*& head : l->object)
      while (FreeNode* n = head) {
        head = n->next;
        std::free(n);
      }
    std::free(l);
  }
  void touch() {}
};
thread_local ListsOwner lists_owner;

ThreadLists* make_lists() noexcept {
  if (lists_closed) return nullptr;
  lists = static_cast<ThreadLists*>(std::calloc(1, sizeof(ThreadLists)));
  lists_owner.touch();
  return lists;
}
inline ThreadLists* thread_lists() noexcept { return __builtin_expect(lists != nullptr, 1) ? lists : make_lists(); }

void note_allocation(size_t bytes) {
  int64_t now = counters.allocated.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed) + static_cast<int64_t>(bytes);
  int64_t peak = counters.peak.load(std::memory_order_relaxed);
  while (now > peak && !counters.peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  // A lost count between threads does no harm, and a plain store costs a third of an atomic addition.
  counters.calls.store(counters.calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void check_fault(size_t nbytes) {
  if (counters.fault.load(std::memory_order_relaxed) > 0 && counters.fault.fetch_sub(1) == 1)
    throw_error(ErrorKind::OutOfMemory, str("allocate: injected fault for ", nbytes, " bytes"));
}

}  // namespace

void* cpu_allocate(size_t nbytes) {
  if (nbytes == 0) return nullptr;
  check_fault(nbytes);
  TRINE_CHECK_KIND_(OutOfMemory, nbytes < size_t{1} << 47, "allocate: ", nbytes, " bytes is more than this machine can address");
  int c = size_class(nbytes);
  size_t bytes = class_bytes(c);
  void* p = nullptr;
  ThreadLists* own = bytes <= kSmallLimit ? thread_lists() : nullptr;
  if (own && own->block[c]) {
    FreeNode* n = own->block[c];
    own->block[c] = n->next;
    own->blocks[c]--;
    p = n;
  } else {
    p = central_take(c, bytes);
    if (!p) p = system_allocate(bytes);
    if (!p) {
      empty_cache();
      p = system_allocate(bytes);
    }
    if (!p)
      throw_error(ErrorKind::OutOfMemory, str("allocate: not enough memory: tried to get ", nbytes, " bytes while ", counters.allocated.load(), " bytes are in use"));
  }
  note_allocation(bytes);
  return p;
}

void cpu_free(void* p, size_t nbytes) noexcept {
  if (!p) return;
  int c = size_class(nbytes);
  size_t bytes = class_bytes(c);
  counters.allocated.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  ThreadLists* own = bytes <= kSmallLimit ? thread_lists() : nullptr;
  if (own && own->blocks[c] < kPerThread) {
    auto* n = static_cast<FreeNode*>(p);
    n->next = own->block[c];
    own->block[c] = n;
    own->blocks[c]++;
    return;
  }
  central_give(c, bytes, p);
}

MemoryStats memory_stats() { return {counters.allocated.load(), counters.peak.load(), counters.cached.load(), counters.calls.load()}; }
void reset_peak_memory_stats() { counters.peak.store(counters.allocated.load()); }

void empty_cache() {
  Central& all = central();
  std::lock_guard lock(all.mutex);
  for (int c = 0; c < kClasses; c++) {
    for (void* p : all.free[c]) std::free(p);
    counters.cached.fetch_sub(static_cast<int64_t>(all.free[c].size() * class_bytes(c)), std::memory_order_relaxed);
    all.free[c].clear();
  }
}

void inject_allocation_fault(int64_t n) { counters.fault.store(n); }

void* pool_allocate(size_t nbytes) {
  size_t c = (nbytes + kPoolStep - 1) / kPoolStep;
  ThreadLists* own = nbytes <= kPoolLimit ? thread_lists() : nullptr;
  if (own && own->object[c]) {
    FreeNode* n = own->object[c];
    own->object[c] = n->next;
    own->objects[c]--;
    return n;
  }
  void* p = std::malloc(c * kPoolStep);
  if (!p) throw std::bad_alloc();
  return p;
}

void pool_free(void* p, size_t nbytes) noexcept {
  size_t c = (nbytes + kPoolStep - 1) / kPoolStep;
  ThreadLists* own = nbytes <= kPoolLimit ? thread_lists() : nullptr;
  if (!own || own->objects[c] >= kPoolKeep) {
    std::free(p);
    return;
  }
  auto* n = static_cast<FreeNode*>(p);
  n->next = own->object[c];
  own->object[c] = n;
  own->objects[c]++;
}

}  // namespace trine
