#include "base/parallel.h"

#include <pthread.h>

#include <atomic>
#include <mutex>

#include "base/denormal.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

// libgomp's own interface, to which g++ translates `#pragma omp parallel`. Called by name, so that every compiler works with the one
// pool that oneDNN has too, instead of bringing a second one.
extern "C" {
void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags);
int omp_get_max_threads();
int omp_get_num_threads();
int omp_get_thread_num();
int omp_in_parallel();
void omp_set_num_threads(int);
}

namespace trine {
namespace {

struct Region {
  int64_t begin, end, step, parts;
  detail::RangeFn fn;
  void* context;
  std::exception_ptr failure;
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
};

std::atomic<bool> flush_denormal{false};

// The switch is a register of each thread, and a thread may have started after the last call that set it.
void apply_flush_denormal() {
#if defined(__SSE__)
  constexpr unsigned kBoth = 0x8040;  // flush results to zero, take operands as zero
  const unsigned now = _mm_getcsr(), wanted = flush_denormal.load(std::memory_order_relaxed) ? now | kBoth : now & ~kBoth;
  if (now != wanted) _mm_setcsr(wanted);
#endif
}

// What each thread does: every so-manieth part, with the first exception kept for the caller.
void work(void* data) {
  Region& r = *static_cast<Region*>(data);
  apply_flush_denormal();
  for (int64_t part = omp_get_thread_num(); part < r.parts; part += omp_get_num_threads()) {
    const int64_t b = r.begin + part * r.step, e = std::min(r.end, b + r.step);
    try {
      if (b < e) r.fn(r.context, b, e);
    } catch (...) {
      if (!r.failed.test_and_set()) r.failure = std::current_exception();
    }
  }
}

std::atomic<int> threads{0};

// libgomp's pool does not survive fork(): a child that opened a parallel region would wait for ever, so it computes alone.
void after_fork_in_child() {
  threads.store(1);
  omp_set_num_threads(1);
}

int initial_threads() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, after_fork_in_child); });
  int n = omp_get_max_threads();
  threads.store(n);
  return n;
}

}  // namespace

int num_threads() {
  int n = threads.load(std::memory_order_relaxed);
  return n ? n : initial_threads();
}

void set_num_threads(int n) {
  initial_threads();
  threads.store(std::max(n, 1));
  omp_set_num_threads(std::max(n, 1));
}

Alone::Alone(bool alone) {
  if (!alone) return;
  before_ = omp_get_max_threads();
  omp_set_num_threads(1);
}
Alone::~Alone() {
  if (before_) omp_set_num_threads(before_);
}

bool in_parallel_region() { return omp_in_parallel(); }

bool set_flush_denormal(bool flush) {
#if defined(__SSE__)
  flush_denormal.store(flush, std::memory_order_relaxed);
  apply_flush_denormal();
  return true;
#else
  return !flush;
#endif
}

void detail::parallel_ranges(int64_t begin, int64_t end, int64_t grain, RangeFn fn, void* context) {
  const int64_t parts = std::min<int64_t>(num_threads(), (end - begin + grain - 1) / std::max<int64_t>(grain, 1));
  Region region{begin, end, (end - begin + parts - 1) / parts, parts, fn, context, nullptr};
  GOMP_parallel(work, &region, static_cast<unsigned>(parts), 0);
  if (region.failure) std::rethrow_exception(region.failure);
}

}  // namespace trine
